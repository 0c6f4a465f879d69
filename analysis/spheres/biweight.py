"""Tukey's biweight of the heights of points over a sphere: its minimum, its spread.

A point x lies e = |x - c| - R above the surface. With u = (x - c) / |x - c| the
slopes are de/dc = -u and de/dR = -1. Reweighted Gauss-Newton minimises the sum of the
biweight of e / s; s is the scale of the noise.

Scanners err along the line of sight d, so where the surface is steep a point is also
shifted along it, and u of the shifted point is correlated with e: the centre moves
towards the scanner by some s^2 / R. Where d is known, u is therefore taken where the
line of sight pierces the sphere, and e is the distance to that place times |d.u|.
"""

import numpy as np

from analysis.spheres.thresholds import BIWEIGHT
from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel

BLIND = np.empty((0, 3))  # lines of sight where they are not known


@kernel
def settle(
    x: Floats,
    use: Bools,
    sight: Floats,
    start: Floats,
    scale: float,
    free: bool,
    tolerance: float,
) -> tuple[Floats, float]:
    """Minimise the biweight over the centre, and over R too if `free`.

    Parameters
    ----------
    x : (k, 3) points, mm
    use : (k,) points that may count
    sight : (k, 3) unit vectors from the scanner to the points, or (0, 3) if unknown
    start : (4,) centre and radius, mm
    scale : of the noise, mm
    free : whether the radius is sought too
    tolerance : last step over the scale at which the minimum counts as found

    Returns
    -------
    theta : (4,) centre and radius, mm
    step : the last one over the scale, above the tolerance where `most_steps` did not
        lead to the minimum; inf where the points determine none
    """
    theta = start.copy()
    size = 4 if free else 3
    H = np.empty((4, 5))
    step, gate = np.inf, BIWEIGHT.tukey * scale
    for _ in range(BIWEIGHT.most_steps):
        longer = _normal_equations(x, use, sight, theta, gate, H)
        if not _solve(H, size):
            return theta, np.inf
        reach = 0.0
        for a in range(size):
            reach = max(reach, longer * abs(H[a, 4]))
        shrink = longer * min(1.0, 0.1 * theta[3] / reach) if reach > 0 else 0.0
        for a in range(size):
            theta[a] += shrink * H[a, 4]
        step = reach / scale
        if step < tolerance:
            break
    return theta, step


@kernel
def _normal_equations(
    x: Floats, use: Bools, sight: Floats, theta: Floats, gate: float, H: Floats
) -> float:
    """Lower triangle of sum w J J^T, and sum w e J; return how long the step may be.

    The reweighted step forgets that weights change along it: Newton's is longer by
    sum w / sum psi'. Sums stand in variables of their own, which stay in registers.
    """
    xx = xy = yy = xz = yz = zz = ux = uy = uz = ex = ey = ez = e1 = 0.0
    weights, slopes = 0.0, 0.0
    for p in range(len(x)):
        if not use[p]:
            continue
        e, (u, v, n, _) = height(x, p, sight, theta)
        if abs(e) < gate:
            w, slope = _weight_and_slope(e, gate)
            weights += w
            slopes += slope
            wu, wv, wn = w * u, w * v, w * n
            xx, xy, yy = xx + wu * u, xy + wv * u, yy + wv * v
            xz, yz, zz = xz + wn * u, yz + wn * v, zz + wn * n
            ux, uy, uz = ux + w * u, uy + w * v, uz + w * n
            ex, ey, ez, e1 = ex + wu * e, ey + wv * e, ez + wn * e, e1 + w * e
    H[0] = (xx, 0.0, 0.0, 0.0, ex)
    H[1] = (xy, yy, 0.0, 0.0, ey)
    H[2] = (xz, yz, zz, 0.0, ez)
    H[3] = (ux, uy, uz, weights, e1)
    return min(BIWEIGHT.longest, weights / slopes) if slopes > 0 else BIWEIGHT.longest


@kernel
def _weight_and_slope(e: float, gate: float) -> tuple[float, float]:
    """w = psi / e and psi' of the biweight at a height e within the gate."""
    q = (e / gate) ** 2
    return (1 - q) ** 2, (1 - q) * (1 - 5 * q)


@kernel
def sandwich(
    x: Floats,
    use: Bools,
    sight: Floats,
    theta: Floats,
    scale: float,
    size: int,
    cell: Ints,
) -> tuple[Floats, Floats, int]:
    """What the covariance A^-1 B A^-1 of a minimum over `size` unknowns is made of.

    Parameters
    ----------
    cell : (k,) of each point, within which errors may be correlated

    Returns
    -------
    A : (4, 4) sum of psi' J J^T, as (sum psi' / sum w) sum w J J^T: never indefinite
    B : (4, 4) sum over clusters of (sum psi J) (sum psi J)^T, so much larger that a
        squared error over the variance told by k squares, k / (k - 2) in the mean where
        that variance has no bias, is one
    count : points within the gate
    """
    gate = BIWEIGHT.tukey * scale
    A, B = np.zeros((4, 4)), np.zeros((4, 4))
    scores = np.zeros((cell.max() + 1, 4))
    count, weights, slopes = 0, 0.0, 0.0
    for p in range(len(x)):
        if not use[p]:
            continue
        e, J = height(x, p, sight, theta)
        if abs(e) < gate:
            w, slope = _weight_and_slope(e, gate)
            count += 1
            weights += w
            slopes += slope
            for a in range(4):
                scores[cell[p], a] += w * e * J[a]
                for b in range(4):
                    A[a, b] += w * J[a] * J[b]
    clusters = 0
    for k in range(len(scores)):
        clusters += scores[k, 3] != 0.0
        for a in range(4):
            for b in range(4):
                B[a, b] += scores[k, a] * scores[k, b]
    A *= max(slopes, 0.0) / max(weights, 1e-300)
    squares = max(clusters - size, 1) * size  # that are left to tell a variance from
    B *= clusters * size / max(squares - 2, 1)
    return A, B, count


@kernel
def height(
    x: Floats, p: int, sight: Floats, theta: Floats
) -> tuple[float, tuple[float, float, float, float]]:
    """Return e, inf where the line of sight misses, and (u, 1)."""
    R = theta[3]
    u, v, n = x[p, 0] - theta[0], x[p, 1] - theta[1], x[p, 2] - theta[2]
    square = u * u + v * v + n * n
    if not len(sight):
        r = np.sqrt(square)
        return r - R, (u / r, v / r, n / r, 1.0)
    a, b, c = sight[p]
    along = u * a + v * b + n * c
    depth = R * R - square + along * along
    if depth < (BIWEIGHT.steep * R) ** 2:
        return np.inf, (u, v, n, 1.0)
    far = along + np.sqrt(depth)
    met = ((u - far * a) / R, (v - far * b) / R, (n - far * c) / R, 1.0)
    return -far * np.sqrt(depth) / R, met


@kernel
def seen_at(x: Floats, sight: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """Direction u (k, 3) of every point from the centre, and its height e (k,).

    Noise of sd s along lines of sight takes points along a steep surface: by where they
    came to lie, those at its limb fell behind it, by some s in the mean. Where its line
    of sight meets the sphere does not tell how a point errs.
    """
    u, e = np.empty((len(x), 3)), np.empty(len(x))
    for p in range(len(x)):
        e[p], J = height(x, p, sight, theta)
        u[p] = J[:3]
    return u, e


@kernel
def _solve(H: Floats, size: int) -> bool:
    """Cholesky in place of the lower triangle; the right side in column 4."""
    for a in range(size):
        for b in range(a + 1):
            s = H[a, b]
            for k in range(b):
                s -= H[a, k] * H[b, k]
            if a == b:
                if s <= 1e-10 * H[a, a] or not s > 0:
                    return False
                H[a, a] = np.sqrt(s)
            else:
                H[a, b] = s / H[b, b]
    for a in range(size):
        for k in range(a):
            H[a, 4] -= H[a, k] * H[k, 4]
        H[a, 4] /= H[a, a]
    for a in range(size - 1, -1, -1):
        for k in range(a + 1, size):
            H[a, 4] -= H[k, a] * H[k, 4]
        H[a, 4] /= H[a, a]
    return True
