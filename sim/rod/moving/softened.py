"""Elements of Newton's matrix of a step, and how far a step goes.

Half the Hessian of these elements is the slope of a step's forces by its end: they are
stiffer by 1 + 2 beta / h, and their natural strains are moved so that they pull and
bend as the step does. In its middle nodes are where edges that turn are shorter than
the mean of both ends, so that strains there are not the mean either, and EA of the
difference is far more than what bends.
"""

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.compiled import kernel
from sim.rod.space.bends import bend_binormal
from sim.rod.space.elastic import SpaceElements
from sim.rod.space.frames import (
    SpaceState,
    cross,
    dot,
    run_director,
    run_tangent,
    tangent,
)


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


def _softened(
    part: SpaceElements, viscous: float, shares: list[tuple[float, SpaceState]]
) -> SpaceElements:
    """Of natural strains that are the sum of shares of those of states."""
    more = 1.0 + 2.0 * viscous
    stretch, turn = np.zeros(len(part.rest)), np.zeros_like(part.curvature)
    v = np.empty((8, 3))
    for share, state in shares:
        _add_strains(state, part, share, v, stretch, turn)
    longer = 1.0 + stretch
    return part._replace(
        rest=part.rest * longer,
        stretching=part.stretching * more * longer,
        bending=part.bending * more,
        twisting=part.twisting * more,
        curvature=part.curvature / more + turn / part.voronoi[:, None],
    )


def softened_at_end(
    part: SpaceElements, before: SpaceState, viscous: float
) -> SpaceElements:
    """For Newmark's rule: strain e acts as (1 + 2 viscous) e - 2 viscous e0 - natural.

    Parameters
    ----------
    viscous : beta / h
    """
    return _softened(part, viscous, [(2.0 * viscous / (1.0 + 2.0 * viscous), before)])


def softened_midway(
    part: SpaceElements, states: tuple[SpaceState, SpaceState, SpaceState],
    viscous: float,
) -> SpaceElements:  # fmt: skip
    """For conserving forces: what acts is (e0 + e1) / 2 + viscous (e1 - e0) - natural.

    Parameters
    ----------
    states : before the step, in its middle (strains e), and after it
    """
    before, middle, after = states
    more = 1.0 + 2.0 * viscous
    return _softened(
        part, viscous,
        [(1.0, middle), ((viscous - 0.5) / more, before), (-0.5, after)],
    )  # fmt: skip


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
