"""The fit of a measured set: what its fitted records tell of inputs and model error.

Writes posterior.json; fit.csv, fitted beside measured; left_out.csv, every fitted
record as the others predict it; parameters.csv. A set without fitted records has
none but what is stated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.measured import judgement, prediction
from analysis.measured.fitted_records import FittedRecords, Linear
from analysis.measured.posterior import (
    Posterior,
    learnt_beside,
    left_out,
    posterior,
)
from pipeline.cases.set_records import (
    Records,
    SetAtHand,
    at_hand,
    between_repeats,
    grouped,
    measured_rows,
    records_in,
)
from pipeline.results.posterior_file import POSTERIOR, write_posterior
from pipeline.results.prediction_file import shortened, table_text
from pipeline.store.files import write_text
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError


def sound_set(config: Mapping[str, Any]) -> SetAtHand:
    """The set of a configuration, refused if it is not sound."""
    return at_hand(config["set"])


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Fit a planned set."""
    del needs
    return run_step(sound_set(job.config), out)


def run_step(at: SetAtHand, out: Path) -> Numbers:
    """Fit; write what was found into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    records = records_in(at, at.folder)
    chosen = _only_fitted(at, records)
    if not chosen.inputs:
        write_posterior(out / POSTERIOR, untold(at))
        return {"fitted_records": 0, "fitted_inputs": 0}
    at, fitted, beside = measured_and_predicted(at, chosen)
    after, near = posterior(fitted, at.inputs, at.errors, at.aims, at.of.blurred)
    errors = learnt_beside(beside, after.inputs, after.errors, at.aims)
    after = replace(after, errors=errors, repeat_sd=dict(at.repeat_sd))
    write_posterior(out / POSTERIOR, after)
    rows = fitted.rows
    _write(out / "fit.csv", rows.assign(predicted=near.f))
    groups = left_out_groups(at, chosen)
    apart = left_out_rows(at, fitted, beside, near, groups)
    _write(out / "left_out.csv", shortened(apart))
    _write(out / "parameters.csv", parameters(at, after))
    covered = judgement.coverage(apart).value if len(apart) else float("nan")
    values = {name: after.inputs[name] for name in after.fitted}
    return {
        "fitted_records": len(chosen.inputs),
        "fitted_inputs": len(after.fitted),
        "left_out_coverage": covered,
        **values,
    }


def _only_fitted(at: SetAtHand, records: Records) -> Records:
    """The records that the fit uses; one that cannot be read stops it."""
    for name, reason in records.refused.items():
        if at.is_fitted(name) or records.found[name].broken:
            raise InputError(f"{name}, which is fitted, cannot be predicted: {reason}")
    chosen = {n: one for n, one in records.inputs.items() if at.is_fitted(n)}
    return replace(records, inputs=chosen)


def untold(at: SetAtHand) -> Posterior:
    """What is known without a fit: inputs as stated, model error as stated."""
    held = [i for i in at.inputs if i.u > 0]
    none = np.zeros((0, 0))
    return Posterior(
        {i.name: i.value for i in at.inputs},
        (),
        tuple(i.name for i in held),
        np.array([i.u for i in held]),
        none,
        none,
        np.zeros((0, len(held))),
        at.errors,
    )


def measured_and_predicted(
    at: SetAtHand, chosen: Records
) -> tuple[SetAtHand, FittedRecords, FittedRecords]:
    """The rows that are fitted, with what repeats of a test differ by.

    Returns
    -------
    the set with what repeats differ by; rows that are fitted; rows that are not, from
    which model error is learnt all the same
    """
    start = {i.name: i.value for i in at.inputs}
    first = {n: at.predict(start, one) for n, one in chosen.inputs.items()}
    rows, refused = measured_rows(at, chosen, first)
    for name, reason in refused.items():
        raise InputError(f"{name}, which is fitted, has no measured values: {reason}")
    at = replace(at, repeat_sd=between_repeats(at, chosen, rows))
    apart = [at.repeat_sd.get(family, 0.0) for family in rows["family"]]
    rows["u"] = np.hypot(rows["u"], apart)
    of = [at.of.quantities[family] for family in rows["family"]]
    used, learnt = (
        FittedRecords(at.predict, chosen.inputs, rows[which])
        for which in (
            [one.fitted for one in of],
            [one.learnt and not one.fitted for one in of],
        )
    )
    return at, used, learnt


def left_out_groups(at: SetAtHand, chosen: Records) -> list[list[str]]:
    """Fitted records that are left out together: sisters, or each by itself."""
    by = at.of.records.sisters
    if not by:
        return [[name] for name in chosen.inputs]
    groups: dict[str, list[str]] = {}
    for name, group in grouped(chosen.found, by).items():
        if name in chosen.inputs:
            groups.setdefault(group, []).append(name)
    return list(groups.values())


def left_out_rows(
    at: SetAtHand,
    of: FittedRecords,
    beside: FittedRecords,
    near: Linear,
    groups: Sequence[Sequence[str]],
) -> pd.DataFrame:
    """Every fitted record as those of other groups predict it, beside its values.

    There are none where no input is fitted here: a record whose parameters were fitted
    to it elsewhere and are held is not predicted without itself. Nor is a record
    without which the others tell nothing of some input.
    """
    tables = [pd.DataFrame(columns=list(judgement.COLUMNS))]
    for group in [one for one in groups if told_by_others(of, near, one)]:
        after = left_out(of, near, at.inputs, at.errors, at.aims, group)
        others = beside.without(group)
        errors = learnt_beside(others, after.inputs, after.errors, at.aims)
        after = replace(after, errors=errors)
        for name in group:
            record = of.records[name]
            families = at.families(record.words)
            table = prediction.predicted(
                at.predict, record, after, at.inputs, families, numerics(at)
            )
            measured = pd.concat([of.of(name), beside.of(name)])
            tables.append(judgement.compared(measured, table))
    some = [table for table in tables if len(table)]
    return pd.concat(some or tables[:1], ignore_index=True)


def told_by_others(of: FittedRecords, near: Linear, group: Sequence[str]) -> bool:
    """Whether a group changes with some fitted input, and records beside it with all.

    One that changes with none has its parameters held, fitted to it elsewhere.
    """
    own = of.rows["record"].isin(group).to_numpy()
    J = near.J[~own]
    return bool(near.J[own].any() and len(J) and J.any(axis=0).all())


def numerics(at: SetAtHand) -> prediction.Numerics:
    """How inputs go through the model of a set."""
    return prediction.Numerics(at.refined, at.of.order, at.of.draws)


def parameters(at: SetAtHand, after: Posterior) -> pd.DataFrame:
    """Every input: before and after the fit, u, unit, where it is from."""
    u = dict(
        zip(after.fitted, np.sqrt(np.diag(after.noise + after.model)), strict=True)
    )
    rows = [
        {
            "input": name,
            "before": one.value,
            "u_before": float("nan") if one.u is None else one.u,
            "value": after.inputs[name],
            "u": float(u.get(name, one.u or 0.0)),
            "unit": one.unit,
            "fitted": one.fitted,
            "origin": one.origin,
            "source": one.source,
        }
        for name, one in at.of.inputs.items()
    ]
    columns = ["input", "before", "u_before", "value", "u", "unit", "fitted"]
    return pd.DataFrame(rows, columns=[*columns, "origin", "source"])


def _write(path: Path, table: pd.DataFrame) -> None:
    write_text(path, table_text(table))
