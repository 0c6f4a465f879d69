"""Fig. 2 of [Hu20], b: the route ratio of ribbons on a slope by their friction."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import ribbon_routes
from pipeline.figures.shown import Drawn, Row, key_of_run
from pipeline.rod_run import results_of


def draw(rows: Sequence[Row]) -> Drawn:
    """A row a ribbon: the study ribbon_routes."""
    table = pd.DataFrame(results_of(rows))[["gamma", "ratio", "delta"]]
    keys = [key_of_run(row.simulated) for row in rows]
    named = list(zip([row.label for row in rows], keys, strict=True))
    return Drawn(ribbon_routes(table, named), {"routes": table}, keys)
