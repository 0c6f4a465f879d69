"""Predictions and posteriors on disk, and the files that the steps of a set read.

Where prediction.csv is large, `gzip -n` packs what is shipped of it: prediction.csv.gz.
prediction.json says which run made it, the SHA-256 of what prediction.csv is or was
before it was packed, and of every
record a digest of the inputs that it was predicted from: a record is the same wherever
its file lies if its inputs are. The digest of the code that made it stands there too: a
prediction stays what it was when code changes later, and is compared all the same.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.measured.fit_with_model_error import Posterior
from analysis.measured.model_error import Departure, ModelError
from analysis.measured.predicted_quantities import (
    Quantities,
    QuantitySeries,
    RecordInputs,
)
from analysis.measured.prediction import COLUMNS
from pipeline.io.record_files import RECORDS
from pipeline.measured.records import at_hand, listed_records, records_in
from pipeline.measured.set_file import MeasuredSet
from pipeline.runs.atomic_files import read_json, write_json, write_table
from pipeline.runs.run_keys import file_digest
from pipeline.terminal import InputError, one_line

KINDS: Mapping[str, Callable[[Any], Any]] = {  # entries of prediction.json
    "key": str, "sha256": str, "records": dict, "fitted": tuple, "refused": dict,
    "notes": dict, "code": str,
}  # fmt: skip
TABLE, RECORD = "prediction.csv", "prediction.json"
PACKED = ".gz"
FOLDER = "prediction"  # below the folder of a set: what was committed
DIGITS = 9  # of a number that count


@dataclass(frozen=True, eq=False)
class Prediction:
    """Rows and what they were made from.

    Parameters
    ----------
    table : as of analysis.measured.prediction
    key : of the run that made it
    sha256 : of prediction.csv
    records : digest of the inputs of each, by name
    fitted : names of those that were fitted
    refused : why a record has none
    notes : of records that some runs with moved inputs leave a quantity of out
    code : digest of the modules that made it
    """

    table: pd.DataFrame
    key: str
    sha256: str
    records: Mapping[str, str]
    fitted: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    code: str = ""

    def holds(self, inputs: RecordInputs) -> bool:
        """Whether a record was predicted from these inputs."""
        return self.records.get(inputs.name) == digest_of(inputs)

    def of(self, record: str) -> pd.DataFrame:
        """The rows of a record."""
        return self.table[self.table["record"] == record]

    def quantities(self, record: str) -> Quantities:
        """The same as series."""
        rows = self.of(record)
        return {
            str(name): QuantitySeries(
                own["at"].to_numpy(np.float64),
                own["value"].to_numpy(np.float64),
                own["half_width"].to_numpy(np.float64),
            )
            for name, own in rows.groupby("quantity", sort=False)
        }


def digest_of(inputs: RecordInputs) -> str:
    """A digest of what a record is predicted from; its name is not in it."""
    values = {k: f"{float(v):.{DIGITS}g}" for k, v in sorted(inputs.numbers.items())}
    u = {k: f"{float(v):.{DIGITS}g}" for k, v in sorted(inputs.u.items())}
    arrays = {
        name: [list(a.shape), [f"{v:.{DIGITS}g}" for v in a.ravel()]]
        for name, a in sorted(inputs.state.items())
    }
    text = json.dumps([values, u, dict(sorted(inputs.words.items())), arrays])
    return hashlib.sha256(text.encode()).hexdigest()


def write_rows(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV; truth values in small letters."""
    words = {
        name: np.where(table[name], "true", "false")
        for name in table.columns
        if table[name].dtype == bool
    }
    write_table(path, table.assign(**words))


def shortened(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with as many digits as count, so that what is shipped stays small."""
    short = {
        name: [float(f"{v:.{DIGITS}g}") for v in table[name]]
        for name in table.columns
        if table[name].dtype == np.float64
    }
    return table.assign(**short)


def write_prediction(
    out: Path, table: pd.DataFrame, inputs: Mapping[str, RecordInputs], **more: Any
) -> None:
    """Write both files.

    Parameters
    ----------
    inputs : of each record, by name
    more : key, fitted, refused, notes and code of a `Prediction`
    """
    path = out / TABLE
    write_rows(path, shortened(table))
    made = {name: digest_of(one) for name, one in inputs.items()}
    write_json(out / RECORD, {"sha256": file_digest(path), "records": made, **more})


def shipped_as(path: Path) -> Path:
    """A table, or the packed one that is there in its place."""
    packed = path.with_name(path.name + PACKED)
    return packed if packed.is_file() and not path.is_file() else path


def unpacked(path: Path) -> bytes:
    """What a table holds, packed or not.

    Raises
    ------
    InputError
        where it is missing or damaged
    """
    try:
        held = path.read_bytes()
        return gzip.decompress(held) if path.suffix == PACKED else held
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read ({one_line(error)}): restore it, or predict again"
        ) from error


def read_prediction(folder: Path) -> Prediction:
    """A prediction; refused where its table is not the one that was made.

    Raises
    ------
    InputError
        where a file is missing or damaged, or the table has another SHA-256
    """
    entries, path = read_json(folder / RECORD), shipped_as(folder / TABLE)
    try:
        text = unpacked(path)
        now = hashlib.sha256(text).hexdigest()
        if now != entries["sha256"]:
            raise InputError(
                f"{path} has changed since it was made (SHA-256 {now[:12]}, not "
                f"{entries['sha256'][:12]}): restore it, or predict again"
            )
        table = pd.read_csv(BytesIO(text), dtype={"record": str, "quantity": str})
        if list(table.columns) != list(COLUMNS):
            raise InputError(f"{path} needs columns {', '.join(COLUMNS)}: restore it")
        entries = {"notes": {}, "code": ""} | entries
        known = {name: kind(entries[name]) for name, kind in KINDS.items()}
        return Prediction(table, **known)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder} has no prediction: {one_line(error)}") from error


def committed(folder: Path) -> Prediction | None:
    """The prediction that is shipped with a set; None where none is."""
    place = folder / FOLDER
    return read_prediction(place) if (place / RECORD).is_file() else None


POSTERIOR = "posterior.json"


def write_posterior(path: Path, of: Posterior) -> None:
    """Write it, numbers to the last bit."""
    value = asdict(of)
    for error in (*value["errors"].values(), *value["growth"].values()):
        error["kind"] = error["kind"].value
    write_json(path, value)


def read_posterior(path: Path) -> Posterior:
    """Read it; a file that is not whole is refused."""
    value = {"growth": {}} | read_json(path)
    try:
        errors, growth = (
            {name: _model_error(one) for name, one in value[group].items()}
            for group in ("errors", "growth")
        )
        P, Q = len(value["fitted"]), len(value["held"])
        shapes = {"u_held": (Q,), "noise": (P, P), "model": (P, P), "gain": (P, Q)}
        arrays = {
            name: np.array(value[name], dtype=np.float64).reshape(shape)
            for name, shape in shapes.items()
        }
        return Posterior(
            inputs={k: float(v) for k, v in value["inputs"].items()},
            fitted=tuple(value["fitted"]),
            held=tuple(value["held"]),
            errors=errors,
            growth=growth,
            repeat_sd={k: float(v) for k, v in value["repeat_sd"].items()},
            **arrays,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is not a posterior: {one_line(error)}: give another"
        ) from error


def _model_error(entry: Mapping[str, Any]) -> ModelError:
    """As `write_posterior` writes it."""
    arrays = {place: np.array(entry[place], dtype=float) for place in ("at", "sd")}
    return ModelError(**{**entry, **arrays, "kind": Departure(entry["kind"])})


TEXTS = (".md", "")  # suffixes of what is read by people only


def shipped_files(of: MeasuredSet) -> tuple[str, ...]:
    """Every file of the set's folder that numbers may come from."""
    folder = Path(of.records.folder)
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    own = [p for p in found if FOLDER not in p.relative_to(folder).parts[:1]]
    return tuple(str(p) for p in own if p.suffix not in TEXTS)


def committed_files(of: MeasuredSet) -> tuple[str, ...]:
    """The files of the prediction that is shipped, as far as there are any."""
    place = Path(of.records.folder) / FOLDER
    named = [place / POSTERIOR, place / RECORD, shipped_as(place / TABLE)]
    return tuple(str(path) for path in named if path.is_file())


def record_files(of: MeasuredSet, folder: Path) -> tuple[str, ...]:
    """The files of another folder that hold its records."""
    found, _ = listed_records(of, folder)
    files = {record.path for record in found}
    table = folder / RECORDS
    return tuple(map(str, sorted(files | ({table} if table.is_file() else set()))))


def committed_fit(of: MeasuredSet) -> tuple[str, ...]:
    """The committed result of the fit, if there is one."""
    return tuple(p for p in committed_files(of) if Path(p).name == POSTERIOR)


def all_committed(of: MeasuredSet, folder: Path) -> bool:
    """Whether the committed prediction holds every record of a folder."""
    before = committed(Path(of.records.folder))
    if before is None:
        return False
    inputs = records_in(at_hand(of.model_dump(mode="json")), folder).inputs
    return all(before.holds(one) for one in inputs.values())
