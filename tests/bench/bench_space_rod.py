"""A wire of 100 nodes in space, clamped and let go: CPU time and error by step length.

    python -m tests.bench.bench_space_rod

Errors are those of places at the end, over the length, beside the shortest step.
"""

import time

import numpy as np

from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.rod.moving.motion import moves
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.space_rod import clamped
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping

NODES, LENGTH, DURATION = 100, 0.5, 0.48
STEPS = (5e-4, 1e-3, 2e-3, 4e-3, 5.6e-3, 8e-3)


def _world() -> SpaceWorld:
    x = np.linspace(0.0, LENGTH, NODES)
    wire = Wire(radius=2e-3).through(np.column_stack([x, 0 * x, 0 * x]))
    return SpaceWorld(clamped(wire, 0), (0.0, 1.0, -9.81), Damping(0.0, 2e-3))


def _timed(world: SpaceWorld, h: float, duration: float) -> tuple[Floats, float]:
    options = StepOptions(h, Integrator.ENERGY_MOMENTUM)
    start = time.process_time()
    *_, last = moves(world, options, duration, every=10**9)
    return last.x, time.process_time() - start


def main() -> None:
    """Print a row for each step length."""
    world = _world()
    _timed(world, STEPS[0], 0.01)  # compiles
    ends = {h: _timed(world, h, DURATION) for h in STEPS}
    for h, (x, cpu) in ends.items():
        error = np.abs(x - ends[STEPS[0]][0]).max() / LENGTH
        print(
            f"h {1e3 * h:g} ms: {DURATION / cpu:.1f} times real time, error {error:.1e}"
        )


if __name__ == "__main__":
    main()
