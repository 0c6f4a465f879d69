"""Tendons in a rod: cables in channels of its sections, under tension.

With friction the tension falls by exp(-mu beta) where the tendon turns by beta and
slides towards its driven end (Euler, Eytelwein).

`tendon_lengths` has first and second derivatives. A channel lies off the axis by c = c1
d1 + c2 d2. A piece of it, from a place on edge e to one on edge f, with the turning q1,
q2 and the twist m of the bend between, is as long as

    |(a, b1, b2)|    a = share |e| + share |f| + r (c2 q1 - c1 q2)
                     b1 = r (c1' - m c2),  b2 = r (c2' + m c1)

with c' the difference of both offsets and r = 1, or lam^-1/2 where sections follow a
stretch lam. A tendon on the axis is as long as the axis, however it bends; one that is
straight from hole to hole would cut corners. Its energy is tension times length.

`TaperedArm` is a tapered round arm, clamped at its root, with tendons within it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.core.options import Checked, Count, NotNegative, Positive
from sim.rods.space.elastic_energy import OF_BEND, keep_triangle
from sim.rods.space.frames import (
    LOCAL,
    SpaceState,
    add_outer,
    add_unit,
    bend_binormal,
    bend_turns,
    cross,
    second_directors,
    tangent,
    to_nodes,
    turn_slopes,
    twist_slopes,
)
from sim.rods.space.rod import (
    SpaceElements,
    SpaceMaterial,
    SpaceRod,
    StretchLaw,
    clamped,
    disc,
    through,
)

MIDDLE = 0.5  # of an edge, where offsets are given


@dataclass(frozen=True, eq=False)
class Tendon(Checked):
    """One tendon.

    Attributes
    ----------
    tension : N, at the driven end
    edges : (k,) edges that it runs through, one after the other
    share : (k,) where on each edge its offset is given, from 0 at the tail to 1; the
        first of these places is its driven end, at the last it is tied
    offset : (k, 2) m, along d1 and d2 of the section at rest
    friction : coefficient
    """

    of = "tendon"
    tension: NotNegative
    edges: Ints
    share: Floats
    offset: Floats
    friction: NotNegative = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
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
            f"tendon: it must end within 0 to {after[-1]:g} m, not at {end:g} m"
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
        raise ValueError(f"tendon: arc lengths are {table[:, 0]}: they must increase")
    c = np.column_stack([np.interp(at, table[:, 0], table[:, k]) for k in (1, 2)])
    far = np.linalg.norm(c, axis=1) - radius[edges]
    if (far >= 0.0).any():
        k = int(np.argmax(far))
        raise ValueError(
            f"tendon: at {at[k]:g} m it is {np.linalg.norm(c[k]):g} m off the axis, "
            f"outside the section radius {radius[edges[k]]:g} m: route it inside"
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
    """(q,) tension of each piece as friction leaves it, from the driven end on."""
    found = [np.empty(0)]
    for tendon in tendons:
        lost = np.zeros(len(tendon.edges) - 1)
        if tendon.friction > 0.0:
            lost = tendon.friction * np.cumsum(turned(rod, tendon, state))
        found.append(tendon.tension * np.exp(-lost))
    return np.concatenate(found)


class TendonSegments(NamedTuple):
    """Pieces of tendons from edge to edge.

    Attributes
    ----------
    bend : (q,) where they turn
    edges : (q, 2) of the bend
    share : (q, 2) of the edge that is between: from the first place, up to the second
    offset, change : (q, 2) m, mean offset along d1 and d2, and the second's less the
        first's. Of a piece that is shorter than the bend stands for, its share of it
    tendon : (q,) of which tendon
    """

    bend: Ints
    edges: Ints
    share: Floats
    offset: Floats
    change: Floats
    tendon: Ints


def segments(rod: SpaceRod, tendons: Sequence[Tendon]) -> TendonSegments:
    """All pieces of all tendons, each tendon from its driven end on."""
    known = {(e, f): b for b, (e, f) in enumerate(rod.bends.tolist())}
    none = np.empty((0, 2))
    pairs = [np.column_stack([t.edges[:-1], t.edges[1:]]) for t in tendons]
    share = [np.column_stack([1.0 - t.share[:-1], t.share[1:]]) for t in tendons]
    edges = np.concatenate([*pairs, none]).astype(np.int64)
    lost = [(e, f) for e, f in edges.tolist() if (e, f) not in known]
    if lost:
        e, f = lost[0]
        raise ValueError(
            f"tendon: edge {f} does not follow edge {e}: name edges one after the other"
        )
    bend = np.array([known[e, f] for e, f in edges.tolist()], dtype=np.int64)
    shares = np.concatenate([*share, none])
    covered = np.sum(shares * rod.rest_length[edges], axis=1) / rod.voronoi[bend]
    mean = [0.5 * (t.offset[:-1] + t.offset[1:]) for t in tendons]
    change = [np.diff(t.offset, axis=0) for t in tendons]
    return TendonSegments(
        bend,
        edges,
        shares,
        np.concatenate([*mean, none]) * covered[:, None],
        np.concatenate([*change, none]),
        np.repeat(np.arange(len(tendons)), [len(t.edges) - 1 for t in tendons]),
    )


@kernel
def _width(rubber: bool, lam: float) -> tuple[float, float, float]:
    """r and its two derivatives."""
    if not rubber:
        return 1.0, 0.0, 0.0
    return lam**-0.5, -0.5 * lam**-1.5, 0.75 * lam**-2.5


@kernel
def _piece(
    part: SpaceElements,
    way: TendonSegments,
    k: int,
    size: tuple[float, float],
    q: tuple[float, float, float],
) -> tuple[float, tuple[float, float, float], float]:
    """The length of a piece, its direction in the section's frame, and stretch lam.

    Parameters
    ----------
    size : of both edges, m
    q : turning about d1 and d2, and twist
    """  # fmt: skip
    e, f = way.edges[k]
    lam = (size[0] + size[1]) / (part.rest[e] + part.rest[f])
    r = _width(part.rubber, lam)[0]
    c, change = way.offset[k], way.change[k]
    a = way.share[k, 0] * size[0] + way.share[k, 1] * size[1]
    a += r * (c[1] * q[0] - c[0] * q[1])
    b1, b2 = r * (change[0] - q[2] * c[1]), r * (change[1] + q[2] * c[0])
    length = np.sqrt(a * a + b1 * b1 + b2 * b2)
    return length, (a / length, b1 / length, b2 / length), lam


@kernel
def tendon_lengths(
    state: SpaceState, part: SpaceElements, way: TendonSegments, length: Floats
) -> None:
    """length (q,) <- of every piece, m."""
    v, q = np.empty((8, 3)), np.empty(2)
    for j in range(len(length)):
        size = bend_turns(state, part.edges, way.edges[j], v, q)
        turned_by = q[0], q[1], state.twist[way.bend[j]]
        length[j] = _piece(part, way, j, size, turned_by)[0]


@kernel
def _piece_slopes(
    part: SpaceElements, way: TendonSegments, k: int, size: tuple[float, float],
    q: tuple[float, float, float], t: Floats, s: Floats, g: Floats, H: Floats,
    G: Floats, K: Floats, v: Floats,
) -> None:  # fmt: skip
    """G (8,), K (8, 8) <- gradient and Hessian of a piece's length.

    Parameters
    ----------
    g, H : (3, 8), (3, 8, 8) of q1, q2 and the twist
    v : (5, 8) scratch
    """
    length, n, lam = _piece(part, way, k, size, q)
    e, f = way.edges[k]
    L0 = part.rest[e] + part.rest[f]
    r, slope, curve = _width(part.rubber, lam)
    c, change = way.offset[k], way.change[k]
    off = c[1] * q[0] - c[0] * q[1]
    b1, b2 = change[0] - q[2] * c[1], change[1] + q[2] * c[0]
    all_, spun = n[0] * off + n[1] * b1 + n[2] * b2, n[2] * c[0] - n[1] * c[1]
    for p in range(LOCAL):
        at, own = p % 4, t if p < 4 else s
        along = own[at] if at < 3 else 0.0
        v[0, p] = along / L0  # of lam
        bent = c[1] * g[0, p] - c[0] * g[1, p]
        share = way.share[k, p // 4] * along
        v[1, p] = share + r * bent + off * slope * v[0, p]
        v[2, p] = b1 * slope * v[0, p] - r * c[1] * g[2, p]
        v[3, p] = b2 * slope * v[0, p] + r * c[0] * g[2, p]
        v[4, p] = n[0] * bent + spun * g[2, p]
        G[p] = n[0] * v[1, p] + n[1] * v[2, p] + n[2] * v[3, p]
    for p in range(LOCAL):
        for o in range(LOCAL):
            first = v[1, p] * v[1, o] + v[2, p] * v[2, o] + v[3, p] * v[3, o]
            K[p, o] = (first - G[p] * G[o]) / length
            K[p, o] += n[0] * r * (c[1] * H[0, p, o] - c[0] * H[1, p, o])
            K[p, o] += r * spun * H[2, p, o]
            K[p, o] += slope * (v[0, p] * v[4, o] + v[4, p] * v[0, o])
            K[p, o] += all_ * curve * v[0, p] * v[0, o]
    for end in range(2):
        own, at = t if end == 0 else s, 4 * end
        by = (n[0] * way.share[k, end] + all_ * slope / L0) / size[end]
        add_unit(K, at, at, by)
        add_outer(K, at, at, own, own, -by)


@kernel
def fill_tendons(
    state: SpaceState, part: SpaceElements, way: TendonSegments, tension: Floats,
    slopes: Floats, values: Floats,
) -> None:  # fmt: skip
    """Gradients of lengths, and Hessians of tension (q,) times them.

    Parameters
    ----------
    slopes, values : (q, 11), (q, 66), overwritten
    """
    t, s, k, w, a, b = np.empty((6, 3))
    v, scratch = np.empty((5, LOCAL)), np.empty((3, 3))
    g, H = np.empty((3, LOCAL)), np.empty((3, LOCAL, LOCAL))
    G, K, M = np.empty(LOCAL), np.empty((LOCAL, LOCAL)), np.empty((LOCAL, OF_BEND))
    matrix = np.empty((OF_BEND, OF_BEND))
    for j in range(len(tension)):
        e, f = way.edges[j]
        size = tangent(state.x, part.edges[e], t), tangent(state.x, part.edges[f], s)
        chi = bend_binormal(t, s, k, w)
        cross(t, state.d[e], a)
        cross(s, state.d[f], b)
        q1 = turn_slopes(
            t, s, k, w, chi, size, state.d[e], state.d[f], g[0], H[0], scratch
        )
        q2 = turn_slopes(t, s, k, w, chi, size, a, b, g[1], H[1], scratch)
        twist_slopes(t, s, k, w, chi, size, g[2], H[2], scratch)
        q = q1, q2, state.twist[way.bend[j]]
        _piece_slopes(part, way, j, size, q, t, s, g, H, G, K, v)
        for p in range(LOCAL):
            for o in range(LOCAL):
                K[p, o] *= tension[j]
        to_nodes(G, K, slopes[j], matrix, M)
        keep_triangle(matrix, values[j])


@dataclass(frozen=True)
class TaperedArm(Checked):
    """The arm at rest: straight, along `axis` from the origin.

    Parameters
    ----------
    profile : rows of arc length and radius, m, linear between
    tied : arc length at which tendons end, m
    edges : from the root to there; the middle of one is at either
    axis, first : direction of the arm, and of d1 at its root
    """

    of = "arm"
    profile: Sequence[tuple[float, float]]
    tied: Positive
    material: SpaceMaterial
    edges: Count = 24
    axis: tuple[float, float, float] = (0.0, 0.0, -1.0)
    first: tuple[float, float, float] = (0.0, 1.0, 0.0)
    law: StretchLaw = StretchLaw.RUBBER

    def __post_init__(self) -> None:
        super().__post_init__()
        table = np.array(self.profile, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
            raise ValueError("arm: profile must have rows of arc length and radius")
        if (np.diff(table[:, 0]) <= 0.0).any() or (table[:, 1] <= 0.0).any():
            raise ValueError("arm: arc lengths must increase; radii must be positive")
        if not self.tied + 0.5 * self.tied / self.edges < self.length:
            raise ValueError(
                f"arm: tendons are tied at {self.tied:g} m, the arm ends at "
                f"{self.length:g} m: tie them more than half an edge before it"
            )

    @property
    def length(self) -> float:
        """m."""
        return float(self.profile[-1][0])

    @property
    def nodes(self) -> Floats:
        """(n,) arc lengths; the clamp is in the middle of the first edge."""
        h = self.tied / self.edges
        even = h * (np.arange(self.edges + 2) - 0.5)
        left = self.length - even[-1]
        more = max(1, round(left / h))
        return np.concatenate([even, even[-1] + left / more * np.arange(1, more + 1)])

    @property
    def radii(self) -> Floats:
        """(m,) in the middle of each edge, m."""
        middle = 0.5 * (self.nodes[1:] + self.nodes[:-1])
        return np.asarray(np.interp(middle, *np.array(self.profile).T))

    @property
    def rod(self) -> SpaceRod:
        """Clamped."""
        axis = np.array(self.axis) / np.linalg.norm(self.axis)
        sections = [disc(float(r)) for r in self.radii]
        made = through(
            self.nodes[:, None] * axis, self.material, sections, first=self.first,
            law=self.law,
        )  # fmt: skip
        return clamped(made, 0)

    def tendon(
        self, rod: SpaceRod, offset: Sequence[tuple[float, float]], angle: float,
        tension: float, friction: float = 0.0,
    ) -> Tendon:  # fmt: skip
        """A tendon straight along the arm.

        Parameters
        ----------
        offset : rows of arc length and distance from the axis, m
        angle : rad, from d1 towards d2
        """
        c, s = np.cos(angle), np.sin(angle)
        before = -self.nodes[0]
        rows = [(at + before, off * c, off * s) for at, off in offset]
        return routed(
            rod, self.radii, self.tied + before, rows, tension=tension,
            friction=friction,
        )  # fmt: skip

    def place(self, state: SpaceState, rod: SpaceRod, at: float, off: Floats) -> Floats:
        """(3,) where a point of a section is, m.

        Parameters
        ----------
        at : arc length at rest, m
        off : (3,) from the axis, along t, d1 and d2 of that section, m
        """
        middle = 0.5 * (self.nodes[1:] + self.nodes[:-1])
        k = int(np.clip(np.searchsorted(middle, at) - 1, 0, len(middle) - 2))
        share = (at - middle[k]) / (middle[k + 1] - middle[k])
        d = state.d, second_directors(state, rod.edges)
        e = np.diff(state.x, axis=0)
        t = e / np.linalg.norm(e, axis=1, keepdims=True)
        frame = np.stack([(1.0 - share) * v[k] + share * v[k + 1] for v in (t, *d)])
        frame /= np.linalg.norm(frame, axis=1, keepdims=True)
        x = [np.interp(at, self.nodes, state.x[:, a]) for a in range(3)]
        return np.asarray(x + off @ frame)
