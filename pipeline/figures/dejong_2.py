"""Fig. 2 of [dJ23]: three structures morph to three shapes; ours, after the paper."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a case: pentapod, squares to a circle, octahedra to an organic shape."""
    return draw_paths(rows)
