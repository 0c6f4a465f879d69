"""The prediction of a measured set: every record from its inputs, with intervals.

Writes prediction.csv and prediction.json. It reads
inputs of the records and the result of the fit, but nothing that was measured of them.
"""

from dataclasses import replace
from pathlib import Path

from analysis.measured import prediction
from analysis.measured.posterior import Posterior
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
    held_out_records,
    records_in,
    stacked,
)
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.terminal import InputError, one_line


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Predict the records of a job: those of its folder, and held-out ones."""
    at = at_hand(job.config["set"])
    place = needs["fit"] / POSTERIOR if "fit" in needs else committed_posterior(job)
    folder, code = Path(job.tags["folder"]), str(job.identity["code"])
    return run_step(at, folder, read_posterior(place), job.key, out, code)


def committed_posterior(job: Job) -> Path:
    """The file of a job that has the result of the fit."""
    found = [Path(path) for path in job.paths if Path(path).name == POSTERIOR]
    if not found:
        raise InputError(f"{job.name} has no fit and no {POSTERIOR}: fit the set")
    return found[0]


def run_step(
    at: SetAtHand, folder: Path, after: Posterior, key: str, out: Path, code: str = ""
) -> Numbers:
    """Predict every record of a folder; of the shipped one, held-out records too.

    Parameters
    ----------
    code : digest of the modules that do it
    """
    at = replace(at, repeat_sd=after.repeat_sd)
    records = records_in(at, folder)
    if folder == at.folder:
        held_out = held_out_records(at, records.found)
        records = Records(
            records.found,
            {**records.inputs, **held_out.inputs},
            {**records.refused, **held_out.refused},
        )
    tables, refused, notes = [], dict(records.refused), dict[str, str]()
    for name, one in records.inputs.items():
        families = at.families(one.words)
        try:
            rows = prediction.predicted(
                at.predict, one, after, at.inputs, families, at.numerics
            )
            tables.append(rows)
            notes[name] = rows.attrs["note"]
        except REFUSALS as error:
            refused[name] = one_line(error)
    table = stacked(tables, prediction.COLUMNS)
    made = {n: one for n, one in records.inputs.items() if n not in refused}
    there = records.found if folder == at.folder else {}
    fitted = tuple(name for name in made if name in there and at.is_fitted(name))
    more = {"key": key, "code": code, "fitted": fitted, "refused": refused}
    if any(notes.values()):
        more["notes"] = {name: note for name, note in notes.items() if note}
    write_prediction(out, table, made, **more)
    return {"records": len(made), "rows": len(table), "refused": len(refused)}
