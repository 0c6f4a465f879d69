"""What the constraints carry at a configuration on the way to the goals.

Their forces y balance grad f as well as they can, by least squares; what they leave is
the gradient along the constraints, which tells how far the end is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.fronts import Fronts, solve_fronts
from sim.linear.sparse import Factor
from sim.morph.equations import jacobian
from sim.morph.equations.hessian import HessianPattern
from sim.morph.equations.jacobian import JacobianLayout
from sim.morph.equations.system import LinearConstraints


@dataclass(frozen=True, eq=False)
class MorphConfiguration:
    """A configuration on the constraints.

    Attributes
    ----------
    z : (n + k, 3) state
    g : (n, 3) goals
    linear : the constraints there
    """

    z: Floats
    g: Floats
    linear: LinearConstraints


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """What the constraints carry at a configuration.

    Attributes
    ----------
    linear : the constraints there
    normal : factor of J J^T
    y : (m,) forces that balance grad f best
    gradient : (n + k, 3) what they leave, the gradient along the constraints
    """

    linear: LinearConstraints
    normal: Factor
    y: Floats
    gradient: Floats

    @cached_property
    def size(self) -> float:
        """Root mean square of the gradient over the nodes, the case's unit."""
        squares = inner(self.gradient, self.gradient)
        return float(np.sqrt(squares / self.linear.system.n))


@dataclass(frozen=True, eq=False)
class ObstacleTerms:
    """Further rows and pairs, with their own forces: see `sim.morph.obstacles.volume`.

    Attributes
    ----------
    linear : the constraints with the further rows as the last ones
    pattern : of K with rows and pairs
    y, rho : (q,) forces of the further rows, and how these grow
    pull : (n + k, 3) gradient of the potential of the pairs
    blocks, convex : (b, 3, 3) its curvature in K, and a part that is never negative
    """

    linear: LinearConstraints
    pattern: HessianPattern
    y: Floats
    rho: Floats
    pull: Floats
    blocks: Floats
    convex: Floats

    def push(self) -> Floats:
        """(n + k, 3) gradient of what makes the forces."""
        rows = np.zeros(self.linear.system.m)
        rows[len(rows) - len(self.y) :] = self.y
        return self.linear.transpose_times(rows) + self.pull


def constraint_forces(
    point: MorphConfiguration, contacts: ObstacleTerms | None = None
) -> ConstraintForces:
    """The constraint forces at `point`: the least squares of grad f + J^T y."""
    linear = point.linear
    system, normal = linear.system, linear.factorise()
    gradient = np.zeros_like(point.z)
    gradient[: system.n] = point.z[: system.n] - point.g
    if contacts is not None:
        gradient += contacts.push()
    y = np.zeros(system.m)
    _balance(
        system.layout, system.normal.fronts, normal.L, normal.pivot, linear.B, y,
        gradient,
    )  # fmt: skip
    return ConstraintForces(linear, normal, y, gradient)


def inner(a: Floats, b: Floats) -> float:
    """Sum of a b without BLAS, whose threads cost more than they gain here."""
    return _inner(a.ravel(), b.ravel())


@kernel
def _inner(a: Floats, b: Floats) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel
def _balance(
    layout: JacobianLayout,
    fronts: Fronts,
    L: Floats,
    pivot: Floats,
    B: Floats,
    y: Floats,
    gradient: Floats,
) -> None:
    """Add to y the forces that balance the gradient; what they leave remains in it."""
    lacking = np.empty(len(y))
    for _ in range(2):  # the second removes what rounding left of the first
        jacobian.times(layout, B, gradient, lacking)
        dy = solve_fronts(fronts, L, pivot, lacking)
        jacobian.add_transpose_times(layout, B, dy, -1.0, gradient)
        y -= dy
