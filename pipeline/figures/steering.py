"""Where a steered robot goes, beside one that nobody steers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.steering import SteeredRun, ways_to_goals
from pipeline.results.rod_run import read_table
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.terminal.errors import InputError

CAPTION = """
**A steered robot goes to its goal**: way of the centroid over the body length $H$ = 5
cm by time (s); marks: a limb is switched on; horizontal lines: goals.
{% for row in rows if row.result.goal_over_H is defined -%}
`{{ row.label }}` ends at {{ row.result.way_over_H | sig }} $H$, {{
row.result.away_over_H | abs | sig(2) }} $H$ from its goal of {{ row.result.goal_over_H
| sig(2) }} $H$.
{% endfor -%}
The robot that nobody steers rolls on {%- for row in rows if row.result.goal_over_H is
not defined %} to {{ row.result.way_over_H | sig }} $H${% endfor %}.
"""

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
