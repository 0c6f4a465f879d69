"""Which files the runs of a measured set read."""

from pathlib import Path

from pipeline.cases.set_records import at_hand, forms, records_in
from pipeline.config.measured_file import MeasuredSet
from pipeline.formats.record_files import RECORDS, find_records
from pipeline.results.posterior_file import POSTERIOR
from pipeline.results.prediction_file import (
    FOLDER,
    RECORD,
    TABLE,
    committed,
    shipped_as,
)

TEXTS = (".md", "")  # suffixes of what is read by people only


def shipped_files(of: MeasuredSet) -> tuple[str, ...]:
    """Every file of the set's folder that numbers may come from."""
    folder = Path(of.records.folder)
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    kept = [p for p in found if FOLDER not in p.relative_to(folder).parts[:1]]
    return tuple(str(p) for p in kept if p.suffix not in TEXTS)


def committed_files(of: MeasuredSet) -> tuple[str, ...]:
    """The files of the prediction that is shipped, as far as there are any."""
    place = Path(of.records.folder) / FOLDER
    named = [place / POSTERIOR, place / RECORD, shipped_as(place / TABLE)]
    return tuple(str(path) for path in named if path.is_file())


def record_files(of: MeasuredSet, folder: Path) -> tuple[str, ...]:
    """The files of another folder that hold its records."""
    found, _ = find_records(folder, forms(of))
    files = {record.path for record in found}
    table = folder / RECORDS
    return tuple(map(str, sorted(files | ({table} if table.is_file() else set()))))


def committed_fit(of: MeasuredSet) -> tuple[str, ...]:
    """The file of it that says what the fit told, if there is one."""
    return tuple(p for p in committed_files(of) if Path(p).name == POSTERIOR)


def all_committed(of: MeasuredSet, folder: Path) -> bool:
    """Whether the committed prediction holds every record of a folder."""
    before = committed(Path(of.records.folder))
    if before is None:
        return False
    inputs = records_in(at_hand(of.model_dump(mode="json")), folder).inputs
    return all(before.holds(one) for one in inputs.values())
