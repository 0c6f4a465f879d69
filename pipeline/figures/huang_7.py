"""Fig. 7 of [Hu20]: the first node of the jumper; shape and force are assumed."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import jumper_paths
from pipeline.figures.shown import Drawn, Row, key_of_run
from pipeline.rod_run import only, read_table

RADIUS = 5.0e-3  # R_0 of the text, m


def draw(rows: Sequence[Row]) -> Drawn:
    """One row: the case jumper."""
    row = only(list(rows), "jumper")
    table, key = read_table(row), key_of_run(row.simulated)
    figure = jumper_paths(table, RADIUS, [(row.label, key)])
    return Drawn(figure, {"first-node": table}, [key])
