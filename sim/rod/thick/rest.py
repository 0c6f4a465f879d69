"""Where a thick rod rests, by itself or with its tip held at a height."""

import numpy as np

from sim.arrays import Bools, Floats
from sim.convergence import NotConvergedError
from sim.rod.thick.balance import AT_REST, SectionMotion, largest, newton_step, parts
from sim.rod.thick.thick_rod import ThickRod

ITERATIONS = 300
ROUNDING = 1e-13  # of forces, relative to EA
FARTHEST = 0.3  # turn of a section in one iteration, rad


def held_nodes(rod: ThickRod, *, tip: bool = False) -> Bools:
    """(n, 3) what the clamp holds, and with `tip` the height of the last node."""
    held = np.zeros((rod.elements + 1, 3), dtype=np.bool_)
    clamp = rod.clamp
    held[0] = [True, np.isinf(clamp.sinking), np.isinf(clamp.turning)]
    held[-1, 1] = tip
    return held


def rest(
    rod: ThickRod,
    modulus: float,
    *,
    memory: Floats | None = None,
    tip_height: float | None = None,
    lever: float = 0.0,
    tolerance: float = 1e-10,
) -> Floats:
    """(n, 3) places in balance, where stress is modulus strain + memory.

    Parameters
    ----------
    modulus : Pa
    memory : (elements, 3) Pa, what earlier strains left
    tip_height : m, y of the last node, held by a vertical force
    lever : m, how far beyond the last node, along it, that force acts
    tolerance : largest unbalanced force, of the weight

    Raises
    ------
    NotConvergedError
        with the places reached, where the tolerance is not met or the rest is no
        minimum of the energy
    """
    q = rod.straight()
    still, load = np.zeros_like(q), np.zeros_like(q)
    memory = np.zeros((rod.elements, 3)) if memory is None else memory
    if tip_height is not None:
        q[:, 1] += (tip_height - q[-1, 1]) * (q[:, 0] / q[-1, 0]) ** 2
    held, part = held_nodes(rod, tip=tip_height is not None), parts(rod)
    allowed = tolerance * rod.weight + ROUNDING * modulus * rod.block.area
    for _ in range(ITERATIONS):
        change, force, definite = newton_step(
            part, SectionMotion(q, still, still), AT_REST, modulus, memory, held, load
        )
        worst = largest(force, held, rod.size)
        if worst <= allowed and definite:
            return q
        load[-1, 2] = lever * np.cos(q[-1, 2]) * force[-1, 1] * held[-1, 1]
        q = q + change * min(1.0, FARTHEST / max(float(np.abs(change).max()), 1e-300))
    raise NotConvergedError(
        f"thick rod: unbalanced force {worst:.2g} N is above {allowed:.2g} N after "
        f"{ITERATIONS} iterations: is the rod too soft for its weight?",
        best=q,
    )
