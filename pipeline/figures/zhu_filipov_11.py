"""Fig. 11 of [ZF19]: interlocking sheets are pulled apart, with and without contact."""

from collections.abc import Sequence

import numpy as np

from analysis.figures.zhu_filipov_2019 import SetUp, interlocking_sheets
from pipeline.results.origami_run import read_two
from pipeline.results.shown import DrawnFigure, Row
from pipeline.store.runs import run_record

CAPTION = """
**Interlocking sheets are pulled apart, with and without contact**, after Fig. 11 of
[ZF19]. **a**, the sheets folded into each other, {{ held }} nodes held and {{ guided }}
along $x$ and $y$, {{ sprung }} on springs along $z$ (the text of [ZF19] names four
supports and four springs), {{ loaded }} loaded; **b**, load (mN) by displacement (mm);
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
    loading = _set_up(rows[0])
    said = {"load": touching.table["load"].max()}
    said |= {name: len(nodes) for name, nodes in vars(loading).items()}
    figure = interlocking_sheets(touching, free, loading)
    return DrawnFigure(figure, tables, [touching.key, free.key], said=said)


def _set_up(row: Row) -> SetUp:
    """What holds and what pulls, as the last phase of a run says."""
    case = run_record(row.simulated)["config"]["case"]
    last = case["phases"][-1]
    supports = np.array(last.get("supports") or case["supports"])
    whole = supports[:, 1:].all(axis=1)
    sprung = np.array([one[0] for one in last.get("elastic", ())], dtype=np.int64)
    held, guided = supports[whole, 0], supports[~whole, 0]
    return SetUp(held, guided, sprung, np.array(last["nodes"]))
