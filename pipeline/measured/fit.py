"""The fit of a measured set: inputs and model error from its fitted records.

Writes posterior.json; fit.csv, fitted and measured values; left_out.csv, every fitted
record as the others predict it; parameters.csv. A set without fitted records has
none but what is stated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.measured import prediction_verdicts
from analysis.measured.fit_with_model_error import (
    FittedRecords,
    Linear,
    Posterior,
    estimate_unfitted,
    growth,
    left_out,
    linear_about,
    posterior,
)
from analysis.measured.model_error import ModelError
from pipeline.measured.prediction_file import (
    POSTERIOR,
    shortened,
    write_posterior,
    write_rows,
)
from pipeline.measured.records import (
    Records,
    SetAtHand,
    at_hand,
    between_repeats,
    grouped,
    measured_rows,
    records_in,
    stacked,
)
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.terminal import InputError


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Fit a planned set."""
    del needs
    return run_step(at_hand(job.config["set"]), out)


def run_step(at: SetAtHand, out: Path) -> Numbers:
    """Fit; write what was found into `out`."""
    out.mkdir(parents=True, exist_ok=True)
    records = records_in(at, at.folder)
    chosen = _only_fitted(at, records)
    if not chosen.inputs:
        write_posterior(out / POSTERIOR, without_fit(at))
        return {"fitted_records": 0, "fitted_inputs": 0}
    at, fitted, unused = measured_and_predicted(at, chosen)
    after, near = posterior(fitted, at.errors)
    errors = estimate_unfitted(unused, after.inputs, after.errors)
    linear = [near]
    if len(unused.rows):
        linear.append(linear_about(unused, after.inputs))
    groups = left_out_groups(at, chosen)
    beyond = growth_of(at, linear, errors, groups)
    after = replace(after, errors=errors, growth=beyond, repeat_sd=dict(at.repeat_sd))
    write_posterior(out / POSTERIOR, after)
    rows = fitted.rows
    write_rows(out / "fit.csv", rows.assign(predicted=near.f))
    apart = left_out_rows(at, linear, unused, groups)
    write_rows(out / "left_out.csv", shortened(apart))
    write_rows(out / "parameters.csv", parameters(at, after))
    covered = prediction_verdicts.coverage(apart).value if len(apart) else float("nan")
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
            raise InputError(f"the fitted record {name} cannot be predicted: {reason}")
    chosen = {n: one for n, one in records.inputs.items() if at.is_fitted(n)}
    return replace(records, inputs=chosen)


def without_fit(at: SetAtHand) -> Posterior:
    """The posterior without a fit: inputs and model error as stated."""
    held = [i for i in at.inputs if i.u > 0]
    none = np.zeros((0, 0))
    return Posterior(
        at.start,
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
    the set with what repeats differ by; fitted rows; rows that the fit does not use but
    that give model error
    """
    first = {n: at.predict(at.start, one) for n, one in chosen.inputs.items()}
    rows, refused = measured_rows(at, chosen, first)
    for name, reason in refused.items():
        raise InputError(f"the fitted record {name} has no measured values: {reason}")
    at = replace(at, repeat_sd=between_repeats(at, chosen, rows))
    apart = [at.repeat_sd.get(family, 0.0) for family in rows["family"]]
    rows["u"] = np.hypot(rows["u"], apart)
    of = [at.of.quantities[family] for family in rows["family"]]
    used, unused = (
        FittedRecords(
            at.predict, chosen.inputs, rows[which], at.inputs, at.aims, at.of.blurred
        )
        for which in (
            [one.fitted for one in of],
            [one.estimate_model_error and not one.fitted for one in of],
        )
    )
    return at, used, unused


def left_out_groups(at: SetAtHand, chosen: Records) -> list[list[str]]:
    """Fitted records that are left out together: of a condition, or each by itself."""
    by = at.of.records.conditions
    if not by:
        return [[name] for name in chosen.inputs]
    groups: dict[str, list[str]] = {}
    for name, group in grouped(chosen.found, by).items():
        if name in chosen.inputs:
            groups.setdefault(group, []).append(name)
    return list(groups.values())


def growth_of(
    at: SetAtHand,
    linear: Sequence[Linear],
    errors: Mapping[str, ModelError],
    groups: Sequence[Sequence[str]],
) -> dict[str, ModelError]:
    """How model error grows along the distances of the set; nothing without any."""
    of = linear[0].of
    if not at.of.records.distances:
        return {}
    apart = {
        tuple(group): at.distance(
            of.records[group[0]], of.without(group).records.values()
        )
        for group in groups
        if determined_by_others(linear[0], group)
    }
    return growth(linear, errors, {k: far for k, far in apart.items() if far > 0.0})


def left_out_rows(
    at: SetAtHand,
    linear: Sequence[Linear],
    unused: FittedRecords,
    groups: Sequence[Sequence[str]],
) -> pd.DataFrame:
    """Every fitted record as those of other conditions predict it, and its values.

    A condition informs no part of its own interval: model error and its growth are of
    the others.

    There are none where no input is fitted here: a record whose parameters were fitted
    to it elsewhere and are held is not predicted without itself. Nor is a record
    without which the others tell nothing of some input.
    """
    tables, near = [], linear[0]
    for group in [one for one in groups if determined_by_others(near, one)]:
        after = left_out(near, at.errors, group)
        others = unused.without(group)
        errors = estimate_unfitted(others, after.inputs, after.errors)
        fewer = [one.without(group) for one in linear]
        rest = [one for one in groups if one is not group]
        beyond = growth_of(at, fewer, errors, rest)
        after = replace(after, errors=errors, growth=beyond)
        for name in group:
            record = near.of.records[name]
            table = at.prediction(record, after, others.records.values())
            measured = pd.concat([near.of.of(name), unused.of(name)])
            tables.append(prediction_verdicts.compared(measured, table))
    return stacked(tables, prediction_verdicts.COLUMNS)


def determined_by_others(near: Linear, group: Sequence[str]) -> bool:
    """Whether others tell of an input that a group depends on, and know all inputs.

    One that changes with none has its parameters held, fitted to it elsewhere.
    """
    own = near.of.rows["record"].isin(group).to_numpy()
    needed, told = (near.J[rows].any(axis=0) for rows in (own, ~own))
    prior = np.array([np.isfinite(i.u) for i in near.of.free], dtype=bool)
    return bool((needed & told).any() and (told | prior).all())


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
