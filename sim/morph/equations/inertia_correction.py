"""The matrix K of a constrained Newton step, damped until it is positive definite.

That is the inertia correction of Nocedal and Wright, Numerical Optimization, 2006,
sect. 19.3. Curvature is left out, or the damping D grows, until no pivot of K is
negative: only then is the step of `sim.morph.equations.descent` one of descent.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.arrays import Bools, Floats
from sim.kernels import kernel
from sim.linear.sparse import Factor
from sim.morph.equations.constraint_forces import (
    ConstraintForces,
    MorphConfiguration,
    inner,
)
from sim.morph.equations.curvature import HessianTerms, factorise_newton
from sim.morph.equations.hessian import HessianPattern
from sim.morph.equations.system import ConstraintSystem
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.once import once_per_owner

ROTATION_WEIGHT = 3e-2  # in the damping at the beginning; adapts
SHIFT = 0.1  # of K, relative to the projected gradient, which counts as 0.1 at most
LOCAL = 0.3  # gradient / error below which curvature is taken as it is
SWEEPS = 10  # of rotations, more than three numbers off a diagonal ever need


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


@kernel
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


def inertia_corrected(
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
