"""Fig. 2 of [Hu20], c: shapes of ribbons at rest."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.huang_2020 import ribbon_shapes
from pipeline.results.rod_run import read_rod, results_of
from pipeline.results.shown import DrawnFigure, Row
from sim.arrays import Floats

CAPTION = r"""
**Ribbons at rest under their weight**, after Fig. 2c of [Hu20]: outlines over the
radius $R$ for {{ letters | spanned }}, {{ rows | length }} stiffnesses $\Gamma_g$, a
number without unit.
{% for row in rows -%}
$\Gamma_g$ = {{ row.result.gamma | sig(2) }}: height {{ row.result.height_over_R | sig
}} $R$, {{ row.result.contact_fraction | times(100) | sig(2) }} % of the ribbon on the
ground.
{% endfor -%}
The softer the ribbon, the larger its contact, as in print.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a ribbon: the study ribbon_shapes."""
    runs, results = [read_rod(row) for row in rows], results_of(rows)
    shapes = [
        (float(result["gamma"]), run.x[-1] * 2.0 * np.pi / run.perimeter)
        for run, result in zip(runs, results, strict=True)
    ]
    keys = [run.key for run in runs]
    named = [(run.label, run.key) for run in runs]
    outlines = pd.concat([_outline(*shape) for shape in shapes], ignore_index=True)
    tables = {"shapes": pd.DataFrame(results), "outlines": outlines}
    return DrawnFigure(ribbon_shapes(shapes, named), tables, keys)


def _outline(gamma: float, x: Floats) -> pd.DataFrame:
    """The nodes of a ribbon over its radius, as drawn."""
    columns = {"x_over_R": x[:, 0] - x[:, 0].mean(), "y_over_R": x[:, 1]}
    return pd.DataFrame({"gamma": gamma, "node": np.arange(len(x)), **columns})
