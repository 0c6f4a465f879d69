"""Detection of spheres in scans of four virtual scanners that share no code with it.

`python -m tests.bench.bench_scanners [--only SCANNER]` prints a row a scene.

- visible: true spheres with points on 0.15 of the surface, 60 or more (scanners.py)
- found: those with a detection within 0.3 of the radius of the centre
- small: found of visible with points on less than 0.25
- false: detections near to no true sphere, visible or not
- rms, largest: error over the stated standard deviation, sqrt(d C^-1 d / 3), both
  without a rigid motion, because the frame of a scan is arbitrary
- missed because: reasons of the rejected candidates that are nearest to missed spheres,
  within one radius
"""

import argparse
import os
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from analysis.spheres.detections import PickOptions, Picks
from analysis.spheres.find import find_spheres
from tests.bench import scanners as lab
from tests.bench.scanners import Floats, Rng

NEAR = 0.3  # of the radius, from a detection to the true sphere
SCANNERS = {
    "laser": lab.laser_line,
    "flight": lab.time_of_flight,
    "mesh": lab.photogrammetry,
    "light": lab.structured_light,
}
WALL, TABLE, CUPS = {"wall": True}, {"table": True}, {"sockets": 6}
# Settings of the scanner; shape and radius of the mechanism; things beside; the rest.
SCENES: dict[str, tuple[tuple[float, ...], str, float, str, dict[str, int]]] = {
    "laser axis 0": ((0.4, 0.05, 0), "sheet", 6, "", TABLE),
    "laser axis 0.05": ((0.4, 0.05, 0.05), "tower", 5, "", CUPS),
    "laser hand": ((0.4, 0.05, 0.02), "gripper", 8, "hand cable", {}),
    "laser wall": ((0.4, 0.05, 0.02), "sheet", 4, "tubes nuts", WALL | TABLE),
    "laser coarse": ((0.9, 0.08, 0.02), "tower", 7, "mug", CUPS),
    "flight wall": ((1.2, 0.3, 1), "sheet", 12, "", WALL | TABLE),
    "flight near": ((1.0, 0.5, 1), "tower", 15, "cable", CUPS),
    "flight far": ((1.8, 1.5, 3), "tower", 20, "tubes nuts", TABLE),
    "flight hand": ((1.2, 0.6, 3), "gripper", 14, "hand", {}),
    "flight merged": ((1.2, 0.4, 3), "sheet", 10, "nuts mug", CUPS | TABLE),
    "mesh plain": ((0.8, 0.04), "sheet", 6, "cable", CUPS),
    "mesh fine": ((0.5, 0.03), "tower", 4, "nuts", TABLE),
    "mesh hand": ((0.9, 0.06), "gripper", 8, "hand", {}),
    "mesh wall": ((0.9, 0.05), "sheet", 5, "tubes", WALL),
    "mesh coarse": ((1.4, 0.1), "tower", 11, "mug", CUPS | TABLE),
    "light plain": ((0.6, 0.015, 0.015, 6), "sheet", 5, "nuts", CUPS | TABLE),
    "light hand": ((0.6, 0.015, 0.015, 6), "gripper", 8, "hand", {}),
    "light wall": ((0.6, 0.015, 0.015, 4), "sheet", 6, "", WALL),
    "light thick": ((0.6, 0.03, 0.04, 6), "tower", 7, "tubes cable", {}),
    "light coarse": ((0.9, 0.015, 0.015, 3), "tower", 6, "mug", CUPS | TABLE),
}


def normalised(true: Floats, picks: Picks, which: list[int]) -> Floats:
    """Error of each found sphere over its standard deviation.

    A rigid motion is taken off the errors by least squares, and from their covariance.
    """
    n, at = len(which), np.add.outer(3 * np.array(which, int), np.arange(3)).ravel()
    if n < 3:
        return np.full(1, np.nan)
    motion = np.vstack([[*np.eye(3), *np.cross(np.eye(3), c)] for c in true])
    motion = motion.reshape(n, 6, 3).transpose(0, 2, 1).reshape(3 * n, 6)
    Q = np.eye(3 * n) - motion @ np.linalg.pinv(motion)
    d = (Q @ (picks.centres[which] - true).ravel()).reshape(n, 3)
    C = (Q @ picks.covariance[np.ix_(at, at)] @ Q).reshape(n, 3, n, 3)
    C = C[np.arange(n), :, np.arange(n)]
    return np.sqrt(np.einsum("ij,ijk,ik->i", d, np.linalg.inv(C), d) / 3)


def row(name: str, rng: Rng) -> Counter[str]:
    """Print the row of a scene, and return its counts."""
    given, shape, radius, things, rest = SCENES[name]
    beside = [getattr(lab, thing) for thing in things.split()]
    scene = lab.mechanism(rng, getattr(lab, shape), radius, beside, **rest)
    scan = SCANNERS[name.split()[0]](rng, scene, *given)
    if name == "flight merged":  # as of a file without views
        scan = replace(scan, view=None, origins=None, registration_mm=0.3)
    options = PickOptions(
        radius_mm=radius, registration_mm=scan.registration_mm, fused=scan.fused
    )
    visible = (scan.caps >= lab.LEAST_CAP) & (scan.counts >= lab.LEAST_POINTS)
    start = time.perf_counter()
    try:
        picks = find_spheres(scan.points, options, scan.view, scan.origins)
    except ValueError as refusal:
        print(f"{name:16s} {len(scan.points):7d} {visible.sum():7d} refused: {refusal}")
        return Counter(visible=visible.sum(), refused=visible.sum())
    took = time.perf_counter() - start
    gaps = np.linalg.norm(scene.centres[:, None] - picks.centres, axis=2) / radius
    hit, small = (gaps < NEAR).any(axis=1), visible & (scan.caps < 0.25)
    false = int((gaps >= NEAR).all(axis=0).sum())
    why: Counter[str] = Counter()
    for c in scene.centres[visible & ~hit]:
        off = [(np.linalg.norm(r.centre - c), r.reason.value) for r in picks.rejected]
        nearest = min(off, default=(np.inf, ""))
        why[nearest[1] if nearest[0] < radius else "no candidate"] += 1
    good = visible & hit
    e = normalised(scene.centres[good], picks, [int(g.argmin()) for g in gaps[good]])
    print(
        f"{name:16s} {len(scan.points):7d} {visible.sum():7d} {good.sum():5d} "
        f"{(small & hit).sum():3d} of {small.sum():2d} {false:5d} "
        f"{np.sqrt((e**2).mean()):5.2f} {e.max():7.2f} {took:6.1f}   "
        + ", ".join(f"{reason} {n}" for reason, n in why.most_common()),
        flush=True,
    )
    return Counter(visible=visible.sum(), found=good.sum(), false=false) + why


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SCANNERS)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(
        "scene             points visible found    small false   rms largest   time s"
    )
    totals: dict[str, Counter[str]] = {}
    for k, name in enumerate(SCENES):
        kind = name.split()[0]
        if args.only in (None, kind):
            counts = row(name, np.random.default_rng([args.seed, k]))
            totals[kind] = totals.get(kind, Counter()) + counts
    for kind, total in totals.items():
        print(f"{kind}: " + ", ".join(f"{what} {n}" for what, n in total.items()))
    print(f"seed {args.seed}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
