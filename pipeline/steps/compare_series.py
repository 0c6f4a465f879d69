"""A measured series compared with a column of a run and with a baseline."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.comparison.compare_series import (
    FITTED,
    SeriesError,
    compare_series,
    with_simulated,
)
from analysis.figures.measured_series import measured_series
from analysis.measured.prediction_verdicts import (
    COORDINATE,
    SeriesVerdict,
    series_verdicts,
)
from pipeline.io.measured_motions import read_series
from pipeline.runs.atomic_files import write_table
from pipeline.runs.run_directory import Job, Needs, Numbers, record_or_empty
from pipeline.runs.sidecars import Origin
from pipeline.steps.figure import save
from pipeline.steps.settings import SeriesComparison
from pipeline.terminal import InputError, close_to, file_of_step


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
    refined : a run with half the steps in space and time, for u_num
    """
    series, table = read_series(measured), _steps(simulated)
    key = str(record_or_empty(simulated).get("key", ""))
    along = config.along
    try:
        errors = compare_series(series, table, along)
        rows = with_simulated(series, table, along)
        rows["u"] = rows["u"].where(rows["u"] > 0.0, config.u)
        finer = (
            None if refined is None else with_simulated(series, _steps(refined), along)
        )
        verdicts = series_verdicts(rows, config, finer)
    except ValueError as error:
        raise InputError(f"{error}{_unmarked(series, table)}") from error
    figure = measured_series(
        series, table, along, errors, [("simulated", key)], synthetic=config.synthetic
    )
    out.mkdir(parents=True, exist_ok=True)
    rows_of_errors = pd.DataFrame([_row(error, verdicts) for error in errors])
    judged = [{**asdict(v), "verdict": v.verdict.value} for v in verdicts]
    write_table(out / "series.csv", rows_of_errors.assign(synthetic=config.synthetic))
    write_table(out / "series-verdicts.csv", pd.DataFrame(judged))
    write_table(out / "series-curve.csv", rows)
    save(figure, out / "series", Origin((key,) if key else ()))
    found = {f"rms_{e.quantity}_{e.part.replace(' ', '_')}": e.rms for e in errors}
    answers = {f"verdict_{v.name}": f"{v.verdict.value}: {v.why}" for v in verdicts}
    return {**found, **answers, "synthetic": config.synthetic}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Compare the file of a job with the simulation it names."""
    config = SeriesComparison(**job.config)
    measured, refined = Path(job.paths[0]), needs.get("refined")
    return run_step(config, measured, needs["simulated"], out, refined)


def _steps(run: Path) -> pd.DataFrame:
    return pd.read_csv(file_of_step(run / "steps.csv", "simulate"))


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
    return f"; to record a point, add `markers: {{{name}: [x, y]}}` to the rod file"


def _row(error: SeriesError, verdicts: list[SeriesVerdict]) -> dict[str, Any]:
    """A row of series.csv; what was fitted has no verdict."""
    of = COORDINATE.fullmatch(error.quantity)
    name = of["marker"] if of else error.quantity
    own = [v.verdict.value for v in verdicts if v.name == name and error.part != FITTED]
    return {**asdict(error), "verdict": own[0] if own else "-"}
