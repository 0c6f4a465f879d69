"""Fig. 5 of [ZF19]: force and stiffness between a node and a panel."""

from collections.abc import Sequence

from analysis.figures.origami_sweeps import approach, crossing, even
from analysis.figures.zhu_filipov_2019 import contact_of_a_node
from pipeline.results.shown import DrawnFigure, Row

HEIGHTS = (0.3, 0.5, 0.7)


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """No run is needed: the formulas are evaluated here."""
    del rows
    near = approach(even(0.02, 2.0, 400))
    across = crossing(even(-0.6, 1.4, 401), HEIGHTS)
    figure = contact_of_a_node(near, across)
    return DrawnFigure(figure, {"approach": near, "crossing": across})
