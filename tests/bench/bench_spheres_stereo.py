"""Pick spheres from the scans of other scanners: honesty of the covariance.

Run by hand: python -m tests.bench.bench_spheres_stereo [SCENES] [FIRST_SEED] [mixed]
The stereo scanner, or with the last word the mixture of it with the first.
"""

import sys
import time
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions, Picks
from pipeline.scans.hints import own_radius
from sim.arrays import Floats, Ints
from tests.helpers.mixed_scanner import mixed
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
    ratio: float = 1.0  # of variances to those by points
    radius: float = np.nan  # stated (right) one, in sd from what the balls tell


def outcome(
    centres: Floats, picks: Picks, seconds: float, hidden: Floats | None = None
) -> Outcome:
    """Picks beside the truth; those of `hidden` balls are neither right nor false."""
    if not picks.spheres:
        return Outcome(np.nan, np.nan, 0, 0, seconds)
    apart, nearest = KDTree(centres).query(picks.centres)
    right = apart < MATCHED
    rows = (3 * np.flatnonzero(right)[:, None] + np.arange(3)).ravel()
    covariance = picks.covariance[np.ix_(rows, rows)]
    true = centres[nearest[right]]
    nees, rms = shape_error(picks.centres[right], true, covariance)
    many = len(np.unique(nearest[right]))
    ratio = picks.excess.ratio if picks.excess else 1.0
    told, sd = own_radius(picks)
    off = (picks.spheres[0].radius - told) / sd
    whole = centres if hidden is None else np.vstack([centres, hidden])
    false = int((KDTree(whole).query(picks.centres)[0] >= MATCHED).sum())
    return Outcome(nees, rms, many, false, seconds, ratio, off)


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
    return outcome(scan.centres, picks, time.process_time() - start, scan.hidden)


def stereo(seed: int) -> dict[str, Outcome]:
    """A scene of the stereo scanner, and the same with clutter."""
    rng = np.random.default_rng([24, seed])
    scene = mechanism(rng)
    scan = scanned(scene, StereoScanner(), rng)
    runs = both(scan, scene.radius)
    mess = scanned(cluttered(scene), StereoScanner(), rng)
    return {**runs, "clutter": picked(mess, scene.radius, mess.view)}


def mixture(seed: int) -> dict[str, Outcome]:
    """A scene of the mixture of scanners."""
    return both(mixed(np.random.default_rng([25, seed])), 6.0)


def both(scan: StereoScan, radius: float) -> dict[str, Outcome]:
    """With views told apart, and merged."""
    return {
        "views": picked(scan, radius, scan.view),
        "merged": picked(scan, radius, None),
    }


def interval(values: Floats) -> Floats:
    """95 % of the mean, by drawing scenes again."""
    rng = np.random.default_rng(0)
    means = rng.choice(values, (2000, len(values))).mean(axis=1)
    return np.asarray(np.quantile(means, [0.025, 0.975]))


def main(scenes: int, first: int, kind: str) -> None:
    """Print a line a scene and the means."""
    kinds: dict[str, list[Outcome]] = {}
    for seed in range(first, first + scenes):
        for name, run in (mixture if kind == "mixed" else stereo)(seed).items():
            kinds.setdefault(name, []).append(run)
            print(f"{seed:4} {name:8} {run}", flush=True)
    for name, found in kinds.items():
        nees = np.array([run.nees for run in found])
        rms = 1e3 * np.sqrt(np.mean([run.rms_mm**2 for run in found]))
        low, high = interval(nees)
        print(
            f"{name:8} NEES {nees.mean():.2f}, 95 % {low:.2f} to {high:.2f} "
            f"({nees.min():.2f} to {nees.max():.2f}), "
            f"rms {rms:.1f} um, found {sum(run.found for run in found)}, "
            f"false {sum(run.false for run in found)}, radius off by rms "
            f"{np.sqrt(np.mean([run.radius**2 for run in found])):.2f} sd, "
            f"CPU {sum(run.seconds for run in found) / len(found):.2f} s"
        )


if __name__ == "__main__":
    given = [*sys.argv[1:], *("3", "0", "stereo")[len(sys.argv) - 1 :]]
    main(int(given[0]), int(given[1]), given[2])
