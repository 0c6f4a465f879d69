"""Which gait takes the star robot farthest for the work of its limbs."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.gaits import gait_map
from pipeline.results.rod_run import results_of
from pipeline.results.shown import DrawnFigure, Row, key_of_run


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a gait: the study star_robot_gaits."""
    table = pd.DataFrame(results_of(rows))
    columns = ["order", "period", "way_over_H", "actuation_work", "way_per_work"]
    table = table[columns].astype({"order": str})
    best = [int(table["way_per_work"].to_numpy().argmax())]
    keys = [key_of_run(row.simulated) for row in rows]
    foot = f"Runs: {len(keys)}, their keys are in the .trace.json file"
    return DrawnFigure(gait_map(table, best, foot), {"gaits": table}, keys)
