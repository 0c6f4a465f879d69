"""Fig. 2 of [Hu20], c: shapes of ribbons at rest."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import ribbon_shapes
from pipeline.cases.ribbon import HeavyRingCase
from pipeline.figures.shown import Drawn, Row

GAMMAS = (0.8, 1.0, 1.5, 3.0)


def draw(rows: Sequence[Row]) -> Drawn:
    """No run is needed: the ribbons settle here."""
    del rows
    shapes, results = [], []
    for gamma in GAMMAS:
        case = HeavyRingCase(gamma=gamma)
        (rest,) = case.steps()
        shapes.append((gamma, rest.x / case.ribbon.radius))
        results.append(case.result(rest))
    return Drawn(ribbon_shapes(shapes), {"shapes": pd.DataFrame(results)})
