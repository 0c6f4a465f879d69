"""Energy, gradient and Hessian of a rod in space and of its hinges.

    stretching   U = EA w(lam) l0                    lam = |e| / l0
    bending      U = 1/2 EI b(lam) (q - k dl)^2 / dl     about d1 and about d2
    twisting     U = 1/2 GJ c(lam) (m - k dl)^2 / dl     lam of the bend: of both edges

With `hooke`  w = (lam - 1)^2 / 2,  b = c = 1,  the planar law. With `rubber`, of an
incompressible neo-Hookean rod whose sections shrink as it stretches,

    w = (lam^2 + 2/lam - 3) / 6,   b = (1/lam + 2/lam^4) / 3,   c = 1/lam :

the tension of a fibre is E (lam - 1/lam^2) / 3 of its first area, and a section that
was stretched by lam has its first moments of area over lam^2. Small bending and twist
on any stretch.

At a hinge two edges turn about an axis which both carry. It has a frame (a, p, r), a
its axis, fixed in the frame of either edge. With (a, p, r) of one edge and (a', p', r')
of the other its strains are

    a.p', a.r'            how far the axes are apart, held by a stiffness
    phi = atan2(Y, X)     the turn about them, free or by a spring,
                          X = p.p' + r.r',  Y = r.p' - p.r'

of products of frame vectors only, as those of bends are (`energy_conserving_forces`),
and without bound on the turn. A turn w of the first edge changes u.v by w.(u x v) and
(w.u w.v - w.w u.v) / 2, one of the other likewise with the sides changed, both by w.w'
u.v - w.v w'.u. A move d of an edge's vector and a turn c of its angle are, as in
`frames`, the turn w = t x d / |e| + c t and at second order

    - (t.d) t x d / |e|^2 + c (d - t.d t) / 2 |e| .
"""

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.rods.space.frames import (
    LOCAL,
    SpaceState,
    bend_binormal,
    bend_turns,
    cross,
    dot,
    edge_frame,
    run_director,
    run_tangent,
    tangent,
    to_nodes,
    turn_slopes,
    twist_slopes,
)
from sim.rods.space.rod import SpaceElements

SMALL = 1e-6  # turn below which its sine is its own, rad


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
def both_sines(pair: Floats) -> tuple[float, float]:
    """X and Y."""
    p, r, q, s = pair[0, 1], pair[0, 2], pair[1, 1], pair[1, 2]
    return dot(p, q) + dot(r, s), dot(r, q) - dot(p, s)


@kernel
def hinge_strains(pair: Floats, out: Floats) -> None:
    """out (3,) <- strains of a hinge with these frames (2, 3, 3)."""
    X, Y = both_sines(pair)
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
    state: SpaceState, part: SpaceElements, j: int, G: Floats, K: Floats
) -> None:
    """G (8,), K (8, 8) <- gradient and Hessian of hinge j, by e, angle, f, angle."""
    v, T = np.empty((5, 3, 3)), np.zeros((6, LOCAL))  # frames, turns by the unknowns
    g, H = np.empty((4, 6)), np.empty((4, 6, 6))  # of products and strains, by turns
    turns = np.zeros((7, 6))  # gradient and Hessian of the energy, by turns
    size = fill_hinge(state, part, j, v[:2], v[2:4])
    pair, strains = v[2:4], v[4, 0]
    hinge_strains(pair, strains)
    _products(pair, v[4, 1], g, H)
    X, Y = both_sines(pair)
    _to_angle(X, Y, g, H)
    G[:] = 0.0
    K[:] = 0.0
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


OF_BEND, OF_EDGE = LOCAL + 3, 6


@kernel
def _stretch(rubber: bool, lam: float) -> tuple[float, float, float]:
    """w and its two derivatives."""
    if rubber:
        return (
            (lam * lam + 2.0 / lam - 3.0) / 6.0,
            (lam - lam**-2.0) / 3.0,
            (1.0 + 2.0 * lam**-3.0) / 3.0,
        )
    return 0.5 * (lam - 1.0) ** 2, lam - 1.0, 1.0


@kernel
def _bending(rubber: bool, lam: float) -> tuple[float, float, float]:
    """b and its two derivatives."""
    if rubber:
        return (
            (1.0 / lam + 2.0 * lam**-4.0) / 3.0,
            -(lam**-2.0 + 8.0 * lam**-5.0) / 3.0,
            (2.0 * lam**-3.0 + 40.0 * lam**-6.0) / 3.0,
        )
    return 1.0, 0.0, 0.0


@kernel
def _twisting(rubber: bool, lam: float) -> tuple[float, float, float]:
    """c and its two derivatives."""
    return (1.0 / lam, -(lam**-2.0), 2.0 * lam**-3.0) if rubber else (1.0, 0.0, 0.0)


@kernel
def edge_of(run: int, m: int) -> int:
    """Of m edges that which a run goes along, one way or the other."""
    return run if run < m else run - m


@kernel
def energies(state: SpaceState, part: SpaceElements) -> tuple[float, float, float]:
    """Of stretching, of bending with hinges, and of twisting, J."""
    v, q = np.empty((8, 3)), np.empty(2)
    stretch = bend = twist = 0.0
    m = len(part.edges)
    for e in range(len(part.edges)):
        lam = tangent(state.x, part.edges[e], v[0]) / part.rest[e]
        stretch += part.stretching[e] * _stretch(part.rubber, lam)[0] * part.rest[e]
    for j in range(len(part.bends)):
        e, f = part.bends[j]
        size = bend_turns(state, part.edges, part.bends[j], v, q)
        lam = (size[0] + size[1]) / (
            part.rest[edge_of(e, m)] + part.rest[edge_of(f, m)]
        )
        dl, rest = part.voronoi[j], part.curvature[j]
        first, second = q[0] - rest[0] * dl, q[1] - rest[1] * dl
        about = part.bending[j, 0] * first**2 + part.bending[j, 1] * second**2
        bend += 0.5 * _bending(part.rubber, lam)[0] * about / dl
        apart = state.twist[j] - rest[2] * dl
        stiff = _twisting(part.rubber, lam)[0] * part.twisting[j]
        twist += 0.5 * stiff * apart**2 / dl
    if len(part.hinges):
        space = np.empty((5, 3, 3))
        for j in range(len(part.hinges)):
            bend += hinge_energy(state, part, j, space)
    return stretch, bend, twist


@kernel
def _add_strain(
    k: float, apart: float, g: Floats, H: Floats, G: Floats, K: Floats
) -> float:
    """G, K += gradient and Hessian of k apart^2 / 2; that energy."""
    for p in range(LOCAL):
        G[p] += k * apart * g[p]
        for c in range(LOCAL):
            K[p, c] += k * (g[p] * g[c] + apart * H[p, c])
    return 0.5 * k * apart * apart


@kernel
def _follow_stretch(
    law: tuple[float, float, float], U: float, L0: float, t: Floats, s: Floats,
    size: tuple[float, float], G: Floats, K: Floats, g: Floats,
) -> None:  # fmt: skip
    """From U, G, K to those of law(lam) U, with lam = (|e| + |f|) / L0."""
    value, slope, curve = law
    g[3] = g[7] = 0.0
    for i in range(3):
        g[i], g[4 + i] = t[i] / L0, s[i] / L0
    for p in range(LOCAL):
        for c in range(LOCAL):
            K[p, c] = (
                value * K[p, c]
                + slope * (g[p] * G[c] + G[p] * g[c])
                + curve * U * g[p] * g[c]
            )
    for p in range(LOCAL):
        G[p] = value * G[p] + slope * U * g[p]
    for at, one, tan in ((0, size[0], t), (4, size[1], s)):
        by = slope * U / (L0 * one)
        for i in range(3):
            K[at + i, at + i] += by
            for j in range(3):
                K[at + i, at + j] -= by * tan[i] * tan[j]


@kernel
def _bend(
    state: SpaceState, part: SpaceElements, j: int, v: Floats, g: Floats, H: Floats,
    G: Floats, K: Floats,
) -> None:  # fmt: skip
    """G[0], K[0] <- gradient and Hessian of bend j, by e, angle, f, angle."""
    e, f = part.bends[j]
    t, s, k, w, a, b = v[0], v[1], v[2], v[3], v[4], v[5]
    size = (
        run_tangent(state.x, part.edges, e, t),
        run_tangent(state.x, part.edges, f, s),
    )
    m = len(part.edges)
    L0 = part.rest[edge_of(e, m)] + part.rest[edge_of(f, m)]
    lam = (size[0] + size[1]) / L0
    chi = bend_binormal(t, s, k, w)
    dl, rest = part.voronoi[j], part.curvature[j]
    G[:] = 0.0
    K[:] = 0.0
    U = 0.0
    for axis in range(2):
        run_director(state.d, e, a)
        run_director(state.d, f, b)
        if axis == 1:
            for i in range(3):
                v[6, i], v[7, i] = a[i], b[i]
            cross(t, v[6], a)
            cross(s, v[7], b)
        q = turn_slopes(t, s, k, w, chi, size, a, b, g, H, v[6:])
        U += _add_strain(
            part.bending[j, axis] / dl, q - rest[axis] * dl, g, H, G[0], K[0]
        )
    twist_slopes(t, s, k, w, chi, size, g, H, v[6:])
    apart = state.twist[j] - rest[2] * dl
    if not part.rubber:
        _add_strain(part.twisting[j] / dl, apart, g, H, G[0], K[0])
        return
    Ut = _add_strain(part.twisting[j] / dl, apart, g, H, G[1], K[1])
    law = _bending(part.rubber, lam)
    _follow_stretch(law, U, L0, t, s, size, G[0], K[0], g)
    law = _twisting(part.rubber, lam)
    _follow_stretch(law, Ut, L0, t, s, size, G[1], K[1], g)
    for p in range(LOCAL):
        G[0, p] += G[1, p]
        for c in range(LOCAL):
            K[0, p, c] += K[1, p, c]


@kernel
def keep_triangle(matrix: Floats, values: Floats) -> None:
    """values <- the lower triangle of a matrix, row by row."""
    at = 0
    for r in range(len(matrix)):
        for c in range(r + 1):
            values[at] = matrix[r, c]
            at += 1


@kernel
def joined_at(edges: Ints, e: int, f: int) -> tuple[int, int, int]:
    """The node of run e alone, that of both runs, that of run f alone."""
    m = len(edges)
    one, other = edges[edge_of(e, m)], edges[edge_of(f, m)]
    tail, middle = (one[0], one[1]) if e < m else (one[1], one[0])
    if middle != other[0] and middle != other[1]:
        tail, middle = middle, tail
    return tail, middle, other[1] if other[0] == middle else other[0]


@kernel
def _reversed_at(G: Floats, K: Floats, start: int, stop: int) -> None:
    """G, K <- derivatives by these unknowns with the other sign."""
    for p in range(start, stop):
        G[p] = -G[p]
        for c in range(LOCAL):
            K[p, c] = -K[p, c]
        for c in range(LOCAL):
            K[c, p] = -K[c, p]


@kernel
def _from_middle(edges: Ints, e: int, f: int, G: Floats, K: Floats) -> None:
    """From both runs' vectors and angles to edges from tail to middle to head."""
    m, middle = len(edges), joined_at(edges, e, f)[1]
    if edges[edge_of(e, m), 1 if e < m else 0] != middle:
        _reversed_at(G, K, 0, 3)
    if edges[edge_of(f, m), 0 if f < m else 1] != middle:
        _reversed_at(G, K, 4, 7)
    if e >= m:
        _reversed_at(G, K, 3, 4)
    if f >= m:
        _reversed_at(G, K, 7, 8)


@kernel
def add_to(
    gradient: Floats, own: Floats, edges: Ints, e: int, f: int, angles: int
) -> None:
    """gradient += (11,) of a pair of runs; angles come after 3 n coordinates."""
    tail, middle, head = joined_at(edges, e, f)
    m = len(edges)
    for a in range(3):
        gradient[3 * tail + a] += own[a]
        gradient[3 * middle + a] += own[4 + a]
        gradient[3 * head + a] += own[8 + a]
    gradient[angles + edge_of(e, m)] += own[3]
    gradient[angles + edge_of(f, m)] += own[7]


@kernel
def add_elastic(
    state: SpaceState, part: SpaceElements, gradient: Floats, of_edges: Floats,
    of_bends: Floats,
) -> None:  # fmt: skip
    """Gradient and Hessian of the energy by nodes, then angles.

    Parameters
    ----------
    gradient : (3 n + m,) N, N m, is added to
    of_edges, of_bends : (m, 21), (b + k, 66) lower triangles of the Hessians of edges,
        and of bends and hinges, at `sim.rods.space.assembled_system`, overwritten
    """
    angles = 3 * len(state.x)
    v, g, H = np.empty((9, 3)), np.empty(LOCAL), np.empty((LOCAL, LOCAL))
    G, K = np.empty((2, LOCAL)), np.empty((2, LOCAL, LOCAL))
    own, M = np.empty(OF_BEND), np.empty((LOCAL, OF_BEND))
    matrix, small = np.empty((OF_BEND, OF_BEND)), np.empty((OF_EDGE, OF_EDGE))
    for e in range(len(part.edges)):
        t = v[0]
        size = tangent(state.x, part.edges[e], t)
        _, slope, curve = _stretch(part.rubber, size / part.rest[e])
        along, across = (
            part.stretching[e] * curve / part.rest[e],
            part.stretching[e] * slope / size,
        )
        for a in range(3):
            for b in range(3):
                one = (along - across) * t[a] * t[b] + (across if a == b else 0.0)
                small[a, b] = small[3 + a, 3 + b] = one
                small[a, 3 + b] = small[3 + a, b] = -one
            pull = part.stretching[e] * slope * t[a]
            gradient[3 * part.edges[e, 0] + a] -= pull
            gradient[3 * part.edges[e, 1] + a] += pull
        keep_triangle(small, of_edges[e])
    for j in range(len(part.bends)):
        _bend(state, part, j, v, g, H, G, K)
        _from_middle(part.edges, part.bends[j, 0], part.bends[j, 1], G[0], K[0])
        to_nodes(G[0], K[0], own, matrix, M)
        add_to(gradient, own, part.edges, part.bends[j, 0], part.bends[j, 1], angles)
        keep_triangle(matrix, of_bends[j])
    if len(part.hinges):
        _add_hinges(state, part, gradient, of_bends[len(part.bends) :])


@kernel
def _add_hinges(
    state: SpaceState, part: SpaceElements, gradient: Floats, values: Floats
) -> None:
    """Likewise of hinges, (k, 66) of their Hessians."""
    G, K = np.empty(LOCAL), np.empty((LOCAL, LOCAL))
    own, M = np.empty(OF_BEND), np.empty((LOCAL, OF_BEND))
    matrix = np.empty((OF_BEND, OF_BEND))
    for j in range(len(part.hinges)):
        e, f = part.hinges[j]
        hinge_slopes(state, part, j, G, K)
        _from_middle(part.edges, e, f, G, K)
        to_nodes(G, K, own, matrix, M)
        add_to(gradient, own, part.edges, e, f, 3 * len(state.x))
        keep_triangle(matrix, values[j])
