"""Centre of a sphere of known radius from the points around it, with covariance.

The centre is where Tukey's biweight of the heights of points over the sphere is least
(`minimise`), and its covariance follows from their spread (`sandwich`). A point x lies
e = |x - c| - R above the surface. With u = (x - c) / |x - c| the slopes are de/dc = -u
and de/dR = -1. Reweighted Gauss-Newton minimises the sum of the biweight of e / s; s is
the scale of the noise.

Scanners err along the line of sight d, so where the surface is steep a point is also
shifted along it, and u of the shifted point is correlated with e: the centre moves
towards the scanner by some s^2 / R. Where d is known, u is therefore taken where the
line of sight pierces the sphere, and e is the distance to that place times |d.u|.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from analysis.spheres.cells_on_a_sphere import cells, hidden
from analysis.spheres.thresholds import ATTACHED, BIWEIGHT, FIT
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel

BLIND = np.empty((0, 3))  # lines of sight where they are not known


@kernel
def minimise(
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
    for k in range(BIWEIGHT.most_steps):
        longer = _normal_equations(x, use, sight, theta, gate, H)
        if len(sight) and 2 * k > BIWEIGHT.most_steps:  # points come and go in turn
            longer *= 0.5
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
        squared error over the variance estimated from k squares, k / (k - 2) in the
        mean where that variance has no bias, is one
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


MAD = 1.4826  # scale of a normal distribution over its median absolute deviation


class FreeRadius:
    """Radius and its sd, fitted when first asked for: most candidates fail before.

    Points it is fitted to are let go then.
    """

    def __init__(self, fitted: Callable[[], tuple[float, float]]) -> None:
        self._fitted = fitted

    @cached_property
    def value_and_sd(self) -> tuple[float, float]:
        found = self._fitted()
        del self._fitted
        return found


@dataclass(frozen=True, eq=False)
class Fit:
    """A sphere put through points; the radius is known unless it says free."""

    centre: Floats  # (3,) mm
    radius: float  # mm
    scale: float  # of the noise normal to the surface, mm
    covariance: Floats  # (3, 3) of the centre, mm^2
    free: FreeRadius  # mm, not as known
    height: Floats  # (k,) e of every point, mm
    used: Bools  # (k,) points that carry weight
    step: float  # last one, mm; inf where the points determine no centre
    shared: float  # covariance by clusters of a quarter over that by small ones
    slide: Floats  # (3,) shift of the centre a mm of radius

    @cached_property
    def rms(self) -> float:
        """Root mean square height of the points used, mm."""
        return float(np.sqrt(np.mean(self.height[self.used] ** 2)))

    @property
    def free_radius(self) -> float:
        """Fitted along with the centre, mm."""
        return self.free.value_and_sd[0]

    @property
    def free_radius_sd(self) -> float:
        """Inf where points do not tell the radius, mm."""
        return self.free.value_and_sd[1]

    @property
    def settled(self) -> bool:
        """Whether the last step was small against the error of the centre."""
        sd = float(np.sqrt(np.trace(self.covariance) / 3))
        return self.step < max(FIT.fine * self.scale, FIT.settled * sd)


def fit_sphere(x: Floats, start: Floats, R: float, trusted: Bools) -> Fit | None:
    """Fit the centre for a known radius; None where the points hold no sphere.

    Parameters
    ----------
    x : (k, 3) points around the sphere, mm
    start : (3,) centre to begin from, mm
    R : radius, mm
    trusted : (k,) points whose normal is radial, for the first, coarse fit
    """
    theta = np.append(start, R)
    scale = FIT.widest * R
    radial = x[trusted]
    every = np.ones(len(radial), dtype=bool)
    for _ in range(3):
        theta, _ = minimise(radial, every, BLIND, theta, scale, False, FIT.coarse)
        e = np.abs(heights(radial, theta))
        if (e < BIWEIGHT.tukey * scale).sum() < FIT.fewest:
            return None
        scale = min(FIT.widest * R, _scale(e, 4 * scale, R))
    return refine(x, theta, scale, BLIND, rounds=2)


def refine(
    x: Floats,
    theta: Floats,
    scale: float,
    sight: Floats,
    *,
    rounds: int,
    roughest: float = np.inf,
    last: bool = False,
) -> Fit | None:
    """Fit the centre to the points of cells on which nothing sticks out.

    None where too few points are left, or a round leaves them rougher than asked for.

    Parameters
    ----------
    x : (k, 3) points around the sphere, mm
    theta : (4,) centre and radius, mm
    scale : of the noise, mm
    sight : (k, 3) unit vectors from the scanner to each point, or (0, 3) if unknown
    rounds : of scale, hidden points and centre
    roughest : scale above which the points lie on nothing, mm
    last : whether errors that neighbours share are asked for too; else nan
    """
    for k in range(rounds):
        clean = _clean(x, theta, scale, sight)
        tolerance = FIT.fine if k == rounds - 1 else FIT.coarse
        theta, step = minimise(x, clean, sight, theta, scale, False, tolerance)
        gate = BIWEIGHT.tukey * scale
        e = heights(x, theta)
        if (np.abs(e[clean]) < gate).sum() < FIT.fewest:
            return None
        scale = min(_scale(e[clean], gate, theta[3]), FIT.widest * theta[3])
        if scale > roughest:
            return None
    spread, side = gate / BIWEIGHT.tukey, BIWEIGHT.clusters
    A, B, count = sandwich(x, clean, sight, theta, spread, 3, cells(x, theta[:3], side))
    if count < FIT.fewest or np.linalg.eigvalsh(A[:3, :3])[0] <= 0:
        return None
    covariance = _covariance(A[:3, :3], B[:3, :3])
    used = clean & (np.abs(e) < BIWEIGHT.tukey * scale)
    free = FreeRadius(partial(_free_radius, x, used, sight, theta, scale))
    shared = _shared(x, clean, sight, theta, spread, A, B) if last else np.nan
    R = float(theta[3])
    moved = step * gate / BIWEIGHT.tukey
    slide = np.asarray(-np.linalg.solve(A[:3, :3], A[:3, 3]), np.float64)
    return Fit(theta[:3], R, scale, covariance, free, e, used, moved, shared, slide)


def _shared(
    x: Floats,
    clean: Bools,
    sight: Floats,
    theta: Floats,
    scale: float,
    A: Floats,
    B: Floats,
) -> float:
    """Covariance by clusters of a quarter over that by small ones, A^-1 B A^-1."""
    met = seen_at(x, sight, theta)[0] if len(sight) else x - theta[:3]
    quarter = cells(met, np.zeros(3), BIWEIGHT.wide_clusters)
    _, wide, _ = sandwich(x, clean, sight, theta, scale, 3, quarter)
    by_quarters = np.trace(np.linalg.solve(A[:3, :3], wide[:3, :3]))
    return float(by_quarters / np.trace(np.linalg.solve(A[:3, :3], B[:3, :3])))


def _free_radius(
    x: Floats, clean: Bools, sight: Floats, theta: Floats, scale: float
) -> tuple[float, float]:
    """The radius fitted along with the centre, and its sd; inf where it is free.

    Where points come and go at the rim of lines of sight, steps may end in a cycle: the
    last one is an error of the radius too.
    """
    free, step = theta, np.inf
    for _ in range(FIT.tries):
        free, step = minimise(x, clean, sight, free, scale, True, FIT.fine)
        if step < FIT.fine:
            break
    cell = cells(x, free[:3], BIWEIGHT.clusters)
    A, B, _ = sandwich(x, clean, sight, free, scale, 4, cell)
    if np.linalg.eigvalsh(A)[0] > 1e-9 * A[3, 3] > 0:
        by_points = scale**2 * np.linalg.inv(A)[3, 3]  # few cells may tell too little
        sd = float(np.sqrt(max(_covariance(A, B)[3, 3], by_points)))
        if step * scale < max(FIT.fine * scale, sd):
            return float(free[3]), float(np.hypot(sd, step * scale))
    return float(free[3]), np.inf


def heights(x: Floats, theta: Floats) -> Floats:
    """(k,) distance of each point from the surface, positive outside."""
    return np.asarray(np.linalg.norm(x - theta[:3], axis=1) - theta[3])


def _scale(e: Floats, gate: float, R: float) -> float:
    """Median absolute deviation within the gate, as a standard deviation."""
    inside = np.abs(e)
    inside = inside[inside < gate]
    return max(MAD * _median(inside), FIT.finest * R) if len(inside) else gate


def _median(x: Floats) -> float:
    """Of many short arrays; numpy's own takes as long to be called as to find it."""
    middle = len(x) // 2
    low = middle - 1 + len(x) % 2
    parted = np.partition(x, (low, middle))
    return float((parted[low] + parted[middle]) / 2.0)


def _clean(x: Floats, theta: Floats, scale: float, sight: Floats) -> Bools:
    """Points next to which nothing sticks out."""
    near = int((np.abs(heights(x, theta)) < 3 * scale).sum())
    n = int(np.clip(np.sqrt(near / ATTACHED.filled), 4, 32))
    fine = int(np.clip(ATTACHED.finer * np.sqrt(near / 6), 16, 64))
    if len(sight):
        x = _taken_back(x, theta, sight, BIWEIGHT.tukey * scale)
    R, high = theta[3], ATTACHED.stands * scale
    near = high / ATTACHED.slope / R + ATTACHED.margin * np.pi / fine
    rim, share = ATTACHED.rim * R, ATTACHED.share
    return np.asarray(~hidden(x, theta[:3], R, n, fine, high, near, rim, share))


@kernel
def _taken_back(x: Floats, theta: Floats, sight: Floats, gate: float) -> Floats:
    """(k, 3) points within the gate over where their line of sight meets the sphere.

    Where the surface is steep, noise along the line of sight takes points along it and
    so off it: they would seem to stick out.
    """
    out = x.copy()
    for p in range(len(x)):
        e, J = height(x, p, sight, theta)
        if abs(e) < gate:
            for a in range(3):
                out[p, a] = theta[a] + (theta[3] + e) * J[a]
    return out


def _covariance(A: Floats, B: Floats) -> Floats:
    """Of an M-estimate: A^-1 scaled so that its size is that of A^-1 B A^-1.

    B sums the scores cell by cell, so errors that neighbours share are counted.
    """
    return np.asarray(np.linalg.inv(A) * np.trace(np.linalg.solve(A, B)) / len(A))
