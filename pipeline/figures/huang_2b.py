"""Fig. 2 of [Hu20], b: the route ratio of ribbons on a slope by their friction."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import ribbon_routes
from pipeline.results.rod_run import results_of
from pipeline.results.shown import DrawnFigure, Row, key_of_run

CAPTION = r"""
**Route ratio of ribbons on a slope**, after Fig. 2b of [Hu20]: way of a boundary point
over that of the centroid, $\delta = s_b/s_c$, by normalised friction $\mu/\tan\theta$,
a series a stiffness $\Gamma_g$, all without unit; a mark a run, {{ rows | length }} in
all. Dashed: pure sliding, and the cycloid of a rigid ring, $8/2\pi$. $\delta$ is {{
sliding | sig(4) }} without friction for every $\Gamma_g$, as in print, and {{ rolling |
sig(4) }} at most. Printed is rolling without sliding from $\mu/\tan\theta$ = 1 on; ours
roll from about 0.5 on, as a rigid ring that starts from rest must.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a ribbon: the study ribbon_routes."""
    table = pd.DataFrame(results_of(rows))[["gamma", "ratio", "delta"]]
    keys = [key_of_run(row.simulated) for row in rows]
    named = list(zip([row.label for row in rows], keys, strict=True))
    sliding = table.loc[table["ratio"] == 0.0, "delta"].max()
    said = {"sliding": sliding, "rolling": table["delta"].max()}
    figure = ribbon_routes(table, named)
    return DrawnFigure(figure, {"routes": table}, keys, said=said)
