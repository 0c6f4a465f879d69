"""Sheets whose balls cannot overlap, step by step."""

from collections.abc import Sequence

from pipeline.figures.morph_paths import draw_paths
from pipeline.results.shown import DrawnFigure, Row


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a case: with balls, and for comparison without."""
    return draw_paths(rows, enlarge=True)
