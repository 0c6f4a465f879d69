"""Centre of a sphere of known radius from the points around it, with covariance."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from analysis.spheres.biweight import BLIND, height, sandwich, seen_at, settle
from analysis.spheres.cells import cells, hidden
from analysis.spheres.thresholds import ATTACHED, BIWEIGHT, FIT
from sim.arrays import Bools, Floats
from sim.kernels import kernel

MAD = 1.4826  # scale of a normal distribution over its median absolute deviation


class FreeRadius:
    """Radius and its sd, fitted when first asked for: most candidates fail before.

    Points it is fitted to are let go then.
    """

    def __init__(self, fitted: Callable[[], tuple[float, float]]) -> None:
        self._fitted = fitted

    @cached_property
    def told(self) -> tuple[float, float]:
        told = self._fitted()
        del self._fitted
        return told


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
        return self.free.told[0]

    @property
    def free_radius_sd(self) -> float:
        """Inf where points do not tell the radius, mm."""
        return self.free.told[1]

    @property
    def settled(self) -> bool:
        """Whether the last step was small beside the error of the centre."""
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
        theta, _ = settle(radial, every, BLIND, theta, scale, False, FIT.coarse)
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
        theta, step = settle(x, clean, sight, theta, scale, False, tolerance)
        gate = BIWEIGHT.tukey * scale
        e = heights(x, theta)
        if (np.abs(e[clean]) < gate).sum() < FIT.fewest:
            return None
        scale = _scale(e[clean], gate, theta[3])
        if scale > roughest:
            return None
    spread, side = gate / BIWEIGHT.tukey, BIWEIGHT.clusters
    A, B, count = sandwich(x, clean, sight, theta, spread, 3, cells(x, theta[:3], side))
    if count < FIT.fewest or np.linalg.eigvalsh(A[:3, :3])[0] <= 0:
        return None
    covariance = _covariance(A[:3, :3], B[:3, :3])
    free = FreeRadius(partial(_free_radius, x, clean, sight, theta, scale))
    shared = _shared(x, clean, sight, theta, spread, A, B) if last else np.nan
    used = clean & (np.abs(e) < BIWEIGHT.tukey * scale)
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
    """The radius fitted along with the centre, and its sd; inf where it is free."""
    free, step = settle(x, clean, sight, theta, scale, True, FIT.fine)
    cell = cells(x, free[:3], BIWEIGHT.clusters)
    A, B, _ = sandwich(x, clean, sight, free, scale, 4, cell)
    if np.linalg.eigvalsh(A)[0] > 1e-9 * A[3, 3] > 0:
        sd = float(np.sqrt(_covariance(A, B)[3, 3]))
        if step < max(FIT.fine, FIT.settled * sd / scale):
            return float(free[3]), sd
    return float(free[3]), np.inf


@kernel
def heights(x: Floats, theta: Floats) -> Floats:
    """(k,) distance of each point from the surface, positive outside."""
    e = np.empty(len(x))
    for p in range(len(x)):
        square = 0.0
        for a in range(3):
            square += (x[p, a] - theta[a]) ** 2
        e[p] = np.sqrt(square) - theta[3]
    return e


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
