"""How long tendons are, with first and second derivatives.

A channel lies off the axis by c = c1 d1 + c2 d2. A piece of it, from a place on edge e
to one on edge f, with the turning q1, q2 and the twist m of the bend between, is as
long as

    |(a, b1, b2)|    a = share |e| + share |f| + r (c2 q1 - c1 q2)
                     b1 = r (c1' - m c2),  b2 = r (c2' + m c1)

with c' the difference of both offsets and r = 1, or lam^-1/2 where sections follow a
stretch lam. A tendon on the axis is as long as the axis, however it bends; one that is
straight from hole to hole would cut corners. Its energy is tension times length.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel
from sim.rod.space.bends import (
    LOCAL,
    add_outer,
    add_unit,
    bend_binormal,
    to_nodes,
    turn_slopes,
    twist_slopes,
)
from sim.rod.space.elastic import OF_BEND, keep_triangle
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState, cross, dot, tangent
from sim.rod.space.space_rod import SpaceRod
from sim.rod.space.tendons import Tendon


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
    """All pieces of all tendons, each tendon from its pulled end on."""
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
    t, s, k, w, a, b = np.empty((6, 3))
    for j in range(len(length)):
        e, f = way.edges[j]
        size = tangent(state.x, part.edges[e], t), tangent(state.x, part.edges[f], s)
        bend_binormal(t, s, k, w)
        cross(t, state.d[e], a)
        cross(s, state.d[f], b)
        q1 = 0.5 * (dot(state.d[e], k) + dot(state.d[f], k))
        q2 = 0.5 * (dot(a, k) + dot(b, k))
        length[j] = _piece(part, way, j, size, (q1, q2, state.twist[way.bend[j]]))[0]


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
