"""Fig. 5 of [dJ23]: the algorithm's steps, on a structure that moves in a plane."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row

CAPTION = r"""
{% set r = rows[0].result -%}
**One step of the algorithm, and the steps that follow**, after Fig. 5 of [dJ23], for a
structure of {{ r.nodes }} nodes in a plane. **a**, targets (crosses) and the ways to
the goals on them; **b**, the admissible motions of eq. (7), an arrow a node and mode;
**c**, the step of eq. (11), black, which leaves the constraints; **d**, back to them by
eq. (12). **e**, configurations by step $s$ with distance error $\mathcal{E}$, eq. (5),
and shape factor $\mathcal{S}$, eq. (6), both without unit. The morph ends after
{{ r.steps }} steps at $\mathcal{E}$ = {{ r.E | sig(2) }}, $\mathcal{S}$ =
{{ r.S | sig }}. The targets of the paper are not printed; these are our own.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One run, the case bumps: its first step in four parts, then what follows."""
    return draw_paths(rows, first_step=True)
