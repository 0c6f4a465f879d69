"""Fig. 7 of [Hu20]: the first node of the jumper; shape and force are assumed."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import jumper_paths
from pipeline.results.rod_run import nodes_of, read_rod
from pipeline.results.shown import DrawnFigure, Row, only_row

CAPTION = r"""
**The jumper**, after Fig. 7 of [Hu20]: its shape at three times ({{ letters[:-2] |
spanned }}; orange: the limb that is switched on, and the first node; grey: ground), and
the way of its first node ({{ letters[-2:] | spanned }}) over the radius $\bar R_0$ = 5
mm by time $t$ (s). Shape, modulus, actuation and the force of the wire are not printed
and are assumed (an arc of 270° above a straight foot, no force): no agreement with Fig.
7 is claimed, and its measured points are not public.
"""

TIMES = (0.0, 0.125, 0.25)  # s
SWITCHED_ON = 0
RADIUS = 5.0e-3  # R_0 of the text, m


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case jumper."""
    run = read_rod(only_row(rows, "the case jumper"))
    shapes = [run.at(time, SWITCHED_ON) for time in TIMES]
    figure = jumper_paths(shapes, run.table, RADIUS, [(run.label, run.key)])
    drawn = pd.concat(map(nodes_of, TIMES, shapes), ignore_index=True)
    return DrawnFigure(figure, {"first-node": run.table, "shapes": drawn}, [run.key])
