"""Fig. 2 of [Hu20], c: shapes of ribbons at rest."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.huang_2020 import ribbon_shapes
from pipeline.figures.shown import Drawn, Row
from pipeline.rod_run import read_rod, results_of


def draw(rows: Sequence[Row]) -> Drawn:
    """A row a ribbon: the study ribbon_shapes."""
    runs, results = [read_rod(row) for row in rows], results_of(rows)
    shapes = [
        (float(result["gamma"]), run.x[-1] * 2.0 * np.pi / run.perimeter)
        for run, result in zip(runs, results, strict=True)
    ]
    keys = [run.key for run in runs]
    named = [(run.label, run.key) for run in runs]
    return Drawn(ribbon_shapes(shapes, named), {"shapes": pd.DataFrame(results)}, keys)
