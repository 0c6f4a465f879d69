"""Pick spheres from meshes that Open3D fuses of both virtual scanners' views.

Run by hand: python -m tests.bench.bench_spheres_meshes [SCENES] [FIRST_SEED] [WORD]
With `clutter` the scenes of bench_spheres_clutter, whose bars have eight ends; with
`large` balls of 12 mm, 1 mm between points.
"""

import sys
import time

import numpy as np

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from pipeline.scans.surface import points_on
from sim.arrays import Floats, Ints
from tests.analysis.spheres.scenes import Parts, Scanner, place_of, scan, tree
from tests.bench import bench_spheres_clutter
from tests.bench.bench_spheres_stereo import Outcome, interval, outcome
from tests.helpers.fused_meshes import Fusion, fused
from tests.helpers.stereo_scanner import Scene, StereoScanner, mechanism, scanned

PITCH, VIEWS, BALLS = 0.5, 6, 12
SIDE, RADIUS, LARGE = 110.0, 6.0, 2.0  # mm; times
# points, views, places, centres of balls that are to be found, and that need not be
Seen = tuple[Floats, Ints, Floats, Floats, Floats]


def stereo(
    rng: np.random.Generator, scene: Scene | None = None, times: float = 1.0
) -> Seen:
    """A scan of the stereo pair."""
    scanner = StereoScanner(pitch=times * PITCH, views=VIEWS)
    seen = scanned(scene or mechanism(rng, BALLS), scanner, rng)
    return seen.points, seen.view, seen.places, seen.centres, seen.hidden


def projector(
    rng: np.random.Generator, parts: Parts | None = None, times: float = 1.0
) -> Seen:
    """A scan of the other scanner; all its balls of which enough is seen."""
    parts = parts or tree(rng, BALLS)
    centres = parts.centres[:BALLS]
    reach = np.linalg.norm(parts.centres, axis=1).max() + 20
    rows = int(2 * reach / times / PITCH) // 3 * 3
    scanner = Scanner(views=VIEWS, pixels=(rows * 4 // 3, rows))
    seen = scan(rng, parts, scanner)
    places = np.array([place_of(scanner, v) for v in range(VIEWS)])
    wide = seen.cap[:BALLS] > 0.12
    return seen.points, seen.view, places, centres[wide], centres[~wide]


def stereo_clutter(rng: np.random.Generator) -> Seen:
    """The same with clutter beside the balls."""
    return stereo(rng, bench_spheres_clutter.stereo_scene(rng))


def projector_clutter(rng: np.random.Generator) -> Seen:
    """The same with clutter beside the balls."""
    return projector(rng, bench_spheres_clutter.projector_scene(rng)[0])


def stereo_large(rng: np.random.Generator) -> Seen:
    """Balls of 12 mm, farther apart."""
    return stereo(rng, mechanism(rng, BALLS, LARGE * SIDE, LARGE * RADIUS), LARGE)


def projector_large(rng: np.random.Generator) -> Seen:
    """Balls of 12 mm at places of those of 6 mm."""
    return projector(rng, tree(rng, BALLS, radius=LARGE * RADIUS), LARGE)


MAKES = {
    "": (stereo, projector),
    "clutter": (stereo_clutter, projector_clutter),
    "large": (stereo_large, projector_large),
}


def main(scenes: int, first: int, *, word: str) -> None:
    """Print a line for each scanner and each way to fuse."""
    times = LARGE if word == "large" else 1.0
    R, pitch = times * RADIUS, times * PITCH
    for make in MAKES[word]:
        kinds: dict[Fusion, list[tuple[Outcome, float, int]]] = {}
        for seed in range(first, first + scenes):
            seen = make(np.random.default_rng([24, seed]))
            points, view, places, centres, hidden = seen
            for how in Fusion:
                mesh = fused(points, view, places, pitch, how)
                start = time.process_time()
                spread = points_on(*mesh, 0.4 * times, R * R)
                picks = find_spheres(spread, PickOptions(R, fused=True))
                seconds = time.process_time() - start
                found = outcome(centres, picks, seconds, hidden)
                bias = picks.fusion.radius_mm / R - 1.0 if picks.fusion else np.nan
                kinds.setdefault(how, []).append((found, bias, len(centres)))
        for how, rows in kinds.items():
            nees = np.array([run.nees for run, _, _ in rows])
            low, high = interval(nees)
            rms = 1e3 * np.sqrt(np.mean([run.rms_mm**2 for run, _, _ in rows]))
            biases = [100 * bias for _, bias, _ in rows]
            print(
                f"{make.__name__:17} {how.value:28} "
                f"found {sum(run.found for run, _, _ in rows)} of "
                f"{sum(many for _, _, many in rows)}, "
                f"false {sum(run.false for run, _, _ in rows)}, "
                f"{min(biases):.1f} to {max(biases):.1f} % large, rms {rms:.0f} um, "
                f"NEES {nees.mean():.2f}, 95 % {low:.2f} to {high:.2f} "
                f"({nees.min():.2f} to {nees.max():.2f})",
                flush=True,
            )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*[*given, *(3, 0)[len(given) :]], word=" ".join(sys.argv[3:]))
