"""Rods that move in space, free and in contact: CPU time and error by step length.

    python -m tests.bench.bench_space_rod

A wire of 100 nodes is clamped and let go; two wires loop each other and an overhand
knot is tightened. Errors are of places over the length: at the end, and the largest at
times 16 ms apart, beside the shortest step.
"""

import time
from typing import NamedTuple

import numpy as np

from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.rod.moving.motion import moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.space_rod import clamped
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping
from tests.sim.rod.moving.wires import knot, lasso

NODES, LENGTH, DURATION = 100, 0.5, 0.48
STEPS = (5e-4, 1e-3, 2e-3, 4e-3, 5.6e-3, 8e-3)
TOUCHING_STEPS = (2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3)
APART = 16e-3  # s, times at which runs with contact are compared


class Run(NamedTuple):
    """Places by time, CPU time (s), iterations, steps with those that were cut."""

    places: dict[int, Floats]
    cpu: float
    iterations: int
    substeps: int


def _world() -> SpaceWorld:
    x = np.linspace(0.0, LENGTH, NODES)
    wire = Wire(radius=2e-3).through(np.column_stack([x, 0 * x, 0 * x]))
    return SpaceWorld(clamped(wire, 0), (0.0, 1.0, -9.81), Damping(0.0, 2e-3))


def _run(world: SpaceWorld, h: float, duration: float, apart: float) -> Run:
    options = StepOptions(h, Integrator.ENERGY_MOMENTUM)
    start = time.process_time()
    steps = list(moves(world, options, duration, every=max(1, round(apart / h))))
    return Run(
        {round(1e6 * step.time): step.x for step in steps},
        time.process_time() - start,
        sum(step.iterations for step in steps),
        sum(step.substeps for step in steps),
    )


def _table(
    name: str, world: SpaceWorld, duration: float, steps: tuple[float, ...],
    apart: float,
) -> None:  # fmt: skip
    _run(world, steps[0], 10.0 * steps[0], apart)  # compiles
    runs = {h: _run(world, h, duration, apart) for h in steps}
    exact, length = runs[steps[0]].places, world.rod.length
    for h, run in runs.items():
        both = [time for time in run.places if time in exact]
        errors = [np.abs(run.places[t] - exact[t]).max() / length for t in both]
        print(
            f"{name}, h {1e3 * h:g} ms: {run.cpu:.3f} s, "
            f"{duration / run.cpu:.2f} times real time, {run.iterations} iterations "
            f"of {run.substeps} steps, error {errors[-1]:.1e} at the end, "
            f"{max(errors):.1e} at most"
        )


def main() -> None:
    """Print a row for each step length."""
    _table("free wire", _world(), DURATION, STEPS, DURATION)
    for name, run in (("lasso", lasso()), ("knot", knot())):
        _table(name, run.world, run.duration, TOUCHING_STEPS, APART)


if __name__ == "__main__":
    main()
