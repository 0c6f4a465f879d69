"""Sheets whose balls cannot overlap, step by step."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row

CAPTION = r"""
**Sheets whose parts cannot overlap, and one whose parts can**, morphed into an
ellipsoid (grey). Blue: nodes, links and bodies; above: step $s$, distance error
$\mathcal{E}$, eq. (5), and shape factor $\mathcal{S}$, eq. (6) of [dJ23], both without
unit. The last drawing of a row has a scale of its own.
{% for row in rows -%}
**{{ 'abcdefghijkl'[loop.index0] }}**, `{{ row.label }}` ({{ row.result.nodes }} nodes):
{{ 'contacts not watched' if row.result.overlaps is not defined else    '%d overlaps and
%d contacts' | format(row.result.overlaps, row.result.contacts) }} after {{
row.result.steps }} steps, $\mathcal{E}$ = {{ row.result.E | sig(2) }}, $\mathcal{S}$ =
{{ row.result.S | sig }}.
{% endfor %}
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a case: with balls, and for comparison without."""
    return draw_paths(rows, enlarge=True)
