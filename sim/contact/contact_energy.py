"""Energy of the pairs that touch, with force and stiffness: Sect. 3b of [ZF19].

    Pi_pair = m(c) Pi(d - thickness)

with the contact potential Pi of eqs. (3.4) to (3.6) (`barrier`), m = 1 for a node and a
triangle, and `mollifier` for two edges.
"""

import math

import numpy as np

from sim.contact.distance import distance_slopes, pair_distance, pair_weights
from sim.contact.near_pairs import ContactPairs, apart, gather, only
from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel

SERIES_BELOW = 0.05  # phi; there the closed forms lose digits to cancellation


@kernel
def barrier(d: float, d0: float, ke: float) -> tuple[float, float, float]:
    """Contact potential Pi of eq. (3.4) and its first two derivatives in d.

    With phi = pi/2 - pi d / (2 d0), for 0 < d < d0:

        Pi   = ke (ln sec phi - phi^2 / 2)
        Pi'  = ke (pi / 2 d0) (phi - tan phi)           # coefficient of eq. (3.5)
        Pi'' = ke (pi / 2 d0)^2 (sec^2 phi - 1)         # coefficient of eq. (3.6)

    All three are zero for d >= d0, and grow without bound as d -> 0.

    Parameters
    ----------
    d : distance, m, positive
    d0 : activation distance, at which contact begins, m
    ke : scale of the potential, J
    """
    if d >= d0:
        return 0.0, 0.0, 0.0
    c = math.pi / (2.0 * d0)
    phi = c * (d0 - d)
    tangent = math.cos(c * d) / math.sin(c * d)
    if phi < SERIES_BELOW:
        q = phi * phi
        energy = q * q * (1 / 12 + q * (1 / 45 + q * (17 / 2520 + q * 31 / 14175)))
        slope = phi * q * (1 / 3 + q * (2 / 15 + q * (17 / 315 + q * 62 / 2835)))
    else:
        energy = -math.log(math.sin(c * d)) - 0.5 * phi * phi
        slope = tangent - phi
    return ke * energy, -ke * c * slope, ke * c * c * tangent * tangent


@kernel
def mollifier(c: float, scale: float) -> tuple[float, float, float]:
    """Factor m on the potential of two edges, and its first two derivatives in c.

    c is the square of the edges' cross product, |u x v|^2. The distance of parallel
    edges has a kink; with m = q (2 - q), q = c / scale < 1, the potential is smooth
    across it (Li et al., Incremental potential contact, ACM TOG 39, 2020). Points
    against triangles keep parallel edges apart there.
    """
    if c >= scale:
        return 1.0, 0.0, 0.0
    q = c / scale
    return q * (2.0 - q), (2.0 - 2.0 * q) / scale, -2.0 / (scale * scale)


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
def active_pairs(pairs: ContactPairs, ke: float, x: Floats) -> Ints:
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
def _of_potential(
    slope: float, curvature: float, gradient: Floats, hessian: Floats
) -> None:
    """From the slopes of d to those of Pi(d): eqs. (3.5) and (3.6)."""
    for i in range(12):
        bent = curvature * gradient[i]
        for j in range(12):
            hessian[i, j] = slope * hessian[i, j] + bent * gradient[j]
    gradient *= slope


@kernel
def _mollified(
    y: Floats, scale: float, energy: float, gradient: Floats, hessian: Floats
) -> None:
    """From the slopes of Pi to those of m(c) Pi for two edges y (4, 3)."""
    c_gradient, c_hessian = np.empty(12), np.empty((12, 12))
    m, m1, m2 = mollifier(_cross(y, c_gradient, c_hessian), scale)
    for i in range(12):
        g, c = gradient[i], c_gradient[i]
        for j in range(12):
            mixed = g * c_gradient[j] + c * gradient[j]
            own = m1 * c_hessian[i, j] + m2 * (c * c_gradient[j])
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


@kernel
def pair_curvatures(
    pairs: ContactPairs, ke: float, x: Floats
) -> tuple[Floats, Floats, Floats]:
    """Slopes (k, 12) of the potential of each pair, and its curvature (k, 12, 12).

    The third is the part of this that is never negative, of the distance taken as
    linear. All are zero where the potential is, and where panels meet.
    """
    count = len(pairs.node)
    slopes, curvature = np.zeros((count, 12)), np.zeros((count, 12, 12))
    convex = np.zeros((count, 12, 12))
    for k in range(count):
        energy, d = pair_terms(pairs, k, ke, x, slopes[k], curvature[k])
        if energy == 0.0 or energy == np.inf:
            continue
        _, slope, bent = barrier(d - pairs.min_distance[k], pairs.activation[k], ke)
        if slope * slope > 0.0:
            for i in range(12):
                weight = bent / (slope * slope) * slopes[k, i]
                for j in range(12):
                    convex[k, i, j] = weight * slopes[k, j]
    return slopes, curvature, convex


def pair_slopes(pairs: ContactPairs, ke: float, x: Floats) -> Floats:
    """(k, 4, 3) of the potential of each pair in its nodes; zero where panels meet."""
    return pair_curvatures(pairs, ke, x)[0].reshape(-1, 4, 3)


@kernel
def separations(pairs: ContactPairs, x: Floats) -> Floats:
    """(k,) distance of the parts of each pair."""
    out, y = np.empty(len(pairs.node)), np.empty((4, 3))
    for k in range(len(pairs.node)):
        gather(pairs.node[k], x, y)
        out[k] = pair_distance(y, 1 if k < pairs.faces else 2)
    return out


def felt_pairs(pairs: ContactPairs, x: Floats) -> ContactPairs:
    """Those closer than where their potential begins."""
    near = separations(pairs, x) < pairs.min_distance + pairs.activation
    return only(pairs, np.flatnonzero(near))
