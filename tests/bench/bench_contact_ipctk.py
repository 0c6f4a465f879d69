"""Pairs and distances beside ipctk's: python -m tests.bench.bench_contact_ipctk

Needs numpy, numba and ipctk, in an environment of its own if need be; run it
from the project's folder. Medians of CPU time: our loops use one thread, ipctk's many.
"""

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import ipctk
import numpy as np

from sim.contact.candidates import find_pairs
from sim.contact.distance import edge_edge_distance, point_triangle_distance
from sim.core.arrays import Floats
from sim.core.numba_kernels import kernel
from tests.sim.contact.surfaces import edges_of, scattered_triangles, surface_of

PAIRS = 20_000


def median_seconds(action: Callable[[], object], times: int = 15) -> float:
    """Median CPU time after one run that is not counted."""
    action()
    taken = []
    for _ in range(times):
        begin = time.process_time()
        action()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


@kernel
def all_distances(x: Floats, faces: bool) -> Floats:
    """(k,) distances of (k, 4, 3) nodes and triangles, or of edges."""
    out = np.empty(len(x))
    for k in range(len(x)):
        out[k] = point_triangle_distance(x[k]) if faces else edge_edge_distance(x[k])
    return out


def distances(rng: np.random.Generator) -> None:
    """The largest relative difference, and the time of one pair."""
    x = rng.normal(size=(PAIRS, 4, 3))
    for name, faces, other in (
        ("node, triangle", True, ipctk.point_triangle_distance),
        ("edge, edge", False, ipctk.edge_edge_distance),
    ):
        ours = all_distances(x, faces)
        theirs = np.sqrt([other(*y) for y in x])
        worst = (abs(ours - theirs) / theirs).max()
        here = median_seconds(partial(all_distances, x, faces)) / PAIRS
        print(f"{name:15s} differ by {worst:.0e} at most, {1e9 * here:.0f} ns a pair")


def broad_phase(rng: np.random.Generator) -> None:
    """All candidate pairs of thrown triangles, nodes and edges alike."""
    for count in (100, 1_000, 10_000):
        x, triangle = scattered_triangles(rng, count, 0.5 * count ** (-1 / 3))
        edge, reach = edges_of(triangle), 0.02 * count ** (-1 / 3)
        surface = surface_of(triangle, x, reach=reach, edge=edge)
        mesh = ipctk.CollisionMesh(x, edge, triangle)

        found = ipctk.Candidates()
        found.build(mesh, x, reach / 2)
        pairs = find_pairs(surface, x, reach)
        here = median_seconds(partial(find_pairs, surface, x, reach))
        there = median_seconds(partial(found.build, mesh, x, reach / 2))
        print(
            f"{count:6d} triangles: {1e3 * here:7.3f} ms for "
            f"{len(pairs.row)} pairs; ipctk {1e3 * there:7.3f} ms "
            f"for {len(found)}"
        )


def main() -> int:
    """Print one line a measurement."""
    rng = np.random.default_rng(0)
    distances(rng)
    broad_phase(rng)
    return 0


if __name__ == "__main__":
    sys.exit(main())
