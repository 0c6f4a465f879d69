"""Fig. 11 of [ZF19]: interlocking sheets are pulled apart, with and without contact."""

from collections.abc import Sequence

import numpy as np

from analysis.figures.zhu_filipov_2019 import SetUp, interlocking_sheets
from pipeline.results.origami_run import read_two
from pipeline.results.shown import DrawnFigure, Row
from pipeline.store.runs import run_record

CAPTION = """
**Interlocking sheets are pulled apart, with and without contact**, after Fig. 11 of
[ZF19]. **a**, the sheets folded into each other; **b**, load (mN) by displacement (mm);
both ends, **c**, with contact, and **d**, without, at {{ load | times(1000) | sig }} mN
(red: load and forces of contact). With contact the sheets move {{
rows[0].result.displacement | times(1000) | sig }} mm, without {{
rows[1].result.displacement | times(1000) | sig }} mm: the jump in stiffness of the
paper. Bars and hinges without compliant creases, as there; the paper prints no values
of the curves.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Two rows: the case with contact, then without."""
    touching, free = read_two(list(rows))
    tables = {"with-contact": touching.table, "without-contact": free.table}
    said = {"load": touching.table["load"].max()}
    figure = interlocking_sheets(touching, free, _set_up(rows[0]))
    return DrawnFigure(figure, tables, [touching.key, free.key], said=said)


def _set_up(row: Row) -> SetUp:
    """What holds and what pulls, as the last phase of a run says."""
    case = run_record(row.simulated)["config"]["case"]
    last = case["phases"][-1]
    held = last.get("supports") or case["supports"]
    nodes = ([one[0] for one in rows] for rows in (held, last.get("elastic", ())))
    return SetUp(*(np.array(own, dtype=np.int64) for own in (*nodes, last["nodes"])))
