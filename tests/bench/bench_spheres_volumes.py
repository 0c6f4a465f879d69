"""Pick balls from synthetic volumes of computed tomography: honesty of the covariance.

Run by hand: python -m tests.bench.bench_spheres_volumes [VOLUMES] [FIRST_SEED]
"""

import sys
import time

import numpy as np

from analysis.grey_volume import materials, surface_points
from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from sim.arrays import Floats
from tests.bench.bench_spheres_stereo import Outcome, outcome
from tests.helpers.grey_volumes import scanned_volume

RADIUS, BOX = 6.0, np.array([72.0, 55.0, 38.0])  # mm
KINDS = {  # noise, blur in voxels, voxel in mm, by how much the middle is darker
    "voxel R / 15": (0.05, 0.8, 0.4, 0.0),
    "the same, twice the noise": (0.10, 1.0, 0.4, 0.0),
    "voxel R / 24, little noise": (0.02, 0.6, 0.25, 0.0),
    "voxel R / 7.5": (0.05, 0.8, 0.8, 0.0),
    "voxel R / 15, middle a tenth darker": (0.05, 0.8, 0.4, 0.1),
}


def darker(values: Floats, by: float) -> Floats:
    """Grey values that fall towards the middle, as beams that harden make them."""
    axes = np.ogrid[tuple(slice(-1.0, 1.0, n * 1j) for n in values.shape)]
    return values * (1.0 - by * (1.0 - sum(axis**2 for axis in axes) / 3.0))


def run(seed: int, kind: str) -> tuple[Outcome, float]:
    """What picking makes of a volume, and by how many per cent balls are too large."""
    noise, blur, voxel, by = KINDS[kind]
    rng = np.random.default_rng([31, seed])
    grid = 17.0 * np.indices((4, 3, 2)).reshape(3, -1).T + 10.0
    centres = grid[rng.permutation(len(grid))[:12]] + rng.uniform(-1.4, 1.4, (12, 3))
    a, b, c = (BOX / voxel).astype(int).tolist()
    values = scanned_volume(rng, centres, RADIUS, voxel, (a, b, c), noise, blur)
    start = time.process_time()
    values = darker(values, by)
    points = voxel * np.concatenate(
        list(surface_points(values, materials(values).halfway))
    )
    picks = find_spheres(points, PickOptions(RADIUS, fused="threshold of a volume"))
    found = outcome(centres, picks, time.process_time() - start)
    assert picks.fusion is not None
    return found, 100.0 * (picks.fusion.radius_mm / RADIUS - 1.0)


def main(many: int, first: int) -> None:
    """Print a line a kind of volume."""
    for kind in KINDS:
        runs = [run(seed, kind) for seed in range(first, first + many)]
        nees = np.array([found.nees for found, _ in runs])
        rms = 1e3 * np.sqrt(np.mean([found.rms_mm**2 for found, _ in runs]))
        print(
            f"{kind}: found {sum(found.found for found, _ in runs)} of {12 * many}, "
            f"false {sum(found.false for found, _ in runs)}, "
            f"{min(by for _, by in runs):.2f} to {max(by for _, by in runs):.2f} % "
            f"large, rms {rms:.1f} um, NEES {nees.mean():.2f} ({nees.min():.2f} to "
            f"{nees.max():.2f}), CPU {np.mean([f.seconds for f, _ in runs]):.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*[*given, *(4, 0)[len(given) :]])
