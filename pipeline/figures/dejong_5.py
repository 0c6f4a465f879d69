"""Fig. 5 of [dJ23]: the algorithm's steps, on a structure that moves in a plane."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One run, the case bumps: its first step in four parts, then what follows."""
    return draw_paths(rows, first_step=True)
