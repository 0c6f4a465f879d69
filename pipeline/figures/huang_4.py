"""Fig. 4 of [Hu20]: the star robot between 0 and 2 s, limb 4 switched on."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import snapshots
from analysis.figures.motion import animated_svg
from pipeline.results.rod_run import motion_of, nodes_of, only, read_rod
from pipeline.results.shown import DrawnFigure, Row

TIMES = (0.0, 0.25, 0.5, 1.0, 2.0)  # s
SWITCHED_ON = 3  # limb 4, counted from 0


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case star_robot."""
    run = read_rod(only(list(rows), "star_robot"))
    shapes = [run.at(time, SWITCHED_ON) for time in TIMES]
    tables = {"shapes": pd.concat(map(nodes_of, TIMES, shapes), ignore_index=True)}
    moving = {"motion": animated_svg(motion_of(run))}
    figure = snapshots(shapes, [(run.label, run.key)])
    return DrawnFigure(figure, tables, [run.key], moving)
