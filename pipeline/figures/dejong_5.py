"""Fig. 5 of [dJ23]: the algorithm's steps, on a structure that moves in a plane."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.figures.shown import Drawn, Row


def draw(rows: Sequence[Row]) -> Drawn:
    """One row: the case bumps, seen from above."""
    return draw_paths(rows, from_above=True)
