"""The motion of any rod case: five moments."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.huang_2020 import snapshots
from pipeline.results.rod_run import nodes_of, read_rod
from pipeline.results.shown import DrawnFigure, Row, only_row

CAPTION = """
{% set r = rows[0].result -%}
**A rod in motion**: {{ r.nodes }} nodes at {{ moments }} moments ({{ letters | spanned
}}; time $t$ in s), all panels of one scale (grey: ground). It ends at a height of its
centroid of {{ r.y_c | times(1000) | sig }} mm after {{ r.steps }} steps, at most {{
r.balance | times(100) | sig(1) }} % of the energy at work out of balance.
"""

MOMENTS = 5


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a case of rods that move."""
    run = read_rod(only_row(rows, "the case own_rod or another that moves"))
    recorded = run.table["time"].to_numpy()
    times = np.linspace(recorded[0], recorded[-1], MOMENTS)
    shapes = [run.at(time) for time in times]
    tables = {"shapes": pd.concat(map(nodes_of, times, shapes), ignore_index=True)}
    figure = snapshots(shapes, [(run.label, run.key)])
    return DrawnFigure(figure, tables, [run.key], said={"moments": MOMENTS})
