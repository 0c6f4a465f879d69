"""Centres of the eleven NIST scans: ours beside derived points after ASTM E3125.

Run by hand: python -m tests.bench.bench_derived_points

The scanner stood at the origin; the true centres are not published.
"""

from pathlib import Path

import numpy as np

from analysis.spheres.derived import with_derived_points
from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from pipeline.formats.cloud_targets import points_mm

FOLDER, RADIUS = Path("data/nist_spheres"), 50.0
ORIGIN = np.zeros(3)


def main() -> None:
    """Print a row a scan: difference along and across the line of sight, um, and u."""
    rows = []
    for path in sorted(FOLDER.glob("SPH*.xyz")):
        points = points_mm(path, "m")
        picks = find_spheres(points, PickOptions(RADIUS), None, ORIGIN[None])
        (ours,) = picks.spheres
        (theirs,) = with_derived_points(picks, points, ORIGIN).spheres
        sight = -ours.centre / np.linalg.norm(ours.centre)
        apart = theirs.centre - ours.centre
        along = float(apart @ sight)
        across = float(np.linalg.norm(apart - along * sight))
        u = [float(np.sqrt(np.trace(one.covariance))) for one in (ours, theirs)]
        rows.append([along, across, *u, ours.rms, theirs.rms])
        print(
            f"| {path.stem} | {ours.points}, {theirs.points} | "
            + " | ".join(f"{1e3 * x:.0f}" for x in rows[-1])
            + f" | {ours.free_radius:.3f} |"
        )
    rms = np.sqrt(np.mean(np.square(rows), axis=0))
    print("| rms | |" + " | ".join(f"{1e3 * x:.0f}" for x in rms) + " |")


if __name__ == "__main__":
    main()
