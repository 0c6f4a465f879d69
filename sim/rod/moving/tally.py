"""What forces of a step are left over, and what they did."""

import numpy as np

from sim.arrays import Bools, Floats
from sim.kernels import kernel


@kernel
def largest_forces(
    free: Bools, sizes: Floats, unbalanced: Floats, inner: Floats, outer: Floats,
    drawn: Floats, push: Floats,
) -> tuple[float, float, float]:  # fmt: skip
    """Unbalanced, inner, and of all forces, N; all (3 n + m,). inf where one is none.

    Parameters
    ----------
    sizes : lengths over which unknowns are measured, m
    """
    worst = inside = force = 0.0
    sound = True
    for i in range(len(free)):
        left = abs(unbalanced[i] / sizes[i])
        if free[i]:
            sound = sound and left < np.inf
            worst = max(worst, left)
        inside = max(inside, abs(inner[i] / sizes[i]))
        force = max(force, abs(outer[i] / sizes[i]), abs(drawn[i] / sizes[i]))
        force = max(force, abs(push[i] / sizes[i]))
    return (worst if sound else np.inf), inside, max(inside, force)


@kernel
def works(
    free: Bools, inertia: Floats, alpha: float, h: float, v: tuple[Floats, Floats],
    moves: Floats, pull: Floats, weight: Floats, inner: Floats, drawn: Floats,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Kinetic energies, what was given, taken by drag, and weight's work, J.

    Parameters
    ----------
    v : before the step and after it
    pull, weight : outer forces, with those that act for a time, and without
    """
    before = after = given = drag = fallen = 0.0
    for i in range(len(free)):
        if not free[i]:
            given -= inner[i] * moves[i]
            continue
        before += 0.5 * inertia[i] * v[0][i] ** 2
        after += 0.5 * inertia[i] * v[1][i] ** 2
        given += (pull[i] - weight[i] + drawn[i]) * moves[i]
        drag += alpha * inertia[i] * moves[i] ** 2 / h
        fallen += weight[i] * moves[i]
    return before, after, given, drag, fallen
