"""Places and material frames of a rod in space, and how they are carried on.

Moving an edge from tangent t to t' turns its directors by the smallest rotation that
takes t to t' (time-parallel transport, Bergou et al. 2010), then by the change of its
angle. So directors are the state, and angles are unknowns of one move only. Twist is
counted on through full turns.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel

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


def turns(before: SpaceState, after: SpaceState, edges: Ints) -> Floats:
    """(m,) by which edges turned about themselves between two states, rad."""
    t, s = (
        e / np.linalg.norm(e, axis=1, keepdims=True)
        for e in (x[edges[:, 1]] - x[edges[:, 0]] for x in (before.x, after.x))
    )
    share = np.sum(before.d * s, axis=1) / (1.0 + np.sum(t * s, axis=1))
    u = before.d - share[:, None] * (t + s)
    across = np.sum(np.cross(s, u) * after.d, axis=1)
    return np.asarray(np.arctan2(across, np.sum(u * after.d, axis=1)))


def second_directors(state: SpaceState, edges: Ints) -> Floats:
    """(m, 3) d2 = t x d1."""
    e = state.x[edges[:, 1]] - state.x[edges[:, 0]]
    t = e / np.linalg.norm(e, axis=1, keepdims=True)
    return np.cross(t, state.d)


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
    e = state.x[edges[:, 1]] - state.x[edges[:, 0]]
    t = e / np.linalg.norm(e, axis=1, keepdims=True)
    number, way = of_runs(bends, len(edges))
    a, b = (way[:, [k]] * t[number[:, k]] for k in (0, 1))
    axis = 2.0 * np.cross(a, b) / (1.0 + np.sum(a * b, axis=1, keepdims=True))
    both = (way[..., None] * state.d[number], np.cross(t, state.d)[number])
    seen = [0.5 * np.sum(d.sum(axis=1) * axis, axis=1) for d in both]
    return np.column_stack([*seen, state.twist])
