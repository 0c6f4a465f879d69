"""Energy of the pairs that touch, with force and stiffness: Sect. 3b of [ZF19].

    Pi_pair = m(c) Pi(d - thickness)

with m = 1 for a node and a triangle, and `mollifier` for two edges.
"""

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.barrier import barrier, mollifier
from sim.contact.distance import distance_slopes, pair_distance, pair_weights
from sim.contact.surface import ContactPairs, apart, gather
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
    return cross_square(x)


@kernel
def cross_square(x: Floats) -> float:
    """c = |u x v|^2 of two edges."""
    out = 0.0
    for c in range(3):
        e, f = (c + 1) % 3, (c + 2) % 3
        n = (x[1, e] - x[0, e]) * (x[3, f] - x[2, f])
        n -= (x[1, f] - x[0, f]) * (x[3, e] - x[2, e])
        out += n * n
    return float(out)


@kernel
def pair_energy(
    pairs: ContactPairs, k: int, ke: float, x: Floats, y: Floats
) -> tuple[float, float]:
    """Potential (J) and distance (m) of pair k; inf where it is out of reach.

    y : (4, 3) work space that receives the positions
    """
    gather(pairs.node[k], x, y)
    first = 1 if k < pairs.faces else 2
    min_distance, activation = pairs.min_distance[k], pairs.activation[k]
    if apart(y, first, activation + min_distance):
        return 0.0, np.inf
    d = pair_distance(y, first)
    if d <= min_distance:
        return np.inf, d
    energy = pairs.weight[k] * barrier(d - min_distance, activation, ke)[0]
    if first == 2 and energy > 0.0:
        energy *= mollifier(cross_square(y), pairs.mollifier_scale[k])[0]
    return energy, d


@kernel
def within_reach(pairs: ContactPairs, x: Floats, times: float) -> Ints:
    """Numbers of the pairs whose boxes are within `times` where their contact begins.

    Arrays are read, not the record, which is copied wherever it is handed on.
    """
    node, faces, reach = pairs.node, pairs.faces, pairs.activation + pairs.min_distance
    y, found, count = np.empty((4, 3)), np.empty(len(node), dtype=np.int64), 0
    for k in range(len(node)):
        gather(node[k], x, y)
        if not apart(y, 1 if k < faces else 2, times * reach[k]):
            found[count] = k
            count += 1
    return found[:count]


@kernel
def touching(pairs: ContactPairs, ke: float, x: Floats) -> Ints:
    """Numbers of the pairs whose potential is not zero."""
    y, count, found = np.empty((4, 3)), 0, within_reach(pairs, x, 1.0)
    for k in found:
        if pair_energy(pairs, k, ke, x, y)[0] > 0.0:
            found[count] = k
            count += 1
    return found[:count]


@kernel
def contact_energy(pairs: ContactPairs, ke: float, x: Floats) -> float:
    """Potential of all pairs, J; inf where panels meet."""
    y, total = np.empty((4, 3)), 0.0
    for k in within_reach(pairs, x, 1.0):
        total += pair_energy(pairs, k, ke, x, y)[0]
    return total


@kernel
def smallest_distance(
    pairs: ContactPairs, x: Floats, touching: bool
) -> tuple[float, int]:
    """Smallest distance of all pairs, m, and the number of that pair.

    touching : only pairs whose potential is not zero; inf where there is none
    """
    y, smallest, which = np.empty((4, 3)), np.inf, -1
    for k in range(len(pairs.node)):
        gather(pairs.node[k], x, y)
        d = pair_distance(y, 1 if k < pairs.faces else 2)
        out_of_reach = d >= pairs.activation[k] + pairs.min_distance[k]
        if d < smallest and not (touching and out_of_reach):
            smallest, which = d, k
    return smallest, which


@kernel
def _of_potential(
    slope: float, curvature: float, gradient: Floats, hessian: Floats
) -> None:
    """From the slopes of d to those of Pi(d): eqs. (3.5) and (3.6)."""
    for i in range(12):
        for j in range(12):
            hessian[i, j] = (
                slope * hessian[i, j] + curvature * gradient[i] * gradient[j]
            )
    for i in range(12):
        gradient[i] *= slope


@kernel
def _mollified(
    y: Floats, scale: float, energy: float, gradient: Floats, hessian: Floats
) -> None:
    """From the slopes of Pi to those of m(c) Pi for two edges y (4, 3)."""
    c_gradient, c_hessian = np.empty(12), np.empty((12, 12))
    m, m1, m2 = mollifier(_cross(y, c_gradient, c_hessian), scale)
    for i in range(12):
        for j in range(12):
            mixed = gradient[i] * c_gradient[j] + c_gradient[i] * gradient[j]
            square = c_gradient[i] * c_gradient[j]
            own = m1 * c_hessian[i, j] + m2 * square
            hessian[i, j] = m * hessian[i, j] + m1 * mixed + energy * own
    for i in range(12):
        gradient[i] = m * gradient[i] + m1 * energy * c_gradient[i]


@kernel
def pair_terms(
    pairs: ContactPairs, k: int, ke: float, x: Floats, gradient: Floats, hessian: Floats
) -> tuple[float, float]:
    """Potential and distance of pair k; where the first is finite, fill its slopes.

    Where the potential is zero, gradient (12,) and hessian (12, 12) stay as they are.
    """
    y = np.empty((4, 3))
    energy, d = pair_energy(pairs, k, ke, x, y)
    if energy == 0.0 or energy == np.inf:
        return energy, d
    first = 1 if k < pairs.faces else 2
    w, dw = np.empty(4), np.empty((2, 4))
    free = pair_weights(y, first, w, dw)
    distance_slopes(y, w, dw, free, gradient, hessian)
    scale = ke * pairs.weight[k]
    value, slope, curvature = barrier(
        d - pairs.min_distance[k], pairs.activation[k], scale
    )
    _of_potential(slope, curvature, gradient, hessian)
    if first == 2:
        _mollified(y, pairs.mollifier_scale[k], value, gradient, hessian)
    return energy, d
