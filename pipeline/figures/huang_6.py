"""Fig. 6 of [Hu20]: computing time of the star robot by step length and ground."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import computing_times
from pipeline.results.rod_run import only, read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case computing_time."""
    row = only(list(rows), "computing_time")
    measured, key = read_table(row).drop(columns="step"), key_of_run(row.simulated)
    table = measured.melt(id_vars="h", var_name="scenario", value_name="ratio")
    return DrawnFigure(
        computing_times(table, [(row.label, key)]), {"times": table}, [key]
    )
