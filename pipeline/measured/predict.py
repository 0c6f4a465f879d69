"""The prediction of a measured set: every record from its inputs, with intervals.

Writes prediction.csv and prediction.json. What was measured of the records is not
read: their inputs are, and what the fitted ones told.
"""

from dataclasses import replace
from pathlib import Path

from analysis.measured import prediction
from analysis.measured.posterior import Posterior
from pipeline.measured.fit import numerics
from pipeline.measured.prediction_file import (
    POSTERIOR,
    read_posterior,
    write_prediction,
)
from pipeline.measured.records import (
    REFUSALS,
    Records,
    SetAtHand,
    at_hand,
    kept_records,
    records_in,
    stacked,
)
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.terminal import InputError, one_line


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Predict the records of a job: those of its folder, and kept ones."""
    at = at_hand(job.config["set"])
    place = needs["fit"] / POSTERIOR if "fit" in needs else committed_posterior(job)
    folder, code = Path(job.tags["folder"]), str(job.identity["code"])
    return run_step(at, folder, read_posterior(place), job.key, out, code)


def committed_posterior(job: Job) -> Path:
    """The file among those of a job that holds what the fit told."""
    found = [Path(path) for path in job.paths if Path(path).name == POSTERIOR]
    if not found:
        raise InputError(f"{job.name}: neither a fit nor a {POSTERIOR} is at hand")
    return found[0]


def run_step(
    at: SetAtHand, folder: Path, after: Posterior, key: str, out: Path, code: str = ""
) -> Numbers:
    """Predict every record of a folder; of the shipped one, kept records too.

    Parameters
    ----------
    code : digest of the modules that do it
    """
    at = replace(at, repeat_sd=after.repeat_sd)
    records = records_in(at, folder)
    if folder == at.folder:
        kept = kept_records(at, records.found)
        records = Records(
            records.found,
            {**records.inputs, **kept.inputs},
            {**records.refused, **kept.refused},
        )
    tables, refused, notes = [], dict(records.refused), dict[str, str]()
    for name, one in records.inputs.items():
        try:
            tables.append(
                prediction.predicted(
                    at.predict,
                    one,
                    after,
                    at.inputs,
                    at.families(one.words),
                    numerics(at),
                )
            )
            notes[name] = tables[-1].attrs["note"]
        except REFUSALS as error:
            refused[name] = one_line(error)
    table = stacked(tables, prediction.COLUMNS)
    made = {n: one for n, one in records.inputs.items() if n not in refused}
    there = records.found if folder == at.folder else {}
    fitted = tuple(name for name in made if name in there and at.is_fitted(name))
    noted = {"notes": own} if (own := {n: t for n, t in notes.items() if t}) else {}
    said = {"key": key, "code": code, "fitted": fitted, "refused": refused, **noted}
    write_prediction(out, table, made, **said)
    return {"records": len(made), "rows": len(table), "refused": len(refused)}
