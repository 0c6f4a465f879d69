"""Fig. 6 of [Hu20]: computing time of the star robot by step length and ground."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import computing_times
from pipeline.results.rod_run import only, read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run

CAPTION = """
**Computing time of the star robot by step length**, after Fig. 6 of [Hu20]: processor
time of one thread over simulated time, without unit, by the step $h$ (ms), a series a
ground; $N$ = 84 nodes, {{ rows[0].case.duration | sig(2) }} s simulated each, the least
of {{ rows[0].case.repeats }} repeats. Dashed: real time; cross: where [Hu20] reaches
it, on another processor. As in print, the time falls with the step up to {{ least_h |
times(1000) | sig(2) }} ms; [Hu20] finds no solution from 10 ms on, ours takes longer
there, as steps are cut and repeated.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case computing_time."""
    row = only(list(rows), "computing_time")
    measured, key = read_table(row).drop(columns="step"), key_of_run(row.simulated)
    table = measured.melt(id_vars="h", var_name="scenario", value_name="ratio")
    said = {"least_h": table["h"].iloc[int(table["ratio"].to_numpy().argmin())]}
    figure = computing_times(table, [(row.label, key)])
    return DrawnFigure(figure, {"times": table}, [key], said=said)
