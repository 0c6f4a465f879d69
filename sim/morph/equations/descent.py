"""Constrained Newton steps: what `method: newton` does instead of eqs. (11), (12).

The configurations sought are those where half the squared distance to the goals,

    f(z) = 1/2 sum_j |r_j - g_j|^2,    g_j nearest to r_j,

is least among those that satisfy c(z) = 0. The paper's step ignores that the allowed
set is curved; where links are in tension it circles around the solution for ever. Here
each step solves the equations of Newton's method for the Lagrangian f + y.c,

    (H + D) dz + J^T y = -grad f,     J dz = -c,     H = W + sum_i y_i Hess c_i

(sequential quadratic programming: Nocedal and Wright, Numerical Optimization, 2006,
ch. 18), with the damping D, which makes the step one of descent
(`sim.morph.equations.inertia_correction`) and keeps links from turning too far.

A link that turns by a straight step grows, and so the step has to be brought back to
the constraints. The shortest way back, eq. (12), would crumple what is close by, since
that takes the smallest displacements. So most of it is a second-order correction
(sect. 18.3) in the measure of H + D, which moves far nodes along instead; eq. (12) does
the little that remains.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.sparse import Factor
from sim.morph.equations import jacobian
from sim.morph.equations.constraint_forces import (
    ConstraintForces,
    MorphConfiguration,
    ObstacleTerms,
)
from sim.morph.equations.curvature import NO_BLOCKS
from sim.morph.equations.hessian import HessianPattern
from sim.morph.equations.inertia_correction import StepDamping, inertia_corrected
from sim.morph.equations.jacobian import JacobianLayout
from sim.morph.equations.rows import DIST
from sim.morph.equations.system import (
    ConstraintSystem,
    LinearConstraints,
    linearise,
)

PENALTY = 1e6  # of the constraints in K, relative to W; a solve gains as many digits
MOST_ROTATION = 0.5  # largest rotation of a link in one step, rad
ARMIJO = 1e-4  # share of the predicted decrease that a step must bring
STRAIGHT = 1e-4  # residual below which no second-order correction is made
LEFT = 1e-2  # of the constraints by a step, at most: the way back takes the rest


@dataclass(frozen=True, eq=False)
class NewtonDirection:
    """Where to go from a configuration.

    Attributes
    ----------
    dz : (n + k, 3) the step along the tangent
    factor : of K
    rho : (m,) weights of the constraints in K
    """

    dz: Floats
    factor: Factor
    rho: Floats


def newton_direction(
    pattern: HessianPattern,
    point: MorphConfiguration,
    W: Floats,
    forces: ConstraintForces,
    L: float,
    damping: StepDamping,
    contacts: ObstacleTerms | None = None,
) -> tuple[NewtonDirection, StepDamping]:
    """The damped Newton step at `point`, and the damping that it took.

    Parameters
    ----------
    W : (n, 3, 3) curvature of the squared distance to the goals

    Notes
    -----
    The constraints of a step are solved the better the smaller the gradient is (Dembo,
    Eisenstat and Steihaug, SIAM J. Numer. Anal. 19, 1982): where rows are nearly
    dependent, what little a step misses of them is a long way back.
    """
    linear = forces.linear
    rho = penalty_weights(linear)
    all_forces, all_rho = with_obstacles(forces, rho, contacts)
    of_contacts = (NO_BLOCKS, NO_BLOCKS)
    if contacts is not None:
        pattern, of_contacts = contacts.pattern, (contacts.blocks, contacts.convex)
    factor, damping = inertia_corrected(
        pattern, point, W, all_forces, all_rho, L, damping, of_contacts
    )
    dz, left = np.zeros_like(point.z), linear.c
    force = forces.gradient + linear.transpose_times(rho * left)
    enough = min(LEFT, forces.size / L)
    for _ in range(4):  # the constraints of the step: each adds up to six digits
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        left = linear.c + linear.times(dz)
        size = float(np.abs(dz).max()) / L
        if jacobian.largest(linear.system.layout, left) <= enough * size:
            break
        force = linear.transpose_times(rho * left)
    return NewtonDirection(dz, factor, rho), damping


def with_obstacles(
    forces: ConstraintForces, rho: Floats, contacts: ObstacleTerms | None
) -> tuple[ConstraintForces, Floats]:
    """Forces and weights of all rows of K."""
    if contacts is None:
        return forces, rho
    y = np.concatenate([forces.y, contacts.y])
    all_forces = ConstraintForces(contacts.linear, forces.normal, y, forces.gradient)
    return all_forces, np.concatenate([rho, contacts.rho])


def second_order_correction(
    forces: ConstraintForces, direction: NewtonDirection, z: Floats
) -> Floats:
    """dz = -K^-1 J^T rho c(z): towards the constraints, at the least cost in K."""
    there = linearise(forces.linear.system, z)
    if not STRAIGHT < there.residual < 1.0:
        return z
    force = forces.linear.transpose_times(direction.rho * there.c)
    corrected: Floats = z - direction.factor.solve(force.ravel()).reshape(-1, 3)
    return corrected


def penalty_weights(linear: LinearConstraints) -> Floats:
    """(m,) penalty weight rho of each row: PENALTY / |grad c_i|^2."""
    return _penalty_weights(linear.system.layout, linear.B)


def largest_rotation(system: ConstraintSystem, dz: Floats) -> float:
    """Largest rotation of a link in the motion dz, rad."""
    return _largest_rotation(system.layout, dz)


@kernel
def _penalty_weights(layout: JacobianLayout, B: Floats) -> Floats:
    squares = np.zeros(len(layout.scale))
    for p in range(len(B)):
        squares[layout.block_row[p]] += B[p, 0] ** 2 + B[p, 1] ** 2 + B[p, 2] ** 2
    for i in range(len(squares)):
        squares[i] = PENALTY / squares[i] if squares[i] > 0.0 else PENALTY
    return squares


@kernel
def _largest_rotation(layout: JacobianLayout, dz: Floats) -> float:
    most = 0.0
    for e in range(len(layout.kind)):
        if layout.kind[e] == DIST:
            a, b = dz[layout.nodes[e, 0]], dz[layout.nodes[e, 1]]
            square = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2
            most = max(most, square / layout.constant[e])
    angle: float = np.sqrt(most)
    return angle
