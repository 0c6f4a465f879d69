"""Where a steered robot goes, beside one that nobody steers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.steering import SteeredRun, ways_to_goals
from pipeline.results.rod_run import read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.terminal.errors import InputError

COLUMNS = ("time", "way_over_H", "switched_on")


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a run of a star robot, steered or not."""
    ways, parts = [], []
    for row in rows:
        table = read_table(row)
        for column in COLUMNS:
            if column not in table:
                raise InputError(
                    f"{row.simulated}/steps.csv has no column {column}: give runs of "
                    "the star robot"
                )
        goal = (
            float(table["goal_over_H"].iloc[-1]) if "goal_over_H" in table else np.nan
        )
        time, way, limb = (table[column].to_numpy() for column in COLUMNS)
        ways.append(
            SteeredRun(row.label, key_of_run(row.simulated), time, way, limb, goal)
        )
        parts.append(table[list(COLUMNS)].assign(run=row.label, goal_over_H=goal))
    tables = {"ways": pd.concat(parts, ignore_index=True)}
    return DrawnFigure(ways_to_goals(ways), tables, [way.key for way in ways])
