"""Pairs, distances, barrier beside ipctk's: python -m tests.bench.bench_contact_ipctk

Needs numpy, scipy, numba and ipctk, in an environment of its own if need be; run it
from the project's folder. Medians of CPU time: our loops use one thread, ipctk's many.
"""

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import ipctk
import numpy as np
from scipy.sparse import csr_array

from sim.arrays import Floats
from sim.contact.candidates import find_pairs
from sim.contact.distance import edge_edge_distance, point_triangle_distance
from sim.contact.potential import contact_energy, pair_terms
from sim.contact.surface import ContactPairs
from sim.kernels import kernel
from tests.sim.contact.surfaces import edges_of, scattered_triangles, surface_of

PAIRS = 20_000
KE = 1e-3  # J


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


def potential(rng: np.random.Generator) -> None:
    """The barrier of IPC on thrown triangles, its slopes, and its time."""
    for count in (100, 1_000, 10_000):
        x, triangle = scattered_triangles(rng, count, 0.5 * count ** (-1 / 3))
        edge, reach = edges_of(triangle), 0.02 * count ** (-1 / 3)
        surface = surface_of(triangle, x, reach=reach, edge=edge)._replace(squared=True)
        pairs = find_pairs(surface, x, reach)
        mesh = ipctk.CollisionMesh(x, edge, triangle)
        there = ipctk.NormalCollisions()
        there.build(mesh, x, reach)
        theirs = ipctk.BarrierPotential(reach, KE / reach**4)
        energy = contact_energy(pairs, KE, x)
        ours = slopes(pairs, x)
        value = theirs(there, mesh, x)
        gradient = theirs.gradient(there, mesh, x)
        hessian = theirs.hessian(there, mesh, x)
        worst = [
            abs(energy - value) / value,
            abs(ours[0] - gradient).max() / abs(gradient).max(),
            abs(ours[1] - hessian).max() / abs(hessian).max(),
        ]
        here = median_seconds(partial(contact_energy, pairs, KE, x))
        across = median_seconds(partial(theirs, there, mesh, x))
        print(
            f"{count:6d} triangles, {len(there)} collisions: value, gradient, Hessian "
            f"differ by {worst[0]:.0e}, {worst[1]:.0e}, {worst[2]:.0e}; energy "
            f"{1e3 * here:.3f} ms, ipctk {1e3 * across:.3f} ms"
        )


def slopes(pairs: ContactPairs, x: Floats) -> tuple[Floats, csr_array]:
    """(3 n,) gradient and (3 n, 3 n) Hessian of all pairs."""
    force, rows, columns, values = np.zeros(x.size), [], [], []
    for k, nodes in enumerate(pairs.node):
        g, h = np.zeros(12), np.zeros((12, 12))
        energy, _ = pair_terms(pairs, k, KE, x, g, h)
        if energy > 0.0:
            own = (3 * nodes[:, None] + np.arange(3)).ravel()
            np.add.at(force, own, g)
            rows.append(np.repeat(own, 12))
            columns.append(np.tile(own, 12))
            values.append(h.ravel())
    where = np.concatenate(rows), np.concatenate(columns)
    return force, csr_array((np.concatenate(values), where), shape=(x.size, x.size))


def main() -> int:
    """Print one line a measurement."""
    rng = np.random.default_rng(0)
    distances(rng)
    broad_phase(rng)
    potential(rng)
    return 0


if __name__ == "__main__":
    sys.exit(main())
