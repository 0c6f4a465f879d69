"""Contact within a step: forces on skins that meet, friction with them.

Forces f at contacts act on the rod by J^T f as inner forces do,

    2 M (dq - h v0) / h^2 = F + load + J^T f,     v1 = 2 dq / h - v0,

where places at the end of the step obey the law of contact, gap >= 0 with no gap where
skins push, and friction opposes the way that skins slide in the step. J is that of the
middle of the step, so that what slides along what is curved keeps its energy at second
order in h; on what is flat neither f_n (gap1 - gap0) nor f_t . du is positive. What
rests or slides on keeps its gap. With impulses at the end, what pushed in the step
obeys the same law of velocities there: what meets does not rebound, nor slide back.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.contact.cones import coulomb_forces, coulomb_in_space, largest_left
from sim.kernels import kernel
from sim.linear.columns import compliance
from sim.linear.fronts import Fronts, solve_fronts
from sim.linear.sparse import Factor
from sim.rod.moving.beside import entered
from sim.rod.moving.contact_rows import (
    ContactRows,
    along_rows,
    fill_columns,
    push_by_rows,
    step_rows,
)
from sim.rod.moving.prescribed import DrivenBody
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import (
    NO_NODES,
    NO_PAIRS,
    THIN,
    Contacts,
    Near,
    Touching,
    chosen_once,
    clear_way,
    contacts_of,
    near,
    near_pairs,
)
from sim.rod.space.frames import SpaceState

SLACK = 0.05  # of the least radius: gaps that are solved for, though nothing pushes yet
LEAST_COMPLIANCE = 1e-12  # 1/kg, of contacts of what is held
AHEAD = 2.0  # of the way that is guessed, and of `SLACK`: what is looked at
WITHIN = 1e-6  # of the least radius, by which skins may be within each other


class Pushed(NamedTuple):
    """Contacts at the end of a step, and what pushes there.

    Attributes
    ----------
    rows : J, (3 c, 3 n + m), in the middle of the step
    facing : at its end, whose rows across skins are the slopes of the gaps
    force : (c, 3) lam, N
    push : (3 n + m,) J^T lam
    residual : of the contact problem, m
    pushing : (c,) whose force is no rounding: alone it moves skins by more than the gap
    """

    contacts: Contacts
    rows: ContactRows
    facing: ContactRows
    force: Floats
    push: Floats
    residual: float
    pushing: Bools

    @property
    def gap(self) -> float:
        """The largest distance of skins that push each other, m."""
        return float(np.abs(self.contacts.gap[self.pushing]).max(initial=0.0))


def what_is_near(
    world: SpaceWorld, state: SpaceState, move: Floats, time: float, h: float
) -> Near | None:
    """What may touch in a step of h s that is guessed to move nodes (n, 3), m.

    None where nothing may.
    """
    if world.touching is None:
        return None
    way = float(np.linalg.norm(move, axis=1).max())
    way += h * h * float(np.linalg.norm(world.gravity))
    touching = world.touching.at(time)
    way += max((body.farthest(state.x, h) for body in touching.moved), default=0.0)
    slack = SLACK * float(touching.radius.min())
    found = near(world.rod, touching, state.x, AHEAD * (2.0 * way + slack), state.d)
    way = float(np.linalg.norm(world.gravity)) * h * h
    found = found._replace(pairs=_meeting(world, found.pairs, state, move, way + slack))
    return found if found.contacts else None


def _meeting(
    world: SpaceWorld, pairs: Ints, state: SpaceState, move: Floats, more: float
) -> Ints:
    """(k, 2) pairs that are closer than how far they are guessed to move past, m."""
    assert world.touching is not None
    at = move[world.rod.edges[pairs]]
    past = np.linalg.norm(at[:, 0, :, None] - at[:, 1, None, :], axis=3)
    alone = Near(pairs, NO_NODES)
    gap = contacts_of(world.rod, world.touching, alone, state.x, None).gap
    return np.asarray(pairs[gap < AHEAD * (past.max(axis=(1, 2)) + more)])


def what_overlaps(world: SpaceWorld, at: SpaceState, time: float) -> Near:
    """All skins that are within each other by more than `WITHIN` at a time."""
    if world.touching is None:
        return Near(NO_PAIRS, NO_NODES)
    least = WITHIN * float(world.touching.radius.min())
    return near(world.rod, world.touching.at(time), at.x, -least, at.d)


class TouchStart(NamedTuple):
    """Where a step begins, and the contacts there.

    Attributes
    ----------
    touching : with bodies where they are at its end
    slides : of bodies in the step, as of `Touching.slides`
    """

    state: SpaceState
    contacts: Contacts
    touching: Touching
    slides: Floats


def begun(
    world: SpaceWorld, found: Near, state: SpaceState, time: float, h: float
) -> TouchStart:
    """All that is near, where a step of h seconds begins."""
    assert world.touching is not None
    touching = world.touching.at(time)
    contacts = contacts_of(world.rod, touching, found, state.x, None, state.d)
    return TouchStart(state, contacts, touching.at(time + h), touching.slides(time, h))


def pushed_at(
    world: SpaceWorld, found: Near, force: Floats,
    states: tuple[TouchStart, SpaceState], moves: Floats, h: float,
    known: Contacts | None,
) -> Pushed:  # fmt: skip
    """What forces (c, 3) do where a step of h seconds ends in a state after `moves`.

    Parameters
    ----------
    known : contacts whose places on their edges are kept
    """
    before, at = states
    touching = before.touching
    contacts = contacts_of(world.rod, touching, found, at.x, known, at.d)
    slack = SLACK * float(touching.radius.min())
    ends, both = (before.state, at), (before.contacts, contacts)
    rows, facing = step_rows(world.rod, touching, ends, both, slack, before.slides)
    push, pushing = np.zeros(len(moves)), np.empty(len(force), dtype=np.bool_)
    residual = _push_at(
        rows, contacts.gap, force, moves, touching.friction, 0.5 * h * h,
        world.system.free / world.inertia, push, pushing,
    )  # fmt: skip
    return Pushed(contacts, rows, facing, force, push, residual, pushing)


@kernel
def _push_at(
    rows: ContactRows, gap: Floats, force: Floats, moves: Floats, mu: float,
    half: float, light: Floats, push: Floats, pushing: Bools,
) -> float:  # fmt: skip
    """push, pushing <- of forces; the residual of the contact problem, m.

    Parameters
    ----------
    half : s^2, of the square of the step
    light : (3 n + m,) 1/kg, of unknowns, 0 of held ones
    """
    scale = np.empty((len(gap), 2))
    for k in range(len(gap)):
        for a in range(3):
            own = 0.0
            for j in range(rows.at.shape[1]):
                own += rows.value[k, a, j] ** 2 * light[rows.at[k, j]]
            own = half * max(own, LEAST_COMPLIANCE)
            scale[k, min(a, 1)] = max(own, scale[k, 1]) if a == 2 else own
        pushing[k] = force[k, 0] * scale[k, 0] > abs(gap[k])
    push_by_rows(rows.at, rows.value, force, push)
    return float(largest_left(_ways(rows, gap, moves), mu, scale, force))


@kernel
def _ways(rows: ContactRows, gap: Floats, moves: Floats) -> Floats:
    """(c, 3) gaps at the end, and ways of skins past each other, m."""
    w = np.empty((len(gap), 3))
    along_rows(rows.at, rows.value, moves, w)
    w -= rows.carried
    w[:, 0] = gap
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
    change, slack = np.zeros(len(moves)), SLACK * float(world.touching.radius.min())
    force = _push_further(
        factor.pattern.fronts, factor.L, factor.pivot, world.system.number,
        world.rod.edges, pushed.contacts, (pushed.rows, pushed.facing), pushed.force,
        unbalanced, moves, (world.touching.friction, slack, 0.5 * allowed), change,
    )  # fmt: skip
    return change, force


@kernel
def _push_further(
    fronts: Fronts, L: Floats, pivot: Floats, number: Ints, edges: Ints,
    contacts: Contacts, by: tuple[ContactRows, ContactRows], before: Floats,
    unbalanced: Floats, moves: Floats, given: tuple[float, float, float],
    change: Floats,
) -> Floats:  # fmt: skip
    """change (3 n + m,) += that of an iteration; forces after it (c, 3).

    Forces act by the rows of the middle, gaps change by those of the end: the forces
    that are sought are taken to act by the latter, and what that leaves out of those
    before is added.

    Parameters
    ----------
    by : rows in the middle of the step, and at its end
    given : friction, gaps that are solved for, m, and residual allowed, m
    """
    mu, slack, allowed = given
    rows, value = by[0], by[0].value.copy()
    value[:, 0] = by[1].value[:, 0]
    pushed = unbalanced.copy()
    push_by_rows(rows.at, rows.value - value, before, pushed)
    right = np.empty(len(pivot))
    for i in range(len(number)):
        if number[i] >= 0:
            right[number[i]] = pushed[i]
    _add_free(change, number, solve_fronts(fronts, L, pivot, right))
    ways, more = _ways(rows, contacts.gap, moves), np.empty(before.shape)
    along_rows(rows.at, value, change, more)
    ways += more
    k = np.flatnonzero((ways[:, 0] < slack) | (before[:, 0] > 0.0))
    k = k[chosen_once(edges, contacts.edge[k], contacts.share[k])]
    force = np.zeros(before.shape)
    if len(k):
        J = np.zeros((len(pivot), 3 * len(k)))
        fill_columns(rows.at[k], value[k], number, J)
        W = compliance(fronts, L, pivot, J)
        force[k], _ = coulomb_forces(W, ways[k], mu, before[k], allowed)
        right = J @ force[k].ravel()
        _add_free(change, number, solve_fronts(fronts, L, pivot, right))
    return force


@kernel
def _add_free(change: Floats, number: Ints, found: Floats) -> None:
    """change (3 n + m,) += of free unknowns."""
    for i in range(len(number)):
        if number[i] >= 0:
            change[i] += found[number[i]]


def passes_through(
    world: SpaceWorld, before: SpaceState, after: SpaceState, time: float, h: float
) -> bool:
    """Whether axes of edges come too close to others on a straight way from `time`.

    Or to bodies, on a way that is straight for these.
    """
    if world.touching is None:
        return False
    move = after.x - before.x
    reach = 2.0 * float(np.linalg.norm(move, axis=1).max())
    pairs = near_pairs(world.rod, world.touching, before.x, reach)
    radius, edges = world.touching.radius, world.rod.edges
    least = THIN * radius[pairs].sum(axis=1)
    if clear_way(pairs, edges, before.x, move, least) >= 0:
        return True
    for body in world.touching.at(time).bodies:
        begin, end = before.x, body
        if isinstance(body, DrivenBody):
            begin, end = body.carried(before.x, time + h), body.at(time + h)
        if entered((end,), edges, begin, after.x - begin, THIN * radius).any():
            return True
    return False


def settled_kick(
    world: SpaceWorld, pushed: Pushed, rows: ContactRows, v: Floats, h: float,
    allowed: float,
) -> tuple[Floats, float]:  # fmt: skip
    """Impulses (3 c,) at the end of a step, N s, and what they leave of the law, m.

    With what pushed in the step they obey Coulomb's law of velocities at its end
    (Moreau 1988): skins that pushed do not part faster than they need, and none is
    rubbed by more than friction allows.

    Parameters
    ----------
    rows : at the end
    allowed : m, residual of the contact problem
    """
    mu = world.touching.friction if world.touching else 0.0
    kick, some = np.zeros_like(pushed.force), np.flatnonzero(pushed.pushing)
    if not len(some):
        return kick.ravel(), 0.0
    rows, before = rows.some(some), h * pushed.force[some]
    J = rows.columns(world.system.number).T
    W = J @ (J / world.inertia[world.system.free]).T
    speed = rows.along(v) - rows.carried / h - (W @ before.ravel()).reshape(-1, 3)
    found, left = coulomb_in_space(h * W, h * speed, mu, before, allowed)
    kick[some] = found - before
    return kick.ravel(), left


def taken(
    pushed: Pushed, moves: Floats, rows: ContactRows, kick: Floats,
    v: tuple[Floats, Floats], h: float,
) -> tuple[float, float, float]:  # fmt: skip
    """What contacts take along the skins (friction) and across them (impact), and
    what moving bodies give, J.

    Parameters
    ----------
    rows : at the end of the step
    kick : (3 c,) impulses there
    v : (3 n + m,) before and after them
    """
    force, kick = pushed.force, kick.reshape(-1, 3)
    way, speed = pushed.rows.along(moves), 0.5 * rows.along(v[0] + v[1])
    given = force * pushed.rows.carried + kick * rows.carried / h
    work = given - (force * way + kick * speed)
    return float(work[:, 1:].sum()), float(work[:, 0].sum()), float(given.sum())
