"""Sphere picking measured: `python -m tests.bench.bench_spheres PART [SCENES]`.

Parts: scenes, noise, caps, few, views, radius, speed, peers. Every scene is new: the
seed is --seed (default: the clock). Seconds are CPU seconds of this process, and the
load of the machine is printed. The bound is Cramer-Rao's over the points truly on a
ball.
"""

import argparse
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from analysis.spheres.detections import PickOptions, Picks
from analysis.spheres.find import find_spheres
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import Scanner, VirtualScan, scan, tree
from tests.helpers.detection_errors import shape_error

FINE = (560, 420)
SCENES = {
    "B1 sigma .05, plane": (30, "plane", Scanner(sigma=0.05, pixels=FINE)),
    "B2 sigma .15, bowl": (30, "bowl", Scanner(sigma=0.15, pixels=FINE)),
    "B3 sigma .30, cylinder": (24, "cylinder", Scanner(sigma=0.30, pixels=FINE)),
    "B4 sigma .10, 3 views": (24, "plane", Scanner(views=3, sigma=0.10)),
    "B5 60 balls": (60, "plane", Scanner(sigma=0.05, pixels=(1050, 790))),
    "B6 registration": (
        30,
        "plane",
        Scanner(sigma=0.05, pixels=FINE, shift=0.08, turn=0.02),
    ),
    "B7 2 % outliers": (
        24,
        "bowl",
        Scanner(sigma=0.05, pixels=(480, 360), mixed=0.8, outliers=0.02, ripple=0.05),
    ),
}
MATCH = 1.5  # mm between a ball and its sphere


@dataclass
class Score:
    """What came of some scans; errors of balls with a cap of 12 % or more."""

    caps: list[float] = field(default_factory=list)  # of every ball
    hits: list[bool] = field(default_factory=list)
    alone: list[bool] = field(default_factory=list)  # whether no other ball overlaps it
    over_bound: list[float] = field(default_factory=list)  # squared
    over_stated: list[float] = field(default_factory=list)  # squared, a dimension
    error_caps: list[float] = field(default_factory=list)
    shape_um: list[float] = field(default_factory=list)
    shape_nees: list[float] = field(default_factory=list)
    false: int = 0
    picks: int = 0
    seconds: list[float] = field(default_factory=list)
    points: list[int] = field(default_factory=list)

    def add(self, seen: VirtualScan, picks: Picks, seconds: float) -> None:
        self.seconds.append(seconds)
        self.points.append(len(seen.points))
        self.picks += len(picks.spheres)
        gaps = np.linalg.norm(seen.parts.centres[:, None] - picks.centres[None], axis=2)
        self.false += int((gaps.min(axis=0) > MATCH).sum())
        matched = []
        r = seen.parts.centres
        apart = np.linalg.norm(r[:, None] - r, axis=2) + 1e9 * np.eye(len(r))
        self.alone += (apart.min(axis=1) > 2 * seen.parts.radius).tolist()
        for ball, cap in enumerate(seen.cap):
            best = int(gaps[ball].argmin())
            hit = bool(gaps[ball, best] < MATCH)
            self.caps.append(float(cap))
            self.hits.append(hit)
            if not hit or (seen.label == ball).sum() < 6:
                continue
            matched.append((ball, best))
            s = picks.spheres[best]
            e = s.centre - seen.parts.centres[ball]
            self.over_bound.append(float(e @ e / np.trace(seen.bound(ball))))
            self.over_stated.append(float(e @ np.linalg.solve(s.covariance, e) / 3))
            self.error_caps.append(float(cap))
        if len(matched) > 3:
            rms, nees = shape(seen, picks, np.array(matched))
            self.shape_um.append(rms)
            self.shape_nees.append(nees)

    def recall(self, low: float, high: float = 1.0) -> str:
        caps, hits = np.array(self.caps), np.array(self.hits)
        chosen = (caps >= low) & (caps < high)
        return f"{hits[chosen].sum()} of {chosen.sum()}"

    def recall_alone(self) -> str:
        """Of the balls with a cap of 12 % or more that no other ball overlaps."""
        caps, hits = np.array(self.caps), np.array(self.hits)
        chosen = (caps >= 0.12) & np.array(self.alone)
        return f"{hits[chosen].sum()} of {chosen.sum()}"

    def ratio(self, low: float = 0.12, high: float = 1.0) -> float:
        caps = np.array(self.error_caps)
        chosen = (caps >= low) & (caps < high)
        return float(np.sqrt(np.mean(np.array(self.over_bound)[chosen])))

    def nees(self, low: float = 0.12, high: float = 1.0) -> float:
        caps = np.array(self.error_caps)
        chosen = (caps >= low) & (caps < high)
        return float(np.mean(np.array(self.over_stated)[chosen]))

    def row(self) -> str:
        return (
            f"recall {self.recall(0.12)} (overlapping no other ball: "
            f"{self.recall_alone()}), caps 8-12 % {self.recall(0.08, 0.12)}, "
            f"false {self.false} of {self.picks}, rms/bound {self.ratio():.2f}, "
            f"NEES {self.nees():.2f}, shape {np.mean(self.shape_um):.1f} um "
            f"NEES {np.mean(self.shape_nees):.2f}, "
            f"{np.mean(self.points) / 1e6:.2f} M points, "
            f"{np.mean(self.seconds):.2f} s"
        )


def shape(seen: VirtualScan, picks: Picks, matched: Floats) -> tuple[float, float]:
    """Rms residual after rigid alignment (um), and its NEES with all covariances."""
    true, found = matched.T
    rows = (3 * found[:, None] + np.arange(3)).ravel()
    covariance = picks.covariance[np.ix_(rows, rows)]
    nees, rms = shape_error(picks.centres[found], seen.parts.centres[true], covariance)
    free = 3 - 6 / len(true)  # of a sphere's coordinates
    return float(1e3 * rms * np.sqrt(free)), nees


def timed(seen: VirtualScan, *, views: bool, **options: float) -> tuple[Picks, float]:
    start = time.process_time()
    picks = find_spheres(
        seen.points,
        PickOptions(**({"radius_mm": 6.0} | options)),
        seen.view if views else None,
    )
    return picks, time.process_time() - start


def made(
    rng: np.random.Generator,
    count: int,
    balls: int,
    target: str,
    scanner: Scanner,
    *,
    rods: bool = True,
) -> Iterator[VirtualScan]:
    for _ in range(count):
        parts = tree(rng, balls, target)
        kept = parts.rods if rods else parts.rods[:0]
        yield scan(rng, replace(parts, rods=kept), scanner)


def both(
    name: str,
    rng: np.random.Generator,
    count: int,
    balls: int,
    target: str,
    scanner: Scanner,
) -> None:
    """Two rows of a scene: with view numbers, and as a merged cloud."""
    with_views, merged = Score(), Score()
    for seen in made(rng, count, balls, target, scanner):
        with_views.add(seen, *timed(seen, views=True))
        merged.add(seen, *timed(seen, views=False))
    print(f"{name}: {with_views.row()}", flush=True)
    print(f"  merged: {merged.row()}", flush=True)


def scenes(rng: np.random.Generator, count: int) -> None:
    """B1 to B7."""
    for name, what in SCENES.items():
        both(name, rng, count, *what)


def noise(rng: np.random.Generator, count: int) -> None:
    """Six levels of noise on 30 balls in 8 views."""
    for sigma in (0.02, 0.05, 0.10, 0.15, 0.20, 0.30):
        scanner = Scanner(sigma=sigma, pixels=FINE)
        both(f"sigma {sigma}", rng, count, 30, "plane", scanner)


def caps(rng: np.random.Generator, count: int) -> None:
    """Balls seen by one to four views, by visible share."""
    score = Score()
    for views in (1, 2, 3, 4):
        for seen in made(rng, count, 30, "plane", Scanner(views=views, pixels=FINE)):
            score.add(seen, *timed(seen, views=False))
    edges = (0.0, 0.04, 0.08, 0.12, 0.20, 0.30, 0.45, 1.0)
    for low, high in pairwise(edges):
        inside = [low <= c < high for c in score.error_caps]
        told = (
            f"rms/bound {score.ratio(low, high):.2f}, NEES {score.nees(low, high):.2f}"
            if any(inside)
            else "none found"
        )
        print(f"cap {low} to {high}: recall {score.recall(low, high)}, {told}")
    print(f"false {score.false} of {score.picks}")


def few(rng: np.random.Generator, count: int) -> None:
    """Merged clouds of few views, or of many balls: small caps and false picks."""
    total = Score()
    for balls, views, pixels in ((30, (1, 2, 3), FINE), (60, (2, 4, 8), (700, 525))):
        score = Score()
        for k in range(count):
            for v in views:
                sigma = (0.05, 0.10, 0.15)[(k + v) % 3]
                target = ("plane", "bowl", "cylinder")[k % 3]
                scanner = Scanner(views=v, sigma=sigma, pixels=pixels)
                seen = scan(rng, tree(rng, balls, target), scanner)
                picks, seconds = timed(seen, views=False)
                score.add(seen, picks, seconds)
                total.add(seen, picks, seconds)
        print(f"{balls} balls: {score.row()}", flush=True)
    print(
        f"caps 5-8 %: {total.recall(0.05, 0.08)}, 8-12 %: {total.recall(0.08, 0.12)}, "
        f"rms/bound {total.ratio(0.08, 0.12):.2f}, NEES {total.nees(0.08, 0.12):.2f}, "
        f"false {total.false} of {total.picks}"
    )


def views(rng: np.random.Generator, count: int) -> None:
    """Misplaced views: adjusted together, and merged."""
    for shift, turn in ((0.0, 0.0), (0.03, 0.01), (0.08, 0.02), (0.2, 0.05)):
        scanner = Scanner(pixels=FINE, shift=shift, turn=turn)
        both(f"{shift} mm, {turn} deg", rng, count, 30, "plane", scanner)


def radius(rng: np.random.Generator, count: int) -> None:
    """A radius known only to lie between 3 and 15 mm."""
    for true in (6.0, 4.5, 9.0):
        for _ in range(count):
            seen = scan(rng, tree(rng, 20, "plane", true), Scanner(pixels=(480, 360)))
            start = time.process_time()
            picks = find_spheres(seen.points, PickOptions(3.0, 15.0))
            seconds = time.process_time() - start
            score = Score()
            score.add(seen, picks, seconds)
            got = picks.spheres[0].radius if picks.spheres else np.nan
            print(f"radius {true}: {got:.4f}, {score.row()}", flush=True)


def speed(rng: np.random.Generator, count: int) -> None:
    """Wall and CPU seconds and memory of clouds of growing size."""
    for side in (130, 400, 720, 1000, 3150)[: 4 + (count > 1)]:
        scanner = Scanner(pixels=(side, 3 * side // 4))
        seen = scan(rng, tree(rng, 30, "plane"), scanner)
        points, centres, cap = seen.points, seen.parts.centres, seen.cap
        del seen
        start, cpu = time.perf_counter(), time.process_time()
        picks = find_spheres(points, PickOptions(radius_mm=6.0))
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        gaps = np.linalg.norm(centres[:, None] - picks.centres[None], axis=2)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{len(points) / 1e6:.2f} M points: {wall:.2f} s, CPU {cpu:.2f} s, "
            f"found {(gaps.min(axis=1) < MATCH)[cap > 0.12].sum()} of "
            f"{(cap > 0.12).sum()}, false {(gaps.min(axis=0) > MATCH).sum()}, "
            f"peak {memory:.2f} GB (scene included)",
            flush=True,
        )


def peers(rng: np.random.Generator, count: int) -> None:
    """CGAL, Open3D, pyransac3d and scikit-image on the same clouds in the same run."""
    from tests.bench import bench_spheres_peers

    for name, what in SCENES.items():
        for rods, told in ((True, name), (False, f"{name}, balls alone")):
            for seen in made(rng, count, *what, rods=rods):
                bench_spheres_peers.compare(told, seen)


PARTS = {f.__name__: f for f in (scenes, noise, caps, few, views, radius, speed, peers)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("scenes", type=int, nargs="?", default=2)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    args = parser.parse_args()
    start = time.perf_counter()
    rng = np.random.default_rng(0)
    warm = scan(rng, tree(rng, 6, "none"), Scanner(views=2, pixels=(160, 120)))
    find_spheres(warm.points, PickOptions(radius_mm=6.0), warm.view)
    print(f"first scan {time.perf_counter() - start:.1f} s, seed {args.seed}")
    PARTS[args.part](np.random.default_rng(args.seed), args.scenes)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
