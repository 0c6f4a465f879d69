"""Force by displacement, back and forth: branches, their mean, what is read off it.

One extractor for measured loops and for those of a model. A loop is cut where its
displacement turns; the mean branch is half the sum of the mean closing branch and the
mean opening branch. The first branch of each direction is left out where a later one
reaches as far: a specimen that was not loaded before is stiffer.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.measured.series import Quantities, QuantitySeries, curve, one_value
from sim.arrays import Floats, Ints

PLACES = np.round(np.arange(-1.4, 10.81, 0.2), 1)  # mm of closing
TURN = 0.5  # mm back that tell a turning point from jitter
SHORT = 0.1  # mm by which a branch may end before another and reach as far
OVER = {"work": "force", "half_hysteresis": "half_difference"}  # taken over all of it
CLOSED = 2.0  # mm beyond which a stable state is the closed one


@dataclass(frozen=True, eq=False)
class Loops:
    """Force resisting closing at places, nan where a branch does not reach.

    Attributes
    ----------
    at : (m,) mm
    closing, opening : (c, m), (o, m) N, a row a branch
    """

    at: Floats
    closing: Floats
    opening: Floats

    def mean_branch(self) -> QuantitySeries:
        """Where both directions reach; u is that of the mean of the cycles."""
        both = [_mean_of(rows) for rows in (self.closing, self.opening)]
        mean = (both[0][0] + both[1][0]) / 2
        u = np.hypot(both[0][1], both[1][1]) / 2
        there = np.isfinite(mean)
        return curve(self.at[there], mean[there], u[there])

    def half_difference(self) -> QuantitySeries:
        """Half of closing minus opening, where both reach; u as of the mean branch."""
        closing, opening = (_mean_of(rows)[0] for rows in (self.closing, self.opening))
        mean, half = self.mean_branch(), (closing - opening) / 2
        return curve(mean.at, half[np.isfinite(half)], mean.u)


def turning_points(x: Floats, least: float = TURN) -> Ints:
    """Ends and extremes of x between which it moves one way, jitter below `least`."""
    found, extreme, way = [0], 0, 0
    for i, value in enumerate(x):
        if way == 0 and abs(value - x[0]) > least:
            way, extreme = (1 if value > x[0] else -1), i
        elif way * (value - x[extreme]) > 0:
            extreme = i
        elif way and way * (x[extreme] - value) > least:
            found.append(extreme)
            way, extreme = -way, i
    return np.array([*found, extreme if way else len(x) - 1])


def loops_of(
    closing: Floats, force: Floats, at: Floats = PLACES, over: float = 0.0
) -> Loops:
    """Branches of a record at places.

    Parameters
    ----------
    closing, force : (n,) in the order of time, mm and N
    over : mm either way over which force is averaged, within the branch

    Raises
    ------
    ValueError
        where it does not go both ways
    """
    ways: dict[int, list[Floats]] = {1: [], -1: []}
    reach: dict[int, list[float]] = {1: [], -1: []}
    for a, b in pairwise(turning_points(closing)):
        way = 1 if closing[b] > closing[a] else -1
        ways[way].append(_branch(closing[a : b + 1], force[a : b + 1], at, over))
        reach[way].append(float(way * closing[b]))
    for way, rows in ways.items():
        if not rows:
            said = "closes" if way == 1 else "opens"
            raise ValueError(f"it never {said}: it has no mean branch")
        if len(rows) > 1 and max(reach[way][1:]) >= reach[way][0] - SHORT:
            del rows[0]
    return Loops(at, np.array(ways[1]), np.array(ways[-1]))


def _branch(x: Floats, force: Floats, at: Floats, over: float) -> Floats:
    order = np.argsort(x, kind="stable")
    x, force = x[order], force[order]
    found = np.interp(at, x, force, left=np.nan, right=np.nan)
    there = np.isfinite(found) & (over > 0.0)
    low, high = (np.clip(at[there] + way * over, x[0], x[-1]) for way in (-1, 1))
    whole = _integral(high, x, force) - _integral(low, x, force)
    found[there] = whole / (high - low)
    return np.asarray(found)


def _integral(to: Floats, x: Floats, force: Floats) -> Floats:
    """(m,) of straight lines between (n,) points, from the first to places."""
    whole = np.append(0.0, np.cumsum(np.diff(x) * (force[1:] + force[:-1]) / 2.0))
    k = np.clip(np.searchsorted(x, to, side="right") - 1, 0, len(x) - 2)
    return np.asarray(
        whole[k] + (to - x[k]) * (force[k] + np.interp(to, x, force)) / 2.0
    )


def _mean_of(rows: Floats) -> tuple[Floats, Floats]:
    """Mean and its standard uncertainty of branches, nan where there are none."""
    count = np.isfinite(rows).sum(axis=0)
    some = np.maximum(count, 1)
    mean = np.nansum(rows, axis=0) / some
    square = np.nansum((rows - mean) ** 2, axis=0) / np.maximum(count - 1, 1)
    return np.where(count, mean, np.nan), np.where(count > 1, np.sqrt(square / some), 0)


def zero_crossings(at: Floats, force: Floats) -> Floats:
    """Places where force rises through zero: stable states, by straight lines."""
    i = np.flatnonzero((force[:-1] < 0) & (force[1:] >= 0))
    return np.asarray(
        at[i] - force[i] * (at[i + 1] - at[i]) / (force[i + 1] - force[i])
    )


def loop_quantities(loops: Loops) -> Quantities:
    """Mean branch, stable states, work from 0 mm to the closed end, hysteresis.

    Half hysteresis is the root mean square of half the difference of both directions.
    """
    mean = loops.mean_branch()
    if len(mean.at) < 2:
        raise ValueError("closing and opening have fewer than two places in common")
    half = loops.half_difference()
    found = {
        "force": mean,
        "half_difference": half,
        "half_hysteresis": one_value(float(np.sqrt(np.mean(half.value**2)))),
    }
    states = zero_crossings(mean.at, mean.value)
    parts = (("open", states <= CLOSED), ("closed", states > CLOSED))
    for name, kept in parts:
        if kept.any():
            found[f"zero_crossing_{name}"] = one_value(float(states[kept][0]))
    up = mean.at >= 0
    if up.sum() > 1:
        found["work"] = one_value(float(np.trapezoid(mean.value[up], mean.at[up])))
    return found
