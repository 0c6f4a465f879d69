"""Fig. 2 of [Hu20], b: the route ratio of ribbons on a slope by their friction."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import ribbon_routes
from pipeline.results.rod_run import results_of
from pipeline.results.shown import DrawnFigure, Row, key_of_run


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a ribbon: the study ribbon_routes."""
    table = pd.DataFrame(results_of(rows))[["gamma", "ratio", "delta"]]
    keys = [key_of_run(row.simulated) for row in rows]
    named = list(zip([row.label for row in rows], keys, strict=True))
    return DrawnFigure(ribbon_routes(table, named), {"routes": table}, keys)
