"""Count false picks among clutter, and balls that are missed, of both virtual scanners.

Run by hand: python -m tests.bench.bench_spheres_clutter [SCENES] [FIRST_SEED]
A mug, a bent tube of the balls' radius, a hand, a table and four bars of the balls'
radius with round ends stand beside 12 balls in 2 to 8 views. An end of which nothing
but the half ball is seen is a ball to any rule: it is counted, and told apart.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import KDTree
from scipy.stats import beta

from analysis.spheres.find import find_spheres
from analysis.spheres.judge import visible_cap
from analysis.spheres.picks import PickOptions
from sim.arrays import Floats, Ints
from tests.analysis.spheres.scenes import Parts, Scanner, scan, tree
from tests.bench.bench_spheres_stereo import MATCHED
from tests.helpers.stereo_scanner import (
    Rod,
    Scene,
    StereoScanner,
    cluttered,
    mechanism,
    scanned,
)

BALLS, BARS, CAP = 12, 4, 0.12
BLIND, NOISE = 5, 5.0  # points of a wall that none sees; sd above the half ball
Seen = tuple[Floats, Ints, Floats, Floats, list[Rod], float]


def of_wall(x: Floats, centre: Floats, rods: list[Rod], noise: float) -> int | None:
    """Points of the bar that ends at `centre` which rise above its half ball, within
    the radius beyond it; None where none ends there.

    Parameters
    ----------
    rods : bars with round ends
    noise : sd of points, mm
    """
    for start, end, R in (*rods, *(r._replace(start=r.end, end=r.start) for r in rods)):
        if np.linalg.norm(start - centre) < MATCHED:
            axis = (end - start) / np.linalg.norm(end - start)
            along = (x - start) @ axis
            across = np.linalg.norm(x - start - along[:, None] * axis, axis=1)
            on = (np.abs(across - R) < NOISE * noise) & (along < R)
            rises = np.hypot(along, across) > R + NOISE * noise
            return int((on & rises & (along > 0.0)).sum())
    return None


def bars(rng: np.random.Generator, centres: Floats, many: int, R: float) -> list[Rod]:
    """Bars with round ends, 3 R or more clear of the balls and of each other."""
    found: list[Rod] = []
    taken, reach = centres, float(np.abs(centres).max())
    while len(found) < many:
        start, way = rng.uniform(-reach, reach, 3), rng.normal(size=3)
        end = start + rng.uniform(0.7, 3.7) * R * way / np.linalg.norm(way)
        axis = start + np.linspace(0, 1, 7)[:, None] * (end - start)
        above = axis[:, 2].min() > centres[:, 2].min() - R
        if above and KDTree(taken).query(axis)[0].min() > 3.0 * R:
            found.append(Rod(start, end, R))
            taken = np.vstack([taken, axis])
    return found


def stereo_scene(rng: np.random.Generator) -> Scene:
    """Clutter beside balls, with bars of 0.98 to 1.02 of their radius."""
    some = mechanism(rng, BALLS)
    beside = bars(rng, some.centres, BARS, some.radius)
    beside = [
        rod._replace(radius=rod.radius * rng.uniform(0.98, 1.02)) for rod in beside
    ]
    return cluttered(replace(some, rods=[*some.rods, *beside]))


def stereo(rng: np.random.Generator) -> Seen:
    """A scan of the stereo pair."""
    scene = stereo_scene(rng)
    noise = rng.uniform(0.02, 0.1)
    scanner = StereoScanner(noise=noise, views=int(rng.integers(2, 9)))
    seen = scanned(scene, scanner, rng)
    on = [seen.points[seen.body == ball] for ball in range(BALLS)]
    caps = [visible_cap(x, c) for x, c in zip(on, seen.centres, strict=True)]
    wide = wide_rods(scene.rods, scene.radius)
    return seen.points, seen.view, seen.centres, np.array(caps), wide, noise


def projector_scene(rng: np.random.Generator) -> tuple[Parts, list[Rod]]:
    """The same of the other scanner, bars' round ends drawn as balls, and its rods."""
    parts = tree(rng, BALLS)
    beside = bars(rng, parts.centres, BARS, parts.radius)
    clutter = cluttered(Scene(parts.centres, parts.radius, beside))
    rods = [[*rod.start, *rod.end, rod.radius] for rod in clutter.rods]
    ends = [end for rod in beside for end in (rod.start, rod.end)]
    scene: Parts = replace(
        parts,
        centres=np.vstack([parts.centres, *ends]),
        rods=np.vstack([parts.rods, rods]),
    )
    return scene, wide_rods(clutter.rods, parts.radius)


def projector(rng: np.random.Generator) -> Seen:
    """A scan of the other scanner."""
    scene, wide = projector_scene(rng)
    sigma, views = rng.uniform(0.02, 0.1), int(rng.integers(2, 9))
    scanner = Scanner(views=views, sigma=sigma, pixels=(560, 420))
    seen = scan(rng, scene, scanner)
    centres, caps = scene.centres[:BALLS], seen.cap[:BALLS]
    return seen.points, seen.view, centres, caps, wide, sigma


def wide_rods(rods: Sequence[Rod], radius: float) -> list[Rod]:
    """Those of the balls' radius, or thicker."""
    return [rod for rod in rods if rod.radius > 0.9 * radius]


def exact(many: int, of: int) -> str:
    """A share with 95 % after Clopper and Pearson."""
    low = beta.ppf(0.025, many, of - many + 1) if many else 0.0
    high = beta.ppf(0.975, many + 1, of - many) if many < of else 1.0
    return f"{many} of {of} ({100 * low:.2f} to {100 * high:.2f} %)"


def counted(seen: Seen, own: Ints | None, where: str) -> Ints:
    """(4,) balls with a cap above CAP, of these found; false picks, of these blind."""
    points, _, centres, caps, rods, noise = seen
    start = time.process_time()
    picks = find_spheres(points, PickOptions(6.0), own)
    seconds = time.process_time() - start
    apart, nearest = KDTree(centres).query(picks.centres)
    wide, false = caps > CAP, apart >= MATCHED
    found = np.isin(np.arange(len(centres)), nearest[~false])
    blind = 0
    for k in np.flatnonzero(false):
        one = picks.spheres[k]
        on = of_wall(points, one.centre, rods, noise)
        blind += on is not None and on < BLIND
        told = f"cap {one.cap:.2f}, {one.points} points, {on} of its wall"
        print(where, f"false, {apart[k]:.1f} mm from a ball: {told}, {one.centre}")
    for k in np.flatnonzero(wide & ~found):
        print(where, f"missed a cap of {caps[k]:.2f}, {centres[k]}")
    counts = np.array([wide.sum(), (wide & found).sum(), false.sum(), blind])
    print(where, f"{len(points)} points, CPU {seconds:.2f} s, {counts}", flush=True)
    return counts


def main(scenes: int, first: int) -> None:
    """Print a line for each false or missed ball, and the counts."""
    counts: dict[str, Ints] = {}
    for seed in range(first, first + scenes):
        for make in (stereo, projector):
            seen = make(np.random.default_rng([26, seed]))
            for kind, own in (("views", seen[1]), ("merged", None)):
                name = f"{make.__name__}, {kind}"
                new = counted(seen, own, f"{name}, {seed}")
                counts[name] = counts.get(name, np.zeros(4, np.int64)) + new
    counts["all"] = np.sum(list(counts.values()), axis=0)
    for name, (balls, found, false, blind) in counts.items():
        told = exact(false - blind, found + false - blind)
        print(f"{name}: {exact(found, balls)} found; {exact(false, found + false)}")
        print(f"false, {blind} of them blind ends; {told} of the others")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*[*given, *(3, 0)[len(given) :]])
