"""From a stationary configuration that is no minimum, both ways down.

At a stationary point of f of `sim.morph.equations.descent` the inertia of K tells how
many motions lower f. They are the eigenvectors of the curvature of f + y.c along the
constraints with negative eigenvalues; along each of them, and against it, a morph goes
on to where it ends. One such motion leads to the two branches of a simple bifurcation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.morph.equations.constraint_forces import constraint_forces
from sim.morph.mobility.mobility import LARGEST
from sim.morph.mobility.tangent import dense_jacobian, null_space
from sim.morph.mobility.units import in_own_unit, own_unit
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import (
    FLAT,
    MorphProblem,
    NewtonOptions,
    dense_curvature,
    nearest_free,
    negative_directions,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target
from sim.morph.targets.rescaled import Rescaled

AWAY = 1e-2  # of L, displacement to either side of a saddle
LONGEST = 5e-2  # of L, step of the morphs that go on from there
FOLLOWED = 4  # motions that are followed, the steepest first


@dataclass(frozen=True, eq=False)
class Saddle:
    """A stationary configuration.

    Attributes
    ----------
    end : the last step of the morph that found it
    negative : motions that lower f, by inertia
    curvature : (b,) negative eigenvalues, ascending, of those that are followed
    motions : (b, n + k, 3) unit eigenvectors
    """

    end: MorphStep
    negative: int
    curvature: Floats
    motions: Floats


def stationary(structure: Structure, target: Target, options: NewtonOptions) -> Saddle:
    """Where a morph first comes to rest, whether or not f is least there."""
    made, aim = _in_own_unit(structure, target)
    asked = replace(options, leave_saddles=False)
    *_, end = morph_newton(made, aim, asked)
    problem, z = MorphProblem.at_end(made, aim, asked, end.state)
    point = problem.point(z)
    forces = constraint_forces(point, problem.contacts(point))
    negative = negative_directions(problem, point, forces)
    empty = np.empty((0, *z.shape))
    if negative == 0:
        return Saddle(end, 0, np.empty(0), empty)
    if 3 * len(z) > LARGEST:
        raise ValueError(
            f"f falls along {negative} motions where the morph rests, which are found "
            f"for {LARGEST} unknowns at most, not {3 * len(z)}"
        )
    J, used = dense_jacobian(problem.system, z)
    null = null_space(J)
    H = dense_curvature(problem, point, forces)[np.ix_(used, used)]
    values, vectors = np.linalg.eigh(null @ H @ null.T)
    chosen = np.flatnonzero(values < -FLAT)[:FOLLOWED]
    motions = np.zeros((len(chosen), z.size))
    motions[:, used] = vectors[:, chosen].T @ null
    largest = np.abs(motions).argmax(axis=1)[:, None]
    motions *= np.sign(np.take_along_axis(motions, largest, axis=1))
    return Saddle(end, negative, values[chosen], motions.reshape(-1, *z.shape))


def descents(
    structure: Structure, target: Target, options: NewtonOptions, saddle: Saddle
) -> Iterator[tuple[int, int, MorphStep]]:
    """Yield motion, way (1 or -1) and step of the morphs to both sides of a saddle."""
    made, aim = _in_own_unit(structure, target)
    unit, z = own_unit(structure), saddle.end.state
    problem, z = MorphProblem.at(made, aim, options, z)
    careful = replace(options, longest=LONGEST)
    for branch, motion in enumerate(saddle.motions):
        for sign in (1, -1):
            aside = AWAY * problem.L / float(np.abs(motion).max()) * sign * motion
            start = nearest_free(problem, z, aside)
            for step in morph_newton(made, aim, careful, start):
                yield branch, sign, step._replace(r=unit * step.r, g=unit * step.g)


def _in_own_unit(structure: Structure, target: Target) -> tuple[Structure, Target]:
    unit = own_unit(structure)
    if unit == 1.0:
        return structure, target
    return in_own_unit(structure), Rescaled(target, unit)
