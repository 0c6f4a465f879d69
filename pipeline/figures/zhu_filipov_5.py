"""Fig. 5 of [ZF19]: force and stiffness between a node and a panel."""

from collections.abc import Sequence

from analysis.figures.origami_sweeps import approach, crossing, even
from analysis.figures.zhu_filipov_2019 import contact_of_a_node
from pipeline.results.shown import DrawnFigure, Row

CAPTION = r"""
**Contact of a node with a panel**, after Fig. 5 of [ZF19]: force $f_z$ and stiffness
$K_{zz}$ of the contact potential, eqs. (3.4) to (3.6), in units in which $k_e$ = 1 and
$d_0$ = 1, of a node that comes down on the triangle (0, 0, 0), (1, 0, 0), (0, 1, 0)
(**a**), by its distance $d$ (dotted: where contact begins; **b**, **c**), and of one
that crosses it at three heights $z$ (**d**), by its position $\delta$ (**e**, **f**).
Formulas evaluated; both are zero beyond $d_0$ and grow without bound as $d$ falls to 0,
as in print.
"""

HEIGHTS = (0.3, 0.5, 0.7)


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """No run is needed: the formulas are evaluated here."""
    del rows
    near = approach(even(0.02, 2.0, 400))
    across = crossing(even(-0.6, 1.4, 401), HEIGHTS)
    figure = contact_of_a_node(near, across)
    return DrawnFigure(figure, {"approach": near, "crossing": across})
