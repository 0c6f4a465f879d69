"""A measured series beside a column of a run, and beside a baseline."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.figures.series import measured_series
from analysis.measured.series_verdict import (
    COORDINATE,
    SeriesTerms,
    SeriesVerdict,
    series_verdicts,
)
from analysis.validation.series import (
    FITTED,
    SeriesError,
    beside,
    compare_series,
)
from pipeline.formats.series_file import read_series
from pipeline.results.saved_figure import save
from pipeline.store.files import write_text
from pipeline.store.provenance.sidecar import Origin
from pipeline.store.runs import Job, Needs, Numbers, run_record
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import close_to


@dataclass(frozen=True)
class SeriesComparison:
    """What the measurements are given along, and whether they were computed.

    Parameters
    ----------
    along : column of steps.csv that `at` refers to, such as time or displacement
    u, u_simulated, margin : see analysis.measured.series_verdict.SeriesTerms
    """

    along: str = "time"
    synthetic: bool = False
    u: float = 0.0
    u_simulated: float = 0.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        _ = self.terms  # checks

    @property
    def terms(self) -> SeriesTerms:
        """What a verdict rests on."""
        return SeriesTerms(self.u, self.u_simulated, self.margin)


def run_step(
    config: SeriesComparison,
    measured: Path,
    simulated: Path,
    out: Path,
    refined: Path | None = None,
) -> dict[str, Any]:
    """Compare; write the tables and the figure into `out`.

    Parameters
    ----------
    refined : a run with half the steps in space and time, which tells u_num
    """
    series, table = read_series(measured), _steps(simulated)
    known = (simulated / "run.json").is_file()
    key = str(run_record(simulated).get("key", "")) if known else ""
    along = config.along
    try:
        errors = compare_series(series, table, along)
        rows = beside(series, table, along)
        rows["u"] = rows["u"].where(rows["u"] > 0.0, config.u)
        finer = None if refined is None else beside(series, _steps(refined), along)
        verdicts = series_verdicts(rows, config.terms, finer)
    except ValueError as error:
        raise InputError(f"{error}{_unmarked(series, table)}") from error
    figure = measured_series(
        series, table, along, errors, [("simulated", key)], synthetic=config.synthetic
    )
    out.mkdir(parents=True, exist_ok=True)
    told = [_told(error, verdicts) for error in errors]
    _write(out / "series.csv", [{**t, "synthetic": config.synthetic} for t in told])
    _write(
        out / "series-verdicts.csv",
        [{**asdict(v), "verdict": v.verdict.value} for v in verdicts],
    )
    _write(out / "series-curve.csv", rows)
    save(figure, out / "series", Origin((key,) if key else ()))
    found = {f"rms_{e.quantity}_{e.part.replace(' ', '_')}": e.rms for e in errors}
    answers = {f"verdict_{v.name}": f"{v.verdict.value}: {v.why}" for v in verdicts}
    return {**found, **answers, "synthetic": config.synthetic}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Compare the file of a planned job with the simulation it names."""
    config = SeriesComparison(**job.config)
    return run_step(config, Path(job.paths[0]), needs["simulated"], out)


def _steps(run: Path) -> pd.DataFrame:
    path = run / "steps.csv"
    if not path.is_file():
        raise InputError(f"{path} does not exist: run morphtrack simulate first")
    return pd.read_csv(path)


def _unmarked(series: pd.DataFrame, steps: pd.DataFrame) -> str:
    """What the run has in place of coordinates that it lacks, and how it gets them."""
    lacking = [q for q in series["quantity"] if q not in steps and COORDINATE.match(q)]
    if not lacking:
        return ""
    stem, _, unit = lacking[0].rpartition("_")
    known = [str(c) for c in steps if COORDINATE.fullmatch(str(c))]
    of_stem = [c.rpartition("_")[2] for c in known if c.startswith(f"{stem}_")]
    if of_stem:
        right = of_stem[0]
        return f"; the run has {stem}_{right}: give {stem} in {right}, not {unit}"
    name = COORDINATE.sub(r"\g<marker>", lacking[0])
    near = close_to(name, {COORDINATE.sub(r"\g<marker>", c) for c in known})
    if near:
        return f"; {near}"
    return (
        f"; a file of rods names points to be recorded: `markers: {{{name}: [x, y]}}`"
    )


def _told(error: SeriesError, verdicts: list[SeriesVerdict]) -> dict[str, Any]:
    """A row of series.csv; what was fitted has no verdict."""
    of = COORDINATE.fullmatch(error.quantity)
    name = of["marker"] if of else error.quantity
    own = [v.verdict.value for v in verdicts if v.name == name and error.part != FITTED]
    return {**asdict(error), "verdict": own[0] if own else "-"}


def _write(path: Path, rows: pd.DataFrame | list[dict[str, Any]]) -> None:
    table = pd.DataFrame(rows)
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
