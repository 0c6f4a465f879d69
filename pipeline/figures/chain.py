"""From a structure to a verdict: designed, simulated, scanned, compared."""

from collections.abc import Sequence

from analysis.figures.chain import chain, plotted_factors
from analysis.figures.dejong import plotted_nodes
from pipeline.figures.dejong_3 import morphed_shape
from pipeline.results.shown import DrawnFigure, Row, only_row

CAPTION = r"""
{% set c = rows[0].compared -%}
**From a structure to a verdict.** **a**, the sheet of triangles as designed; **b**, the
same sheet morphed onto a cylinder by simulation (blue: nodes, links and bodies; grey:
target); **c**, the {{ c.spheres }} spheres found in a scan of it (orange); **d**, the
shape factor $\mathcal{S}$, eq. (6) of [dJ23], a number without unit, simulated (blue)
and scanned (orange, with $\pm{{ '%g' | format(c.k) }}$ standard uncertainties $u$).
$\mathcal{S}$ is {{ c.S_simulated | u(c.S_simulated_u) }} simulated and {{ c.S_scanned |
u(c.S_scanned_u) }} scanned, with $u$ in the last digits: that of the solver's stop, and
that of the centres and the scanner. The {{ c.labelled }} nodes are {{ c.rms_mm | sig(2)
}} mm apart, root mean square. Verdict: {{ c.verdict }}.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a comparison."""
    shape = morphed_shape(only_row(rows, "a comparison"))
    keys = [key for _, key in shape.runs if key]
    tables = {"nodes": plotted_nodes([shape]), "S": plotted_factors(shape)}
    return DrawnFigure(chain(shape), tables, keys)
