"""Contact within a step: forces on skins that meet, friction with them.

Forces f at contacts act on the rod by J^T f as inner forces do,

    2 M (dq - h v0) / h^2 = F + load + J^T f,     v1 = 2 dq / h - v0,

where places at the end of the step obey the law of contact, gap >= 0 with no gap where
skins push, and friction opposes the way that skins slide in the step. J is that of the
middle of the step, so that what slides along what is curved keeps its energy at second
order in h; on what is flat neither f_n (gap1 - gap0) nor f_t . du is positive. What
rests or slides on keeps its gap. With impulses at the end, contacts that were active
obey the same law for velocities: skins that meet neither rebound nor slide back.

The rows of J, of moves and turns, are `ContactRows`.
"""

from typing import NamedTuple

import numpy as np

from sim.contact.coulomb import coulomb_forces, largest_left
from sim.contact.distance import closest_on_edges
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.multifrontal import Fronts, compliance, solve_fronts
from sim.linalg.sparse_ldl import Factor
from sim.rods.space.contact_detection import (
    FIRST_BODY,
    NO_NODES,
    NO_PAIRS,
    THIN,
    Candidates,
    ContactModel,
    Contacts,
    chosen_once,
    clear_way,
    contacts_of,
    entered,
    near,
    near_pairs,
)
from sim.rods.space.frames import SpaceState, cross, dot, tangent
from sim.rods.space.rigid_bodies import DrivenBody
from sim.rods.space.world import SpaceWorld

NO_RIMS = np.empty(0)
MOVED = 0.25  # of an edge, by which the place of a contact moves on; more is another's
CONTACT_UNKNOWNS = 14  # unknowns of a contact: of both edges two nodes and an angle


class ContactRows(NamedTuple):
    """J (3 c, 3 n + m) by the few unknowns that each contact touches.

    Attributes
    ----------
    at : (c, 14) unknowns; the first one, with value 0, where there is no edge B
    value : (c, 3, 14) along the three directions of the contact's frame
    carried : (c, 3) likewise, how far bodies go there in the step, m
    """

    at: Ints
    value: Floats
    carried: Floats

    def along(self, moves: Floats) -> Floats:
        """(c, 3) J of moves (3 n + m,)."""
        return along_rows(self.at, self.value, moves)

    def push(self, force: Floats, unknowns: int) -> Floats:
        """(3 n + m,) J^T of forces (c, 3)."""
        total = np.zeros(unknowns)
        push_by_rows(self.at, self.value, force.reshape(-1, 3), total)
        return total

    def some(self, chosen: Ints) -> "ContactRows":
        """Of some of the contacts."""
        return ContactRows(self.at[chosen], self.value[chosen], self.carried[chosen])

    def columns(self, number: Ints) -> Floats:
        """(f, 3 c) J^T of the unknowns that have a number from 0 up, others -1."""
        return columns_of(self.at, self.value, number, int(number.max()) + 1)


@kernel
def columns_of(at: Ints, value: Floats, number: Ints, count: int) -> Floats:
    """(f, 3 c) J^T of so many numbered unknowns."""
    out = np.zeros((count, 3 * len(at)))
    for k in range(len(at)):
        for j in range(CONTACT_UNKNOWNS):
            if number[at[k, j]] >= 0:
                for row in range(3):
                    out[number[at[k, j]], 3 * k + row] += value[k, row, j]
    return out


@kernel
def along_rows(at: Ints, value: Floats, moves: Floats) -> Floats:
    """(c, 3) J moves."""
    out = np.empty((len(at), 3))
    for k in range(len(at)):
        for row in range(3):
            total = 0.0
            for j in range(CONTACT_UNKNOWNS):
                total += value[k, row, j] * moves[at[k, j]]
            out[k, row] = total
    return out


@kernel
def push_by_rows(at: Ints, value: Floats, force: Floats, out: Floats) -> None:
    """out += J^T force."""
    for k in range(len(at)):
        for row in range(3):
            for j in range(CONTACT_UNKNOWNS):
                out[at[k, j]] += value[k, row, j] * force[k, row]


@kernel
def _contact_unknowns(edges: Ints, contacts: Contacts, n: int) -> Ints:
    """(c, 14) unknowns of contacts; n coordinates come before the angles."""
    at = np.zeros((len(contacts.gap), CONTACT_UNKNOWNS), dtype=np.int64)
    for k in range(len(at)):
        for side in range(2):
            e = contacts.edge[k, side]
            if e >= 0:
                at[k, 7 * side + 6] = n + e
                for j in range(6):
                    at[k, 7 * side + j] = 3 * edges[e, j // 3] + j % 3
    return at


@kernel
def _values(
    ends: tuple[SpaceState, SpaceState], edges: Ints, radius: Floats, rims: Floats,
    contacts: Contacts,
) -> Floats:  # fmt: skip
    """(c, 3, 14) of J, half way between both ends."""
    old, new = ends
    x, d = 0.5 * (old.x + new.x), 0.5 * (old.d + new.d)
    value = np.zeros((len(contacts.gap), 3, CONTACT_UNKNOWNS))
    arm, t, bent, rim, mean, out = np.empty((6, 3))
    for k in range(len(value)):
        pair = _outward(x, edges, radius, contacts, k, out)
        for side in range(2):
            e, s = contacts.edge[k, side], contacts.share[k, side]
            if e < 0:
                continue
            sign, first = 1.0 - 2.0 * side, 7 * side
            size = tangent(x, edges[e], t)
            flat = len(rims) > 0 and side == 0 and contacts.edge[k, 1] < 0
            if flat:
                cross(t, d[e], rim)
                way = -rims[e] if contacts.edge[k, 1] == -2 else rims[e]
            if pair:
                _mean_tangent((old.x, new.x), edges[e], bent, mean)
            for row in range(3):
                v = contacts.frame[k, row]
                if flat:
                    cross(rim, v, arm)
                else:
                    cross(out, v, arm)
                    way = -sign * radius[e]
                for a in range(3):
                    arm[a] *= way
                spun = dot(arm, t)
                if pair:
                    spun /= dot(mean, t)
                    for a in range(3):
                        arm[a] -= spun * mean[a]
                cross(arm, t, bent)
                for a in range(3):
                    turned = bent[a] / size
                    value[k, row, first + a] = sign * ((1.0 - s) * v[a] - turned)
                    value[k, row, first + 3 + a] = sign * (s * v[a] + turned)
                value[k, row, first + 6] = sign * spun
    return value


@kernel
def _outward(
    x: Floats, edges: Ints, radius: Floats, contacts: Contacts, k: int, out: Floats
) -> bool:
    """out <- from B to A over the radii, so that both arms of a pair end in one place.

    Returns whether it is a pair of edges; at all else out is the normal.
    """
    if contacts.edge[k, 1] < 0:
        for a in range(3):
            out[a] = contacts.frame[k, 0, a]
        return False
    _apart(x, edges, contacts.edge[k], contacts.share[k], out)
    for a in range(3):
        out[a] /= radius[contacts.edge[k, 0]] + radius[contacts.edge[k, 1]]
    return True


@kernel
def _mean_tangent(
    ends: tuple[Floats, Floats], edge: Ints, other: Floats, mean: Floats
) -> None:
    """mean <- of both ends of a step: along it a spin gains; other is overwritten."""
    tangent(ends[0], edge, mean)
    tangent(ends[1], edge, other)
    for a in range(3):
        mean[a] = 0.5 * (mean[a] + other[a])


@kernel
def _apart(x: Floats, edges: Ints, pair: Ints, share: Floats, out: Floats) -> None:
    """out <- from the axis of edge B to that of edge A, at their shares, m."""
    s, u = share[0], share[1]
    for a in range(3):
        out[a] = (1.0 - s) * x[edges[pair[0], 0], a] + s * x[edges[pair[0], 1], a]
        out[a] -= (1.0 - u) * x[edges[pair[1], 0], a] + u * x[edges[pair[1], 1], a]


@kernel
def _midway(
    before: Contacts, after: Contacts, slack: float, half: Floats, edges: Ints
) -> Contacts:
    """Where contacts are, and which way they face, in the middle of a step.

    A force along the normal of the end would take or give energy on what is curved,
    at first order in h: on a circle it is not across the way of a step.

    Parameters
    ----------
    slack : m, gap beyond which a contact of before counts as none
    half : (n, 3) nodes in the middle of the step, m
    """
    share, frame = after.share.copy(), after.frame.copy()
    n, y = np.empty(3), np.empty((4, 3))
    for k in range(len(after.gap)):
        was, now = before.frame[k, 0], after.frame[k, 0]
        pair = after.edge[k, 1] >= 0
        jumps = np.abs(before.share[k] - share[k]) >= MOVED
        follows = before.gap[k] <= slack and dot(was, now) > 0.0
        if follows and not (pair and jumps.any()):
            for a in range(3):
                n[a] = was[a] + now[a]
            for side in range(2):
                if not jumps[side]:
                    share[k, side] = 0.5 * (before.share[k, side] + share[k, side])
            _turn(frame[k], n)
        elif pair:  # it comes from elsewhere: where axes are closest half way
            for i in range(4):
                for a in range(3):
                    y[i, a] = half[edges[after.edge[k, i // 2], i % 2], a]
            s, u = closest_on_edges(y)
            if abs(s - share[k, 0]) < MOVED and abs(u - share[k, 1]) < MOVED:
                share[k, 0], share[k, 1] = s, u
                _apart(half, edges, after.edge[k], share[k], n)
                if dot(n, now) > 0.5 * np.sqrt(dot(n, n)):
                    _turn(frame[k], n)
    return Contacts(after.edge, share, after.gap, frame)


@kernel
def _turn(frame: Floats, n: Floats) -> None:
    """frame (3, 3) <- turned so that its first direction is along n."""
    u, size, along = frame[1], np.sqrt(dot(n, n)), 0.0
    for a in range(3):
        frame[0, a] = n[a] / size
        along += u[a] * frame[0, a]
    for a in range(3):
        u[a] -= along * frame[0, a]
    size = np.sqrt(dot(u, u))
    for a in range(3):
        u[a] /= size
    cross(frame[0], u, frame[2])


@kernel
def _carried(
    x: Floats, edges: Ints, radius: Floats, contacts: Contacts, slides: Floats
) -> Floats:
    """(c, 3) how far bodies go where skins touch them, along the frames, m."""
    found = np.zeros((len(contacts.gap), 3))
    p, way = np.empty((2, 3))
    for k in range(len(found)):
        body = FIRST_BODY - contacts.edge[k, 1]
        if body < 0:
            continue
        e, s = contacts.edge[k, 0], contacts.share[k, 0]
        for a in range(3):
            p[a] = (1.0 - s) * x[edges[e, 0], a] + s * x[edges[e, 1], a]
            p[a] -= radius[e] * contacts.frame[k, 0, a]
        cross(slides[body, 1], p, way)
        for a in range(3):
            way[a] += slides[body, 0, a]
        for row in range(3):
            found[k, row] = dot(contacts.frame[k, row], way)
    return found


@kernel
def step_rows(
    ends: tuple[SpaceState, SpaceState], edges: Ints, radius: Floats, rims: Floats,
    before: Contacts, after: Contacts, slack: float, slides: Floats,
) -> tuple[ContactRows, ContactRows]:  # fmt: skip
    """How skins move past each other, along the contacts' frames.

    In the middle of a step, and at its end. Both edges of a pair feel it at one place,
    and spins gain along the mean of their tangents at both ends, so that a pair has no
    moment and momenta are conserved.

    Parameters
    ----------
    before, after : contacts before the step and at its end
    slack : m, gap beyond which a contact of before counts as none
    slides : as of `ContactModel.slides`
    """
    half = 0.5 * (ends[0].x + ends[1].x)
    middle = _midway(before, after, slack, half, edges)
    at, at_end = _contact_unknowns(edges, after, half.size), (ends[1], ends[1])
    value = _values(ends, edges, radius, rims, middle)
    last = _values(at_end, edges, radius, rims, after)
    carried = _carried(half, edges, radius, middle, slides[0])
    at_last = _carried(ends[1].x, edges, radius, after, slides[1])
    return ContactRows(at, value, carried), ContactRows(at, last, at_last)


SLACK = 0.05  # of the least radius: gaps that are solved for, though nothing pushes yet
LEAST_COMPLIANCE = 1e-12  # 1/kg, of contacts of what is held
AHEAD = 2.0  # of the way that is guessed, and of `SLACK`: what is looked at
WITHIN = 1e-6  # of the least radius, by which skins may be within each other


class ContactForces(NamedTuple):
    """Contacts at the end of a step, and what pushes there.

    Attributes
    ----------
    rows : J, (3 c, 3 n + m), in the middle of the step
    facing : at its end, whose rows across skins are the slopes of the gaps
    force : (c, 3) lam, N
    push : (3 n + m,) J^T lam
    residual : of the contact problem, m
    active : (c,) whose force alone would move its skins by more than the gap
    """

    contacts: Contacts
    rows: ContactRows
    facing: ContactRows
    force: Floats
    push: Floats
    residual: float
    active: Bools

    @property
    def gap(self) -> float:
        """The largest distance of skins that push each other, m."""
        return float(np.abs(self.contacts.gap[self.active]).max(initial=0.0))


def contact_candidates(
    world: SpaceWorld, state: SpaceState, move: Floats, time: float, h: float
) -> Candidates | None:
    """What may touch in a step of h s that is guessed to move nodes (n, 3), m.

    None where nothing may.
    """
    if world.contact is None:
        return None
    way = float(np.linalg.norm(move, axis=1).max())
    way += h * h * float(np.linalg.norm(world.gravity))
    model = world.contact.at(time)
    way += max((body.farthest(state.x, h) for body in model.moved), default=0.0)
    slack = SLACK * float(model.radius.min())
    found = near(world.rod, model, state.x, AHEAD * (2.0 * way + slack), state.d)
    more, ends = (
        float(np.linalg.norm(world.gravity)) * h * h + slack,
        move[world.rod.edges],
    )
    one, other = ends[found.pairs[:, 0], :, None], ends[found.pairs[:, 1], None]
    past = np.linalg.norm(one - other, axis=3).max(axis=(1, 2))
    alone = Candidates(found.pairs, NO_NODES)
    gap = contacts_of(world.rod, world.contact, alone, state.x, None).gap
    found = found._replace(pairs=found.pairs[gap < AHEAD * (past + more)])
    return found if found.contacts else None


def overlaps_at(world: SpaceWorld, at: SpaceState, time: float) -> Candidates:
    """All skins that are within each other by more than `WITHIN` at a time."""
    if world.contact is None:
        return Candidates(NO_PAIRS, NO_NODES)
    least = WITHIN * float(world.contact.radius.min())
    return near(world.rod, world.contact.at(time), at.x, -least, at.d)


class ContactStart(NamedTuple):
    """Where a step begins, and the contacts there.

    Attributes
    ----------
    model : with bodies where they are at its end
    slides : of bodies in the step, as of `ContactModel.slides`
    """

    state: SpaceState
    contacts: Contacts
    model: ContactModel
    slides: Floats


def begun(
    world: SpaceWorld, found: Candidates, state: SpaceState, time: float, h: float
) -> ContactStart:
    """All that is near, where a step of h seconds begins."""
    assert world.contact is not None
    model = world.contact.at(time)
    contacts = contacts_of(world.rod, model, found, state.x, None, state.d)
    return ContactStart(state, contacts, model.at(time + h), model.slides(time, h))


def evaluate_contact(
    world: SpaceWorld, found: Candidates, force: Floats,
    states: tuple[ContactStart, SpaceState], moves: Floats, h: float,
    known: Contacts | None,
) -> ContactForces:  # fmt: skip
    """What forces (c, 3) do where a step of h seconds ends in a state after `moves`.

    Parameters
    ----------
    known : contacts whose places on their edges do not change
    """
    before, at = states
    model = before.model
    contacts = contacts_of(world.rod, model, found, at.x, known, at.d)
    slack = SLACK * float(model.radius.min())
    rims = NO_RIMS if model.rims is None else model.rims
    rows, facing = step_rows(
        (before.state, at), world.rod.edges, model.radius, rims, before.contacts,
        contacts, slack, before.slides,
    )  # fmt: skip
    push, active = np.zeros(len(moves)), np.empty(len(force), dtype=np.bool_)
    residual = _evaluate(
        rows, contacts.gap, force, moves, model.friction, 0.5 * h * h,
        world.system.free / world.inertia, push, active,
    )  # fmt: skip
    return ContactForces(contacts, rows, facing, force, push, residual, active)


@kernel
def _evaluate(
    rows: ContactRows, gap: Floats, force: Floats, moves: Floats, mu: float,
    half: float, light: Floats, push: Floats, active: Bools,
) -> float:  # fmt: skip
    """push, active <- of forces; the residual of the contact problem, m.

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
        active[k] = force[k, 0] * scale[k, 0] > abs(gap[k])
    push_by_rows(rows.at, rows.value, force, push)
    return float(largest_left(_ways(rows, gap, moves), mu, scale, force))


@kernel
def _ways(rows: ContactRows, gap: Floats, moves: Floats) -> Floats:
    """(c, 3) gaps at the end, and ways of skins past each other, m."""
    w = along_rows(rows.at, rows.value, moves) - rows.carried
    w[:, 0] = gap
    return w


def contact_newton_step(
    world: SpaceWorld, factor: Factor, contact: ContactForces, unbalanced: Floats,
    moves: Floats, allowed: float,
) -> tuple[Floats, Floats]:  # fmt: skip
    """One iteration: the change of all unknowns (3 n + m,), and forces (c, 3).

    Parameters
    ----------
    unbalanced : (3 n + m,) without contact
    allowed : m, residual of the contact problem
    """
    assert world.contact is not None
    change, slack = np.zeros(len(moves)), SLACK * float(world.contact.radius.min())
    force = _newton_step(
        factor.pattern.fronts, factor.L, factor.pivot, world.system.number,
        world.rod.edges, contact.contacts, (contact.rows, contact.facing),
        contact.force, unbalanced, moves,
        (world.contact.friction, slack, 0.5 * allowed), change,
    )  # fmt: skip
    return change, force


@kernel
def _newton_step(
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
    force = unbalanced.copy()
    push_by_rows(rows.at, rows.value - value, before, force)
    free = number >= 0
    change[free] += solve_fronts(fronts, L, pivot, force[free])
    ways = _ways(rows, contacts.gap, moves) + along_rows(rows.at, value, change)
    k = np.flatnonzero((ways[:, 0] < slack) | (before[:, 0] > 0.0))
    k = k[chosen_once(edges, contacts.edge[k], contacts.share[k])]
    force = np.zeros(before.shape)
    if len(k):
        J = columns_of(rows.at[k], value[k], number, len(pivot))
        W = compliance(fronts, L, pivot, J)
        force[k], _ = coulomb_forces(W, ways[k], mu, before[k], allowed)
        change[free] += solve_fronts(fronts, L, pivot, J @ force[k].ravel())
    return force


def passes_through(
    world: SpaceWorld, before: SpaceState, after: SpaceState, time: float, h: float
) -> bool:
    """Whether axes of edges come too close to others on a straight way from `time`.

    Or to bodies, on a way that is straight for these.
    """
    if world.contact is None:
        return False
    move = after.x - before.x
    reach = 2.0 * float(np.linalg.norm(move, axis=1).max())
    pairs = near_pairs(world.rod, world.contact, before.x, reach)
    radius, edges = world.contact.radius, world.rod.edges
    least = THIN * radius[pairs].sum(axis=1)
    if clear_way(pairs, edges, before.x, move, least) >= 0:
        return True
    for body in world.contact.at(time).bodies:
        begin, end = before.x, body
        if isinstance(body, DrivenBody):
            begin, end = body.carried(before.x, time + h), body.at(time + h)
        if entered((end,), edges, begin, after.x - begin, THIN * radius).any():
            return True
    return False


def end_of_step_impulse(
    world: SpaceWorld, contact: ContactForces, rows: ContactRows, v: Floats, h: float,
    allowed: float,
) -> tuple[Floats, float]:  # fmt: skip
    """Impulses (3 c,) at the end of a step, N s, and what they leave of the law, m.

    Together with the forces of the step they obey Coulomb's law for velocities at its
    end (Moreau 1988): active contacts do not part faster than they must, and friction
    stays within its cone.

    Parameters
    ----------
    rows : at the end
    allowed : m, residual of the contact problem
    """
    mu = world.contact.friction if world.contact else 0.0
    kick, some = np.zeros_like(contact.force), np.flatnonzero(contact.active)
    if not len(some):
        return kick.ravel(), 0.0
    rows, before = rows.some(some), h * contact.force[some]
    J = rows.columns(world.system.number).T
    W = J @ (J / world.inertia[world.system.free]).T
    speed = rows.along(v) - rows.carried / h - (W @ before.ravel()).reshape(-1, 3)
    found, left = coulomb_forces(h * W, h * speed, mu, before, allowed)
    kick[some] = found - before
    return kick.ravel(), left


def taken(
    contact: ContactForces, moves: Floats, rows: ContactRows, kick: Floats,
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
    force, kick = contact.force, kick.reshape(-1, 3)
    way, speed = contact.rows.along(moves), 0.5 * rows.along(v[0] + v[1])
    given = force * contact.rows.carried + kick * rows.carried / h
    work = given - (force * way + kick * speed)
    return float(work[:, 1:].sum()), float(work[:, 0].sum()), float(given.sum())
