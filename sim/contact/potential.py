"""Energy of the pairs that touch, with force and stiffness: Sect. 3b of [ZF19].

    Pi_pair = m(c) Pi(d - thickness)

with m = 1 for a node and a triangle, and `fade` for two edges.
"""

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.barrier import barrier, fade
from sim.contact.distance import (
    distance_slopes,
    edge_edge_distance,
    edge_weights,
    point_triangle_distance,
    triangle_weights,
)
from sim.contact.surface import Pairs, Surface, apart, gather_edges, gather_face
from sim.kernels import kernel


@kernel
def _cross(x: Floats, gradient: Floats, hessian: Floats) -> float:
    """c = |u x v|^2 of two edges, its gradient (12,) and Hessian (12, 12).

    dc/du = 2 |v|^2 u - 2 (u.v) v,   d2c/du2 = 2 |v|^2 I - 2 v v^T,
    d2c/dudv = 4 u v^T - 2 v u^T - 2 (u.v) I.
    """
    u, v = x[1] - x[0], x[3] - x[2]
    uu, vv, uv = np.dot(u, u), np.dot(v, v), np.dot(u, v)
    hessian[:] = 0.0
    for c in range(3):
        gu, gv = 2.0 * (vv * u[c] - uv * v[c]), 2.0 * (uu * v[c] - uv * u[c])
        gradient[c], gradient[3 + c] = -gu, gu
        gradient[6 + c], gradient[9 + c] = -gv, gv
        for e in range(3):
            one = 1.0 if c == e else 0.0
            huu = 2.0 * (vv * one - v[c] * v[e])
            hvv = 2.0 * (uu * one - u[c] * u[e])
            huv = 4.0 * u[c] * v[e] - 2.0 * v[c] * u[e] - 2.0 * uv * one
            for a in range(2):
                for b in range(2):
                    sign = 1.0 if a == b else -1.0
                    hessian[3 * a + c, 3 * b + e] = sign * huu
                    hessian[6 + 3 * a + c, 6 + 3 * b + e] = sign * hvv
                    hessian[3 * a + c, 6 + 3 * b + e] = sign * huv
                    hessian[6 + 3 * b + e, 3 * a + c] = sign * huv
    return _cross_square(x)


@kernel
def _cross_square(x: Floats) -> float:
    """c = |u x v|^2 of two edges."""
    out = 0.0
    for c in range(3):
        e, f = (c + 1) % 3, (c + 2) % 3
        n = (x[1, e] - x[0, e]) * (x[3, f] - x[2, f])
        n -= (x[1, f] - x[0, f]) * (x[3, e] - x[2, e])
        out += n * n
    return float(out)


@kernel
def face_energy(
    surface: Surface, pairs: Pairs, k: int, ke: float, x: Floats, y: Floats
) -> tuple[float, float]:
    """Potential (J) and distance (m) of one pair; inf where it is out of reach.

    y : (4, 3) work space that receives the positions
    """
    gather_face(surface, pairs.face[k, 0], pairs.face[k, 1], x, y)
    gap, reach = pairs.face_gap[k], pairs.face_reach[k]
    if apart(y, 1, reach + gap):
        return 0.0, np.inf
    d = point_triangle_distance(y)
    if d <= gap:
        return np.inf, d
    return pairs.face_weight[k] * barrier(d - gap, reach, ke)[0], d


@kernel
def edge_energy(
    surface: Surface, pairs: Pairs, k: int, ke: float, x: Floats, y: Floats
) -> tuple[float, float]:
    """Potential (J) and distance (m) of two edges; inf where they are out of reach."""
    gather_edges(surface, pairs.edge[k, 0], pairs.edge[k, 1], x, y)
    gap, reach = pairs.edge_gap[k], pairs.edge_reach[k]
    if apart(y, 2, reach + gap):
        return 0.0, np.inf
    d = edge_edge_distance(y)
    if d <= gap:
        return np.inf, d
    energy = barrier(d - gap, reach, ke)[0]
    if energy > 0.0:
        energy *= fade(_cross_square(y), pairs.fade[k])[0]
    return energy, d


@kernel
def contact_energy(surface: Surface, pairs: Pairs, ke: float, x: Floats) -> float:
    """Potential of all pairs, J; inf where panels meet."""
    y, total = np.empty((4, 3)), 0.0
    for k in range(len(pairs.face)):
        total += face_energy(surface, pairs, k, ke, x, y)[0]
    for k in range(len(pairs.edge)):
        total += edge_energy(surface, pairs, k, ke, x, y)[0]
    return total


@kernel
def pair_distance(
    surface: Surface, pairs: Pairs, x: Floats, touching: bool
) -> tuple[float, int]:
    """Smallest distance of all pairs, m, and its number, edges after faces.

    touching : only pairs whose potential is not zero; inf where there is none
    """
    y, smallest, which = np.empty((4, 3)), np.inf, -1
    faces = len(pairs.face)
    for k in range(faces):
        gather_face(surface, pairs.face[k, 0], pairs.face[k, 1], x, y)
        d = point_triangle_distance(y)
        out_of_reach = d >= pairs.face_reach[k] + pairs.face_gap[k]
        if d < smallest and not (touching and out_of_reach):
            smallest, which = d, k
    for k in range(len(pairs.edge)):
        gather_edges(surface, pairs.edge[k, 0], pairs.edge[k, 1], x, y)
        d = edge_edge_distance(y)
        out_of_reach = d >= pairs.edge_reach[k] + pairs.edge_gap[k]
        if d < smallest and not (touching and out_of_reach):
            smallest, which = d, faces + k
    return smallest, which


@kernel
def _scale(slope: float, curvature: float, gradient: Floats, hessian: Floats) -> None:
    """From the slopes of d to those of Pi(d): eqs. (3.5) and (3.6)."""
    for i in range(12):
        for j in range(12):
            hessian[i, j] = (
                slope * hessian[i, j] + curvature * gradient[i] * gradient[j]
            )
    for i in range(12):
        gradient[i] *= slope


@kernel
def face_terms(
    surface: Surface,
    pairs: Pairs,
    k: int,
    ke: float,
    x: Floats,
    nodes: Ints,
    gradient: Floats,
    hessian: Floats,
) -> tuple[float, float]:
    """Potential and distance of one pair; where the potential is not zero, its slopes.

    nodes (4,), gradient (12,), hessian (12, 12) : out
    """
    y = np.empty((4, 3))
    energy, d = face_energy(surface, pairs, k, ke, x, y)
    if energy == 0.0 or energy == np.inf:
        return energy, d
    w, dw = np.empty(4), np.empty((2, 4))
    free = triangle_weights(y, w, dw)
    distance_slopes(y, w, dw, free, gradient, hessian)
    scale = ke * pairs.face_weight[k]
    _, slope, curvature = barrier(d - pairs.face_gap[k], pairs.face_reach[k], scale)
    _scale(slope, curvature, gradient, hessian)
    nodes[0] = surface.point[pairs.face[k, 0]]
    nodes[1:] = surface.triangle[pairs.face[k, 1]]
    return energy, d


@kernel
def edge_terms(
    surface: Surface,
    pairs: Pairs,
    k: int,
    ke: float,
    x: Floats,
    nodes: Ints,
    gradient: Floats,
    hessian: Floats,
) -> tuple[float, float]:
    """Potential and distance of two edges; where it is not zero, its slopes.

    nodes (4,), gradient (12,), hessian (12, 12) : out
    """
    y = np.empty((4, 3))
    energy, d = edge_energy(surface, pairs, k, ke, x, y)
    if energy == 0.0 or energy == np.inf:
        return energy, d
    w, dw = np.empty(4), np.empty((2, 4))
    free = edge_weights(y, w, dw)
    distance_slopes(y, w, dw, free, gradient, hessian)
    value, slope, curvature = barrier(d - pairs.edge_gap[k], pairs.edge_reach[k], ke)
    c_gradient, c_hessian = np.empty(12), np.empty((12, 12))
    c = _cross(y, c_gradient, c_hessian)
    m, m1, m2 = fade(c, pairs.fade[k])
    for i in range(12):
        for j in range(12):
            g, h = gradient[i] * gradient[j], c_gradient[i] * c_gradient[j]
            mixed = gradient[i] * c_gradient[j] + c_gradient[i] * gradient[j]
            hessian[i, j] = (
                m * (slope * hessian[i, j] + curvature * g)
                + m1 * slope * mixed
                + value * (m1 * c_hessian[i, j] + m2 * h)
            )
    for i in range(12):
        gradient[i] = m * slope * gradient[i] + m1 * value * c_gradient[i]
    nodes[:2] = surface.edge[pairs.edge[k, 0]]
    nodes[2:] = surface.edge[pairs.edge[k, 1]]
    return energy, d
