"""Pick spheres from the scans of the stereo scanner: honesty of the covariance.

Run by hand: python -m tests.bench.bench_spheres_stereo [SCENES] [FIRST_SEED]
"""

import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions, Picks
from sim.arrays import Floats, Ints
from tests.helpers.stereo_scanner import (
    StereoScan,
    StereoScanner,
    cluttered,
    mechanism,
    scanned,
)

MATCHED = 1.5  # mm from a true centre


@dataclass(frozen=True)
class Outcome:
    """What picking made of one scan."""

    nees: float  # of the shape, a degree of freedom
    rms_mm: float  # of the shape, an axis
    found: int
    false: int
    seconds: float


def outcome(scan: StereoScan, picks: Picks, seconds: float) -> Outcome:
    """Picks beside the truth."""
    if not picks.spheres:
        return Outcome(np.nan, np.nan, 0, 0, seconds)
    apart, nearest = KDTree(scan.centres).query(picks.centres)
    right = apart < MATCHED
    rows = (3 * np.flatnonzero(right)[:, None] + np.arange(3)).ravel()
    covariance = picks.covariance[np.ix_(rows, rows)]
    true = scan.centres[nearest[right]]
    nees, rms = shape_error(picks.centres[right], true, covariance)
    many = len(np.unique(nearest[right]))
    return Outcome(nees, rms, many, int((~right).sum()), seconds)


def shape_error(found: Floats, true: Floats, covariance: Floats) -> tuple[float, float]:
    """Normalised squared error and rms after the best rigid motion.

    Parameters
    ----------
    found, true : (m, 3) mm
    covariance : (3m, 3m) mm^2
    """
    m = len(true)
    arm = true - true.mean(axis=0)
    rigid = np.zeros((m, 3, 6))
    rigid[:, :, :3] = np.eye(3)
    for axis in range(3):
        rigid[:, :, 3 + axis] = np.cross(np.eye(3)[axis], arm)
    e, G = (found - true).ravel(), rigid.reshape(3 * m, 6)
    weight = np.linalg.inv(covariance)
    left = e - G @ np.linalg.solve(G.T @ weight @ G, G.T @ weight @ e)
    free = 3 * m - 6
    plain = e - G @ np.linalg.lstsq(G, e, rcond=None)[0]
    return float(left @ weight @ left) / free, float(np.sqrt(plain @ plain / free))


def picked(scan: StereoScan, radius: float, view: Ints | None) -> Outcome:
    """Find the spheres, with the views told apart or merged."""
    start = time.process_time()
    options = PickOptions(radius_mm=radius)
    picks = find_spheres(scan.points, options, view)
    return outcome(scan, picks, time.process_time() - start)


def main(scenes: int, first: int) -> None:
    """Print a line a scene and the means."""
    kinds: dict[str, list[Outcome]] = {}
    for seed in range(first, first + scenes):
        rng = np.random.default_rng([24, seed])
        scene = mechanism(rng)
        scan = scanned(scene, StereoScanner(), rng)
        runs = {
            "views": picked(scan, scene.radius, scan.view),
            "merged": picked(scan, scene.radius, None),
        }
        mess = scanned(cluttered(scene), StereoScanner(), rng)
        runs["clutter"] = picked(mess, scene.radius, mess.view)
        for kind, run in runs.items():
            kinds.setdefault(kind, []).append(run)
            print(f"{seed:4} {kind:8} {run}")
    for kind, found in kinds.items():
        nees = np.array([run.nees for run in found])
        rms = 1e3 * np.sqrt(np.mean([run.rms_mm**2 for run in found]))
        print(
            f"{kind:8} NEES {nees.mean():.2f} ({nees.min():.2f} to {nees.max():.2f}), "
            f"rms {rms:.1f} um, found {sum(run.found for run in found)}, "
            f"false {sum(run.false for run in found)}"
        )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*[*given, *(3, 0)[len(given) :]])
