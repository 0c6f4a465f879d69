"""How skins move past each other where they meet: rows of moves and turns."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel
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
    """

    at: Ints
    value: Floats

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
        return ContactRows(self.at[chosen], self.value[chosen])

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
def _fill(
    state: SpaceState, edges: Ints, radius: Floats, rims: Floats, contacts: Contacts,
    at: Ints, value: Floats,
) -> None:  # fmt: skip
    """at, value <- J."""
    arm, t, bent, rim = np.empty((4, 3))
    for k in range(len(contacts.gap)):
        for side in range(2):
            e, s = contacts.edge[k, side], contacts.share[k, side]
            if e < 0:
                continue
            sign, first = 1.0 - 2.0 * side, 7 * side
            size = tangent(state.x, edges[e], t)
            flat = len(rims) > 0 and side == 0 and contacts.edge[k, 1] < 0
            if flat:
                cross(t, state.d[e], rim)
                way = -rims[e] if contacts.edge[k, 1] == -2 else rims[e]
            for a in range(3):
                at[k, first + a] = 3 * edges[e, 0] + a
                at[k, first + 3 + a] = 3 * edges[e, 1] + a
            at[k, first + 6] = state.x.size + e
            for row in range(3):
                v = contacts.frame[k, row]
                if flat:
                    cross(rim, v, arm)
                else:
                    cross(contacts.frame[k, 0], v, arm)
                    way = -sign * radius[e]
                for a in range(3):
                    arm[a] *= way
                cross(arm, t, bent)
                for a in range(3):
                    turned = bent[a] / size
                    value[k, row, first + a] = sign * ((1.0 - s) * v[a] - turned)
                    value[k, row, first + 3 + a] = sign * (s * v[a] + turned)
                value[k, row, first + 6] = sign * dot(arm, t)


@kernel
def _fill_middle(
    before: Contacts, after: Contacts, slack: float, share: Floats, frame: Floats
) -> None:
    """share, frame <- half way from where contacts were to where they are."""
    for k in range(len(after.gap)):
        n, u, w = frame[k, 0], frame[k, 1], frame[k, 2]
        was, now = before.frame[k, 0], after.frame[k, 0]
        if before.gap[k] > slack or dot(was, now) <= 0.0:
            continue  # it comes from elsewhere
        for a in range(3):
            n[a] = was[a] + now[a]
        size, along = np.sqrt(dot(n, n)), 0.0
        for a in range(3):
            n[a] /= size
            along += u[a] * n[a]
        for a in range(3):
            u[a] -= along * n[a]
        size = np.sqrt(dot(u, u))
        for a in range(3):
            u[a] /= size
        cross(n, u, w)
        for side in range(2):
            if abs(before.share[k, side] - share[k, side]) < MOVED:
                share[k, side] = 0.5 * (before.share[k, side] + share[k, side])


def midway(before: Contacts, after: Contacts, slack: float) -> Contacts:
    """Where contacts are, and which way they face, in the middle of a step.

    A force along the normal of the end would take or give energy on what is curved,
    at first order in h: on a circle it is not across the way of a step.

    Parameters
    ----------
    slack : m, gap beyond which a contact of before counts as none
    """
    share, frame = after.share.copy(), after.frame.copy()
    _fill_middle(before, after, slack, share, frame)
    return after._replace(share=share, frame=frame)


def contact_rows(
    rod: SpaceRod, touching: Touching, state: SpaceState, contacts: Contacts
) -> ContactRows:
    """How skins move past each other along the contacts' frames."""
    c = len(contacts.gap)
    rows = ContactRows(
        np.zeros((c, TOUCHED), dtype=np.int64), np.zeros((c, 3, TOUCHED))
    )
    rims = NO_RIMS if touching.rims is None else touching.rims
    _fill(state, rod.edges, touching.radius, rims, contacts, rows.at, rows.value)
    return rows
