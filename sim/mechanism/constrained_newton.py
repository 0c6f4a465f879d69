"""Constrained Newton steps: what `method: newton` does instead of eqs. (11), (12).

The configurations sought are those where half the squared distance to the goals,

    f(z) = 1/2 sum_j |r_j - g_j|^2,    g_j nearest to r_j,

is least among those that satisfy c(z) = 0. The paper's step ignores that the allowed
set is curved; where links are in tension it circles around the solution for ever. Here
each step solves the equations of Newton's method for the Lagrangian f + y.c,

    (H + D) dz + J^T y = -grad f,     J dz = -c,     H = W + sum_i y_i Hess c_i

(sequential quadratic programming: Nocedal and Wright, Numerical Optimization, 2006, ch.
18), with the damping D, which makes the step one of descent and keeps links from
turning too far.

A link that turns by a straight step grows, and so the step has to be brought back to
the constraints. The shortest way back, eq. (12), would crumple what is close by, since
that takes the smallest displacements. So most of it is a second-order correction
(sect. 18.3) in the measure of H + D, which moves far nodes along instead; eq. (12) does
the little that remains.

D comes from the inertia correction of Nocedal and Wright, sect. 19.3: curvature is left
out, or D grows, until no pivot of the matrix K of the step is negative. Only then is
the step one of descent.

Small structures use negative curvature along the constraints by its size
(`sim.optimize.curvature`): the Hessian is Z^T H Z, with Z an orthonormal basis of the
null space of J and H the curvature of f + y.c. The trust region grows after a full step
and shrinks after a short one. Further steps with the same basis bring the end of a long
one back to the floor of a valley that bends (as Shamanskii, Ukr. Mat. Zh. 19, 1967,
keeps a factor). The basis is dense.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.core.arrays import Bools, Floats
from sim.core.numba_kernels import kernel
from sim.linalg.sparse_ldl import Factor, factorise
from sim.mechanism import jacobian_pattern
from sim.mechanism.constraint_forces import ObstacleTerms
from sim.mechanism.constraint_system import (
    NOT_CURVED,
    ConstraintSystem,
    HessianPattern,
    HessianTerms,
    LinearConstraints,
    assemble,
    dense,
    linearise,
)
from sim.mechanism.constraints import DIST, ROWS, ConstraintKind
from sim.mechanism.jacobian_pattern import JacobianLayout
from sim.mechanism.mobility import dense_jacobian, null_space
from sim.mechanism.object_cache import once_per_owner
from sim.optimize.curvature import Spectrum

ROTATION_WEIGHT = 3e-2  # in the damping at the beginning; adapts
SHIFT = 0.1  # of K, relative to the projected gradient, which counts as 0.1 at most
LOCAL = 0.3  # gradient / error below which curvature is taken as it is


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


def positive_part(W: Floats) -> Floats:
    """The closest positive semidefinite matrices to W (n, 3, 3), symmetric."""
    values, V = np.linalg.eigh(W)
    below = V * np.sqrt(np.maximum(-values, 0.0))[:, None, :]
    return np.asarray(W + np.einsum("nae,nbe->nab", below, below))


@once_per_owner
def links_of(system: ConstraintSystem) -> Bools:
    """(m,) which rows are links."""
    return np.repeat(system.table.kind == ConstraintKind.DIST, ROWS[system.table.kind])


def rotation_weights(system: ConstraintSystem, L: float) -> Floats:
    """(m,) forces of links, by which a turn of 1 rad costs as much as a motion by L."""
    return np.asarray(0.5 * L**2 / system.scale * links_of(system))


@dataclass(frozen=True, eq=False)
class NewtonMatrix:
    """K at a configuration, whose shift and damping are still to be chosen.

    Attributes
    ----------
    z : (n + k, 3) state
    linear : the constraints there
    W : (n, 3, 3) curvature of the objective
    y, rho : (m,) forces and weights of the constraints
    """

    pattern: HessianPattern
    z: Floats
    linear: LinearConstraints
    W: Floats
    y: Floats
    rho: Floats
    contacts: ObstacleTerms | None = None

    @cached_property
    def places(self) -> HessianPattern:
        """Where the entries are."""
        return self.pattern if self.contacts is None else self.contacts.pattern

    @cached_property
    def _exact(self) -> HessianTerms:
        at = self.contacts
        if at is None:
            return HessianTerms(self.W, self.y, self.rho, 0.0)
        y, rho = np.concatenate([self.y, at.y]), np.concatenate([self.rho, at.rho])
        return HessianTerms(self.W, y, rho, 0.0, at.curvature)

    @cached_property
    def _convex(self) -> HessianTerms:
        """Without what can be negative."""
        tension = np.maximum(self._exact.y, 0.0) * links_of(self.rows.system)
        pairs = NOT_CURVED if self.contacts is None else self.contacts.convex
        return self._exact._replace(W=positive_part(self.W), y=tension, contacts=pairs)

    @cached_property
    def rows(self) -> LinearConstraints:
        """With those of contacts."""
        return self.linear if self.contacts is None else self.contacts.linear

    def entries(
        self, shift: float, *, convex: bool = False, stiffening: Floats | float = 0.0
    ) -> Floats:
        """Of the lower triangle.

        Parameters
        ----------
        convex : leave out what can be negative
        stiffening : (m,) more forces of the rows, by which links resist a turn
        """
        terms = self._convex if convex else self._exact
        terms = terms._replace(y=terms.y + stiffening, mu=shift)
        rows = self.rows
        return assemble(rows.system.layout, self.places, rows.B, self.z, terms)

    def dense(self) -> Floats:
        """(3n + 3k, 3n + 3k)."""
        return dense(self.places, self.entries(0.0))


def inertia_corrected(
    K: NewtonMatrix, damping: StepDamping, size: float, error: float, L: float
) -> tuple[Factor, StepDamping]:
    """Factorise K with the damping that makes it positive definite: inertia correction.

    Close to the end curvature is taken as it is. Far from it, where it is mostly
    negative, its negative part is left out (links in compression, W inside a convex
    target), and the curvature as it is is only tried from time to time.

    Parameters
    ----------
    size, error : root mean square of the gradient, and of the way to the goals
    """
    by_rotation = rotation_weights(K.rows.system, L)

    def factor(rotation: float, shift: float, *, convex: bool = False) -> Factor:
        values = K.entries(shift, convex=convex, stiffening=rotation * by_rotation)
        return factorise(K.places.factor, values, drop=0.0, definite=True)

    local = size < LOCAL * error
    least = SHIFT * min(0.1, size / L)
    if local or damping.wait <= 0:
        rotation, shift = damping.rotation, least
        for tries in range(6 if local else 1):  # with all curvature, ever more damped
            exact = factor(rotation, shift)
            if exact.negative == 0:
                left = damping.indefinite + 1 if tries else 0
                return exact, replace(
                    damping, rotation=rotation, wait=0, delay=1, indefinite=left,
                    bent=damping.bent or tries > 0, exact=tries == 0,
                )  # fmt: skip
            rotation = max(8.0 * rotation, 1e-4)
            shift = max(shift, rotation)
    wait, delay = damping.wait - 1, damping.delay
    if wait < 0 and not local:
        wait = delay = min(2 * delay, 16)
    shift, left = least, damping.indefinite + local
    while (safe := factor(damping.rotation, shift, convex=True)).negative:
        shift = max(4.0 * shift, 1e-3)
    return safe, replace(
        damping, wait=wait, delay=delay, indefinite=left, bent=True, exact=False
    )


PENALTY = 1e6  # of the constraints in K, relative to W; a solve gains as many digits
MOST_ROTATION = 0.5  # largest rotation of a link in one step, rad
STRAIGHT = 1e-4  # residual below which no second-order correction is made
MOST_SOLVES = 20  # of a step, where rows are nearly dependent
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
    K: NewtonMatrix, factor: Factor, gradient: Floats, enough: float
) -> NewtonDirection:
    """The step dz of K dz = -gradient, J dz = -c.

    Parameters
    ----------
    gradient : (n + k, 3) of the objective, as far as the constraints leave it
    enough : of the constraints by a step that may be left, over its size

    Notes
    -----
    The constraints of a step are solved the better the smaller the gradient is (Dembo,
    Eisenstat and Steihaug, SIAM J. Numer. Anal. 19, 1982): where rows are nearly
    dependent, what little a step misses of them is a long way back.
    """
    linear, rho = K.linear, K.rho
    dz, left = np.zeros_like(K.z), linear.c
    force = gradient + linear.transpose_times(rho * left)
    for _ in range(MOST_SOLVES):  # each adds up to six digits to J dz = -c
        dz -= factor.solve(force.ravel()).reshape(-1, 3)
        left = linear.c + linear.times(dz)
        if (
            jacobian_pattern.largest(linear.system.layout, left)
            <= enough * np.abs(dz).max()
        ):
            break
        force = linear.transpose_times(rho * left)
    return NewtonDirection(dz, factor, rho)


def second_order_correction(
    linear: LinearConstraints, direction: NewtonDirection, z: Floats
) -> Floats:
    """dz = -K^-1 J^T rho c(z): towards the constraints, at the least cost in K."""
    there = linearise(linear.system, z)
    if not STRAIGHT < there.residual < 1.0:
        return z
    force = linear.transpose_times(direction.rho * there.c)
    return np.asarray(z - direction.factor.solve(force.ravel()).reshape(-1, 3))


def penalty_weights(layout: JacobianLayout, B: Floats) -> Floats:
    """(m,) penalty weight rho of each row: PENALTY / |grad c_i|^2."""
    squares = np.bincount(layout.block_row, (B * B).sum(axis=1), len(layout.scale))
    return np.asarray(PENALTY / np.where(squares > 0.0, squares, 1.0))


@kernel
def largest_rotation(layout: JacobianLayout, dz: Floats) -> float:
    """Largest rotation of a link in the motion dz, rad."""
    most = 0.0
    for e in range(len(layout.kind)):
        if layout.kind[e] == DIST:
            a, b = dz[layout.nodes[e, 0]], dz[layout.nodes[e, 1]]
            square = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2
            most = max(most, square / layout.constant[e])
    return float(np.sqrt(most))


LEAST = 1e-8  # curvature, of that of the stiffest part, that counts as none
DENSE = 400  # unknowns up to which a step may be dense


def curvature_along(
    system: ConstraintSystem, z: Floats, H: Floats, stiffness: float = 1.0
) -> Spectrum:
    """Curvature along the constraints at a state z (n + k, 3) that satisfies them.

    Parameters
    ----------
    H : (3n + 3k, 3n + 3k) of f and y.c
    stiffness : the largest, in units of H
    """
    values, basis = modes_along(system, z, H)
    return Spectrum(basis, np.maximum(np.abs(values), LEAST * stiffness))


def modes_along(
    system: ConstraintSystem, z: Floats, H: Floats
) -> tuple[Floats, Floats]:
    """Curvatures (f,) along the constraints at z, and their motions (f, 3n + 3k)."""
    J, used = dense_jacobian(system, z)
    Z = null_space(J)
    values, V = np.linalg.eigh(Z @ H[np.ix_(used, used)] @ Z.T)
    basis = np.zeros((len(values), z.size))
    basis[:, used] = V.T @ Z
    return values, basis
