"""Fig. 5 of [Hu20]: how far the star robot comes on each ground."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import CYCLE, RobotDistance, RodShape, robot_ways
from pipeline.results.rod_run import RodRun, nodes_of, read_rod
from pipeline.results.shown import DrawnFigure, Row

CAPTION = """
**How far the star robot comes on each ground**, after Fig. 5 of [Hu20]. Above ({{
letters[:-(rows | length)] | spanned }}): the robot at rest and after each cycle of 3 s
(darker) on three grounds. Below ({{ letters[-(rows | length):] | spanned }}): way of
the centroid over the body length $H$ = 5 cm by time $t$ (s; vertical lines: the next
limb is switched on). After {{ '%g' |
format(rows[0].case.duration / 3.0) }} cycles the way is {% for row in rows %}{{
row.result.way_over_H | sig }} $H$ (`{{ row.label }}`) {{- ', ' if not loop.last else
'.' }} {% endfor -%}
{% if way.star_robot_down_3 > way.star_robot > way.star_robot_up_3 -%}
As in print, less way is made from $-3$° to $+3$°, and the robot that starts in the
trough fails in the third cycle.
{% endif -%}
{% if way.star_robot_up_6 > 0.5 -%}
Unlike the robot of [Hu20], ours climbs $+6$°; from the crest it settles in the trough
after four cycles, not two.
{% endif -%}
Young's modulus, {{ rows[0].case.material.modulus | times(1e-6) | sig(2) }} MPa, is
assumed; the points that [Hu20] measured are not public.
"""

TRACKED = ("star_robot_up_3", "star_robot_crest", "star_robot_trough")  # a, b, c


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a ground."""
    runs = [read_rod(row) for row in rows]
    tables = {run.label: run.table[["time", "way_over_H"]] for run in runs}
    ways = [RobotDistance(run.label, tables[run.label], _track(run)) for run in runs]
    tables |= {f"{way.name}-shapes": _drawn_nodes(way) for way in ways if way.shapes}
    keys = [run.key for run in runs]
    named = [(run.label, run.key) for run in runs]
    said = {"way": {w.name: float(w.table["way_over_H"].iloc[-1]) for w in ways}}
    return DrawnFigure(robot_ways(ways, named), tables, keys, said=said)


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
