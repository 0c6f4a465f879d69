"""Fig. 8 of [ZF19]: a box folds itself."""

from collections.abc import Sequence

from analysis.figures.zhu_filipov_2019 import box_folds_itself
from pipeline.results.origami_run import read_row
from pipeline.results.shown import DrawnFigure, Row, only_row

CAPTION = """
{% set r = rows[0].result -%}
**A box folds itself**, after Fig. 8 of [ZF19]. **a**, the sheet flat; **b**, the end
with the forces of contact (red). **c**, strain energy (µJ), contact excluded, by
increment of the rest angles; numbered marks: the shapes of **d** to **g**. The energy
is {{ before | times(1e6) | sig(1) }} µJ at increment {{ apart }}, before panels meet,
and {{ r.strain_energy | times(1e6) | sig }} µJ at the end, increment {{ r.steps }}:
none until panels meet, as in print. At the end the sheet is {{ r.fold }}: {{ r.fold_why
}}.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case box."""
    run = read_row(only_row(rows, "the case box"))
    apart = run.table[run.table["contact_energy"] == 0.0].iloc[-1]
    said = {"before": apart["strain_energy"], "apart": int(apart["step"])}
    figure = box_folds_itself(run)
    return DrawnFigure(figure, {"energy": run.table}, [run.key], said=said)
