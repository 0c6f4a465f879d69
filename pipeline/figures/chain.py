"""From a structure to a verdict: designed, simulated, scanned, compared."""

from collections.abc import Sequence

from analysis.figures.chain import chain, plotted_factors
from analysis.figures.dejong import plotted_nodes
from pipeline.figures.dejong_3 import morphed_shape
from pipeline.results.shown import DrawnFigure, Row
from pipeline.terminal.errors import InputError


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a comparison."""
    if len(rows) != 1:
        raise InputError(f"the figure chain shows one comparison, not {len(rows)}")
    shape = morphed_shape(rows[0])
    keys = [key for _, key in shape.runs if key]
    tables = {"nodes": plotted_nodes([shape]), "S": plotted_factors(shape)}
    return DrawnFigure(chain(shape), tables, keys)
