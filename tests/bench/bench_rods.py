"""Rods side by side: python -m tests.bench.bench_rods PART ... (from the root).

Parts:
  star       the actuated star robot on the plane, by step length
  factor     one factorisation and solution: 2 x 2 blocks, sim.linalg.sparse,
             SciPy's splu

Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1. CPU time of the process without
compilation and building; "times real time" is simulated time over that.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array, tril
from scipy.sparse.linalg import splu

from pipeline.cases.robots import StarCase
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
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import Rod, RodMaterial
from sim.rods.plane.simulate import RodSimulator
from sim.rods.plane.world import World

REPEATS = 5


def cpu(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median CPU seconds of a call."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def run_time(world: World, options: StepOptions, seconds: float) -> float:
    """CPU seconds of the compiled loop over `seconds`."""
    RodSimulator(world, options, None).run_to(1, seconds)
    taken = []
    for _ in range(3):
        loop = RodSimulator(world, options, None)
        start = time.process_time()
        if not loop.run_to(1 << 40, seconds):
            raise loop.failure()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def star_by_step() -> None:
    world = StarCase(duration=3.0).world
    print("h (ms)   times real time")
    for h in (0.5e-3, 1e-3, 2.5e-3, 5e-3, 10e-3, 20e-3):
        taken = run_time(world, StepOptions(h=h), 3.0)
        print(f"{1e3 * h:6.1f}   {3.0 / taken:10.1f}")


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


PARTS = {
    "star": star_by_step,
    "factor": one_factorisation,
}


def main() -> None:
    """Run the parts named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    for part in parser.parse_args().parts or PARTS:
        print(f"\n{part}")
        PARTS[part]()


if __name__ == "__main__":
    main()
