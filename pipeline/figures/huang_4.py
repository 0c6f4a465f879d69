"""Fig. 4 of [Hu20]: the star robot between 0 and 2 s, limb 4 switched on."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import snapshots
from pipeline.results.rod_run import nodes_of, read_rod
from pipeline.results.shown import DrawnFigure, Row, only_row

CAPTION = """
{% set r = rows[0].result -%}
**The star robot in its first cycle**, after Fig. 4 of [Hu20]: {{ r.nodes }} nodes, from
the side, at the times above {{ letters | spanned }}, limb 4 switched on at $t$ = 0
(orange: the limb that is switched on; grey: ground), height $H$ = 5 cm. All panels have
one scale. It rolls to the right onto the next limb, as in print. Young's modulus of the
limbs, {{ rows[0].case.material.modulus | times(1e-6) | sig(2) }} MPa, is not printed
and is assumed. The photographs of the paper are not shown.
"""

TIMES = (0.0, 0.25, 0.5, 1.0, 2.0)  # s
SWITCHED_ON = 3  # limb 4, counted from 0


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the case star_robot."""
    run = read_rod(only_row(rows, "the case star_robot"))
    shapes = [run.at(time, SWITCHED_ON) for time in TIMES]
    tables = {"shapes": pd.concat(map(nodes_of, TIMES, shapes), ignore_index=True)}
    figure = snapshots(shapes, [(run.label, run.key)])
    return DrawnFigure(figure, tables, [run.key])
