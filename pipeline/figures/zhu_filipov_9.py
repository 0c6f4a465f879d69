"""Fig. 9 of [ZF19]: a locking box corner is pulled, with and without contact."""

from collections.abc import Sequence

from analysis.figures.zhu_filipov_2019 import corner_bears_load
from pipeline.results.origami_run import read_two
from pipeline.results.shown import DrawnFigure, Row


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Two rows: the case with contact, then without."""
    touching, free = read_two(list(rows))
    tables = {"with-contact": touching.table, "without-contact": free.table}
    return DrawnFigure(
        corner_bears_load(touching, free), tables, [touching.key, free.key]
    )
