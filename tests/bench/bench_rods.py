"""A step's matrix of the planar star: python -m tests.bench.bench_rods.

One factorisation and solution: 2 x 2 blocks, sim.linalg.sparse, SciPy's splu.
Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1. CPU time of the process without
compilation and building.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array, tril
from scipy.sparse.linalg import splu

from sim.linalg import sparse
from sim.rods.plane.block_factorisation import (
    analyse,
    backward,
    empty,
    factorise,
    forward,
)
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.elastic_energy import (
    Rates,
    add_mass,
    add_stiffness,
    elements,
    passive,
    unstrained,
)
from sim.rods.plane.rod import Rod, RodMaterial

REPEATS = 5


def cpu(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median CPU seconds of a call."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def one_factorisation() -> None:
    print("nodes   2 x 2 blocks (us)   sim.linalg.sparse   splu")
    for refinement in (1, 10, 100):
        rod = star(StarShape().refined(refinement), RodMaterial())
        repeats = 51 if refinement < 100 else 5
        times = [1e6 * cpu(work, repeats) for work in solvers(rod)]
        n = len(rod.nodes)
        print(f"{n:5d}   {times[0]:10.1f}   {times[1]:12.1f}   {times[2]:10.1f}")


def solvers(rod: Rod) -> list[Callable[[], object]]:
    """Factorise the matrix of a step of 2.5 ms and solve, in three ways."""
    n, h = len(rod.nodes), 2.5e-3
    pattern = analyse(n, rod.edges, rod.bends)
    filled, factor = empty(pattern), empty(pattern)
    weight, before = Rates(0.5, 8e-3 / h), unstrained(rod)
    add_mass(pattern, filled, rod.mass, rod.held, 1.0)
    parts = elements(rod), passive(rod), weight, before, before.stretch, pattern
    add_stiffness(rod.nodes, *parts, 0.5 * h * h, filled)
    rows, columns, values = _entries(pattern, filled)
    places = sparse.analyse(2 * n, rows, columns)
    lower = csc_array((values, (rows, columns)), shape=(2 * n, 2 * n))
    matrix = csc_array(lower + tril(lower, -1).T)
    b, z = np.ones(2 * n), np.ones((n, 2))

    def blocks() -> None:
        factor.diagonal[:] = filled.diagonal
        factor.lower[:] = filled.lower
        factorise(pattern, factor)
        forward(pattern, factor, z)
        backward(pattern, factor, z)
        z[:] = 1.0

    return [
        blocks,
        lambda: sparse.factorise(places, values).solve(b),
        lambda: splu(matrix).solve(b),
    ]


def _entries(pattern, matrix):  # type: ignore[no-untyped-def]
    """Scalar entries of the lower triangle."""
    rows, columns, values = [], [], []
    n = len(pattern.place)
    for j in range(n):
        xx, xy, yy = matrix.diagonal[j]
        rows += [2 * j, 2 * j + 1, 2 * j + 1]
        columns += [2 * j, 2 * j, 2 * j + 1]
        values += [xx, xy, yy]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i = pattern.row[p]
            for a in range(2):
                for c in range(2):
                    rows.append(2 * i + a)
                    columns.append(2 * j + c)
                    values.append(matrix.lower[p, 2 * a + c])
    return np.array(rows), np.array(columns), np.array(values)


if __name__ == "__main__":
    one_factorisation()
