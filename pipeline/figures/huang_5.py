"""Fig. 5 of [Hu20]: how far the star robot comes on each ground."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import CYCLE, RobotDistance, RodShape, robot_ways
from pipeline.results.rod_run import RodRun, nodes_of, read_rod
from pipeline.results.shown import DrawnFigure, Row

TRACKED = ("star_robot_up_3", "star_robot_crest", "star_robot_trough")  # a, b, c


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a ground."""
    runs = [read_rod(row) for row in rows]
    tables = {run.label: run.table[["time", "way_over_H"]] for run in runs}
    ways = [RobotDistance(run.label, tables[run.label], _track(run)) for run in runs]
    tables |= {f"{way.name}-shapes": _drawn_nodes(way) for way in ways if way.shapes}
    keys = [run.key for run in runs]
    named = [(run.label, run.key) for run in runs]
    return DrawnFigure(robot_ways(ways, named), tables, keys)


def _track(run: RodRun) -> list[RodShape]:
    """The robot at the start and after each cycle."""
    if run.label not in TRACKED:
        return []
    cycles = int(run.table["time"].iloc[-1] / CYCLE + 1e-6)
    return [run.at(k * CYCLE) for k in range(cycles + 1)]


def _drawn_nodes(way: RobotDistance) -> pd.DataFrame:
    """The nodes of a track, m, by the time of each cycle's end."""
    shapes = [nodes_of(k * CYCLE, shape) for k, shape in enumerate(way.shapes)]
    return pd.concat(shapes, ignore_index=True)
