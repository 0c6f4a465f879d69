"""Period and damping of something held and let go, one definition for all series.

A series begins with the last frame in which it was held. It is split where it crosses
its final rest; in each piece the extremum farthest from rest counts, k = 0, 1, 2, ...,
where k = 0 is the held frame. With ten half periods, and heights a_k from rest,

    T    = 2 (t_10 - t_0) / 10
    zeta = d / sqrt(pi^2 + d^2),   d = -slope of ln |a_k| over k = 1 ... 10

Extrema are those of the cubic spline through the frames, so that both follow a series
without jumps. Other definitions (crossings of the rest, extrema about a running mean,
none at the release) move T by up to 2 %: measured and simulated series must go through
this one alike.
"""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from sim.arrays import Floats

HALVES = 10  # half periods that are looked at
EVEN = 1e-6  # relative difference of time steps up to which they are the same
SLOWEST = 8.0  # samples a period, at least


@dataclass(frozen=True)
class Ringing:
    """How something rings.

    Parameters
    ----------
    period : s
    damping_ratio : of critical damping
    """

    period: float
    damping_ratio: float


def ringing(time: Floats, height: Floats, rest: float, halves: int = HALVES) -> Ringing:
    """Period and damping ratio of a height from the last held frame on.

    Parameters
    ----------
    time, height : (n,) evenly sampled, the first one still held
    rest : where it comes to rest
    halves : half periods that are looked at

    Raises
    ------
    ValueError
        where the series is uneven, or shows fewer extrema than asked for
    """
    step = np.diff(time)
    if len(step) < 4 or np.ptp(step) > EVEN * abs(float(step.mean())) + 1e-9:
        raise ValueError("ringing wants at least 5 heights at even times")
    when, away = extrema(time, height - rest)
    if len(when) <= halves:
        raise ValueError(
            f"{len(when) - 1} extrema after the release, {halves} are needed: give "
            "a longer series"
        )
    period = 2.0 * float(when[halves] - when[0]) / halves
    if period < SLOWEST * step[0]:
        raise ValueError(
            f"a period of {period:.3g} s is sampled every {step[0]:.3g} s: too few "
            "samples to tell its extrema from noise"
        )
    k = np.arange(1, halves + 1)
    decay = -float(np.polyfit(k, np.log(np.abs(away[k])), 1)[0])
    return Ringing(period, decay / float(np.hypot(np.pi, decay)))


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
