"""How skins move past each other where they meet: rows of moves and turns."""

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel
from sim.rod.moving.touching import Contacts, Touching
from sim.rod.space.frames import SpaceState, cross, dot, tangent
from sim.rod.space.space_rod import SpaceRod

NO_RIMS = np.empty(0)


@kernel
def _fill(
    state: SpaceState, edges: Ints, radius: Floats, rims: Floats, contacts: Contacts,
    rows: Floats,
) -> None:  # fmt: skip
    """rows (c, 3, 3 n + m) <- J."""
    arm, t, bent, rim = np.empty((4, 3))
    for k in range(len(contacts.gap)):
        for side in range(2):
            e, s = contacts.edge[k, side], contacts.share[k, side]
            if e < 0:
                continue
            sign = 1.0 - 2.0 * side
            size = tangent(state.x, edges[e], t)
            flat = len(rims) > 0 and side == 0 and contacts.edge[k, 1] < 0
            if flat:
                cross(t, state.d[e], rim)
                way = -rims[e] if contacts.edge[k, 1] == -2 else rims[e]
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
                    tail, head = 3 * edges[e, 0] + a, 3 * edges[e, 1] + a
                    rows[k, row, tail] += sign * ((1.0 - s) * v[a] - turned)
                    rows[k, row, head] += sign * (s * v[a] + turned)
                rows[k, row, state.x.size + e] += sign * dot(arm, t)


def contact_rows(
    rod: SpaceRod, touching: Touching, state: SpaceState, contacts: Contacts
) -> Floats:
    """(3 c, 3 n + m) J: how skins move past each other along the contacts' frames."""
    unknowns = rod.nodes.size + len(rod.edges)
    rows = np.zeros((len(contacts.gap), 3, unknowns))
    rims = NO_RIMS if touching.rims is None else touching.rims
    edge, share, gap, frame = contacts
    whole = Contacts(np.ascontiguousarray(edge), share, gap, frame)
    _fill(state, rod.edges, touching.radius, rims, whole, rows)
    return rows.reshape(-1, unknowns)
