"""Centre of a sphere of known radius from the points around it, with covariance.

A point x lies e = |x - c| - R above the surface. With u = (x - c) / |x - c| the
slopes are de/dc = -u and de/dR = -1. The fit minimises the sum of Tukey's biweight
of e / s by reweighted Gauss-Newton; s is the scale of the noise.

Scanners err along the line of sight d, so where the surface is steep a point is also
shifted along it, and u of the shifted point is correlated with e: the centre moves
towards the scanner by some s^2 / R. Where d is known, u is therefore taken where the
line of sight pierces the sphere, and e is the distance to that place times |d.u|.
"""

from dataclasses import dataclass

import numpy as np

from analysis.spheres.cells import cells, hidden
from sim.arrays import Bools, Floats
from sim.kernels import kernel

TUKEY = 5.0  # in scales: where a point no longer counts; 97 % efficient
MAD = 1.4826  # scale of a normal distribution over its median absolute deviation
STANDS = 3.0  # scales above the surface from which points belong to something else
FILLED = 24.0  # points on the sphere over cells a side squared
FINER = 3.0  # small cells a side of a cell
STEEP = 0.2  # cosine of incidence below which points do not count
BLIND = np.empty((0, 3))  # lines of sight where they are not known
CLUSTERS = 6  # cells a cube side within which errors may be correlated


@dataclass(frozen=True, eq=False)
class Fit:
    """A sphere put through points; the radius is known unless it says free."""

    centre: Floats  # (3,) mm
    radius: float  # mm
    scale: float  # of the noise normal to the surface, mm
    covariance: Floats  # (3, 3) of the centre, mm^2
    free_radius: float  # mm
    free_radius_sd: float  # mm
    height: Floats  # (k,) e of every point, mm
    used: Bools  # (k,) points that carry weight

    @property
    def rms(self) -> float:
        """Root mean square height of the points used, mm."""
        return float(np.sqrt(np.mean(self.height[self.used] ** 2)))


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
    scale = 0.06 * R
    for _ in range(3):
        theta, _, _, count = settle(x, trusted, BLIND, theta, scale, False)
        if count < 8:
            return None
        scale = min(0.06 * R, _scale(_heights(x, theta)[trusted], 4 * scale))
    return refine(x, theta, scale, BLIND, rounds=2)


def refine(
    x: Floats, theta: Floats, scale: float, sight: Floats, *, rounds: int
) -> Fit | None:
    """Fit the centre to the points of cells on which nothing sticks out.

    Parameters
    ----------
    x : (k, 3) points around the sphere, mm
    theta : (4,) centre and radius, mm
    scale : of the noise, mm
    sight : (k, 3) unit vectors from the scanner to each point, or (0, 3) if unknown
    rounds : of scale, hidden points and centre
    """
    for _ in range(rounds):
        clean = _clean(x, theta, scale, sight)
        theta, A, B, count = settle(x, clean, sight, theta, scale, False)
        if count < 8:
            return None
        scale = _scale(_heights(x, theta)[clean], TUKEY * scale)
    if np.linalg.eigvalsh(A[:3, :3])[0] <= 0:
        return None
    covariance = _covariance(A[:3, :3], B[:3, :3])
    free, sd = _free_radius(x, clean, sight, theta, scale)
    height, R = _heights(x, theta), float(theta[3])
    used = clean & (np.abs(height) < TUKEY * scale)
    return Fit(theta[:3], R, scale, covariance, free, sd, height, used)


def _free_radius(
    x: Floats, clean: Bools, sight: Floats, theta: Floats, scale: float
) -> tuple[float, float]:
    """The radius fitted along with the centre, and its sd; inf where it is free."""
    free, A, B, _ = settle(x, clean, sight, theta, scale, True)
    if np.linalg.eigvalsh(A)[0] > 1e-9 * A[3, 3] > 0:
        return float(free[3]), float(np.sqrt(_covariance(A, B)[3, 3]))
    return float(free[3]), np.inf


@kernel
def _heights(x: Floats, theta: Floats) -> Floats:
    """(k,) distance of each point from the surface, positive outside."""
    e = np.empty(len(x))
    for p in range(len(x)):
        square = 0.0
        for a in range(3):
            square += (x[p, a] - theta[a]) ** 2
        e[p] = np.sqrt(square) - theta[3]
    return e


def _scale(e: Floats, gate: float) -> float:
    """Median absolute deviation within the gate, as a standard deviation."""
    inside = np.abs(e[np.abs(e) < gate])
    return max(MAD * float(np.median(inside)), 1e-9) if len(inside) else gate


def _clean(x: Floats, theta: Floats, scale: float, sight: Floats) -> Bools:
    """Points next to which nothing sticks out."""
    near = int((np.abs(_heights(x, theta)) < 3 * scale).sum())
    n = int(np.clip(np.sqrt(near / FILLED), 4, 32))
    fine = int(np.clip(FINER * np.sqrt(near / 6), 16, 64))
    if len(sight):
        x = _taken_back(x, theta, sight, TUKEY * scale)
    return np.asarray(~hidden(x, theta[:3], theta[3], n, fine, STANDS * scale))


@kernel
def _taken_back(x: Floats, theta: Floats, sight: Floats, gate: float) -> Floats:
    """(k, 3) points within the gate over where their line of sight meets the sphere.

    Where the surface is steep, noise along the line of sight takes points along it and
    so off it: they would seem to stick out.
    """
    out = x.copy()
    J = np.ones(4)
    for p in range(len(x)):
        e = _height(x, p, sight, theta, J)
        if abs(e) < gate:
            for a in range(3):
                out[p, a] = theta[a] + (theta[3] + e) * J[a]
    return out


def _covariance(A: Floats, B: Floats) -> Floats:
    """Of an M-estimate: A^-1 scaled so that its size is that of A^-1 B A^-1.

    B sums the scores cell by cell, so errors that neighbours share are counted.
    """
    return np.asarray(np.linalg.inv(A) * np.trace(np.linalg.solve(A, B)) / len(A))


@kernel
def settle(
    x: Floats, use: Bools, sight: Floats, start: Floats, scale: float, free: bool
) -> tuple[Floats, Floats, Floats, int]:
    """Minimise the biweight over the centre, and over R too if `free`.

    Returns
    -------
    theta : (4,) centre and radius
    A : (4, 4) sum of psi' J J^T, as (sum psi' / sum w) sum w J J^T: never indefinite
    B : (4, 4) sum over clusters of (sum psi J) (sum psi J)^T, without small-sample bias
    count : points within the gate
    """
    theta = start.copy()
    size = 4 if free else 3
    gate = TUKEY * scale
    J = np.ones(4)
    A = np.zeros((4, 4))
    for _ in range(40):
        H = np.zeros((4, 5))
        for p in range(len(x)):
            if not use[p]:
                continue
            e = _height(x, p, sight, theta, J)
            if abs(e) < gate:
                w = (1 - (e / gate) ** 2) ** 2
                for a in range(size):
                    for b in range(a + 1):
                        H[a, b] += w * J[a] * J[b]
                    H[a, 4] += w * J[a] * e
        if not _solve(H, size):
            return theta, A, A, 0
        step = 0.0
        for a in range(size):
            step = max(step, abs(H[a, 4]))
        shrink = min(1.0, 0.1 * theta[3] / step) if step > 0 else 1.0
        for a in range(size):
            theta[a] += shrink * H[a, 4]
        if step < 1e-4 * scale:
            break
    cell = cells(x, theta[:3], CLUSTERS)
    scores = np.zeros((6 * CLUSTERS * CLUSTERS, 4))
    count, weights, slopes = 0, 0.0, 0.0
    for p in range(len(x)):
        if not use[p]:
            continue
        e = _height(x, p, sight, theta, J)
        if abs(e) < gate:
            q = (e / gate) ** 2
            w = (1 - q) ** 2
            count += 1
            weights += w
            slopes += (1 - q) * (1 - 5 * q)
            for a in range(4):
                scores[cell[p], a] += w * e * J[a]
                for b in range(4):
                    A[a, b] += w * J[a] * J[b]
    B = np.zeros((4, 4))
    clusters = 0
    for k in range(len(scores)):
        clusters += scores[k, 3] != 0.0
        for a in range(4):
            for b in range(4):
                B[a, b] += scores[k, a] * scores[k, b]
    A *= max(slopes, 0.0) / max(weights, 1e-300)
    B *= clusters / max(clusters - size, 1)  # what the fit took from the scores
    return theta, A, B, count


@kernel
def _height(x: Floats, p: int, sight: Floats, theta: Floats, J: Floats) -> float:
    """Put the direction u into J[:3]; return e, inf where the line of sight misses."""
    R = theta[3]
    square, along = 0.0, 0.0
    for a in range(3):
        J[a] = x[p, a] - theta[a]
        square += J[a] * J[a]
        if len(sight):
            along += J[a] * sight[p, a]
    if not len(sight):
        r = np.sqrt(square)
        for a in range(3):
            J[a] /= r
        return float(r - R)
    depth = R * R - square + along * along
    if depth < (STEEP * R) ** 2:
        return np.inf
    beyond = along + np.sqrt(depth)
    for a in range(3):
        J[a] = (J[a] - beyond * sight[p, a]) / R
    return float(-beyond * np.sqrt(depth) / R)


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
