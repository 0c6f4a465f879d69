"""Basin hopping from one minimum of a morph to lower ones.

A hop leaves a minimum by a long walk along the constraints, past no body and out of no
range, mostly of the nodes around one of them, descends roughly, and stays where that is
lower (monotonic basin hopping: Leary, J. Global Optim. 18, 2000, after Wales and Doye,
J. Phys. Chem. A 101, 1997). A walk goes on in one direction, so that a part swings over
to its other side, where many small steps of a random walk come back.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.equations.projection import admissible
from sim.morph.mobility.units import in_own_unit, own_unit
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import MorphProblem, NewtonOptions, nearest_free
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

STEPS = 8  # of a walk
STRIDES = (0.125, 0.25, 0.5)  # of one of them, farthest move of a node / L
WIDTHS = (0.15, 0.3, 0.6, np.inf)  # of the part that walks, / L
ROUGH = 1e-5  # gradient at which a descent ends, and most of its steps
MOST_STEPS = 60
FLAT = 0.01  # curvature of a valley that a descent may still go down
LOWER = 1e-6  # of E, by which a hop has to bring it down


def hopped(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    begun: MorphStep,
    hops: int,
    rng: np.random.Generator,
) -> Iterator[MorphStep]:
    """Yield the steps to each minimum that is lower than all before it.

    Parameters
    ----------
    begun : the first of them, whose `state` is on the constraints
    """
    rough = rough_of(options)
    unit = np.ones((len(begun.state), 1))
    unit[: len(begun.r)] = own_unit(structure)
    problem, _ = MorphProblem.at(in_own_unit(structure), target, rough)
    best = begun
    for _ in range(hops):
        away = unit * walked_away(problem, best.state / unit, rng)
        lower = descended(structure, target, rough, away, best.E - LOWER)
        if lower:
            lower = descended(structure, target, options, lower[-1].state, best.E)
        if lower:
            yield from lower
            best = lower[-1]


def walked_away(problem: MorphProblem, z: Floats, rng: np.random.Generator) -> Floats:
    """The state (n + k, 3) after a walk from z in a random direction."""
    n, L = problem.system.n, problem.L
    centre, stride, width = z[rng.integers(n)], rng.choice(STRIDES), rng.choice(WIDTHS)
    away = np.linalg.norm(z[:n] - centre, axis=1) / L
    wanted = rng.normal(size=(n, 3)) * np.exp(-((away / width) ** 2))[:, None]
    for _ in range(STEPS):
        dz = admissible(problem.system, z, wanted)
        farthest = float(np.abs(dz[:n]).max())
        if farthest > 0.0:
            z = nearest_free(problem, z, stride * L / farthest * dz)
    return z


def rough_of(options: NewtonOptions) -> NewtonOptions:
    """Those of a descent that only has to tell whether it ends lower."""
    return replace(
        options,
        tolerance=max(options.tolerance, ROUGH),
        max_steps=min(options.max_steps, MOST_STEPS),
        leave_saddles=False,
    )


def descended(
    structure: Structure,
    target: Target,
    options: NewtonOptions,
    begun: Floats,
    bound: float,
) -> list[MorphStep]:
    """The steps of a descent; none where it fails or does not come below `bound`.

    f falls by |gradient|^2 / 2 kappa in a valley of curvature kappa, and E^2 with it; a
    descent whose E is too large for that with kappa = FLAT is given up, but among
    bodies, whose potential has to fall first.
    """
    steps: list[MorphStep] = []
    try:
        for step in morph_newton(structure, target, options, begun):
            steps.append(step)
            to_fall = step.E**2 - step.gradient**2 / FLAT
            if to_fall > bound**2 and not structure.is_limited:
                return []
    except NotConvergedError:
        return []
    fell_by = bound - steps[-1].E
    return steps if fell_by > 0.0 else []
