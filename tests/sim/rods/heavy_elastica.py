"""A heavy inextensible elastic ring that lies on a plane, and may lie on itself.

Half of it, in units in which bending stiffness and weight per length are 1, so that the
ring has the radius 1 / Gamma. From where it leaves the ground (s = 0) to where its top
is level (s = l), with the horizontal force H and the lift P of the ground at the edge
of contact, moments and angles are those of the elastica:

    theta' = kappa,   kappa' = H sin theta - (s - P) cos theta,   x' = cos, y' = sin

with theta = kappa = 0 at s = 0, theta = pi at s = l, and a further condition on each of

    free       the middle of the top carries nothing: P = l
    touching   the middle of the top touches the bottom: y = 0 at s = l
    lying      a length of the top lies on the bottom: y = 0, kappa = 0 at s = l

What is level of the bottom ends below the middle of the top (free, touching) or goes
on to the middle (lying). Nothing here is taken from the package: the rod's elements,
its contact and its solver are what this is held against.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import root

LYING = (0.0, 3.745, 4.683)  # where the search for H, P, l of a loop begins
FREE = (-0.65, 2.85, 2.85)  # and that of a free ring of Gamma 1
STEP = 0.02  # of Gamma, from one ring to the next


@dataclass(frozen=True)
class HeavyRing:
    """A ring in equilibrium, lengths over R, arcs as shares of the perimeter.

    height, highest : of the middle of the top, and of its highest point
    on_ground, on_itself : shares of the perimeter that lie there
    """

    height: float
    highest: float
    on_ground: float
    on_itself: float


def _free_part(unknown: NDArray[np.float64]) -> NDArray[np.float64]:
    """(4, 400) theta, kappa, x, y from the ground to the top."""
    H, P, length = unknown

    def slope(s: float, y: NDArray[np.float64]) -> list[float]:
        cos, sin = np.cos(y[0]), np.sin(y[0])
        return [y[1], H * sin - (s - P) * cos, cos, sin]

    at = np.linspace(0.0, length, 400)
    run = solve_ivp(
        slope, (0.0, length), np.zeros(4), "DOP853", at, rtol=1e-11, atol=1e-12
    )
    found: NDArray[np.float64] = run.y
    return found


def _solve(kind: str, gamma: float, start: tuple[float, ...]) -> tuple[float, ...]:
    """H, P and l of a ring, from those of one alike."""

    def amiss(unknown: NDArray[np.float64]) -> list[float]:
        theta, kappa, x, y = _free_part(unknown)[:, -1]
        turned = theta - np.pi
        if kind == "lying":
            return [turned, kappa, y]
        closed = unknown[2] - x - np.pi / gamma  # level below: from the middle to -x
        return [turned, closed, y if kind == "touching" else unknown[1] - unknown[2]]

    found = root(amiss, start, tol=1e-11)
    if np.abs(amiss(found.x)).max() > 1e-8:
        raise ArithmeticError(f"no {kind} ring of Gamma {gamma} near {start}")
    return tuple(found.x.tolist())


@lru_cache
def heavy_ring(gamma: float) -> HeavyRing:
    """The ring of Gamma at most 1.19, where it begins to lie on more than a point."""
    loop = _solve("lying", gamma, LYING)
    level = np.pi / gamma - loop[2]  # of bottom and top together
    back = -_free_part(np.array(loop))[2, -1]
    if level >= back:
        return _told(gamma, loop, 0.5 * (level + back), 0.5 * (level - back))
    if gamma < 0.6:
        held = _followed("touching", np.pi / (loop[2] + back), gamma, loop)
        if held[1] < held[2]:
            return _told(gamma, held, np.pi / gamma - held[2], 0.0)
    free = _followed("free", 1.0, gamma, FREE)
    return _told(gamma, free, np.pi / gamma - free[2], 0.0)


def _followed(
    kind: str, first: float, gamma: float, unknown: tuple[float, ...]
) -> tuple[float, ...]:
    """H, P and l of a ring by way of those from `first` on."""
    count = 2 + int(abs(gamma - first) / STEP)
    for near in np.linspace(first, gamma, count).tolist():
        unknown = _solve(kind, near, unknown)
    return unknown


def _told(
    gamma: float, unknown: tuple[float, ...], bottom: float, top: float
) -> HeavyRing:
    part = _free_part(np.array(unknown))
    height, highest = part[3, -1], part[3].max()
    lift = min(unknown[1], unknown[2] - unknown[1])
    if part[3].min() < -1e-9 or lift < -1e-9:
        raise ArithmeticError(f"a ring of Gamma {gamma} is pulled down, or below")
    return HeavyRing(
        *(gamma * np.array([height, highest])).tolist(),
        *(gamma / np.pi * np.array([bottom, top])).tolist(),
    )
