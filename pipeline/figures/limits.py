"""A structure whose links and joints have ranges, step by step."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row

CAPTION = r"""
**A finger whose links and joints have ranges, and the same one free**, drawn to one
point (cross). Blue: nodes and links; grey: the volume of the links, which may not
overlap. Above: step $s$, distance error $\mathcal{E}$, eq. (5), and shape factor
$\mathcal{S}$, eq. (6) of [dJ23], both without unit. The last drawing of a row has
a scale of its own.
{% for row in rows -%}
**{{ 'abcdefghijkl'[loop.index0] }}**, `{{ row.label }}` ends at $\mathcal{E}$ {{
'$< 10^{-12}$' if row.result.E <= 1e-12 else '= ' ~ (row.result.E | sig(2)) }},
$\mathcal{S}$ = {{ row.result.S | sig }} {%- if
row.result.contacts is defined %}, with {{ row.result.contacts }} ranges or contacts at
their limit{% endif %}.
{% endfor %}
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a case: with ranges and bodies, and for comparison without."""
    return draw_paths(rows, enlarge=True)
