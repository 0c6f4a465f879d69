"""Links that a sheet can do without: the structure at each target, before and after."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.design import lengths_for_targets
from pipeline.figures.design import read_search
from pipeline.results.shown import DrawnFigure, Row, only_row, table_with

CAPTION = r"""
{% set r = rows[0].result -%}
**A sheet with fewer links that is no freer and fits its targets better.** **a**, a
circle, **b**, a sphere, **c**, a cylinder, of which only the sphere is within reach:
the sheet with all its links, with those left (coloured by the change of their length),
and the distance error $\mathcal{E}$, eq. (5) of [dJ23], without unit, by step $s$. In
each of the first {{ removed }} steps one link goes: {{ r.cut }} were cut, {{ r.joined
}} became a joint of the two bodies that they held, and {{ r.links }} are left. The
mobility at no end is above {{ most }}; it was {{ r.mobility_before }} and is {{
r.mobility }}. Then lengths change by {{ rows[0].case.limit | times(100) | sig(2) }} %
at most. The circle's $\mathcal{E}$ falls from {{ first | sig(2) }} to {{ without |
sig(2) }} as links go, and to {{ r.E_0 | sig(2) }} by lengths.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a run of a removal case."""
    row = only_row(rows)
    directory = row.simulated
    removed = table_with("manner", directory, "removed.csv")
    shown = read_search(row.label, directory)
    steps = pd.read_csv(directory / "steps.csv")
    said = {
        "removed": len(removed),
        "first": steps["E_0"].iloc[0],
        "without": removed["E_0"].iloc[-1],
        "most": int(steps["mobility"].max()),
    }
    tables = {"steps": steps, "removed": removed}
    return DrawnFigure(lengths_for_targets(shown), tables, [shown.key], said=said)
