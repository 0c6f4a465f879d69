"""A step of Newton's method on the potential energy: direction, length, correction.

The direction is that of Nocedal and Wright (2006), ch. 18, by the matrix K of
`sim.morph.equations.curvature`; its length is sought by Armijo's condition (sect. 3.1)
on the merit function Pi + y.c; a second-order correction (sect. 18.3) brings its end to
the lengths and angles that the linear step gave the elastic parts.
"""

from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.linear.sparse import Factor
from sim.morph.equations.constraint_forces import inner
from sim.morph.equations.descent import ARMIJO, MOST_ROTATION, NewtonDirection
from sim.morph.equations.retraction import retract
from sim.morph.equations.system import linearise
from sim.morph.mobility.curved import curved_model
from sim.morph.statics.elastic import angles_of
from sim.morph.statics.potential import LoadedConfiguration, PotentialEnergy
from sim.morph.structure.constraints import ConstraintKind

CORRECTIONS = 3  # of second order, of a step
RADII = 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3  # of trust regions, root mean square / size


def expanded(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    direction: NewtonDirection,
    there: LoadedConfiguration,
    residual: float,
) -> LoadedConfiguration:
    """Beyond a full step, where curvature was left out, as long as the energy falls."""
    step_length, farthest = 1.0, first_step_length(problem, point, direction.dz)
    while (step_length := 4.0 * step_length) <= farthest:
        beyond = trial(problem, point, direction, step_length, residual)
        if beyond is None or beyond.energy >= there.energy:
            break
        there = beyond
    return there


def newton_direction(
    problem: PotentialEnergy, point: LoadedConfiguration, rho: Floats, factor: Factor
) -> NewtonDirection:
    """K dz = -(what is left of the gradient), J dz = -c by repetition."""
    linear = point.linear
    dz = np.zeros_like(point.z)
    force = point.left + linear.transpose_times(rho * linear.c)
    if problem.system.k:  # the gradient itself; its multipliers carry no force
        force = point.gradient + linear.transpose_times(point.y + rho * linear.c)
    for _ in range(4):
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        left = linear.c + linear.times(dz)
        force = linear.transpose_times(rho * left)
    return NewtonDirection(dz, factor, rho)


def through_negative_curvature(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    measure: NewtonDirection,
    residual: float,
) -> LoadedConfiguration | None:
    """A configuration of lower energy by a step that uses the size of negative
    curvature, as those of `sim.morph.mobility.curved`; None if there is none.

    Parameters
    ----------
    measure : without such curvature, for the second-order correction
    """
    H, unit = problem.dense_curvature(point), problem.loaded.size
    model = curved_model(problem.system, point.z, H, problem.stiffness)
    for radius in RADII:
        longest = radius * unit * float(np.sqrt(problem.system.n))
        direction = replace(measure, dz=model.step(point.left, longest))
        first = free_step_length(problem, point, direction.dz)
        for step_length in (first, 0.25 * first):
            there = trial(problem, point, direction, step_length, residual)
            if there is not None and radius == RADII[0] and step_length == first:
                return expanded(problem, point, direction, there, residual)
            if there is not None:
                return there
    return None


def first_step_length(
    problem: PotentialEnergy, point: LoadedConfiguration, dz: Floats
) -> float:
    """How much of a step turns no link and no hinge too far."""
    n, elastic = problem.system.n, problem.loaded.elastic
    table = problem.system.table
    turning = elastic.links[elastic.rest_length > 0.0]  # others have no direction
    sides = elastic.panels.nodes[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    rigid = table.nodes[table.kind == ConstraintKind.DIST, :2]
    ends = np.concatenate([rigid, turning, sides])
    r = point.z[:n]
    length = np.linalg.norm(r[ends[:, 1]] - r[ends[:, 0]], axis=1)
    moved = np.linalg.norm(dz[ends[:, 1]] - dz[ends[:, 0]], axis=1)
    rotation = float((moved / np.maximum(length, 1e-300)).max(initial=0.0))
    turn = float(np.abs(problem.strains(point, dz)[1]).max(initial=0.0))
    rates = [rotation / MOST_ROTATION, turn / MOST_ROTATION]
    extent = max(problem.loaded.size, float(np.ptp(r, axis=0).max()))
    extent = max(extent, float(np.abs(r - problem.loaded.structure.r0).max()))
    rates.append(float(np.abs(dz[:n]).max()) / extent)
    return 1.0 / max(*rates, 1e-300)


def free_step_length(
    problem: PotentialEnergy, point: LoadedConfiguration, dz: Floats
) -> float:
    """How much of a step, at most all of it, is tried first."""
    size = min(1.0, first_step_length(problem, point, dz))
    return size * problem.longest_free_step(point.z, size * dz)


def trial(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    direction: NewtonDirection,
    step_length: float,
    residual: float,
) -> LoadedConfiguration | None:
    """The configuration after a step of this length, if Armijo's condition holds there.

    The merit function is Pi + y.c with the multipliers y of the start, so that what
    the residuals let the nodes gain does not count.
    """
    z = _second_order_correction(problem, point, direction, step_length)
    linear = None
    if problem.system.m:
        wanted = max(min(residual, 1e-4 * problem.unbalanced(point)), 1e-14)
        retracted = retract(point.linear, point.normal, z, wanted, residual)
        if retracted is None:
            return None
        z, linear = retracted
    if not np.isfinite(z).all():
        return None
    if problem.longest_free_step(point.z, z - point.z) < 1.0:
        return None
    there = problem.point(z, point.deformed.angle, linear)
    before = point.energy + inner(point.y, point.linear.c)
    after = there.energy + inner(point.y, there.linear.c)
    slope = inner(point.left, direction.dz) * step_length
    rounding = 1e-13 * (abs(point.energy) + point.scale * problem.loaded.size)
    rounding += problem.system.rounding(point.y)
    return there if after <= before + ARMIJO * slope + rounding else None


def _second_order_correction(
    problem: PotentialEnergy,
    point: LoadedConfiguration,
    direction: NewtonDirection,
    step_length: float,
) -> Floats:
    """(n + k, 3) the end of a step, with the lengths and angles of the linear step."""
    elastic, dz = problem.loaded.elastic, direction.dz
    links, hinges, panels = problem.strains(point, step_length * dz)
    length, angle = point.deformed.length + links, point.deformed.angle + hinges
    strain = point.deformed.panels.strain + panels
    z = point.z + step_length * dz
    for _ in range(CORRECTIONS):
        d = z[elastic.links[:, 1]] - z[elastic.links[:, 0]]
        longer = np.linalg.norm(d, axis=1) - length
        turned = angles_of(elastic.hinges, z[: problem.system.n], angle) - angle
        there = linearise(problem.system, z)
        stretched = elastic.panels.strain(z[: problem.system.n]) - strain
        force = problem.strain_forces(point, longer, turned, stretched)
        force += point.linear.transpose_times(direction.rho * there.c)
        if np.abs(force).max() <= 0.01 * np.abs(point.left).max():
            break
        z = z - direction.factor.solve(force.ravel()).reshape(-1, 3)
    return z
