"""Fig. 5 of [Hu20], d to i: how far the star robot comes on each ground."""

from collections.abc import Sequence

from analysis.figures.huang_2020 import robot_ways
from pipeline.figures.shown import Drawn, Row, key_of_run
from pipeline.rod_run import read_table


def draw(rows: Sequence[Row]) -> Drawn:
    """A row a ground."""
    tables = {row.label: read_table(row)[["time", "way_over_H"]] for row in rows}
    keys = [key_of_run(row.simulated) for row in rows]
    runs = list(zip(tables, keys, strict=True))
    return Drawn(robot_ways(list(tables.items()), runs), tables, keys)
