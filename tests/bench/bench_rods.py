"""Rods side by side: python -m tests.bench.bench_rods PART ... (from the root).

Parts:
  star       the actuated star robot on the plane, by step length
  factor     one factorisation and solution: 2 x 2 blocks, sim.linalg.sparse,
             SciPy's splu
  beam       a planar cantilever under sudden gravity beside PyElastica, which solves
             the rod in three dimensions; needs the bench extra (pyelastica)

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
from sim.core.arrays import Floats
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
from sim.rods.plane.rod import Rod, RodMaterial, cantilever
from sim.rods.plane.simulate import RodSimulator
from sim.rods.plane.world import Damping, World

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


LENGTH, RADIUS, MODULUS, DENSITY, G, ELEMENTS = 0.1, 1e-3, 4.0e6, 1000.0, 0.1, 83


def tip_by_modes(t: Floats) -> Floats:
    """Drop of the tip of a beam under sudden gravity: a sum over eight modes."""
    area, inertia = np.pi * RADIUS**2, 0.25 * np.pi * RADIUS**4
    unit = np.sqrt(MODULUS * inertia / (DENSITY * area * LENGTH**4))
    x = np.linspace(0.0, 1.0, 20_001)
    drop = np.zeros_like(t)
    roots = [1.875104069, 4.694091133, 7.854757438, 10.99554073, 14.13716839]
    roots += [(k - 0.5) * np.pi for k in range(6, 9)]
    for b in roots:
        s = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        phi = np.cosh(b * x) - np.cos(b * x) - s * (np.sinh(b * x) - np.sin(b * x))
        share = np.trapezoid(phi, x) / np.trapezoid(phi**2, x)
        omega = b**2 * unit
        drop += G * share * phi[-1] / omega**2 * (1.0 - np.cos(omega * t))
    return drop


def _error(t: Floats, drop: Floats) -> float:
    exact = tip_by_modes(t)
    return float(np.sqrt(np.mean((drop - exact) ** 2) / np.mean(exact**2)))


def beam() -> None:
    seconds = 1.0
    # A rectangle with the area and the inertia of the circle.
    thickness = np.sqrt(3.0) * RADIUS
    width = np.pi * RADIUS**2 / thickness
    material = RodMaterial(MODULUS, DENSITY, thickness, width)
    rod = cantilever(LENGTH, ELEMENTS + 1, material)
    world = World(rod, gravity=(0.0, -G), damping=Damping(beta=0.0))
    print("what                     h (s)    error of the tip   CPU s / simulated s")
    for h in (1e-3, 1.75e-3, 2.5e-3, 5e-3):
        taken = run_time(world, StepOptions(h=h), seconds)
        loop = RodSimulator(world, StepOptions(h=h), None)
        t, drop = [0.0], [0.0]
        while loop.time < seconds - 1e-9:
            loop.run_to(loop.step + 1, seconds)
            t.append(loop.time)
            drop.append(-float(loop.state.x[-1, 1]))
        error = _error(np.array(t), np.array(drop))
        print(f"this, planar          {h:8.1e}    {error:10.3%}      {taken:12.5f}")
    dt = 1.5e-5  # its axial waves need 1.9e-5
    pyelastica(dt, 0.01)  # compiles
    t_peer, drop_peer, taken = pyelastica(dt, seconds)
    error, cost = _error(t_peer, drop_peer), taken / seconds
    print(f"PyElastica, spatial   {dt:8.1e}    {error:10.3%}      {cost:12.5f}")


def pyelastica(dt: float, seconds: float):  # type: ignore[no-untyped-def]
    """Times, drops of the tip and CPU seconds of PyElastica's position Verlet."""
    import elastica as ea

    class Beam(ea.BaseSystemCollection, ea.Constraints, ea.Forcing):  # type: ignore[misc]
        pass

    system = Beam()
    # The first element is held, so the clamp is in its middle, as in `cantilever`.
    length = LENGTH * ELEMENTS / (ELEMENTS - 0.5)
    rod = ea.CosseratRod.straight_rod(
        ELEMENTS,
        np.zeros(3),
        np.array([1.0, 0.0, 0.0]),
        np.array([0.0, 1.0, 0.0]),
        length,
        RADIUS,
        DENSITY,
        youngs_modulus=MODULUS,
        shear_modulus=MODULUS / 3.0,
    )
    system.append(rod)
    system.constrain(rod).using(
        ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    system.add_forcing_to(rod).using(
        ea.GravityForces, acc_gravity=np.array([0.0, -G, 0.0])
    )
    system.finalize()
    stepper = ea.PositionVerlet()
    steps = round(seconds / dt)
    every = max(1, round(2.5e-3 / dt))
    t, drop, now = [0.0], [0.0], np.float64(0.0)
    start = time.process_time()
    for k in range(steps):
        now = stepper.step(system, now, np.float64(dt))
        if (k + 1) % every == 0:
            t.append(float(now))
            drop.append(-float(rod.position_collection[1, -1]))
    return np.array(t), np.array(drop), time.process_time() - start


PARTS = {
    "star": star_by_step,
    "factor": one_factorisation,
    "beam": beam,
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
