"""Numbers read off records, by one extractor for measured series and those of a model.

Force by displacement, back and forth (`loop_quantities`). A loop is cut where its
displacement turns; the mean branch is half the sum of the mean closing branch and the
mean opening branch. The first branch of each direction is left out where a later one
reaches as far: a specimen that was not loaded before is stiffer.

Period and damping of something held and let go (`ringing`). A series begins with the
last frame in which it was held (`release_frame`). It is split where it crosses its
final rest; in each piece the extremum farthest from rest counts, k = 0, 1, 2, ...,
where k = 0 is the held frame. With ten half periods, and heights a_k from rest,

    T    = 2 (t_10 - t_0) / 10
    zeta = d / sqrt(pi^2 + d^2),   d = -slope of ln |a_k| over k = 1 ... 10

Extrema are those of the cubic spline through the frames, so that both follow a series
without jumps. Other definitions (crossings of the rest, extrema about a running mean,
none at the release) move T by up to 2 %: measured and simulated series must go through
this one alike.

A measured lattice on a modelled one (`place_on_model`). Labels come from continuity
alone (`analysis.labels.label_tracks`). A lattice that looks the same after half a turn
or in a mirror can be labelled in several ways; which of them a specimen has is chosen
once, by comparison with the model at all its frames together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from analysis.alignment import fit_planar_motion
from analysis.labels.label_tracks import carry_labels, placements
from analysis.measured.predicted_quantities import (
    Quantities,
    QuantitySeries,
    curve,
    one_value,
)
from sim.core.arrays import Floats, Ints

PLACES = np.round(np.arange(-1.4, 10.81, 0.2), 1)  # mm of closing
TURN = 0.5  # mm back that separate a turning point from jitter
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


def loops_of(closing: Floats, force: Floats, over: float = 0.0) -> Loops:
    """Branches of a record at `PLACES`.

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
        ways[way].append(_branch(closing[a : b + 1], force[a : b + 1], PLACES, over))
        reach[way].append(float(way * closing[b]))
    for way, rows in ways.items():
        if not rows:
            motion = "closes" if way == 1 else "opens"
            raise ValueError(
                f"the specimen never {motion} in this record: record both directions"
            )
        if len(rows) > 1 and max(reach[way][1:]) >= reach[way][0] - SHORT:
            del rows[0]
    return Loops(PLACES, np.array(ways[1]), np.array(ways[-1]))


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
        raise ValueError("closing and opening hardly overlap: record both fully")
    half = loops.half_difference()
    found = {
        "force": mean,
        "half_difference": half,
        "half_hysteresis": one_value(float(np.sqrt(np.mean(half.value**2)))),
    }
    states = zero_crossings(mean.at, mean.value)
    parts = (("open", states <= CLOSED), ("closed", states > CLOSED))
    for name, there in parts:
        if there.any():
            found[f"zero_crossing_{name}"] = one_value(float(states[there][0]))
    up = mean.at >= 0
    if up.sum() > 1:
        found["work"] = one_value(float(np.trapezoid(mean.value[up], mean.at[up])))
    return found


HALVES = 10  # half periods that are looked at
EVEN = 1e-6  # relative difference of time steps up to which they are the same
SLOWEST = 8.0  # samples a period, at least


def ringing(time: Floats, height: Floats, rest: float) -> tuple[float, float]:
    """Period, s, and damping ratio of a height from the last held frame on.

    Parameters
    ----------
    time, height : (n,) evenly sampled, the first one still held
    rest : where it comes to rest

    Raises
    ------
    ValueError
        where the series is uneven, or shows fewer extrema than asked for
    """
    step = np.diff(time)
    if len(step) < 4 or np.ptp(step) > EVEN * abs(float(step.mean())) + 1e-9:
        raise ValueError(
            "a free vibration needs 5 or more heights at equal time steps, not "
            f"{len(time)} at steps of {step.min(initial=np.inf):.3g} to "
            f"{step.max(initial=0.0):.3g} s"
        )
    when, away = extrema(time, height - rest)
    if len(when) <= HALVES:
        raise ValueError(
            f"{len(when) - 1} extrema after the release, {HALVES} are needed: give "
            "a longer series"
        )
    period = 2.0 * float(when[HALVES] - when[0]) / HALVES
    if period < SLOWEST * step[0]:
        raise ValueError(
            f"a period of {period:.3g} s is sampled every {step[0]:.3g} s: too few "
            "samples to tell its extrema from noise; sample faster"
        )
    k = np.arange(1, HALVES + 1)
    decay = -float(np.polyfit(k, np.log(np.abs(away[k])), 1)[0])
    return period, decay / float(np.hypot(np.pi, decay))


def extrema(time: Floats, away: Floats) -> tuple[Floats, Floats]:
    """Times and heights: the first frame, then one between each two crossings of rest.

    Parameters
    ----------
    away : (n,) height above rest
    """
    curve = CubicSpline(time, away)
    turns = curve.derivative().roots(extrapolate=False)
    at = np.concatenate([time[:1], turns[turns > time[0]]])
    size = curve(at)
    piece = np.concatenate([[0], np.cumsum(np.diff(np.sign(size)) != 0)])
    farthest = [0]
    for k in range(1, int(piece[-1]) + 1):
        own = np.flatnonzero(piece == k)
        farthest.append(int(own[np.argmax(np.abs(size[own]))]))
    return at[farthest], size[farthest]


FASTEST_HELD = 0.03  # m/s, above which a tip falls
FASTEST_RISE = 0.1  # m/s, which no hand lifts a tip at just before it lets go
RESTING = 0.6  # s, at the end of a record


def release_frame(time: Floats, height: Floats) -> int:
    """The first frame from which the tip falls faster than `FASTEST_HELD`.

    Parameters
    ----------
    time, height : (n,) s, m

    Raises
    ------
    ValueError
        where it never does, or does from the first frame on
    """
    falling = np.diff(height) < -FASTEST_HELD * np.diff(time)
    if not falling.any():
        raise ValueError(
            f"the tip never falls faster than {FASTEST_HELD:g} m/s: is its height "
            "upwards, in m, and time in s?"
        )
    frame = int(np.argmax(falling))
    if frame == 0:
        raise ValueError(
            "the tip falls from the first frame on: begin while it is still held"
        )
    if (np.diff(height[: frame + 1]) > FASTEST_RISE * np.diff(time[: frame + 1])).any():
        raise ValueError(
            "the tip rises fast before it falls: is its height upwards, and is one "
            "release recorded?"
        )
    return frame


def resting(time: Floats) -> np.ndarray:
    """(n,) which frames are those of the rest at the end."""
    return np.asarray(time > time[-1] - RESTING)


@dataclass(frozen=True, eq=False)
class Placed:
    """Labelled frames on the model.

    Attributes
    ----------
    aligned : (f, n, 2) measured nodes, moved rigidly onto the model frame by frame
    placement : which symmetric placement was chosen
    rms : (k,) distance of all nodes and frames from the model in each of them
    """

    aligned: Floats
    placement: int
    rms: Floats


def label_frames(
    frames: Sequence[Floats], made: Floats, links: Ints, along: Floats
) -> tuple[Floats, list[Ints]]:
    """Nodes by continuity, and how a symmetric lattice may be labelled otherwise.

    Parameters
    ----------
    frames : (n, 2) points of each, the first undeformed
    made : (n, 2) nodes of the undeformed lattice

    Returns
    -------
    (f, n, 2) points, and orders (n,) of nodes: their own, and those of symmetric
    placements
    """
    fits = placements(made, frames[0], links)
    first = fits[0].order
    node = np.argsort(first)
    points = carry_labels(frames, links, first, along)
    return points, [node[fit.order] for fit in fits]


def place_on_model(points: Floats, orders: Sequence[Ints], model: Floats) -> Placed:
    """The symmetric placement that is nearest to the model, and the nodes there.

    Parameters
    ----------
    points, model : (f, n, 2) labelled nodes, and those of the model, at the same frames
    """
    tried = [_aligned(points[:, order], model) for order in orders]
    rms = np.array([_rms(moved - model) for moved in tried])
    best = int(np.argmin(rms))
    return Placed(tried[best], best, rms)


def _aligned(points: Floats, model: Floats) -> Floats:
    """Every frame (n, 2) moved onto the model's, of one hand or the other."""
    moved = []
    for x, y in zip(points, model, strict=True):
        both = [fit_planar_motion(x, y, hand)(x) for hand in (False, True)]
        moved.append(min(both, key=lambda one: _rms(one - y)))
    return np.array(moved)


def in_own_frame(x: Floats, made: Floats) -> Floats:
    """Nodes (n, 2) about their middle, turned as the undeformed lattice lies."""
    motion = fit_planar_motion(x, made - made.mean(axis=0))
    return motion(x)


def node_series(at: Floats, nodes: Floats, u: float = 0.0) -> dict[str, QuantitySeries]:
    """node_00_x, node_00_y and so on, of frames (f, n, 2)."""
    return {
        f"node_{node:02d}_{axis}": curve(at, nodes[:, node, k], u)
        for node in range(nodes.shape[1])
        for k, axis in enumerate("xy")
    }


def nodes_of(series: Quantities, n: int) -> Floats:
    """(f, n, 2) the other way round."""
    columns = [
        series[f"node_{node:02d}_{axis}"].value for node in range(n) for axis in "xy"
    ]
    return np.stack(columns, axis=1).reshape(-1, n, 2)


def size_series(
    at: Floats, nodes: Floats, rows: Mapping[str, Ints], u: float = 0.0
) -> dict[str, QuantitySeries]:
    """Length between the middles of the end rows, and width of the middle row.

    Parameters
    ----------
    nodes : (f, n, 2)
    rows : nodes of the rows `first`, `middle` and `last`, from one end to the other
    u : standard uncertainty of a coordinate
    """
    first, last = (nodes[:, rows[name]].mean(axis=1) for name in ("first", "last"))
    waist = nodes[:, rows["middle"][-1]] - nodes[:, rows["middle"][0]]
    both = np.sqrt(2.0) * u
    return {
        "length": curve(
            at, np.linalg.norm(last - first, axis=1), both / np.sqrt(len(rows["first"]))
        ),
        "waist": curve(at, np.linalg.norm(waist, axis=1), both),
    }


def _rms(difference: Floats) -> float:
    """Root mean square node distance of (..., 2)."""
    return float(np.sqrt(np.mean(np.sum(difference**2, axis=-1))))
