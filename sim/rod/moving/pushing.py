"""Contact within a step: forces on skins that meet, friction with them.

Forces f at contacts act on the rod by J^T f as inner forces do,

    2 M (dq - h v0) / h^2 = F + load + J^T f,     v1 = 2 dq / h - v0,

where places at the end of the step obey the law of contact, gap >= 0 with no gap where
skins push, and friction opposes the way that skins slide in the step. So what rests or
slides on keeps its gap, and contact forces give no energy: neither f_n (gap1 - gap0)
nor f_t . du is positive. Of the velocity at the end, what would part or rub skins that
push each other is taken off by impulses in the same cone: what meets does not rebound.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats
from sim.contact.cones import cone_residual, coulomb_in_space
from sim.linear.columns import forward, over_pivots
from sim.linear.sparse import Factor
from sim.rod.moving.beside import entered
from sim.rod.moving.contact_rows import ContactRows, contact_rows
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import (
    NO_NODES,
    NO_PAIRS,
    THIN,
    Contacts,
    Near,
    clear_way,
    contacts_of,
    near,
    near_pairs,
    once,
)
from sim.rod.space.frames import SpaceState

SLACK = 0.05  # of the least radius: gaps that are solved for, though nothing pushes yet
STUCK = 1e-6  # of the cone: forces within it stick
SINGULAR = 1e-10  # of the largest singular value: shared loads
LEAST_COMPLIANCE = 1e-12  # 1/kg, of contacts of what is held
AHEAD = 2.0  # of the way that is guessed, and of `SLACK`: what is looked at
WITHIN = 1e-6  # of the least radius, by which skins may be within each other


class Pushed(NamedTuple):
    """Contacts at the end of a step, and what pushes there.

    Attributes
    ----------
    rows : J, (3 c, 3 n + m)
    force : (c, 3) lam, N
    push : (3 n + m,) J^T lam
    residual : of the contact problem, m
    pushing : (c,) whose force is no rounding: alone it moves skins by more than the gap
    """

    contacts: Contacts
    rows: ContactRows
    force: Floats
    push: Floats
    residual: float
    pushing: Bools

    @property
    def gap(self) -> float:
        """The largest distance of skins that push each other, m."""
        return float(np.abs(self.contacts.gap[self.pushing]).max(initial=0.0))


def what_is_near(
    world: SpaceWorld, state: SpaceState, move: Floats, h: float
) -> Near | None:
    """What may touch in a step of h seconds that is guessed to move nodes (n, 3), m.

    None where nothing may.
    """
    if world.touching is None:
        return None
    way = float(np.linalg.norm(move, axis=1).max())
    way += h * h * float(np.linalg.norm(world.gravity))
    reach = AHEAD * (2.0 * way + SLACK * float(world.touching.radius.min()))
    found = near(world.rod, world.touching, state.x, reach, state.d)
    return found if found.contacts else None


def what_overlaps(world: SpaceWorld, at: SpaceState) -> Near:
    """All skins that are within each other by more than `WITHIN`."""
    if world.touching is None:
        return Near(NO_PAIRS, NO_NODES)
    least = WITHIN * float(world.touching.radius.min())
    return near(world.rod, world.touching, at.x, -least, at.d)


def pushed_at(
    world: SpaceWorld, found: Near, force: Floats, at: SpaceState, moves: Floats,
    h: float, known: Contacts | None,
) -> Pushed:  # fmt: skip
    """What forces (c, 3) do where a step of h seconds ends in a state after `moves`.

    Parameters
    ----------
    known : contacts whose places on their edges are kept
    """
    assert world.touching is not None
    contacts = contacts_of(world.rod, world.touching, found, at.x, known, at.d)
    rows = contact_rows(world.rod, world.touching, at, contacts)
    free = world.system.free
    light = rows.light(free / world.inertia)
    compliance = 0.5 * h * h * np.maximum(light, LEAST_COMPLIANCE)
    scale = np.column_stack([compliance[:, 0], compliance[:, 1:].max(axis=1)])
    w = _ways(contacts, rows, moves)
    residual = cone_residual(w, world.touching.friction, scale, force)
    pushing = force[:, 0] * scale[:, 0] > np.abs(contacts.gap)
    push = rows.push(force, len(free))
    return Pushed(contacts, rows, force, push, residual, pushing)


def _ways(contacts: Contacts, rows: ContactRows, moves: Floats) -> Floats:
    """(c, 3) gaps at the end, and ways of skins past each other, m."""
    w = rows.along(moves)
    w[:, 0] = contacts.gap
    return w


def pushed_further(
    world: SpaceWorld, factor: Factor, pushed: Pushed, unbalanced: Floats,
    moves: Floats, allowed: float,
) -> tuple[Floats, Floats]:  # fmt: skip
    """One iteration: the change of all unknowns (3 n + m,), and forces (c, 3).

    Parameters
    ----------
    unbalanced : (3 n + m,) without contact
    allowed : m, residual of the contact problem
    """
    assert world.touching is not None
    free = world.system.free
    change = np.zeros(len(free))
    change[free] = factor.solve(unbalanced[free])
    b = _ways(pushed.contacts, pushed.rows, moves)
    b += pushed.rows.along(change)
    near_by = b[:, 0] < SLACK * float(world.touching.radius.min())
    near_by |= pushed.force[:, 0] > 0.0
    k, (edge, share, gap, frame) = np.flatnonzero(near_by), pushed.contacts
    near_by[k] = once(world.rod, Contacts(edge[k], share[k], gap[k], frame[k]))
    force = np.zeros_like(pushed.force)
    if not near_by.any():
        return change, force
    J = pushed.rows.some(np.flatnonzero(near_by)).columns(world.system.number)
    y = forward(factor, J)
    W = y.T @ over_pivots(factor, y)
    force[near_by], _ = coulomb_in_space(
        0.5 * (W + W.T), b[near_by], world.touching.friction, pushed.force[near_by],
        0.5 * allowed,
    )  # fmt: skip
    change[free] += factor.solve(J @ force[near_by].ravel())
    return change, force


def passes_through(world: SpaceWorld, before: SpaceState, after: SpaceState) -> bool:
    """Whether axes of edges come too close to others, or bodies, on a straight way."""
    if world.touching is None:
        return False
    move = after.x - before.x
    reach = 2.0 * float(np.linalg.norm(move, axis=1).max())
    pairs = near_pairs(world.rod, world.touching, before.x, reach)
    radius, edges = world.touching.radius, world.rod.edges
    least = THIN * radius[pairs].sum(axis=1)
    if clear_way(pairs, edges, before.x, move, least) >= 0:
        return True
    return bool(
        entered(world.touching.bodies, edges, before.x, move, THIN * radius).any()
    )


def settled_kick(world: SpaceWorld, pushed: Pushed, v: Floats) -> Floats:
    """(3 c,) impulses at the end of a step, N s, after which skins that push rest.

    Where they stick all of their velocity is taken off, where they slide that across
    them, by impulses that lean as the force does.
    """
    free, mu = world.system.free, world.touching.friction if world.touching else 0.0
    tests, leans = [], []
    for k in np.flatnonzero(pushed.pushing).tolist():
        f = pushed.force[k]
        sticks = np.hypot(f[1], f[2]) < (1.0 - STUCK) * mu * f[0]
        for a in range(3 if sticks else 1):
            test = 3 * np.count_nonzero(pushed.pushing[:k]) + a
            tests.append(test)
            lean = np.zeros(3 * np.count_nonzero(pushed.pushing))
            lean[test] = 1.0
            if not sticks:
                lean[test + 1 : test + 3] = f[1:] / f[0]
            leans.append(lean)
    if not tests:
        return np.zeros(pushed.force.size)
    by, some = np.array(leans), np.flatnonzero(pushed.pushing)
    rows = pushed.rows.some(some)
    J = rows.columns(world.system.number).T
    W = J[tests] @ (by @ (J / world.inertia[free])).T
    speed = rows.along(v).ravel()[tests]
    found = np.linalg.lstsq(W, -speed, rcond=SINGULAR)[0]
    kick = np.zeros_like(pushed.force)
    kick[some] = (found @ by).reshape(-1, 3)
    return kick.ravel()


def taken(
    pushed: Pushed, moves: Floats, kick: Floats, v: tuple[Floats, Floats]
) -> tuple[float, float]:
    """What contacts take along the skins (friction) and across them (impact), J.

    Parameters
    ----------
    kick : (3 c,) impulses at the end of the step
    v : (3 n + m,) before and after them
    """
    way, speed = pushed.rows.along(moves), 0.5 * pushed.rows.along(v[0] + v[1])
    work = -(pushed.force * way + kick.reshape(-1, 3) * speed)
    return float(work[:, 1:].sum()), float(work[:, 0].sum())
