"""How skins move past each other where they meet: rows of moves and turns."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.distance import closest_on_edges
from sim.kernels import kernel
from sim.rod.moving.beside import FIRST_BODY
from sim.rod.moving.touching import Contacts, Touching
from sim.rod.space.frames import SpaceState, cross, dot, tangent
from sim.rod.space.space_rod import SpaceRod

NO_RIMS = np.empty(0)
MOVED = 0.25  # of an edge, by which the place of a contact moves on; more is another's
TOUCHED = 14  # unknowns of a contact: of both edges two nodes and an angle


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
        found = np.empty(self.value.shape[:2])
        along_rows(self.at, self.value, moves, found)
        return found

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
        found = np.zeros((int(number.max()) + 1, 3 * len(self.at)))
        fill_columns(self.at, self.value, number, found)
        return found


@kernel
def fill_columns(at: Ints, value: Floats, number: Ints, out: Floats) -> None:
    """out (f, 3 c) <- J^T of numbered unknowns."""
    for k in range(len(at)):
        for j in range(TOUCHED):
            if number[at[k, j]] >= 0:
                for row in range(3):
                    out[number[at[k, j]], 3 * k + row] += value[k, row, j]


@kernel
def along_rows(at: Ints, value: Floats, moves: Floats, out: Floats) -> None:
    """out (c, 3) <- J moves."""
    for k in range(len(at)):
        for row in range(3):
            total = 0.0
            for j in range(TOUCHED):
                total += value[k, row, j] * moves[at[k, j]]
            out[k, row] = total


@kernel
def push_by_rows(at: Ints, value: Floats, force: Floats, out: Floats) -> None:
    """out += J^T force."""
    for k in range(len(at)):
        for row in range(3):
            for j in range(TOUCHED):
                out[at[k, j]] += value[k, row, j] * force[k, row]


@kernel
def _touched(edges: Ints, contacts: Contacts, n: int) -> Ints:
    """(c, 14) unknowns of contacts; n coordinates come before the angles."""
    at = np.zeros((len(contacts.gap), TOUCHED), dtype=np.int64)
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
    value = np.zeros((len(contacts.gap), 3, TOUCHED))
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
def _step_rows(
    ends: tuple[SpaceState, SpaceState], edges: Ints, radius: Floats, rims: Floats,
    before: Contacts, after: Contacts, slack: float, slides: Floats,
) -> tuple[ContactRows, ContactRows]:  # fmt: skip
    """J in the middle of a step, and at its end."""
    half = 0.5 * (ends[0].x + ends[1].x)
    middle = _midway(before, after, slack, half, edges)
    at, at_end = _touched(edges, after, half.size), (ends[1], ends[1])
    value = _values(ends, edges, radius, rims, middle)
    last = _values(at_end, edges, radius, rims, after)
    carried = _carried(half, edges, radius, middle, slides[0])
    at_last = _carried(ends[1].x, edges, radius, after, slides[1])
    return ContactRows(at, value, carried), ContactRows(at, last, at_last)


def step_rows(
    rod: SpaceRod, touching: Touching, ends: tuple[SpaceState, SpaceState],
    contacts: tuple[Contacts, Contacts], slack: float, slides: Floats,
) -> tuple[ContactRows, ContactRows]:  # fmt: skip
    """How skins move past each other, along the contacts' frames.

    In the middle of a step, and at its end. Both edges of a pair feel it at one place,
    and spins gain along the mean of their tangents at both ends, so that a pair has no
    moment and momenta are kept.

    Parameters
    ----------
    contacts : before the step and at its end
    slack : m, gap beyond which a contact of before counts as none
    slides : as of `Touching.slides`
    """
    rims = NO_RIMS if touching.rims is None else touching.rims
    return _step_rows(ends, rod.edges, touching.radius, rims, *contacts, slack, slides)
