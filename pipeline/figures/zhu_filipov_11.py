"""Fig. 11 of [ZF19]: interlocking sheets are pulled apart, with and without contact."""

from collections.abc import Sequence

from analysis.figures.zhu_filipov_2019 import interlocking_sheets
from pipeline.results.origami_run import read_two
from pipeline.results.shown import DrawnFigure, Row

CAPTION = """
**Interlocking sheets are pulled apart, with and without contact**, after Fig. 11 of
[ZF19]. The sheets folded into each other; load (mN) by displacement (mm); and both
ends, at {{ load | times(1000) | sig }} mN (red: load and forces of contact). With
contact the sheets move {{ rows[0].result.displacement | times(1000) | sig }} mm,
without {{ rows[1].result.displacement | times(1000) | sig }} mm: the jump in stiffness
of the paper. Bars and hinges without compliant creases, as there; the paper prints no
values of the curves.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Two rows: the case with contact, then without."""
    touching, free = read_two(list(rows))
    tables = {"with-contact": touching.table, "without-contact": free.table}
    said = {"load": touching.table["load"].max()}
    figure, keys = interlocking_sheets(touching, free), [touching.key, free.key]
    return DrawnFigure(figure, tables, keys, said=said)
