"""Random structures with joints, of about 16 nodes, whose targets are out of reach."""

from itertools import combinations

import numpy as np
from scipy.spatial import Delaunay

from sim.core.arrays import Floats
from sim.mechanism.constraints import ConstraintTable, dist, dot, par, triple
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Ellipsoid, on_sphere

NODES = 16
BESIDE = Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2))


def random_structure(seed: int) -> Structure:
    """Half of the triangles between scattered nodes, a third of the links left over.

    Many also have a fixed angle, a body-node or a slider on an edge.
    """
    rng = np.random.default_rng(seed)
    r = _scattered(rng)
    triangles = Delaunay(r[:, :2]).simplices
    chosen = triangles[rng.permutation(len(triangles))[: len(triangles) // 2]]
    bodies = tuple(tuple(sorted(triangle)) for triangle in chosen.tolist())
    rigid = {pair for body in bodies for pair in combinations(body, 2)}
    every = {p for t in triangles.tolist() for p in combinations(sorted(t), 2)}
    links = [pair for pair in sorted(every - rigid) if rng.random() < 0.3]
    sides = sorted(rigid)
    rows = [dist(r, a, b) for a, b in sides + links]
    if rng.random() < 0.5:
        rows.append(dot(r, *sides[0], *sides[-1]))
    if rng.random() < 0.5:
        a, b, c = bodies[0]
        others = [node for node in range(NODES) if node not in bodies[0]]
        rows.append(triple(r, (a, others[rng.integers(len(others))], a, b, b, c)))
    if rng.random() < 0.3:
        a, b = sides[1]
        r = np.vstack([r, r[a] + rng.uniform(0.2, 0.8) * (r[b] - r[a])])
        rows.append(par(a, NODES, a, b))
        far = int(np.linalg.norm(r[:NODES] - r[NODES], axis=1).argmax())
        rows.append(dist(r, NODES, far))
    return Structure(r, ConstraintTable.of(rows), np.arange(len(r)), bodies)


def spiral(count: int) -> Floats:
    """Points of the unit sphere, evenly spread."""
    i = np.arange(count) + 0.5
    return on_sphere(np.arccos(1 - 2 * i / count), np.pi * (1 + 5**0.5) * i)


def _scattered(rng: np.random.Generator) -> Floats:
    """(NODES, 3) close to a plane, none close to another."""
    flat = rng.uniform(-1.5, 1.5, (400, 2))
    kept = [flat[0]]
    for point in flat:
        if len(kept) < NODES and min(np.linalg.norm(point - k) for k in kept) > 0.45:
            kept.append(point)
    return np.column_stack([np.array(kept), 0.15 * rng.normal(size=len(kept))])
