"""Fig. 9 of [ZF19]: a locking box corner is pulled, with and without contact."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.zhu_filipov_2019 import corner_bears_load
from pipeline.results.origami_run import read_two
from pipeline.results.shown import DrawnFigure, Row

CAPTION = """
**A locking box corner is pulled, with and without contact**, after Fig. 9 of [ZF19].
**a**, folded; loaded by {{ load | times(1000) | sig(2) }} mN with contact (**b**; red:
its forces) and without (**c**). **d**, load (mN) by displacement since folding (mm). At
the full load the corner has moved {{ rows[0].result.displacement | times(1000) | sig }}
mm with contact and {{ rows[1].result.displacement | times(1000) | sig }} mm without:
contact stiffens it, as in print.
{% if slips -%}
Unlike the curve in print, ours slips beyond {{ slips | listed }} mN: with edges seen
(`rules: full`) the teeth slide past each other there; a load that is raised, as here,
jumps over the states between, and the line that joins them is no path of equilibria.
{% endif %}
"""


JUMP = 4.0  # times the increment before


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Two rows: the case with contact, then without."""
    touching, free = read_two(list(rows))
    tables = {"with-contact": touching.table, "without-contact": free.table}
    said = {"load": touching.table["load"].max(), "slips": _slips(touching.table)}
    figure, keys = corner_bears_load(touching, free), [touching.key, free.key]
    return DrawnFigure(figure, tables, keys, said=said)


def _slips(table: pd.DataFrame) -> list[str]:
    """Loads, mN, after which the corner jumps, or turns back, in one increment."""
    loaded = table[table["load"] > 0.0]
    moved = loaded["displacement"].diff()
    jumps = (moved.abs() > JUMP * moved.abs().shift()) | (moved < 0.0)
    at = loaded["load"].shift()[jumps]
    return [f"{1e3 * load:.3g}" for load in at]
