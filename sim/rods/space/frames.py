"""Places and material frames of a rod in space, and strains of its bends.

Moving an edge from tangent t to t' turns its directors by the smallest rotation that
takes t to t' (time-parallel transport, Bergou et al. 2010), then by the change of its
angle. So directors are the state, and angles are unknowns of one move only. Twist is
counted on through full turns.

Strains of a bend have first and second derivatives. Edges e and f meet with unit
tangents t, s; chi = 1 + t.s; w = (t + s) / chi. The binormal k = 2 t x s / chi has the
size 2 tan(phi/2), as in the plane. With a director a of the section at e and b at f,
turning about that director is

    q = (a + b).k / 2
    grad_e q = (s x m - q w) / |e|,  grad_f q = -(t x m + q w) / |f|

with m = (a + b) / chi. The twist has the slopes k / 2|e| and k / 2|f| (Bergou et al.
2010). Second derivatives are of the move of `frames`, from where the rod is; so they
are symmetric. Unknowns are e, the angle of e, f, the angle of f: eight, in this order.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel

FULL = 2.0 * np.pi


class SpaceState(NamedTuple):
    """Where a rod is.

    Attributes
    ----------
    x : (n, 3) nodes, m
    d : (m, 3) director d1 of each edge
    twist : (b,) angle from the frame of a bend's first edge to that of its second, rad
    """

    x: Floats
    d: Floats
    twist: Floats


@kernel
def cross(a: Floats, b: Floats, out: Floats) -> None:
    """out <- a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def dot(a: Floats, b: Floats) -> float:
    """a . b of vectors in space."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@kernel
def tangent(x: Floats, edge: Ints, t: Floats) -> float:
    """t <- the unit vector along an edge; its length."""
    for a in range(3):
        t[a] = x[edge[1], a] - x[edge[0], a]
    length = np.sqrt(dot(t, t))
    for a in range(3):
        t[a] /= length
    return float(length)


@kernel
def edge_frame(x: Floats, d: Floats, edges: Ints, e: int, out: Floats) -> float:
    """out (3, 3) <- the frame (t, d1, d2) of an edge; its length."""
    size = tangent(x, edges[e], out[0])
    for a in range(3):
        out[1, a] = d[e, a]
    cross(out[0], out[1], out[2])
    return size


@kernel
def run_tangent(x: Floats, edges: Ints, k: int, t: Floats) -> float:
    """t <- the unit vector along run k: edge k, or edge k - m backwards; its length."""
    size = tangent(x, edges[k % len(edges)], t)
    if k >= len(edges):
        for a in range(3):
            t[a] = -t[a]
    return size


@kernel
def run_director(d: Floats, k: int, out: Floats) -> None:
    """out <- d1 of run k; backwards, a frame is turned by half a turn about d2."""
    for a in range(3):
        out[a] = d[k, a] if k < len(d) else -d[k - len(d), a]


@kernel
def transport(d: Floats, t: Floats, to: Floats, out: Floats) -> None:
    """out <- d, across t, turned by the smallest rotation from t to `to`."""
    share = dot(d, to) / (1.0 + dot(t, to))
    for a in range(3):
        out[a] = d[a] - share * (t[a] + to[a])


@kernel
def angle_between(d: Floats, to: Floats, t: Floats, across: Floats) -> float:
    """The angle from d to `to` about t, in (-pi, pi]."""
    cross(t, d, across)
    return float(np.arctan2(dot(to, across), dot(to, d)))


@kernel
def twists(x: Floats, d: Floats, edges: Ints, bends: Ints, twist: Floats) -> None:
    """twist <- that of the bends, as near to what it was as full turns allow."""
    t, s, u, w, first, second = np.empty((6, 3))
    for b in range(len(bends)):
        e, f = bends[b, 0], bends[b, 1]
        run_tangent(x, edges, e, t)
        run_tangent(x, edges, f, s)
        run_director(d, e, first)
        run_director(d, f, second)
        transport(first, t, s, u)
        angle = angle_between(u, second, s, w)
        twist[b] = angle + FULL * np.round((twist[b] - angle) / FULL)


@kernel
def carry(
    x: Floats, d: Floats, edges: Ints, to: Floats, turn: Floats, out: Floats
) -> None:
    """out <- directors when nodes go from x to `to` and edges turn about themselves."""
    t, s, u, w = np.empty((4, 3))
    for e in range(len(edges)):
        tangent(x, edges[e], t)
        tangent(to, edges[e], s)
        transport(d[e], t, s, u)
        along = dot(u, s)
        for a in range(3):
            u[a] -= along * s[a]  # rounding of earlier moves
        size = np.sqrt(dot(u, u))
        cross(s, u, w)
        c, n = np.cos(turn[e]) / size, np.sin(turn[e]) / size
        for a in range(3):
            out[e, a] = c * u[a] + n * w[a]


def start(x: Floats, d: Floats, edges: Ints, bends: Ints) -> SpaceState:
    """A state with less than half a turn of twist at every bend."""
    twist = np.zeros(len(bends))
    x, d = (np.ascontiguousarray(a, dtype=np.float64) for a in (x, d))
    twists(x, d, edges, bends, twist)
    return SpaceState(x, d, twist)


def moved_on(
    state: SpaceState, edges: Ints, bends: Ints, move: Floats, turn: Floats
) -> SpaceState:
    """The state after nodes moved (n, 3), m, and edges turned (m,), rad.

    A bend's twist may change by less than half a turn, or a full turn is lost.
    """
    x = state.x + move
    d, twist = np.empty_like(state.d), state.twist.copy()
    carry(state.x, state.d, edges, x, turn, d)
    twists(x, d, edges, bends, twist)
    return SpaceState(x, d, twist)


def edge_lengths(x: Floats, edges: Ints) -> Floats:
    """(m,) m."""
    return np.asarray(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1))


def edge_tangents(x: Floats, edges: Ints) -> Floats:
    """(m, 3) unit vectors from tails to heads."""
    e = x[edges[:, 1]] - x[edges[:, 0]]
    return np.asarray(e / np.linalg.norm(e, axis=1, keepdims=True))


def turns(before: SpaceState, after: SpaceState, edges: Ints) -> Floats:
    """(m,) by which edges turned about themselves between two states, rad."""
    t, s = edge_tangents(before.x, edges), edge_tangents(after.x, edges)
    share = np.sum(before.d * s, axis=1) / (1.0 + np.sum(t * s, axis=1))
    u = before.d - share[:, None] * (t + s)
    across = np.sum(np.cross(s, u) * after.d, axis=1)
    return np.asarray(np.arctan2(across, np.sum(u * after.d, axis=1)))


def second_directors(state: SpaceState, edges: Ints) -> Floats:
    """(m, 3) d2 = t x d1."""
    return np.cross(edge_tangents(state.x, edges), state.d)


def of_runs(bends: Ints, m: int) -> tuple[Ints, Floats]:
    """The edges of runs, and -1 where one is backwards, of m edges; both (b, 2)."""
    return bends % m, np.where(bends >= m, -1.0, 1.0)


def run_ends(edges: Ints, bends: Ints) -> Ints:
    """(b, 2, 2) tail and head of both runs of each bend."""
    number, way = of_runs(bends, len(edges))
    ends = edges[number]
    return np.asarray(np.where(way[..., None] < 0.0, ends[..., ::-1], ends))


def turning(state: SpaceState, edges: Ints, bends: Ints) -> Floats:
    """(b, 3) turning at each bend about d1, d2 and t, rad for small angles.

    2 tan(phi/2) times the axis of the bend, seen in the mean of both frames; the third
    is the twist.
    """
    t = edge_tangents(state.x, edges)
    number, way = of_runs(bends, len(edges))
    a, b = (way[:, [k]] * t[number[:, k]] for k in (0, 1))
    axis = 2.0 * np.cross(a, b) / (1.0 + np.sum(a * b, axis=1, keepdims=True))
    both = (way[..., None] * state.d[number], np.cross(t, state.d)[number])
    seen = [0.5 * np.sum(d.sum(axis=1) * axis, axis=1) for d in both]
    return np.column_stack([*seen, state.twist])


LOCAL = 8


@kernel
def add_outer(H: Floats, r: int, c: int, a: Floats, b: Floats, by: float) -> None:
    """Block (r, c) of H += by a b^T."""
    for i in range(3):
        for j in range(3):
            H[r + i, c + j] += by * a[i] * b[j]


@kernel
def add_unit(H: Floats, r: int, c: int, by: float) -> None:
    """Block (r, c) of H += by I."""
    for i in range(3):
        H[r + i, c + i] += by


@kernel
def add_cross(H: Floats, r: int, c: int, a: Floats, by: float) -> None:
    """Block (r, c) of H += by [a]x, the matrix of a cross product with a."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        H[r + i, c + j] -= by * a[k]
        H[r + i, c + k] += by * a[j]


@kernel
def mirror(H: Floats) -> None:
    """Block (f, e) of H <- that of (e, f), transposed."""
    for i in range(3):
        for j in range(3):
            H[4 + i, j] = H[j, 4 + i]


@kernel
def bend_binormal(t: Floats, s: Floats, k: Floats, w: Floats) -> float:
    """k and w of tangents t and s; chi."""
    chi = 1.0 + dot(t, s)
    cross(t, s, k)
    for a in range(3):
        k[a] *= 2.0 / chi
        w[a] = (t[a] + s[a]) / chi
    return chi


@kernel
def bend_turns(
    state: SpaceState, edges: Ints, runs: Ints, v: Floats, q: Floats
) -> tuple[float, float]:
    """q (2,) <- turning about d1 and d2 of two runs; their lengths. v (8, 3): space."""
    t, s, k, first, second = v[0], v[1], v[2], v[4], v[5]
    size = (
        run_tangent(state.x, edges, runs[0], t),
        run_tangent(state.x, edges, runs[1], s),
    )
    bend_binormal(t, s, k, v[3])
    run_director(state.d, runs[0], first)
    run_director(state.d, runs[1], second)
    cross(t, first, v[6])
    cross(s, second, v[7])
    q[0] = 0.5 * (dot(first, k) + dot(second, k))
    q[1] = 0.5 * (dot(v[6], k) + dot(v[7], k))
    return size


@kernel
def _angle_row(
    at: int, d: Floats, t: Floats, s: Floats, k: Floats, w: Floats, chi: float,
    size: tuple[float, float], g: Floats, H: Floats, v: Floats,
) -> None:  # fmt: skip
    """Derivatives by the angle of one edge, with d' = t_own x d and d'' = -d."""
    own = t if at == 3 else s
    cross(own, d, v)
    turned = 0.5 * dot(v, k)
    g[at] = turned
    H[at, at] = -0.5 * dot(d, k)
    for i in range(3):
        j, h = (i + 1) % 3, (i + 2) % 3
        e = (s[j] * v[h] - s[h] * v[j]) / chi - turned * w[i]
        f = -(t[j] * v[h] - t[h] * v[j]) / chi - turned * w[i]
        H[at, i] = H[i, at] = e / size[0]
        H[at, 4 + i] = H[4 + i, at] = f / size[1]


@kernel
def turn_slopes(
    t: Floats, s: Floats, k: Floats, w: Floats, chi: float,
    size: tuple[float, float], a: Floats, b: Floats, g: Floats, H: Floats,
    scratch: Floats,
) -> float:  # fmt: skip
    """q about directors a and b; g (8,) and H (8, 8) are overwritten."""
    m, u, v = scratch[0], scratch[1], scratch[2]
    H[:] = 0.0
    for i in range(3):
        m[i] = (a[i] + b[i]) / chi
    q = 0.5 * chi * dot(m, k)
    _angle_row(3, a, t, s, k, w, chi, size, g, H, u)
    _angle_row(7, b, t, s, k, w, chi, size, g, H, u)
    cross(s, m, u)
    cross(t, m, v)
    for i in range(3):
        g[i] = (u[i] - q * w[i]) / size[0]
        g[4 + i] = -(v[i] + q * w[i]) / size[1]
    ee, ff, ef = size[0] ** -2.0, size[1] ** -2.0, 1.0 / (size[0] * size[1])
    flat = q / chi
    for at, by, side, tan, d in ((0, ee, -1.0, t, a), (4, ff, 1.0, s, b)):
        c = u if at == 0 else v
        add_outer(H, at, at, w, w, 2.0 * q * by)
        add_outer(H, at, at, c, w, side * by)
        add_outer(H, at, at, w, c, side * by)
        add_unit(H, at, at, -flat * by)
        add_outer(H, at, at, tan, tan, flat * by)
        add_outer(H, at, at, k, d, 0.25 * by)
        add_outer(H, at, at, d, k, 0.25 * by)
    add_unit(H, 0, 4, -flat * ef)
    add_outer(H, 0, 4, t, s, -flat * ef)
    add_outer(H, 0, 4, w, w, 2.0 * q * ef)
    add_outer(H, 0, 4, u, w, -ef)
    add_outer(H, 0, 4, w, v, ef)
    add_cross(H, 0, 4, m, -ef)
    mirror(H)
    return q


@kernel
def twist_slopes(
    t: Floats, s: Floats, k: Floats, w: Floats, chi: float,
    size: tuple[float, float], g: Floats, H: Floats, scratch: Floats,
) -> None:  # fmt: skip
    """Of the twist; g (8,) and H (8, 8) are overwritten."""
    H[:] = 0.0
    g[3], g[7] = -1.0, 1.0
    v = scratch[0]
    for at in (0, 4):
        one = size[0] if at == 0 else size[1]
        for i in range(3):
            g[at + i] = 0.5 * k[i] / one
            v[i] = w[i] + (t[i] if at == 0 else s[i])
        add_outer(H, at, at, k, v, -0.25 / one**2)
        add_outer(H, at, at, v, k, -0.25 / one**2)
    ef = 0.5 / (size[0] * size[1])
    add_cross(H, 0, 4, t, 2.0 * ef / chi)
    add_outer(H, 0, 4, k, w, -ef)
    mirror(H)


@kernel
def to_nodes(G: Floats, K: Floats, gradient: Floats, matrix: Floats, M: Floats) -> None:
    """From (e, angle, f, angle) to (tail, angle, middle, angle, head).

    Parameters
    ----------
    G, K : (8,), (8, 8)
    gradient, matrix : (11,), (11, 11), overwritten
    M : (8, 11)
    """
    for p in range(LOCAL):
        for c in range(3):
            M[p, c], M[p, 4 + c] = -K[p, c], K[p, c] - K[p, 4 + c]
            M[p, 8 + c] = K[p, 4 + c]
        M[p, 3], M[p, 7] = K[p, 3], K[p, 7]
    for c in range(3):
        gradient[c], gradient[4 + c], gradient[8 + c] = -G[c], G[c] - G[4 + c], G[4 + c]
    gradient[3], gradient[7] = G[3], G[7]
    for c in range(LOCAL + 3):
        for p in range(3):
            matrix[p, c], matrix[4 + p, c] = -M[p, c], M[p, c] - M[4 + p, c]
            matrix[8 + p, c] = M[4 + p, c]
        matrix[3, c], matrix[7, c] = M[3, c], M[7, c]
