"""Elements of Newton's matrix of a step, and how far a step goes.

Half the Hessian of these elements is the slope of a step's forces by its end: they are
stiffer by 1 + 2 beta / h, and their natural strains are moved so that they pull and
bend as the step does. In its middle nodes are where edges that turn are shorter than
the mean of both ends, so that strains there are not the mean either, and EA of the
difference is far more than what bends.
"""

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel
from sim.rod.space.bends import bend_binormal
from sim.rod.space.elements import SpaceElements, copied
from sim.rod.space.frames import (
    SpaceState,
    cross,
    dot,
    run_director,
    run_tangent,
    tangent,
)
from sim.rod.space.hinges import add_hinge_strains


@kernel
def _add_strains(
    state: SpaceState, part: SpaceElements, share: float, v: Floats, stretch: Floats,
    turn: Floats,
) -> None:  # fmt: skip
    """stretch (m,), turn (b, 3) += share of strains and turnings; v (8, 3) is space."""
    t, s, k, w, first, second = v[0], v[1], v[2], v[3], v[4], v[5]
    for e in range(len(part.edges)):
        stretch[e] += share * (tangent(state.x, part.edges[e], t) / part.rest[e] - 1.0)
    for j in range(len(part.bends)):
        e, f = part.bends[j]
        run_tangent(state.x, part.edges, e, t)
        run_tangent(state.x, part.edges, f, s)
        bend_binormal(t, s, k, w)
        run_director(state.d, e, first)
        run_director(state.d, f, second)
        cross(t, first, v[6])
        cross(s, second, v[7])
        turn[j, 0] += 0.5 * share * (dot(first, k) + dot(second, k))
        turn[j, 1] += 0.5 * share * (dot(v[6], k) + dot(v[7], k))
        turn[j, 2] += share * state.twist[j]


@kernel
def soften(
    part: SpaceElements, states: tuple[SpaceState, SpaceState, SpaceState],
    share: tuple[float, float, float], more: float, soft: SpaceElements,
) -> None:  # fmt: skip
    """soft <- elements whose natural strains are moved by shares of those of states.

    Parameters
    ----------
    more : by which they are stiffer
    """
    stretch, turn = np.zeros(len(part.rest)), np.zeros((len(part.bends), 3))
    v, hinged = np.empty((8, 3)), np.zeros((len(part.hinges), 3))
    space = np.empty((5, 3, 3))
    for k in range(3):
        if share[k] != 0.0:
            _add_strains(states[k], part, share[k], v, stretch, turn)
            add_hinge_strains(states[k], part, share[k], space, hinged)
    for j in range(len(part.hinges)):
        for a in range(3):
            soft.hinge_stiffness[j, a] = part.hinge_stiffness[j, a] * more
            soft.hinge_rest[j, a] = part.hinge_rest[j, a] / more + hinged[j, a]
    for e in range(len(part.edges)):
        longer = 1.0 + stretch[e]
        soft.rest[e] = part.rest[e] * longer
        soft.stretching[e] = part.stretching[e] * more * longer
    for j in range(len(part.bends)):
        soft.voronoi[j] = part.voronoi[j]
        soft.twisting[j] = part.twisting[j] * more
        for a in range(3):
            moved = turn[j, a] / part.voronoi[j]
            soft.curvature[j, a] = part.curvature[j, a] / more + moved
        for a in range(2):
            soft.bending[j, a] = part.bending[j, a] * more


def _softened(
    part: SpaceElements, states: tuple[SpaceState, SpaceState, SpaceState],
    share: tuple[float, float, float], viscous: float,
) -> SpaceElements:  # fmt: skip
    soft = copied(part)
    soften(part, states, share, 1.0 + 2.0 * viscous, soft)
    return soft


def softened_at_end(
    part: SpaceElements, before: SpaceState, viscous: float
) -> SpaceElements:
    """For Newmark's rule: strain e acts as (1 + 2 viscous) e - 2 viscous e0 - natural.

    Parameters
    ----------
    viscous : beta / h
    """
    share = 2.0 * viscous / (1.0 + 2.0 * viscous)
    return _softened(part, (before, before, before), (share, 0.0, 0.0), viscous)


def softened_midway(
    part: SpaceElements, states: tuple[SpaceState, SpaceState, SpaceState],
    viscous: float,
) -> SpaceElements:  # fmt: skip
    """For conserving forces: what acts is (e0 + e1) / 2 + viscous (e1 - e0) - natural.

    Parameters
    ----------
    states : in the middle of the step (strains e), before and after it
    """
    share = 1.0, (viscous - 0.5) / (1.0 + 2.0 * viscous), -0.5
    return _softened(part, states, share, viscous)


@kernel
def changes(x: Floats, to: Floats, edges: Ints, rest: Floats) -> tuple[float, float]:
    """Largest stretch at nodes `to`, and the least cosine of an edge's turn from x."""
    most, ahead = 0.0, 1.0
    for e in range(len(edges)):
        tail, head = edges[e, 0], edges[e, 1]
        old = new = along = 0.0
        for a in range(3):
            u, v = x[head, a] - x[tail, a], to[head, a] - to[tail, a]
            old, new, along = old + u * u, new + v * v, along + u * v
        most = max(most, abs(np.sqrt(new) / rest[e] - 1.0))
        ahead = min(ahead, along / np.sqrt(old * new))
    return float(most), float(ahead)
