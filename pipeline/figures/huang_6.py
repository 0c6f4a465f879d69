"""Fig. 6 of [Hu20]: computing time of the star robot by step length and ground."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import computing_times
from pipeline.figures.shown import Drawn, Row, key_of_run
from pipeline.rod_run import only, read_table


def draw(rows: Sequence[Row]) -> Drawn:
    """One row: the case computing_time."""
    row = only(list(rows), "computing_time")
    measured, key = read_table(row).drop(columns="step"), key_of_run(row.simulated)
    table = measured.melt(id_vars="h", var_name="scenario", value_name="ratio")
    return Drawn(computing_times(table, [(row.label, key)]), {"times": table}, [key])
