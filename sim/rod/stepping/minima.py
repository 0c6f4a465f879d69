"""Whether an equilibrium is a minimum of the energy, and the way down if it is not.

With the contacts held as they are (sliding: their normal, sticking: both coordinates),
the matrix K + s M is positive definite exactly if no motion lowers the energy faster
than its shift s lets it: the inertia of the factor, Nocedal and Wright (2006), 3.4. At
a saddle the least shift that makes it so is that of the motion that falls fastest.

Rods on rods couple nodes that no element does: then the matrix is dense. A contact of
gap g that is pushed with N adds - N times the second derivatives of g. Of a node at a
distance D from the inside of an edge of length l, with normal n and tangent t, they are

    d2g = -2 w u - D w^2       w = n . (dx_k - dx_j) / l, u = t . (dx_i - dx_there)

and of a node at a distance D from another u^2 / D.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.rod.actuation.actuation import actuate
from sim.rod.contact.coulomb import OPEN, STICK
from sim.rod.contact.ground import bend, surface
from sim.rod.energy.blocks import (
    BlockMatrix,
    dense,
    empty,
    factorise,
    solve_each,
)
from sim.rod.energy.elastic import Rates, join, passive, unstrained
from sim.rod.energy.stiffness import add_mass, add_stiffness
from sim.rod.stepping.simulate import Loop

NEUTRAL = 1e-6  # shift that no falling motion needs, over that of the outer forces
SAME = 1e-9  # of what contacts block, below which they say it twice
ITERATIONS = 60  # of the inverse iteration


class Falling(NamedTuple):
    """A motion from a saddle.

    Attributes
    ----------
    mode : (n, 2) its largest component is 1
    rate : 1/s, at which it grows
    """

    mode: Floats
    rate: float


Solve = Callable[[Floats], None]  # A^-1 r in place of r (P, n, 2)


def convex_matrix(loop: Loop, shift: float, *, at_rest: bool = False) -> Solve | None:
    """What solves with K + shift M where the loop is; None if not positive definite.

    At rest, where they are in balance, forces of contacts count where they turn.
    """
    setting, state, rod = loop.setting, loop.state, loop.world.rod
    matrix, actuated = empty(setting.pattern), passive(rod)
    actuate(state.clock.time, state.pulse, setting.law, actuated)
    join(setting.element, actuated)
    add_mass(setting.pattern, matrix, rod.mass, setting.held, shift)
    add_stiffness(
        state.x, setting.element, actuated, Rates(1.0, 0.0), unstrained(rod),
        setting.pattern, 1.0, matrix,
    )  # fmt: skip
    if at_rest and len(state.pair) and state.pair[0, 2] != OPEN:
        return _dense_solver(loop, matrix)
    free = _hold_contacts(loop, matrix, at_rest=at_rest)
    if not factorise(setting.pattern, matrix):
        return None

    def solve(r: Floats) -> None:
        pushed = np.einsum("nab,pnb->pna", free, r)
        solve_each(setting.pattern, matrix, np.zeros_like(state.x), pushed)
        r[:] = np.einsum("nab,pna->pnb", free, pushed)

    return solve


def _dense_solver(loop: Loop, matrix: BlockMatrix) -> Solve | None:
    """Likewise with contacts of edges, in the motions that all contacts let."""
    held = loop.setting.held.ravel()
    curved, rows = _of_pairs(loop)
    for i in np.flatnonzero(loop.state.contact != OPEN).tolist():
        block, directions = _of_node(loop, i, at_rest=True)
        curved[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] += block
        for direction in directions:
            rows.append(np.zeros_like(loop.state.x))
            rows[-1][i] = direction
    blocked = np.array([row.ravel() for row in rows]) * ~held
    _, sizes, motions = np.linalg.svd(np.vstack([blocked, np.diag(held * 1.0)]))
    free = motions[np.count_nonzero(sizes > SAME * sizes[0]) :] * ~held
    reduced = free @ (dense(loop.setting.pattern, matrix) + curved) @ free.T
    try:
        np.linalg.cholesky(reduced)
    except np.linalg.LinAlgError:
        return None

    def solve(r: Floats) -> None:
        pushed = free @ r.reshape(len(r), -1).T
        r[:] = (free.T @ np.linalg.solve(reduced, pushed)).T.reshape(r.shape)

    return solve


def _of_pairs(loop: Loop) -> tuple[Floats, list[Floats]]:
    """What forces of the contacts of edges add (2n, 2n), and what they block (n, 2)."""
    setting, state, work = loop.setting, loop.state, loop.work
    curved, rows, c = np.zeros((state.x.size, state.x.size)), [], 0
    for node, e, how in state.pair.tolist():
        if how == OPEN:
            break
        while (work.who[c], work.edge[c]) != (node, e):
            c += 1
        along, away = (_row(loop, c, direction) for direction in _axes(work.frame[c]))
        rows.append(away)
        if how == STICK and setting.mu > 0.0:
            rows.append(along)
        if node >= 0:
            pushed = float(work.p[2 * c] / state.clock.last_step)
            curved += pushed * _turning(loop, c, along.ravel())
        c += 1
    return curved, rows


def _axes(frame: Floats) -> tuple[Floats, Floats]:
    """Tangent and normal of a contact."""
    return frame, np.array([-frame[1], frame[0]])


def _row(loop: Loop, c: int, direction: Floats) -> Floats:
    """(n, 2) how a contact moves along a direction."""
    work, row = loop.work, np.zeros_like(loop.state.x)
    for a in range(work.arms[c]):
        row[work.arm[c, a]] += work.lever[c, a] * direction
    return row


def _turning(loop: Loop, c: int, u: Floats) -> Floats:
    """(2n, 2n) minus the second derivatives of the gap of a node with an edge, 1/m."""
    work, distance = loop.work, loop.setting.touch.distance
    _, j, k = work.arm[c, :3]
    if not 0.0 < -work.lever[c, 2] < 1.0:
        return -np.outer(u, u) / distance
    length = np.linalg.norm(loop.state.x[k] - loop.state.x[j])
    row = np.zeros_like(loop.state.x)
    row[k] = _axes(work.frame[c])[1] / length
    row[j] = -row[k]
    w = row.ravel()
    return np.outer(w, u) + np.outer(u, w) + distance * np.outer(w, w)


def _hold_contacts(loop: Loop, matrix: BlockMatrix, *, at_rest: bool) -> Floats:
    """Let contacts move along the ground only, or not at all where they stick.

    Along ground of curvature k one that is pushed with N lowers or raises the rest by
    N k / 2 times the square of its way: a crest is no place to stay on. Returns (n, 2,
    2) the motions that are free, in which the matrix is written, zero for one that is
    blocked: a stiffness for it, on a slope, would leave no digits of the others.
    """
    pattern, n = loop.setting.pattern, len(loop.state.x)
    node, free = np.argsort(pattern.place), np.tile(np.eye(2), (n, 1, 1))
    for i in np.flatnonzero(loop.state.contact != OPEN).tolist():
        block, directions = _of_node(loop, i, at_rest=at_rest)
        matrix.diagonal[pattern.place[i]] += block[[0, 0, 1], [0, 1, 1]]
        free[i] = 0.0
        if len(directions) == 1:
            free[i, 0] = [directions[0][1], -directions[0][0]]
    by_place, column = free[node], np.repeat(np.arange(n), np.diff(pattern.start))
    whole = matrix.diagonal[:, [0, 1, 1, 2]].reshape(-1, 2, 2)
    whole = by_place @ whole @ by_place.transpose(0, 2, 1)
    whole[:, [0, 1], [0, 1]] += ~np.any(by_place, axis=2)
    matrix.diagonal[:] = whole[:, [0, 0, 1], [0, 1, 1]]
    lower = by_place[pattern.row] @ matrix.lower.reshape(-1, 2, 2)
    lower = lower @ by_place[column].transpose(0, 2, 1)
    matrix.lower[:] = lower.reshape(-1, 4)
    return free


def _of_node(loop: Loop, i: int, *, at_rest: bool) -> tuple[Floats, list[Floats]]:
    """What the force of the ground on a node adds (2, 2), and what it blocks."""
    setting, state = loop.setting, loop.state
    slope = surface(setting.relief, state.x[i, 0])[1]
    n = np.array([-slope, 1.0]) / np.hypot(1.0, slope)
    if state.contact[i] == STICK and setting.mu > 0.0:
        return np.zeros((2, 2)), [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    if not at_rest:
        return np.zeros((2, 2)), [n]
    curved = bend(setting.relief, state.x[i, 0]) / np.hypot(1.0, slope) ** 3
    t = np.array([n[1], -n[0]])
    return float(loop.reaction[i] @ n) * curved * np.outer(t, t), [n]


def neutral(loop: Loop, outer: float) -> float:
    """The shift, 1/s^2, up to which a motion neither falls nor resists."""
    size = float(np.ptp(loop.state.x, axis=0).max())
    return NEUTRAL * outer / (float(loop.world.rod.mass.sum()) * size)


def falling_mode(loop: Loop, outer: float) -> Falling | None:
    """The motion that falls fastest from an equilibrium of the loop; none at a minimum.

    Parameters
    ----------
    outer : N, sum of the outer forces
    """
    rod, shift = loop.world.rod, neutral(loop, outer)
    factor = convex_matrix(loop, shift, at_rest=True)
    if factor is not None:
        return None
    while factor is None:
        shift *= 2.0
        factor = convex_matrix(loop, shift, at_rest=True)
    mode = np.random.default_rng(0).standard_normal((1, *loop.state.x.shape))
    for _ in range(ITERATIONS):
        mode = mode * rod.mass[:, None]
        factor(mode)
        mode /= np.abs(mode).max()
    return Falling(mode[0], float(np.sqrt(shift)))
