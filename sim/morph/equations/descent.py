"""Constrained Newton steps: what `method: newton` does instead of eqs. (11), (12).

The configurations sought are those where half the squared distance to the goals,

    f(z) = 1/2 sum_j |r_j - g_j|^2,    g_j nearest to r_j,

is least among those that satisfy c(z) = 0. The paper's step ignores that the allowed
set is curved; where links are in tension it circles around the solution for ever. Here
each step solves the equations of Newton's method for the Lagrangian f + y.c,

    (H + D) dz + J^T y = -grad f,     J dz = -c,     H = W + sum_i y_i Hess c_i

(sequential quadratic programming: Nocedal and Wright, Numerical Optimization, 2006,
ch. 18), with the damping D, which makes the step one of descent (inertia correction,
sect. 19.3) and keeps links from turning too far.

A link that turns by a straight step grows, and so the step has to be brought back to
the constraints. The shortest way back, eq. (12), would crumple what is close by, since
that takes the smallest displacements. So most of it is a second-order correction
(sect. 18.3) in the measure of H + D, which moves far nodes along instead; eq. (12) does
the little that remains.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.arrays import Bools, Floats
from sim.kernels import inner as inner_kernel
from sim.kernels import kernel
from sim.linear.fronts import Fronts, solve_fronts
from sim.linear.sparse import Factor
from sim.morph.equations import jacobian
from sim.morph.equations.curvature import NO_BLOCKS, HessianTerms, factorise_newton
from sim.morph.equations.hessian import HessianPattern
from sim.morph.equations.jacobian import JacobianLayout
from sim.morph.equations.rows import DIST
from sim.morph.equations.system import (
    ConstraintSystem,
    LinearConstraints,
    linearise,
)
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.once import once_per_owner

PENALTY = 1e6  # of the constraints in K, relative to W; a solve gains as many digits
MOST_ROTATION = 0.5  # largest rotation of a link in one step, rad
ROTATION_WEIGHT = 3e-2  # in the damping at the beginning; adapts
SHIFT = 0.1  # of K, relative to the projected gradient, which counts as 0.1 at most
ARMIJO = 1e-4  # share of the predicted decrease that a step must bring
LOCAL = 0.3  # gradient / error below which curvature is taken as it is
STRAIGHT = 1e-4  # residual below which no second-order correction is made
SWEEPS = 10  # of rotations, more than three numbers off a diagonal ever need
LEFT = 1e-2  # of the constraints by a step, at most: the way back takes the rest


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


@dataclass(frozen=True)
class StepDamping:
    """What the last step taught about the next.

    Attributes
    ----------
    rotation : weight of link rotations in D
    wait, delay : steps to go before curvature is next taken as it is far from the end
    indefinite : steps in a row at which it was negative close to the end
    bent : whether a step has left negative curvature out
    exact : whether the last direction has all curvature as it is
    gradient : along the constraints before the last step, over L
    taken : steps since the first
    radius : of the trust region, root mean square / L
    """

    rotation: float = ROTATION_WEIGHT
    wait: int = 0
    delay: int = 1
    indefinite: int = 0
    bent: bool = False
    exact: bool = False
    gradient: float = 0.0
    taken: int = 0
    radius: float = 0.1


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
    factor, damping = _inertia_corrected(
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


def inner(a: Floats, b: Floats) -> float:
    """Sum of a b without BLAS, whose threads cost more than they gain here."""
    return _inner(a.ravel(), b.ravel())


@kernel
def positive_part(W: Floats) -> Floats:
    """The closest positive semidefinite matrices to W (n, 3, 3), symmetric.

    Where one is negative, its eigenvectors are found by Jacobi's rotations (Golub and
    Van Loan, Matrix Computations, 2013, sect. 8.5).
    """
    convex, A, V = W.copy(), np.empty((3, 3)), np.empty((3, 3))
    for j in range(len(W)):
        if not _may_be_negative(W[j]):
            continue
        A[:], V[:] = W[j], np.eye(3)
        for _ in range(SWEEPS):
            if A[0, 1] ** 2 + A[0, 2] ** 2 + A[1, 2] ** 2 == 0.0:
                break
            for p, q in ((0, 1), (0, 2), (1, 2)):
                _rotate(A, V, p, q)
        for e in range(3):
            for a in range(3):
                for b in range(3):
                    convex[j, a, b] -= V[a, e] * V[b, e] * min(A[e, e], 0.0)
    return convex


@inner_kernel
def _rotate(A: Floats, V: Floats, p: int, q: int) -> None:
    """Turn A <- R^T A R, V <- V R so that A[p, q] vanishes."""
    if abs(A[p, q]) <= 1e-18 * (abs(A[p, p]) + abs(A[q, q])):
        A[p, q] = A[q, p] = 0.0
        return
    slant = 0.5 * (A[q, q] - A[p, p]) / A[p, q]
    t = (1.0 if slant >= 0.0 else -1.0) / (abs(slant) + np.sqrt(slant**2 + 1.0))
    c = 1.0 / np.sqrt(t**2 + 1.0)
    for k in range(3):
        A[k, p], A[k, q] = c * (A[k, p] - t * A[k, q]), c * (t * A[k, p] + A[k, q])
    for k in range(3):
        A[p, k], A[q, k] = c * (A[p, k] - t * A[q, k]), c * (t * A[p, k] + A[q, k])
        V[k, p], V[k, q] = c * (V[k, p] - t * V[k, q]), c * (t * V[k, p] + V[k, q])
    A[p, q] = A[q, p] = 0.0


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


@inner_kernel
def _may_be_negative(M: Floats) -> bool:
    """Not where the leading minors of M + tiny I are all positive."""
    tiny = 1e-12 * (abs(M[0, 0]) + abs(M[1, 1]) + abs(M[2, 2]))
    a = M[0, 0] + tiny
    b = M[1, 1] + tiny - M[1, 0] * M[0, 1] / a
    c = M[2, 1] - M[2, 0] * M[0, 1] / a
    d = M[2, 2] + tiny - M[2, 0] * M[0, 2] / a - c * c / b
    return not (a > 0.0 and b > 0.0 and d > 0.0)


@once_per_owner
def links_of(system: ConstraintSystem) -> Bools:
    """(m,) which rows are links."""
    return np.repeat(system.table.kind == ConstraintKind.DIST, ROWS[system.table.kind])


@dataclass(frozen=True, eq=False)
class _NewtonMatrix:
    """K at a point, whose curvature, tensions and damping are still to be chosen."""

    pattern: HessianPattern
    point: MorphConfiguration
    forces: ConstraintForces
    rho: Floats
    L: float

    @cached_property
    def links(self) -> Bools:
        return links_of(self.forces.linear.system)

    @cached_property
    def _per_rotation(self) -> Floats:
        return 0.5 * self.L**2 / self.forces.linear.system.scale * self.links

    def factor(
        self, W: Floats, y: Floats, rotation: float, shift: float, contacts: Floats
    ) -> Factor:
        terms = HessianTerms(
            W, y + rotation * self._per_rotation, self.rho, shift, contacts
        )
        linear = self.forces.linear
        return factorise_newton(
            linear.system, self.pattern, linear.B, self.point.z, terms, definite=True
        )


def _inertia_corrected(
    pattern: HessianPattern,
    point: MorphConfiguration,
    W: Floats,
    forces: ConstraintForces,
    rho: Floats,
    L: float,
    damping: StepDamping,
    of_contacts: tuple[Floats, Floats],
) -> tuple[Factor, StepDamping]:
    """Factorise K with the damping that makes it positive definite: inertia correction.

    Close to the end curvature is taken as it is. Far from it, where it is mostly
    negative, its negative part is left out (links in compression, W inside a convex
    target), and the curvature as it is is only tried from time to time.
    """
    K, system = _NewtonMatrix(pattern, point, forces, rho, L), forces.linear.system
    to_goals = point.z[: system.n] - point.g
    error = float(np.sqrt(inner(to_goals, to_goals) / system.n))
    local = forces.size < LOCAL * error
    least = SHIFT * min(0.1, forces.size / L)
    if local or damping.wait <= 0:
        exact = _as_it_is(K, W, damping, least, of_contacts[0], 6 if local else 1)
        if exact is not None:
            return exact
    wait, delay = damping.wait - 1, damping.delay
    if wait < 0 and not local:
        wait = delay = min(2 * delay, 16)
    convex, tension = positive_part(W), np.maximum(forces.y, 0.0) * K.links
    shift = least
    while True:
        safe = K.factor(convex, tension, damping.rotation, shift, of_contacts[1])
        if safe.negative == 0:
            indefinite = damping.indefinite + local
            return safe, replace(
                damping,
                wait=wait,
                delay=delay,
                indefinite=indefinite,
                bent=True,
                exact=False,
            )
        shift = max(4.0 * shift, 1e-3)


def _as_it_is(
    K: _NewtonMatrix,
    W: Floats,
    damping: StepDamping,
    shift: float,
    contacts: Floats,
    tries: int,
) -> tuple[Factor, StepDamping] | None:
    """The factor with all curvature, more damped at each try; None if none is sound."""
    rotation = damping.rotation
    for i in range(tries):
        exact = K.factor(W, K.forces.y, rotation, shift, contacts)
        if exact.negative == 0:
            return exact, replace(
                damping,
                rotation=rotation,
                wait=0,
                delay=1,
                indefinite=damping.indefinite + 1 if i > 0 else 0,
                bent=damping.bent or i > 0,
                exact=i == 0,
            )
        rotation = max(8.0 * rotation, 1e-4)
        shift = max(shift, rotation)
    return None
