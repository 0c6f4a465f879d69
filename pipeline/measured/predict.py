"""The prediction of a measured set: every record from its inputs, with intervals.

Writes prediction.csv and prediction.json. It reads
inputs of the records and the result of the fit, but nothing that was measured of them.
"""

from dataclasses import replace
from pathlib import Path

from analysis.measured import prediction
from analysis.measured.fit_with_model_error import Posterior
from pipeline.measured.prediction_file import (
    FOLDER,
    POSTERIOR,
    read_posterior,
    write_prediction,
)
from pipeline.measured.records import (
    REFUSALS,
    SetAtHand,
    at_hand,
    held_out_records,
    records_in,
    stacked,
)
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.terminal import one_line


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Predict the records of a job: those of its folder, and held-out ones."""
    at = at_hand(job.config["set"])
    after = read_posterior(needs.get("fit", at.folder / FOLDER) / POSTERIOR)
    folder, code = Path(job.tags["folder"]), str(job.identity["code"])
    return run_step(at, folder, after, job.key, out, code)


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
    own = records_in(at, at.folder).inputs
    known = [one for name, one in own.items() if at.is_fitted(name)]
    if folder == at.folder:
        held_out = held_out_records(at, records.found)
        inputs = {**records.inputs, **held_out.inputs}
        refused = {**records.refused, **held_out.refused}
        records = replace(records, inputs=inputs, refused=refused)
    tables, refused, notes = [], dict(records.refused), dict[str, str]()
    for name, one in records.inputs.items():
        try:
            rows = at.prediction(one, after, known)
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
