"""A third virtual scanner: errors of both others in shares that every scene draws anew.

Noise that is independent from point to point, fringes, mixed pixels and outliers are
those of `tests.analysis.spheres.scenes`. On top of them every view errs along its lines
of sight by random waves of several lengths, is misplaced, and balls are not round.
"""

import numpy as np

from sim.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, VirtualScan, place_of, scan, tree
from tests.helpers.stereo_scanner import StereoScan

WAVES = 60  # that make a field


def mixed(rng: np.random.Generator, balls: int = 12, views: int = 6) -> StereoScan:
    """A scan of a tree of balls; which errors are large is drawn with it."""
    scanner = Scanner(
        views=views,
        pixels=(560, 420),
        sigma=rng.uniform(0.02, 0.08),
        outliers=rng.uniform(0.0, 0.004),
        ripple=rng.uniform(0.0, 0.02),
        shift=rng.uniform(0.0, 0.05),
        turn=rng.uniform(0.0, 0.01),
    )
    seen = scan(rng, tree(rng, balls), scanner)
    places = np.array([place_of(scanner, v) for v in range(views)])
    points = seen.points.copy()
    for length in (rng.uniform(1.5, 3.0), rng.uniform(4.0, 30.0)):
        size = rng.uniform(0.0, 0.04)
        for v in range(views):
            of_view = seen.view == v
            ray = points[of_view] - places[v]
            ray /= np.linalg.norm(ray, axis=1)[:, None]
            points[of_view] += size * _waves(rng, points[of_view], length) * ray
    points += _form(rng, seen, rng.uniform(0.0, 0.006))
    scale = 1.0 + 0.001 * rng.normal()
    kept, centres = seen.cap > 0.12, scale * seen.parts.centres
    return StereoScan(
        scale * points, seen.view, seen.label, centres[kept], places, centres[~kept]
    )


def _waves(rng: np.random.Generator, x: Floats, length: float) -> Floats:
    """(k, 1) a random field of variance one, correlated over `length` mm."""
    ways = rng.normal(size=(WAVES, 3)) / length
    phase = rng.uniform(0, 2 * np.pi, WAVES)
    total = np.zeros(len(x))
    for way, start in zip(ways, phase, strict=True):
        total += np.cos(x @ way + start)
    return np.asarray(np.sqrt(2.0 / WAVES) * total[:, None])


def _form(rng: np.random.Generator, seen: VirtualScan, oval: float) -> Floats:
    """(n, 3) how far balls, drawn out along an axis of each, stand off the round."""
    axes = rng.normal(size=(len(seen.parts.centres), 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    on = seen.label >= 0
    off = np.zeros_like(seen.points)
    up = np.einsum("ij,ij->i", seen.normal[on], axes[seen.label[on]])
    high = oval * seen.parts.radius * (up**2 - 1 / 3)
    off[on] = high[:, None] * seen.normal[on]
    return off
