"""The shape in which a rod comes to rest: backward Euler steps that forget velocity.

    M (x1 - x0) / h^2 = F(x1) + contact forces

is a step of Newton's method on the equilibrium, held back by the mass as long as h is
short. h grows from step to step until F is in balance.
"""

from dataclasses import replace

import numpy as np

from sim.convergence import NotConvergedError
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import Loop, RodStep, scheme_of
from sim.rod.stepping.state import clear
from sim.rod.stepping.world import Damping, World

GROWTH = 2.0
FIRST, LONGEST = 2e-3, 1e4  # s
EASY = 6  # iterations of a step after which a longer one is tried


def settle(world: World, *, tolerance: float = 1e-9, max_steps: int = 400) -> RodStep:
    """The equilibrium that the rod of `world` sinks to from its start.

    Parameters
    ----------
    tolerance : on the unbalanced force of any node, as a fraction of all outer forces
    """
    options = StepOptions(tolerance=1e-13, reuse=0.0, h=FIRST)
    loop = Loop(replace(world, damping=Damping(beta=0.0)), options, None)
    loop.scheme = scheme_of(options, world.rod, gamma=1.0)
    outer = float(world.rod.mass.sum() * np.linalg.norm(world.gravity))
    if world.load is not None:
        outer += float(np.linalg.norm(world.load.force) * len(world.load.nodes))
    h = FIRST
    for _ in range(max_steps):
        loop.state.v[:] = 0.0
        loop.state.acceleration[:] = 0.0
        loop.options = replace(options, h=h)
        clear(loop.state.clock)
        clear(loop.work.report)
        if not loop.steps(1, h):
            h *= 0.1
            if h < 1e-6 * FIRST:
                break
            continue
        force = np.abs(world.rod.mass[:, None] * loop.state.v).max() / h
        if force <= tolerance * outer:
            loop.state.clock.time = loop.state.clock.step = 0.0  # none on the way
            return loop.record()
        if loop.work.report.iterations <= EASY:
            h = min(h * GROWTH, LONGEST)
    raise NotConvergedError(
        f"no equilibrium to {tolerance:g} of the outer forces after {max_steps} "
        "steps: start closer to it",
        best=loop.record(),
    )
