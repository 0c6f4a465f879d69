"""A thick rod lifted by its tip and let go: how it rings, and where it comes to rest.

Ringing needs short steps; what follows creeps, and needs few, ever longer ones.
"""

from itertools import islice

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from sim.relaxation import PronySeries
from sim.rod.thick.motion import Hold, ThickStep, held, motion, step
from sim.rod.thick.rest import rest
from sim.rod.thick.thick_rod import ThickRod

GROWTH = 2.0
ROUNDS = 3  # of a rest and the height above it


EACH = 5  # steps between heights that are kept


def ringing_heights(
    rod: ThickRod, series: PronySeries, hold: Hold, seconds: float, h: float
) -> tuple[CubicHermiteSpline, ThickStep]:
    """Height of the tip let go, m, over time, s, by steps of h s; the last step."""
    start = held(rod, series, hold)
    count = int(np.ceil(seconds / (EACH * h))) + 1
    steps = list(islice(motion(rod, series, start, h, EACH), count))
    kept = np.array([(one.time, one.q[-1, 1], one.v[-1, 1]) for one in steps])
    return CubicHermiteSpline(*kept.T), steps[-1]


def crept_height(
    rod: ThickRod, series: PronySeries, before: ThickStep, seconds: float, first: float
) -> float:
    """Height of the tip, m, `seconds` later, once it does not ring any more.

    Parameters
    ----------
    first : s, the first step; each is twice as long as that before
    """
    left, h, now = seconds, first, before
    while left > 0.0:
        h = left if left < (1.0 + GROWTH) * h else h
        now = step(rod, series, now, h, inertia=False)
        left, h = left - h, GROWTH * h
    return float(now.q[-1, 1])


def rest_height(
    rod: ThickRod, series: PronySeries, above: float, hold: Hold, seconds: float
) -> float:
    """Height of the tip, m, `seconds` after it was let go from `above` that height, m.

    Parameters
    ----------
    hold : its seconds and lever; its height does not count
    """
    y = float(rest(rod, series.equilibrium)[-1, 1])
    for _ in range(ROUNDS):
        start = held(rod, series, Hold(y + above, hold.seconds, hold.lever))
        y = crept_height(rod, series, start, seconds, 0.01 * seconds)
    return y
