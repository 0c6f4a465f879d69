"""Tendons in a rod: cables in channels of its sections, pulled to a tension.

With friction the tension falls by exp(-mu beta) where the tendon turns by beta and
slides towards the end that is pulled (Euler, Eytelwein).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.limits import refuse_negative
from sim.rod.space.frames import SpaceState
from sim.rod.space.space_rod import SpaceRod, StretchLaw

MIDDLE = 0.5  # of an edge, where offsets are told


@dataclass(frozen=True, eq=False)
class Tendon:
    """One tendon.

    Attributes
    ----------
    tension : N, at the end that is pulled
    edges : (k,) edges that it runs through, one after the other
    share : (k,) where on each edge its offset is told, from 0 at the tail to 1; it is
        pulled at the first of these places and tied at the last
    offset : (k, 2) m, along d1 and d2 of the section at rest
    friction : coefficient
    """

    tension: float
    edges: Ints
    share: Floats
    offset: Floats
    friction: float = 0.0

    def __post_init__(self) -> None:
        refuse_negative(self, "tension", "friction", of="tendon")
        if len(self.edges) < 2:
            raise ValueError(
                f"tendon: it runs through {len(self.edges)} edges: give 2 or more"
            )


def routed(
    rod: SpaceRod,
    radius: Floats,
    end: float,
    offset: Sequence[tuple[float, float, float]],
    *,
    tension: float = 0.0,
    friction: float = 0.0,
) -> Tendon:
    """A tendon of a chain from its first edge to where it is tied.

    Parameters
    ----------
    radius : (m,) of the section of each edge, m, which holds the tendon
    end : arc length along the axis at rest where it is tied, m
    offset : rows of arc length, offset along d1 and along d2, all in m, linear between
    """
    after = np.cumsum(rod.rest_length)
    before = after - rod.rest_length
    if not 0.0 < end <= after[-1] * (1.0 + 1e-12):
        raise ValueError(
            f"tendon: it ends at {end:g} m, the rod at {after[-1]:g} m: tie it within"
        )
    last = int(np.searchsorted(after, end * (1.0 - 1e-12)))
    edges = np.arange(last + 1)
    share = np.full(last + 1, MIDDLE)
    share[-1] = (end - before[last]) / rod.rest_length[last]
    at = before[edges] + share * rod.rest_length[edges]
    table = np.array(offset, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != 3 or not np.isfinite(table).all():
        raise ValueError("tendon: offsets must be rows of arc length and two offsets")
    if (np.diff(table[:, 0]) <= 0.0).any():
        raise ValueError(f"tendon: arc lengths are {table[:, 0]}: let them rise")
    c = np.column_stack([np.interp(at, table[:, 0], table[:, k]) for k in (1, 2)])
    far = np.linalg.norm(c, axis=1) - radius[edges]
    if (far >= 0.0).any():
        k = int(np.argmax(far))
        raise ValueError(
            f"tendon: at {at[k]:g} m it is {np.linalg.norm(c[k]):g} m off the axis, "
            f"the section reaches to {radius[edges[k]]:g} m: route it within"
        )
    return Tendon(tension, edges, share, c, friction)


def tendon_places(rod: SpaceRod, tendon: Tendon, state: SpaceState) -> Floats:
    """(k, 3) where a tendon is on each of its edges, m."""
    e = tendon.edges
    edge = state.x[rod.edges[e, 1]] - state.x[rod.edges[e, 0]]
    size = np.linalg.norm(edge, axis=1, keepdims=True)
    second = np.cross(edge / size, state.d[e])
    c = tendon.offset[:, :1] * state.d[e] + tendon.offset[:, 1:] * second
    if rod.law is StretchLaw.RUBBER:
        c *= (size / rod.rest_length[e][:, None]) ** -0.5
    along = tendon.share[:, None] * edge
    return np.asarray(state.x[rod.edges[e, 0]] + along + c)


def turned(rod: SpaceRod, tendon: Tendon, state: SpaceState) -> Floats:
    """(k - 1,) rad, by which a tendon turns before each of its pieces.

    Within its first half a tendon turns by half of what it does at the next bend.
    """
    way = np.diff(tendon_places(rod, tendon, state), axis=0)
    n = way / np.linalg.norm(way, axis=1, keepdims=True)
    apart = 0.5 * np.linalg.norm(np.diff(n, axis=0), axis=1)
    bends = 2.0 * np.arcsin(np.minimum(apart, 1.0))
    return np.concatenate([[0.5 * bends[:1].sum()], bends])


def tensions(rod: SpaceRod, tendons: Sequence[Tendon], state: SpaceState) -> Floats:
    """(q,) tension of each piece as friction leaves it, from the pulled end on."""
    found = [np.empty(0)]
    for tendon in tendons:
        lost = np.zeros(len(tendon.edges) - 1)
        if tendon.friction > 0.0:
            lost = tendon.friction * np.cumsum(turned(rod, tendon, state))
        found.append(tendon.tension * np.exp(-lost))
    return np.concatenate(found)
