"""Which gait takes the star robot farthest for the work of its limbs."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.gaits import gait_map
from pipeline.results.rod_run import results_of
from pipeline.results.shown import DrawnFigure, Row, key_of_run

CAPTION = """
**Which gait takes the star robot farthest for its work**: **a**, way of the centroid
over the body length $H$ = 5 cm; **b**, positive work of the limbs (J); **c**, weight
times way over that work, without unit, after {{ rows[0].case.duration | sig(2) }} s, by
the period of switching (s), a series an order of the limbs switched on; a mark a run,
{{ rows | length }} in all. Ring: the best of the last panel, {{ best.way_per_work |
sig(2) }} (order {{ best.order }}, every {{ best.period | sig(2) }} s). Negative: the
robot rolls back.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a gait: the study star_robot_gaits."""
    table = pd.DataFrame(results_of(rows))
    columns = ["order", "period", "way_over_H", "actuation_work", "way_per_work"]
    table = table[columns].astype({"order": str})
    best = [int(table["way_per_work"].to_numpy().argmax())]
    keys = [key_of_run(row.simulated) for row in rows]
    named = [(row.label, key) for row, key in zip(rows, keys, strict=True)]
    said = {"best": dict(table.iloc[best[0]])}
    return DrawnFigure(gait_map(table, best, named), {"gaits": table}, keys, said=said)
