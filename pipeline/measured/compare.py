"""Measured records compared with their prediction: errors, verdicts, coverage.

Writes measured.csv, verdict.csv and verdict.json, and what a figure of them shows:
prediction.csv, left_out.csv, parameters.csv, unfitted.csv.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.measured import prediction_verdicts
from analysis.measured.predicted_quantities import Quantities, RecordInputs
from analysis.measured.prediction import COLUMNS, Family
from pipeline.io.record_files import FoundRecord
from pipeline.measured.prediction_file import (
    FOLDER,
    POSTERIOR,
    Prediction,
    committed,
    read_posterior,
    read_prediction,
    shipped_as,
    unpacked,
    write_rows,
)
from pipeline.measured.records import (
    Records,
    SetAtHand,
    at_hand,
    fitted_rows,
    held_out_records,
    measured_rows,
    records_in,
    stacked,
)
from pipeline.runs.atomic_files import write_json, write_text
from pipeline.runs.run_directory import Job, Needs, Numbers

FITTED, PREDICTED, LEFT_OUT = "fitted", "predicted", "left out"
OF_FIT = ("left_out.csv", "parameters.csv")
DESCRIPTION = {"title", "source", "licence", "variants_tried", "k", "unfitted"}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Compare the records of a job."""
    at, fit = at_hand(job.config["set"]), needs.get("fit")
    place = at.folder / FOLDER if fit is None else fit
    at = replace(at, repeat_sd=read_posterior(place / POSTERIOR).repeat_sd)
    made = read_prediction(needs["predicted"]) if "predicted" in needs else None
    return run_step(at, Path(job.tags["folder"]), made, out, place)


def run_step(
    at: SetAtHand, folder: Path, made: Prediction | None, out: Path, fit: Path
) -> Numbers:
    """Compare; write the tables into `out`.

    Parameters
    ----------
    made : a prediction of the folder's records, for those not predicted before
    fit : folder of what the fit left
    """
    out.mkdir(parents=True, exist_ok=True)
    before = committed(at.folder)
    records = records_in(at, folder)
    by, unpredicted = choose(records.inputs, before, made)
    predicted = stacked([one.of(name) for name, one in by.items()], COLUMNS)
    series = {name: one.quantities(name) for name, one in by.items()}
    rows, unread = measured_rows(at, records, series)
    read = {name: own for name, own in series.items() if name not in unread}
    table = prediction_verdicts.compared(rows, predicted)
    for name in OF_FIT:
        if (there := shipped_as(fit / name)).is_file():
            write_text(out / name, unpacked(there).decode())
    write_rows(out / "measured.csv", table)
    whole = before or made
    others = whole.table[~whole.table["record"].isin(by)] if whole else predicted[:0]
    shown = pd.concat(
        [predicted, others], ignore_index=True
    )  # of all predicted records
    write_rows(out / "prediction.csv", shown)
    if at.of.unfitted:
        write_rows(out / "unfitted.csv", unfitted_rows(at, records, list(read)))
    own = records_in(at, at.folder)
    shipped = {**own.inputs, **held_out_records(at, own.found).inputs}
    whose = members(at, shown, {**shipped, **records.inputs})
    apart = out / "left_out.csv" if folder == at.folder else None
    fitted = fitted_among(at, folder, by, table, before)
    parts = parts_of(table, [*fitted], apart)
    inputs = {PREDICTED: records.inputs, FITTED: records.inputs, LEFT_OUT: shipped}
    judged = [
        prediction_verdicts.judged(rows, by_record(at, inputs[part]), at.of.k).assign(
            part=part
        )
        for part, rows in parts.items()
        if len(rows)
    ]
    verdicts = stacked(judged, ())
    write_rows(out / "verdict.csv", verdicts)
    refused = {**records.refused, **unpredicted, **unread}
    placing = at.experiment.placing
    placed = {name: placing(records.found[name], own) for name, own in read.items()}
    verdict = {
        "set": at.of.name,
        **at.of.model_dump(include=DESCRIPTION),
        "families": families_of(at, whose),
        "groups": shown_groups(at, {**own.found, **records.found}, whose),
        "prediction": _prediction_of(before, made),
        "compared_with": {n: by[n].key for n in read},
        "inside": inside(parts),
        "placed": {name: one for name, one in placed.items() if one},
        "refused": refused,
        "fitted": [*fitted],
        "values_of": fitted,
        "nearer": prediction_verdicts.nearer(table, shown) if len(table) else {},
        "verdicts": verdicts.to_dict("records"),
    }
    write_json(out / "verdict.json", verdict)
    return numbers(verdicts, table, refused)


def _prediction_of(
    before: Prediction | None, made: Prediction | None
) -> dict[str, Any]:
    """Which prediction was compared, and whether one made now is the committed one."""
    of = before or made
    found = {
        "key": of.key if of else "",
        "sha256": of.sha256 if of else "",
        "code": of.code if of else "",
        "committed": before is not None,
        "notes": dict(of.notes) if of else {},
    }
    if before and made:
        found["reproduced"] = reproduced(before, made)
    return found


def unfitted_rows(
    at: SetAtHand, records: Records, names: Sequence[str]
) -> pd.DataFrame:
    """Distances of records from models of which nothing is fitted, by model."""
    tables = []
    for model, one in at.of.unfitted.items():
        inputs = at.start | one.inputs
        series = {name: at.predict(inputs, records.inputs[name]) for name in names}
        predicted = [
            pd.DataFrame({"record": n, "quantity": q, "at": s.at, "value": s.value})
            for n, own in series.items()
            for q, s in own.items()
        ]
        rows, _ = measured_rows(at, records, series)
        rows = rows[rows["family"] == one.of]
        if len(rows):
            both = rows.merge(pd.concat(predicted), on=["record", "quantity", "at"])
            both = both.assign(E=both["value"] - both["measured"])
            tables.append(prediction_verdicts.distances(both).assign(model=model))
    return stacked(tables, ("record", "at", "rms", "model"))


def choose(
    inputs: Mapping[str, Any], before: Prediction | None, made: Prediction | None
) -> tuple[dict[str, Prediction], dict[str, str]]:
    """Of each record its prediction, or why there is none.

    That which was committed before is taken, if its inputs are the same.
    """
    by: dict[str, Prediction] = {}
    refused = {}
    for name, one in inputs.items():
        holding = [p for p in (before, made) if p is not None and p.holds(one)]
        if holding:
            by[name] = holding[0]
        else:
            reason = made.refused.get(name) if made else None
            refused[name] = reason or "it has no prediction from these inputs"
    return by, refused


def reproduced(before: Prediction, made: Prediction) -> float:
    """Largest difference of a value predicted again, over its half width."""
    key = ["record", "quantity", "at"]
    both = before.table.merge(made.table, on=key, suffixes=("", "_again"))
    apart = (both["value_again"] - both["value"]).abs()
    return float((apart / both["half_width"].clip(lower=1e-300)).max())


def fitted_among(
    at: SetAtHand,
    folder: Path,
    by: Mapping[str, Prediction],
    table: pd.DataFrame,
    before: Prediction | None,
) -> dict[str, str]:
    """Records that the fit used, and what they are called in the set's own folder.

    In another folder their values tell: a name may be old or new there.
    """
    if folder == at.folder or table.empty:
        return {name: name for name, one in by.items() if name in one.fitted}

    def predicted(one: RecordInputs) -> Quantities:
        if before is not None and before.holds(one):
            return before.quantities(one.name)
        return at.predict(at.start, one)

    return prediction_verdicts.values_of(table, fitted_rows(at, predicted))


def parts_of(
    table: pd.DataFrame, fitted: Sequence[str], apart: Path | None
) -> dict[str, pd.DataFrame]:
    """Rows of predicted records, of fitted ones, of those left out of their fit.

    Parameters
    ----------
    apart : file of the last, where the shipped records are compared
    """
    own = table["record"].isin(fitted)
    parts = {PREDICTED: table[~own], FITTED: table[own]}
    if apart is not None and apart.is_file():
        parts[LEFT_OUT] = pd.read_csv(apart, dtype={"record": str})
    return parts


def inside(parts: Mapping[str, pd.DataFrame]) -> dict[str, float]:
    """Of each record that was predicted without itself, the share of rows inside."""
    known = [parts[name] for name in (PREDICTED, LEFT_OUT) if name in parts]
    shares = [prediction_verdicts.shares_inside(rows) for rows in known]
    return {str(name): float(v) for own in shares for name, v in own.items()}


def families_of(
    at: SetAtHand, whose: Mapping[str, list[str]]
) -> list[dict[str, object]]:
    """What a figure needs of each family."""
    return [
        {"name": name, "rows": one.rows or re.escape(name), "records": whose[name]}
        | one.model_dump(include={"unit", "along", "aim", "about"})
        for name, one in at.of.quantities.items()
    ]


def shown_groups(
    at: SetAtHand, found: Mapping[str, FoundRecord], whose: Mapping[str, list[str]]
) -> dict[str, str]:
    """The group of repeats of each record, by name; alone where no input groups it."""
    by = at.of.records.repeats
    known = {**at.of.records.held_out, **{n: r.inputs for n, r in found.items()}}
    names = dict.fromkeys(name for own in whose.values() for name in own)
    return {
        name: "|".join(_with_unit(k, known[name].get(k, "")) for k in by) or name
        for name in names
    }


def _with_unit(key: str, value: str) -> str:
    """A word of a record; a number with the unit that ends its key: mass_g, "52 g"."""
    name, _, unit = key.rpartition("_")
    return f"{value} {unit}" if name and value.isdecimal() else value


def members(
    at: SetAtHand, shown: pd.DataFrame, inputs: Mapping[str, RecordInputs]
) -> dict[str, list[str]]:
    """By family, the records that have quantities of it."""
    found: dict[str, list[str]] = {name: [] for name in at.of.quantities}
    for record, own in shown.groupby("record", sort=False)["quantity"]:
        family = at.families(inputs[str(record)].words)
        for name in {family(quantity).name for quantity in own.unique()}:
            found[name].append(str(record))
    return found


def by_record(
    at: SetAtHand, inputs: Mapping[str, RecordInputs]
) -> Callable[[str, str], Family]:
    """The family of a record's quantity."""
    return lambda record, quantity: at.families(inputs[record].words)(quantity)


def numbers(
    verdicts: pd.DataFrame, table: pd.DataFrame, refused: Mapping[str, str]
) -> Numbers:
    """What a run says of itself."""
    found: Numbers = {"rows": len(table), "refused": len(refused)}
    for row in verdicts.to_dict("records"):
        name = f"{row['part'].replace(' ', '_')}.{row['quantity']}"
        found |= {f"{name}.{of}": row[of] for of in ("verdict", "rms_E", "coverage")}
    return found
