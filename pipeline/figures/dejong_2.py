"""Fig. 2 of [dJ23]: three structures morph to three shapes; ours, after the paper."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row

CAPTION = r"""
**Structures that morph step by step**, after Fig. 2 of [dJ23]. Blue circles and lines:
nodes, links and bodies; grey lines: target, of the endless one in **a** the part around
the start; dots: goals of the next step. Above each drawing: step $s$, distance error
$\mathcal{E}$, eq. (5), and shape factor $\mathcal{S}$, eq. (6), both without unit.
{% for row in rows -%}
**{{ 'abcdefghijkl'[loop.index0] }}**, `{{ row.label }}` ({{ row.result.nodes }} nodes)
ends after {{ row.result.steps }} steps at $\mathcal{E}$ = {{ row.result.E | sig(2) }},
$\mathcal{S}$ = {{ row.result.S | sig }}.
{% endfor -%}
The paper prints neither sizes nor targets, so both are our own.
{% set five = rows | selectattr("label", "equalto", "pentapod") | first -%}
{% if five.result.E < 1e-3 -%}
In [dJ23] the pentapod keeps a relatively large error; ours, of {{ five.result.mobility
- 6 }} internal degree of freedom, reaches its target.
{% endif %}
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a case: pentapod, squares to a circle, octahedra to an organic shape."""
    return draw_paths(rows)
