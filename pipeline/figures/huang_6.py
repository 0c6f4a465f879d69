"""Fig. 6 of [Hu20]: computing time of the star robot by step length and ground."""

import time
from collections.abc import Sequence

import pandas as pd

from analysis.figures.huang_2020 import computing_times
from pipeline.cases.rod import StarCase
from pipeline.figures.shown import Drawn, Row
from sim.rod.ground import Ground, Plane, Wave
from sim.rod.options import StepOptions

GROUNDS: dict[str, Ground] = {
    "0 degrees": Plane(),
    "+3 degrees": Plane(3.0),
    "-3 degrees": Plane(-3.0),
    "+6 degrees": Plane(6.0),
    "crest": Wave(start=0.05),
    "trough": Wave(start=0.15),
}
STEPS = (0.5e-3, 1e-3, 2.5e-3, 5e-3, 10e-3, 20e-3)  # s
DURATION = 3.0  # s


def draw(rows: Sequence[Row]) -> Drawn:
    """No run is needed: CPU time is read here, on the machine that draws."""
    del rows
    found = [
        {"scenario": name, "h": h, "ratio": cost_of(ground, h)}
        for name, ground in GROUNDS.items()
        for h in STEPS
    ]
    table = pd.DataFrame(found)
    return Drawn(computing_times(table), {"times": table})


def cost_of(ground: Ground, h: float) -> float:
    """CPU time over simulated time, the start in equilibrium left out."""
    options = StepOptions(h=h)
    case = StarCase(ground=ground, duration=DURATION, every=10**6, options=options)
    steps = case.steps()
    next(steps)
    start = time.process_time()
    for _ in steps:
        pass
    return (time.process_time() - start) / DURATION
