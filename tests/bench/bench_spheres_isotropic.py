"""Pick balls whose points err alike in all directions, in one file or cut into several.

Run by hand: python -m tests.bench.bench_spheres_isotropic [CLOUDS] [FIRST_SEED]
"""

import sys

import numpy as np

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from pipeline.scans.hints import doubt, own_radius, told_radius
from pipeline.scans.reading.units import Unit
from tests.helpers.isotropic_cloud import RADIUS, SPLITS, isotropic

NOISES = (0.02, 0.04, 0.1, 0.2)  # sd, mm


def row(sd: float, files: int, split: str, seeds: range) -> str:
    """Radius, its error over its sd, centres, and what the ingest would say."""
    told, squares, nees, found, said = [], [], [], 0, []
    options = PickOptions(radius_mm=RADIUS)
    for seed in seeds:
        rng = np.random.default_rng([26, seed])
        true, points, number = isotropic(rng, sd, files, split)
        picks = find_spheres(points, options, number if files > 1 else None)
        found += len(picks.spheres)
        told.append(own_radius(picks))
        said += [doubt(picks, points, Unit.MM, options)[:8].strip()]
        said += ["radius remark"] * bool(told_radius(picks, options))
        said += ["shared errors"] * bool(picks.excess)
        for s in picks.spheres:
            e = s.centre - true[np.argmin(np.linalg.norm(true - s.centre, axis=1))]
            squares.append(e @ e / 3)
            nees.append(e @ np.linalg.solve(s.covariance, e) / 3)
    radius, stated = np.mean(told, axis=0)
    scatter = np.std([r for r, _ in told], ddof=1)
    notes = ", ".join(f"{said.count(word)} {word}" for word in sorted(set(said) - {""}))
    return (
        f"sd {sd}, {files} {split}: radius {radius:.4f}, scatter {scatter:.4f}, stated "
        f"{stated:.4f}; {found} balls, rms {1e3 * np.sqrt(np.mean(squares)):.1f} um, "
        f"NEES {np.mean(nees):.2f}; {notes or 'nothing said'}"
    )


def main(clouds: int, first: int) -> None:
    """Print a line a noise, number of files and split."""
    for sd in NOISES:
        for files in (1, 2, 4):
            for split in SPLITS[-1:] if files == 1 else SPLITS:
                print(row(sd, files, split, range(first, first + clouds)), flush=True)


if __name__ == "__main__":
    given = [*sys.argv[1:], *("4", "0")[len(sys.argv) - 1 :]]
    main(int(given[0]), int(given[1]))
