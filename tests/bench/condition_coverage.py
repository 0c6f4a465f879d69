"""Coverage of the measured sets where whole conditions are left out.

    python -m tests.bench.condition_coverage           # of the committed tables
    python -m tests.bench.condition_coverage more      # mountings, temperatures too

A condition is a load, a level, a design or a mounting. The other conditions fit the
model, its error and its growth, and predict the condition. Printed: records and the
share of rows inside 95 %, each record counted once; in brackets, the same of intervals
as they are at fitted conditions, at most three deviations of repeats or twice the aim.
`more` leaves out all levels of a mounting of the arm, and a quarter of the temperatures
of all lattices, in some four minutes of an idle processor.
"""

import sys
from dataclasses import replace
from io import BytesIO
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.measured.fit_with_model_error import (
    FittedRecords,
    Linear,
    Posterior,
    left_out,
    linear_about,
)
from analysis.measured.prediction import predicted
from analysis.measured.prediction_verdicts import compared, coverage
from pipeline.measured.fit import (
    left_out_groups,
    left_out_rows,
    measured_and_predicted,
)
from pipeline.measured.prediction_file import (
    FOLDER,
    POSTERIOR,
    read_posterior,
    shipped_as,
    unpacked,
)
from pipeline.measured.records import SetAtHand, at_hand, records_in
from pipeline.measured.set_file import read_set, set_names

QUARTERS = 4


def opened(name: str) -> SetAtHand:
    """A shipped set with what its repeats differ by."""
    at = at_hand(read_set(name).model_dump(mode="json"))
    after = read_posterior(at.folder / FOLDER / POSTERIOR)
    return replace(at, repeat_sd=after.repeat_sd)


def bounded(at: SetAtHand, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with intervals that are never wider than `Family.widest`."""
    inputs, most = records_in(at, at.folder).inputs, np.zeros(len(rows))
    for i, (record, quantity, value) in enumerate(
        rows[["record", "quantity", "predicted"]].itertuples(index=False)
    ):
        family = at.families(inputs[record].words)(quantity)
        most[i] = family.widest(np.array([value]))[0]
    half = np.minimum(rows["half_width"], most)
    return rows.assign(half_width=half, inside95=rows["E"].abs() <= half)


def line(name: str, condition: str, rows: pd.DataFrame, near: pd.DataFrame) -> str:
    """A row of the table."""
    far, narrow = coverage(rows), coverage(near)
    return (
        f"{name} | {condition} | {far.records} | {far.value:.0%} "
        f"({far.low:.0%} to {far.high:.0%}) | [{narrow.value:.0%}]"
    )


def by_condition(name: str) -> None:
    """Print what a set's committed left_out.csv says of each condition and of all."""
    at = opened(name)
    path = shipped_as(at.folder / FOLDER / "left_out.csv")
    if not path.is_file():
        print(f"{name} | nothing is fitted")
        return
    rows = pd.read_csv(BytesIO(unpacked(path)), dtype={"record": str})
    records = records_in(at, at.folder)
    chosen = {n: one for n, one in records.inputs.items() if at.is_fitted(n)}
    near = bounded(at, rows)
    for group in left_out_groups(at, replace(records, inputs=chosen)):
        own = rows["record"].isin(group)
        if own.any():
            print(line(name, ", ".join(group), rows[own], near[own]))
    print(line(name, "all", rows, near))
    for quantity, own in rows.groupby(
        rows["quantity"].str.replace(r"\d+", "N", regex=True)
    ):
        print(line(name, str(quantity), own, near.loc[own.index]), flush=True)


class Fitted(NamedTuple):
    """A set at its committed fit: its rows, those that the fit does not use."""

    at: SetAtHand
    after: Posterior
    of: FittedRecords
    unused: FittedRecords
    near: Linear


def fitted(name: str) -> Fitted:
    """Predict the fitted records of a set with all slopes."""
    at = opened(name)
    records = records_in(at, at.folder)
    after = read_posterior(at.folder / FOLDER / POSTERIOR)
    chosen = {n: one for n, one in records.inputs.items() if at.is_fitted(n)}
    at, of, unused = measured_and_predicted(at, replace(records, inputs=chosen))
    return Fitted(at, after, of, unused, linear_about(of, after.inputs))


def by_mounting(name: str = "tendon_tentacle") -> None:
    """Leave out all levels of a mounting, in turn."""
    at, _, of, unused, near = fitted(name)
    groups: dict[str, list[str]] = {}
    for record, one in of.records.items():
        groups.setdefault(one.words["mounting"], []).append(record)
    rows = left_out_rows(at, [near], unused, [*groups.values()])
    narrow = bounded(at, rows)
    for mounting, group in groups.items():
        own = rows["record"].isin(group)
        print(line(name, f"mounting {mounting}", rows[own], narrow[own]), flush=True)


def by_temperature(name: str = "lce_lattices") -> None:
    """Leave out a quarter of the temperatures of all records, in turn."""
    at, after, of, _, near = fitted(name)
    for places in np.array_split(np.unique(of.rows["at"]), QUARTERS):
        kept = ~of.rows["at"].isin(places).to_numpy()
        some = {key: getattr(near, key)[kept] for key in ("f", "J", "S", "own")}
        others = replace(near, of=replace(of, rows=of.rows[kept]), **some)
        fewer = left_out(others, after.errors, ())
        tables = []
        for record in of.records.values():
            families = at.families(record.words)
            table = predicted(
                at.predict, record, fewer, at.inputs, families, at.numerics
            )
            tables.append(compared(of.rows[~kept], table))
        rows = pd.concat(tables, ignore_index=True)
        words = f"{places[0]:g} to {places[-1]:g} C"
        print(line(name, words, rows, bounded(at, rows)), flush=True)


def main() -> None:
    """Print the table."""
    print("set | condition left out | records | inside 95 % | [bounded]")
    for name in set_names():
        by_condition(name)
    if "more" in sys.argv[1:]:
        by_mounting()
        by_temperature()


if __name__ == "__main__":
    main()
