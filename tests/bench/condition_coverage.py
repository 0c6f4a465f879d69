"""Coverage of the measured sets where whole conditions are left out.

    python -m tests.bench.condition_coverage           # of the committed tables
    python -m tests.bench.condition_coverage ranges    # quarters of temperature too

A condition is a load, a level, a design or a mounting. The other conditions fit the
model, its error and its growth, and predict the condition. Printed: records and the
share of rows inside 95 %, each record counted once; in brackets, the same of intervals
as they are at fitted conditions, at most three deviations of repeats or twice the aim.
`ranges` leaves out a quarter of the temperatures of all lattices at a time.
"""

import sys
from dataclasses import replace
from io import BytesIO

import numpy as np
import pandas as pd

from analysis.measured.posterior import left_out, linear_about
from analysis.measured.prediction import predicted
from analysis.measured.prediction_verdicts import compared, coverage
from pipeline.measured.fit import left_out_groups, measured_and_predicted
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


def by_temperature(name: str = "lce_lattices") -> None:
    """Leave out a quarter of the temperatures of all records, in turn."""
    at = opened(name)
    records = records_in(at, at.folder)
    after = read_posterior(at.folder / FOLDER / POSTERIOR)
    chosen = {n: one for n, one in records.inputs.items() if at.is_fitted(n)}
    at, of, _ = measured_and_predicted(at, replace(records, inputs=chosen))
    near = linear_about(of, after.inputs)
    for places in np.array_split(np.unique(of.rows["at"]), QUARTERS):
        kept = ~of.rows["at"].isin(places).to_numpy()
        some = {key: getattr(near, key)[kept] for key in ("f", "J", "S", "own")}
        others = replace(of, rows=of.rows[kept])
        fitted = left_out(others, replace(near, **some), after.errors, ())
        tables = []
        for record in chosen.values():
            families = at.families(record.words)
            table = predicted(
                at.predict, record, fitted, at.inputs, families, at.numerics
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
    if "ranges" in sys.argv[1:]:
        by_temperature()


if __name__ == "__main__":
    main()
