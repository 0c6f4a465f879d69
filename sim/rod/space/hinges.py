"""Hinges about an axis: two edges that turn about a line which both carry.

A hinge has a frame (a, p, r), a its axis, fixed in the frame of either edge. With
(a, p, r) of one edge and (a', p', r') of the other its strains are

    a.p', a.r'            how far the axes are apart, held by a stiffness
    phi = atan2(Y, X)     the turn about them, free or by a spring,
                          X = p.p' + r.r',  Y = r.p' - p.r'

of products of frame vectors only, as those of bends are (`conserving_forces`), and
without bound on the turn. A turn w of the first edge changes u.v by w.(u x v) and
(w.u w.v - w.w u.v) / 2, one of the other likewise with the sides changed, both by
w.w' u.v - w.v w'.u. A move d of an edge's vector and a turn c of its angle are, as in
`frames`, the turn w = t x d / |e| + c t and at second order

    - (t.d) t x d / |e|^2 + c (d - t.d t) / 2 |e| .
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.rod.space.bends import LOCAL
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState, cross, dot, edge_frame

SMALL = 1e-6  # turn below which its sine is its own, rad


class HingeSpace(NamedTuple):
    """Space for the slopes of one hinge.

    Attributes
    ----------
    v : (5, 3, 3) frames of edges and of the hinge in them, and vectors
    g, H : (4, 6), (4, 6, 6) by turns of both edges, of products and strains
    turns : (7, 6) gradient and Hessian of the energy by them
    T : (6, 8) turns by the unknowns
    """

    v: Floats
    g: Floats
    H: Floats
    turns: Floats
    T: Floats


@kernel
def hinge_space() -> HingeSpace:
    """Of one hinge."""
    return HingeSpace(
        np.empty((5, 3, 3)), np.empty((4, 6)), np.empty((4, 6, 6)), np.empty((7, 6)),
        np.empty((6, LOCAL)),
    )  # fmt: skip


@kernel
def turned_frame(axes: Floats, frame: Floats, out: Floats) -> None:
    """out (3, 3) <- the frame of a hinge in an edge of this frame (t, d1, d2)."""
    for i in range(3):
        for k in range(3):
            own = 0.0
            for j in range(3):
                own += axes[i, j] * frame[j, k]
            out[i, k] = own


@kernel
def _both_sines(pair: Floats) -> tuple[float, float]:
    """X and Y."""
    p, r, q, s = pair[0, 1], pair[0, 2], pair[1, 1], pair[1, 2]
    return dot(p, q) + dot(r, s), dot(r, q) - dot(p, s)


@kernel
def hinge_strains(pair: Floats, out: Floats) -> None:
    """out (3,) <- strains of a hinge with these frames (2, 3, 3)."""
    X, Y = _both_sines(pair)
    out[0] = dot(pair[0, 0], pair[1, 1])
    out[1] = dot(pair[0, 0], pair[1, 2])
    out[2] = np.arctan2(Y, X)


@kernel
def fill_hinge(
    state: SpaceState, part: SpaceElements, j: int, frame: Floats, pair: Floats
) -> tuple[float, float]:
    """frame (2, 3, 3) <- of both edges of hinge j, pair <- its own; their lengths."""
    e, f = part.hinges[j]
    size = (
        edge_frame(state.x, state.d, part.edges, e, frame[0]),
        edge_frame(state.x, state.d, part.edges, f, frame[1]),
    )
    for k in range(2):
        turned_frame(part.axes[j, k], frame[k], pair[k])
    return size


@kernel
def add_hinge_strains(
    state: SpaceState, part: SpaceElements, share: float, v: Floats, total: Floats
) -> None:
    """total (k, 3) += share of the strains of hinges.

    Parameters
    ----------
    v : (5, 3, 3) scratch
    """
    for j in range(len(part.hinges)):
        fill_hinge(state, part, j, v[:2], v[2:4])
        hinge_strains(v[2:4], v[4, 0])
        for a in range(3):
            total[j, a] += share * v[4, 0, a]


@kernel
def strains_of_hinges(state: SpaceState, part: SpaceElements) -> Floats:
    """(k, 3) of all hinges."""
    total = np.zeros((len(part.hinges), 3))
    add_hinge_strains(state, part, 1.0, np.empty((5, 3, 3)), total)
    return total


@kernel
def hinge_energy(state: SpaceState, part: SpaceElements, j: int, v: Floats) -> float:
    """Of hinge j, J; v (5, 3, 3) is scratch."""
    fill_hinge(state, part, j, v[:2], v[2:4])
    hinge_strains(v[2:4], v[4, 0])
    total = 0.0
    for a in range(3):
        apart = v[4, 0, a] - part.hinge_rest[j, a]
        total += 0.5 * part.hinge_stiffness[j, a] * apart**2
    return total


@kernel
def _add_product(
    u: Floats, v: Floats, by: float, c: Floats, g: Floats, H: Floats
) -> None:
    """g (6,), H (6, 6) += by times the slopes of u.v by turns of both edges."""
    cross(u, v, c)
    along = dot(u, v)
    for i in range(3):
        g[i] += by * c[i]
        g[3 + i] -= by * c[i]
        for j in range(3):
            same = along if i == j else 0.0
            own = by * (0.5 * (u[i] * v[j] + v[i] * u[j]) - same)
            H[i, j] += own
            H[3 + i, 3 + j] += own
            other = by * (same - v[i] * u[j])
            H[i, 3 + j] += other
            H[3 + j, i] += other


@kernel
def _products(pair: Floats, c: Floats, g: Floats, H: Floats) -> None:
    """g (4, 6), H (4, 6, 6) <- slopes of the products that strains are made of."""
    g[:] = 0.0
    H[:] = 0.0
    one, other = pair[0], pair[1]
    _add_product(one[0], other[1], 1.0, c, g[0], H[0])
    _add_product(one[0], other[2], 1.0, c, g[1], H[1])
    _add_product(one[1], other[1], 1.0, c, g[2], H[2])
    _add_product(one[2], other[2], 1.0, c, g[2], H[2])
    _add_product(one[2], other[1], 1.0, c, g[3], H[3])
    _add_product(one[1], other[2], -1.0, c, g[3], H[3])


@kernel
def _to_angle(X: float, Y: float, g: Floats, H: Floats) -> None:
    """g[2], H[2] <- slopes of atan2(Y, X), from those of X at 2 and of Y at 3."""
    n = X * X + Y * Y
    cosine, sine = X / n, Y / n
    xx, xy = 2.0 * cosine * sine, sine * sine - cosine * cosine
    for i in range(6):
        for j in range(6):
            H[2, i, j] = cosine * H[3, i, j] - sine * H[2, i, j]
            H[2, i, j] += xx * (g[2, i] * g[2, j] - g[3, i] * g[3, j])
            H[2, i, j] += xy * (g[2, i] * g[3, j] + g[3, i] * g[2, j])
    for i in range(6):
        g[2, i] = cosine * g[3, i] - sine * g[2, i]


@kernel
def _to_edge(
    frame: Floats, size: float, at: int, w: Floats, T: Floats, K: Floats
) -> None:
    """T (6, 8) <- turns of an edge by its vector and angle; K (8, 8) += second order.

    Parameters
    ----------
    at : 0 or 4, of the edge's unknowns
    w : (2, 3), the slopes by its turn, and scratch
    """
    t, c = frame[0], w[1]
    cross(w[0], t, c)
    spun, row = dot(t, w[0]), 3 * (at // 4)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        T[row + j, at + i] = t[k] / size
        T[row + k, at + i] = -t[j] / size
        T[row + i, at + 3] = t[i]
        half = 0.5 * (w[0, i] - spun * t[i]) / size
        K[at + 3, at + i] += half
        K[at + i, at + 3] += half
        for o in range(3):
            K[at + i, at + o] -= (t[i] * c[o] + c[i] * t[o]) / size**2


@kernel
def hinge_slopes(
    state: SpaceState, part: SpaceElements, j: int, space: HingeSpace, G: Floats,
    K: Floats,
) -> None:  # fmt: skip
    """G (8,), K (8, 8) <- gradient and Hessian of hinge j, by e, angle, f, angle."""
    v, g, H, turns, T = space.v, space.g, space.H, space.turns, space.T
    size = fill_hinge(state, part, j, v[:2], v[2:4])
    pair, strains = v[2:4], v[4, 0]
    hinge_strains(pair, strains)
    _products(pair, v[4, 1], g, H)
    X, Y = _both_sines(pair)
    _to_angle(X, Y, g, H)
    turns[:] = 0.0
    G[:] = 0.0
    K[:] = 0.0
    T[:] = 0.0
    for a in range(3):
        stiff = part.hinge_stiffness[j, a]
        apart = stiff * (strains[a] - part.hinge_rest[j, a])
        for i in range(6):
            turns[0, i] += apart * g[a, i]
            for k in range(6):
                turns[1 + i, k] += stiff * g[a, i] * g[a, k] + apart * H[a, i, k]
    for k in range(2):
        for i in range(3):
            v[4, 0, i] = turns[0, 3 * k + i]
        _to_edge(v[k], size[k], 4 * k, v[4], T, K)
    for p in range(LOCAL):
        for i in range(6):
            G[p] += T[i, p] * turns[0, i]
            for k in range(6):
                through = T[i, p] * turns[1 + i, k]
                for q in range(LOCAL):
                    K[p, q] += through * T[k, q]
