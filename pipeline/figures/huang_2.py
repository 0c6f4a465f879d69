"""Fig. 2 of [Hu20], b: the route ratio of ribbons on a slope by their friction."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import ribbon_routes
from pipeline.cases.ribbon import Ribbon, RibbonCase
from pipeline.figures.shown import Drawn, Row

GAMMAS = (1.0, 2.0, 5.0)
RATIOS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)


def draw(rows: Sequence[Row]) -> Drawn:
    """No run is needed: the ribbons are let go here."""
    del rows
    found = [
        {"gamma": gamma, "ratio": ratio, "delta": route_ratio_of(gamma, ratio)}
        for gamma in GAMMAS
        for ratio in RATIOS
    ]
    table = pd.DataFrame(found)
    return Drawn(ribbon_routes(table), {"routes": table})


def route_ratio_of(gamma: float, ratio: float) -> float:
    """delta of a ribbon over 2 s on a slope of 10 degrees."""
    case = RibbonCase(Ribbon(gamma), ratio=ratio, duration=2.0, every=2)
    *_, last = case.steps()
    return float(case.result(last)["delta"])
