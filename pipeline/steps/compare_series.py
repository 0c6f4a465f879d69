"""A measured series beside a column of a run, and beside a baseline."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.figures.series import measured_series
from analysis.validation.series import beside, compare_series
from pipeline.formats.series_file import read_series
from pipeline.results.saved_figure import save
from pipeline.store.files import read_json, write_text
from pipeline.store.provenance.sidecar import Origin
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError


@dataclass(frozen=True)
class SeriesComparison:
    """What the measurements are given along, and whether they were computed.

    Parameters
    ----------
    along : column of steps.csv that `at` refers to, such as time or displacement
    """

    along: str = "time"
    synthetic: bool = False


def run_step(
    config: SeriesComparison, measured: Path, simulated: Path, out: Path
) -> dict[str, Any]:
    """Compare; write the table and the figure into `out`."""
    series = read_series(measured)
    steps = simulated / "steps.csv"
    if not steps.is_file():
        raise InputError(f"{steps} does not exist: run morphtrack simulate first")
    table = pd.read_csv(steps)
    record = simulated / "run.json"
    key = str(read_json(record).get("key", "")) if record.is_file() else ""
    try:
        errors = compare_series(series, table, config.along)
    except ValueError as error:
        raise InputError(str(error)) from error
    runs = [("simulated", key)]
    figure = measured_series(
        series, table, config.along, errors, runs, synthetic=config.synthetic
    )
    out.mkdir(parents=True, exist_ok=True)
    rows = [{**asdict(e), "synthetic": config.synthetic} for e in errors]
    _write(out / "series.csv", pd.DataFrame(rows))
    _write(out / "series-curve.csv", beside(series, table, config.along))
    save(figure, out / "series", Origin((key,) if key else ()))
    found = {f"rms_{e.quantity}_{e.part.replace(' ', '_')}": e.rms for e in errors}
    return {**found, "synthetic": config.synthetic}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Compare the file of a planned job with the simulation it names."""
    config = SeriesComparison(**job.config)
    return run_step(config, Path(job.paths[0]), needs["simulated"], out)


def _write(path: Path, table: pd.DataFrame) -> None:
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
