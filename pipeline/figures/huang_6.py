"""Fig. 6 of [Hu20]: computing time of the star robot by step length and ground."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.huang_2020 import computing_times
from analysis.figures.timings import draw_spread
from pipeline.cases.rod_timing import MOST
from pipeline.results.rod_run import read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row

CAPTION = """
**Computing time of the star robot by step length**, after Fig. 6 of [Hu20]: processor
time of one thread over simulated time, without unit, by the step $h$ (ms), a series a
ground; $N$ = 84 nodes, {{ rows[0].case.duration | sig(2) }} s simulated each, the least
of {{ rows[0].case.repeats }} repeats on {{ rows[0].result.machine }}, bars up to the
largest; the median of largest over least is {{ spread | sig(2) }}. Dashed: real time;
cross: where [Hu20] reaches it, on another processor. As in print, the time falls
with the step up to {{ least_h | times(1000) | sig(2) }} ms; [Hu20] finds no solution
from 10 ms on, ours one on every ground, in steps that are cut and repeated where they
must be: at its best from there on {{ longer }} of {{ grounds }} take longer than at {{
least_h | times(1000) | sig(2) }} ms.
"""

NONE_FOUND = 0.01  # s, the step from which on [Hu20] finds no solution


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case computing_time."""
    row = only_row(rows, "the case computing_time")
    measured, key = read_table(row).drop(columns="step"), key_of_run(row.simulated)
    slowest = [name for name in measured if str(name).endswith(MOST)]
    table, most = (
        one.melt(id_vars="h", var_name="scenario", value_name=value)
        for one, value in (
            (measured.drop(columns=slowest), "ratio"),
            (measured[["h", *slowest]], "most"),
        )
    )
    table["most"] = most["most"]
    least = int(table["ratio"].to_numpy().argmin())
    spread = float((table["most"] / table["ratio"]).median())
    said = {"least_h": table["h"].iloc[least], "spread": spread} | _long_steps(table)
    figure = computing_times(table, [(row.label, key)])
    draw_spread(figure.axes[0], table)
    return DrawnFigure(figure, {"times": table}, [key], said=said)


def _long_steps(table: pd.DataFrame) -> dict[str, int]:
    """On how many grounds steps beyond those of [Hu20] are slower than the best."""
    times = table.pivot_table("ratio", "scenario", "h")
    h, each = times.columns.to_numpy(np.float64), times.to_numpy(np.float64)
    best = each[:, h == table["h"].iloc[int(table["ratio"].to_numpy().argmin())]]
    longer = (each[:, h >= NONE_FOUND] > best).all(axis=1)
    return {"longer": int(longer.sum()), "grounds": len(times)}
