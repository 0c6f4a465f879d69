"""Fig. 2 of [Hu20], a: patterns of motion of a ribbon on a slope."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.huang_2020 import RollingRibbon, boundary_paths
from pipeline.results.rod_run import RodRun, read_rod, results_of
from pipeline.results.shown import DrawnFigure, Row
from sim.arrays import Floats

CAPTION = r"""
**Ribbons that slide, slide and turn, and roll**, after Fig. 2a of [Hu20]: paths of a
boundary point (orange) and of the centroid (dashed) down a slope of {{
rows[0].case.angle | sig(2) }}°, and some outlines (grey), all over the radius $R$, for
{{ letters | spanned }}, three $\mu/\tan\theta$ and $\Gamma_g$ = {{ rows[0].result.gamma
| sig(2) }}. The route ratio $\delta = s_b/s_c$ is {% for row in rows %}{{
row.result.delta | sig(4) }} at {{ row.result.ratio | sig(2) }} {{- ', ' if not
loop.last else '.' }} {% endfor %}
"""

SHAPES = 5  # drawn of each ribbon
REVOLUTIONS = 1.5  # of a rolling ribbon, how much of the way is drawn


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row for each mu / tan(theta): the case ribbon_incline."""
    runs = [read_rod(row) for row in rows]
    ribbons = [
        _on_slope(run, float(result["ratio"]))
        for run, result in zip(runs, results_of(rows), strict=True)
    ]
    tables = {
        name: pd.concat(map(tabled, ribbons), ignore_index=True)
        for name, tabled in (("routes", _route_table), ("shapes", _shape_table))
    }
    keys = [run.key for run in runs]
    named = [(run.label, run.key) for run in runs]
    return DrawnFigure(boundary_paths(ribbons, named), tables, keys)


def _on_slope(run: RodRun, ratio: float) -> RollingRibbon:
    """Down the slope and away from it, over the radius, from where the run began."""
    foot, along = run.ground[0], run.ground[-1] - run.ground[0]
    t = along / np.linalg.norm(along)
    frame = np.array([t, [-t[1], t[0]]])
    radius = run.perimeter / (2.0 * np.pi)
    x = (run.x - foot) @ frame.T / radius
    x[..., 0] -= x[0, :, 0].mean()
    centre = x.mean(axis=1)
    end = int(np.searchsorted(centre[:, 0], 2.0 * np.pi * REVOLUTIONS))
    shown = np.linspace(0, min(end, len(x) - 1), SHAPES).astype(int)
    return RollingRibbon(ratio, list(x[shown]), x[: end + 1, 0], centre[: end + 1])


def _route_table(ribbon: RollingRibbon) -> pd.DataFrame:
    point: Floats = ribbon.point
    return pd.DataFrame(
        {
            "ratio": ribbon.ratio,
            "x_b": point[:, 0],
            "y_b": point[:, 1],
            "x_c": ribbon.centre[:, 0],
            "y_c": ribbon.centre[:, 1],
        }
    )


def _shape_table(ribbon: RollingRibbon) -> pd.DataFrame:
    """The nodes of the drawn shapes, over the radius."""
    rows = [
        {"ratio": ribbon.ratio, "shape": k, "node": node, "x": x, "y": y}
        for k, shape in enumerate(ribbon.shapes)
        for node, (x, y) in enumerate(shape)
    ]
    return pd.DataFrame(rows)
