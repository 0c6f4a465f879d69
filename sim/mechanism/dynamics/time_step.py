"""One energy-momentum step of a constrained mechanism.

With M of `moving_mechanism`, the quadratic rows c of `quadratic_constraints`, G their
Jacobian and D the slope of the forces, a step of h from (z0, v0) to (z1, v1) solves

    M (z1 - z0) / h = M v + G^T mu          M (v1 - v0) / h = -D - G^T lam - F^T mu
    c(z1, t1) = 0                           G(z1, t1) v1 + dc/dt = 0

with z, v, G and F = d(G v + dc/dt)/dz at the middle. The second line are the
constraints and the hidden ones at the end; mu is what the stabilised index-2
formulation of Gear, Gupta and Leimkuhler (J. Comput. Appl. Math. 12, 1985) adds, of the
order of h^2. As all rows are quadratic, mid-values are discrete derivatives, and the
step keeps energy and both momenta as the flow does (Gonzalez, Physica D 132, 1999). Of
the energy that drivers bring, E1 - E0 = W - damped, it keeps account:

    W = -[lam . G (z1 - z0) + mu . (F (z1 - z0) + G (v1 - v0))].

Massless unknowns, the multipliers and frames, are determined by their rows.

The forces are gravity and loads, elastic parts and obstacles, and dampers. The
potential V of elastic parts and obstacles feels no rigid motion. Over a step from
r0 to r1, with r at the middle and d = r1 - r0, its force is -D with

    D = grad V(r) + (V1 - V0 - grad V(r) . d) e / |e|^2,

e what is left of d without its part that is a rigid motion about r. So D . d = V1 - V0,
and D has no sum and no moment about r: the discrete gradient that keeps energy and both
momenta (Gonzalez, J. Nonlinear Sci. 6, 1996, sect. 4). A damper opposes the change of
its coordinate q with the force -c (q' . d / h) q' at the middle, and takes c (dq/dt)^2.

Dampers act on lengths and angles of a structure, its drivable coordinates:

    length  |r_b - r_a|
    angle   at the corner b from r_a - r_b to r_c - r_b, from 0 to pi
    hinge   angle of `sim.core.hinges` between two wings about an axis
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import splu

from sim.core.arrays import Floats, Ints
from sim.core.hinges import slopes_of_hinges
from sim.mechanism.dynamics.quadratic_constraints import QuadraticRows
from sim.mechanism.shape_measures import rigid_motions
from sim.mechanism.statics.potential_energy import (
    InnerForces,
    PotentialEnergy,
    is_elastic,
)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Lengths, corners and hinges by their nodes (p, 2), (q, 3), (s, 4)."""

    lengths: Ints
    corners: Ints
    hinges: Ints

    @classmethod
    def of(
        cls,
        lengths: Sequence[Sequence[int]] = (),
        corners: Sequence[Sequence[int]] = (),
        hinges: Sequence[Sequence[int]] = (),
    ) -> "Coordinates":
        return cls(
            _nodes("lengths", lengths, 2),
            _nodes("corners", corners, 3),
            _nodes("hinges", hinges, 4),
        )

    def __len__(self) -> int:
        return len(self.lengths) + len(self.corners) + len(self.hinges)

    @property
    def names(self) -> list[str]:
        """What each is called, with its nodes."""
        parts = (("length", self.lengths), ("angle", self.corners))
        return [
            f"{kind}({', '.join(map(str, nodes))})"
            for kind, rows in (*parts, ("hinge", self.hinges))
            for nodes in rows.tolist()
        ]

    def check(self, n: int) -> None:
        """Refuse coordinates of nodes that are not there."""
        for name, rows in zip(
            self.names,
            [*self.lengths.tolist(), *self.corners.tolist(), *self.hinges.tolist()],
            strict=True,
        ):
            if not all(0 <= node < n for node in rows) or len(set(rows)) < len(rows):
                raise ValueError(
                    f"{name} cannot be damped: give different nodes from 0 to {n - 1}"
                )

    def slopes(self, r: Floats) -> Floats:
        """(count, n, 3) derivative of each coordinate in the nodes."""
        out, first = np.zeros((len(self), len(r), 3)), len(self.lengths)
        every, (a, b) = np.arange(len(self)), self.lengths.T
        e = (r[b] - r[a]) / np.linalg.norm(r[b] - r[a], axis=1)[:, None]
        out[every[:first], a], out[every[:first], b] = -e, e
        a, b, c = self.corners.T
        u, v = r[a] - r[b], r[c] - r[b]
        n = np.cross(u, v)
        about = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-300)
        for i, (one, corner, other) in enumerate(self.corners.tolist(), first):
            p, q, normal = u[i - first], v[i - first], about[i - first]
            out[i, one] = -np.cross(normal, p) / (p @ p)
            out[i, other] = np.cross(normal, q) / (q @ q)
            out[i, corner] = -out[i, one] - out[i, other]
        slopes = slopes_of_hinges(self.hinges, r)[1].reshape(-1, 4, 3)
        out[every[first + len(self.corners) :, None], self.hinges] = slopes
        return out


def _nodes(name: str, rows: Sequence[Sequence[int]], count: int) -> Ints:
    """(len(rows), count), or which row is not `count` whole numbers."""
    for row in rows:
        whole = all(isinstance(node, int | np.integer) for node in row)
        if len(row) != count or not whole:
            raise ValueError(f"{name} has the nodes {row}: give {count} node numbers")
    return np.array(rows, dtype=np.int64).reshape(-1, count)


STILL = 1e-12  # of the size: a step that deforms less has nothing to correct


@dataclass(frozen=True, eq=False)
class Dampers:
    """Viscous dampers.

    Attributes
    ----------
    coordinates : lengths, corners and hinges that they act on
    viscosity : (count,) force x time / length, or moment x time / rad
    """

    coordinates: Coordinates
    viscosity: Floats

    def __post_init__(self) -> None:
        if len(self.viscosity) != len(self.coordinates):
            raise ValueError(
                f"viscosity has {len(self.viscosity)} entries, not "
                f"{len(self.coordinates)}: give one for each damper"
            )
        for name, c in zip(self.coordinates.names, self.viscosity, strict=True):
            if not (np.isfinite(c) and c >= 0.0):
                raise ValueError(f"viscosity of damper {name} is {c}: give 0 or more")

    @classmethod
    def none(cls) -> "Dampers":
        """Nothing is damped."""
        return cls(Coordinates.of(), np.empty(0))


@dataclass(frozen=True, eq=False)
class Forces:
    """What acts on the nodes besides constraints.

    Attributes
    ----------
    potential : elastic parts, and obstacles with their kappa
    dead : (n, 3) gravity and loads, which keep their direction
    """

    potential: PotentialEnergy
    dead: Floats
    dampers: Dampers

    @cached_property
    def has_inner(self) -> bool:
        """Whether there are elastic parts or obstacles."""
        return is_elastic(self.potential) or self.potential.obstacles is not None

    def energy(self, z: Floats) -> float:
        """Potential energy at the unknowns z (N,), infinite where bodies overlap."""
        fallen = float(self.dead.ravel() @ z[: self.dead.size])
        return self.inner(z).energy - fallen

    def inner(self, z: Floats) -> InnerForces:
        """Of elastic parts and obstacles at the unknowns z (N,)."""
        return InnerForces(self.potential, self._state(z))

    def _state(self, z: Floats) -> Floats:
        """(n + k, 3) as constraints and obstacles have it."""
        n, k = len(self.dead), self.potential.system.k
        state = np.zeros((n + k, 3))
        state[:n] = z[: 3 * n].reshape(-1, 3)
        state[n:, 0] = z[3 * n : 3 * n + k]
        return state

    def passes(self, z0: Floats, z1: Floats) -> bool:
        """Whether no bodies meet and no range is left on the way from z0 to z1 (N,)."""
        obstacles, size = self.potential.obstacles, self.dead.size
        if obstacles is None:
            return True
        r0, r1 = (z[:size].reshape(-1, 3) for z in (z0, z1))
        return self.energy(z1) < np.inf and obstacles.allows(r0, r1)


Slopes = tuple[Floats, Floats, Floats]
Solve = Callable[[Floats], Floats]

MOST_ITERATIONS = 30
MOST_CUTS = 12  # in two, of a correction
FALLS = 0.25  # to which the residual falls at least, else rounding is reached
CLOSE = 1e-9  # residual from which on that may end the iteration
SOLVED = 1e-13  # of the first residual, at most of 0.01: the goal
DENSE = 200  # equations up to which a dense matrix is faster than a sparse one


class StepFailedError(RuntimeError):
    """Newton's method did not end; a shorter step may."""


@dataclass(frozen=True, eq=False)
class TimeNumbers:
    """The numbers s(t) of driven rows at the ends of a step, and their rates."""

    s0: Floats
    s1: Floats
    ds0: Floats
    ds1: Floats

    @cached_property
    def s(self) -> Floats:
        """At the middle."""
        return 0.5 * (self.s0 + self.s1)

    @cached_property
    def ds(self) -> Floats:
        """Rates at the middle."""
        return 0.5 * (self.ds0 + self.ds1)


@dataclass(frozen=True, eq=False)
class Span:
    """A step while it is sought.

    Attributes
    ----------
    z0, v0, z1, v1 : (N,) unknowns and rates at its ends
    lam, mu : (m,) forces of the rows times h, and what stabilises them
    """

    h: float
    time: TimeNumbers
    z0: Floats
    v0: Floats
    z1: Floats
    v1: Floats
    lam: Floats
    mu: Floats

    @cached_property
    def z(self) -> Floats:
        """At the middle."""
        return 0.5 * (self.z0 + self.z1)

    @cached_property
    def v(self) -> Floats:
        """At the middle."""
        return 0.5 * (self.v0 + self.v1)

    def moved(self, delta: Floats) -> "Span":
        """With the corrections of all unknowns."""
        N, m = len(self.z1), len(self.lam)
        z, v, lam, mu = np.split(delta, [N, 2 * N, 2 * N + m])
        return replace(
            self, z1=self.z1 + z, v1=self.v1 + v, lam=self.lam + lam, mu=self.mu + mu
        )


@dataclass(frozen=True, eq=False)
class StepForces:
    """Forces of one step, which begins with the inner forces `begin`."""

    forces: Forces
    span: Span
    begin: InnerForces

    @property
    def slope(self) -> Floats:
        """(3n,) D and what dampers do, of the opposite sign of a force; or infinite."""
        slope = -self.forces.dead.ravel()
        if self.forces.has_inner:
            slope += self._middle.slope.ravel()
            if not self._end.energy < np.inf:
                slope += np.inf
            elif self._deforming is not None:
                felt, e, missing, _ = self._deforming
                slope[felt] += missing * e
        along, force, _ = self._damping
        return slope + force @ along if len(force) else slope

    @property
    def stiffness(self) -> Floats | None:
        """(3n, 3n) derivative of `slope` in the nodes at the end, without small parts.

        None where nothing is elastic or damped.
        """
        along, _, viscous = self._damping
        K = along.T @ (viscous[:, None] * along) if len(viscous) else None
        if not self.forces.has_inner:
            return K
        half = 0.5 * self._middle.curvature()
        if self._deforming is not None:
            felt, e, missing, rigid = self._deforming
            more = (self._end.slope - self._middle.slope).ravel() - half.T @ self._d
            apart = np.eye(len(felt)) - rigid @ rigid.T
            turned = missing * (float(e @ e) * apart - 2.0 * np.outer(e, e))
            half[felt] += np.outer(e, more)
            half[np.ix_(felt, felt)] += turned
        return half if K is None else half + K

    @property
    def damped(self) -> float:
        """Energy that dampers take."""
        along, force, _ = self._damping
        return float(force @ (along @ self._d))

    @cached_property
    def _middle(self) -> InnerForces:
        return self.forces.inner(self.span.z)

    @cached_property
    def _end(self) -> InnerForces:
        return self.forces.inner(self.span.z1)

    @cached_property
    def _d(self) -> Floats:
        """(3n,) by how much nodes move."""
        return (self.span.z1 - self.span.z0)[: self.forces.dead.size]

    @property
    def _r(self) -> Floats:
        """(n, 3) nodes at the middle."""
        return self.span.z[: self.forces.dead.size].reshape(-1, 3)

    @cached_property
    def _deforming(self) -> tuple[Ints, Floats, float, Floats] | None:
        """Where forces are felt, e / |e|^2, V1 - V0 - grad V . d, rigid motions."""
        begin, middle, end = self.begin, self._middle, self._end
        forces = np.abs(begin.slope) + np.abs(middle.slope) + np.abs(end.slope)
        somewhere = forces.any(axis=1)
        r, felt = self._r[somewhere], np.flatnonzero(somewhere.repeat(3))
        if not len(felt):
            return None
        rigid, e = rigid_motions(r), self._d[felt]
        for _ in range(2):
            e = e - rigid @ (e @ rigid)
        if float(e @ e) <= (STILL * float((r.max(axis=0) - r.min(axis=0)).max())) ** 2:
            return None
        missing = end.energy - begin.energy - float(middle.slope.ravel() @ self._d)
        return felt, e / float(e @ e), missing, rigid

    @cached_property
    def _damping(self) -> tuple[Floats, Floats, Floats]:
        """(count, 3n) slopes of what is damped, (count,) forces, and these over d."""
        own, d = self.forces.dampers, self._d
        viscous, along = own.viscosity / self.span.h, np.zeros((0, d.size))
        if len(viscous):
            along = own.coordinates.slopes(self._r).reshape(-1, d.size)
        return along, viscous * (along @ d), viscous


@dataclass(frozen=True, eq=False)
class StepEnd:
    """A step that was found.

    Attributes
    ----------
    driven, damped : energy that drivers brought and dampers took
    iterations : of Newton's method
    """

    span: Span
    driven: float
    damped: float
    iterations: int


@dataclass(frozen=True, eq=False)
class StepEquations:
    """The equations of a step and the places of their derivatives.

    Attributes
    ----------
    rows : independent ones
    mass : (N, N), zero for massless unknowns
    size, heavy : length and mass by which residuals are divided
    """

    rows: QuadraticRows
    mass: coo_array
    forces: Forces
    size: float
    heavy: float

    def solve(self, span: Span) -> StepEnd:
        """The step that begins as `span`, with its end as a first guess.

        Where a correction by the factors there are reaches the goal, it is the last: it
        leaves left / before of what is left (Hairer and Wanner, vol. II, sect. IV.8).

        Raises
        ------
        StepFailedError
            where the residual does not vanish.
        """
        if not self.forces.passes(span.z0, span.z1):
            span = replace(span, z1=span.z0.copy())
        found, before, goal, solve = span, np.inf, 0.0, None
        begin = self.forces.inner(span.z0)
        for iteration in range(MOST_ITERATIONS):
            forces = StepForces(self.forces, span, begin)
            slopes = self._slopes(span)
            residual = self._residual(span, forces, slopes)
            left = self._size_of(residual, span.h)
            if not left < np.inf:
                raise StepFailedError("a force is infinite")
            if before < CLOSE and left >= FALLS * before:
                return self._end(found, begin, iteration - 1)
            last = left * left <= goal * before
            if solve is None or not last:
                solve = self._solver(span, forces, slopes)
            found, before, goal = span, left, goal or SOLVED * min(left, 0.01)
            span, whole = self._free(span, solve(-residual))
            if last and whole:
                return self._end(span, begin, iteration + 1)
        raise StepFailedError(
            f"residual {before:.1e} after {MOST_ITERATIONS} iterations"
        )

    def _slopes(self, span: Span) -> Slopes:
        """Entries of G and F at the middle, and of G at the end."""
        rows, time = self.rows, span.time
        turning = rows.slopes(span.v, time.s, 0.0) + rows.slopes(span.z, time.ds)
        middle, end = rows.slopes(span.z, time.s), rows.slopes(span.z1, time.s1)
        return middle, turning, end

    def _end(self, span: Span, begin: InnerForces, iterations: int) -> StepEnd:
        damped = StepForces(self.forces, span, begin).damped
        if not self.rows.slot.any():  # nothing is driven
            return StepEnd(span, 0.0, damped, iterations)
        along, (G, F, _) = self.rows.along, self._slopes(span)
        dz, dv = span.z1 - span.z0, span.v1 - span.v0
        work = span.lam @ along(G, dz) + span.mu @ (along(F, dz) + along(G, dv))
        return StepEnd(span, -float(work) / span.h, damped, iterations)

    def _free(self, span: Span, delta: Floats) -> tuple[Span, bool]:
        """With the most of a correction that bodies allow, and if that is all of it."""
        share = 1.0
        for _ in range(MOST_CUTS):
            there = span.moved(share * delta)
            if self.forces.passes(span.z0, there.z1):
                return there, share == 1.0
            share = 0.5 * share
        raise StepFailedError("bodies block the motion")

    def _residual(self, span: Span, forces: StepForces, slopes: Slopes) -> Floats:
        rows, time, h, (G, F, end) = self.rows, span.time, span.h, slopes
        first = self._momentum(span.z1 - span.z0 - h * span.v)
        first -= rows.transpose_times(G, span.mu)
        second = self._momentum(span.v1 - span.v0)
        second += rows.transpose_times(G, span.lam) + rows.transpose_times(F, span.mu)
        second[: self.forces.dead.size] += h * forces.slope
        hidden = rows.along(end, span.v1) + rows.values(span.z1, time.ds1)
        return np.concatenate([first, second, rows.values(span.z1, time.s1), hidden])

    def _momentum(self, v: Floats) -> Floats:
        """(N,) M v, without what calls of sparse matrices cost."""
        row, col = self.mass.coords
        return np.bincount(row, self.mass.data * v[col], len(v)).astype(np.float64)

    def _size_of(self, residual: Floats, h: float) -> float:
        """The largest part of the residual, dimensionless; nan if one is."""
        N, m = self.rows.unknowns, self.rows.count
        force = 1.0 / (self.heavy * self.size)
        unit = np.repeat([force, h * force, 1.0, h], [N, N, m, m])
        return float((np.abs(residual) * unit).max())

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """Rows and columns of the entries of the derivative; some add up."""
        N, m = self.rows.unknowns, self.rows.count
        v, lam, mu, i, j = N, 2 * N, 2 * N + m, *self.mass.coords
        row, col = self.rows.slope_places
        a, b = self.rows.bend_places
        parts = [
            (i, j), (i, v + j), (v + i, v + j),
            (a, b), (v + a, v + b), (v + a, b),
            (col, mu + row), (v + col, lam + row), (v + col, mu + row),
            (lam + row, col), (mu + row, v + col), (mu + row, col),
        ]  # fmt: skip
        at, to = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        return at, to

    def _solver(self, span: Span, forces: StepForces, slopes: Slopes) -> Solve:
        """What divides by the derivative."""
        rows, time, h, M = self.rows, span.time, span.h, self.mass.data
        s, ds, (G, F, end) = time.s, time.ds, slopes
        turned = rows.slopes(span.v1, time.s1, 0.0) + rows.slopes(span.z1, time.ds1)
        bent = 0.5 * rows.bends(span.mu, s)
        forced = 0.5 * (rows.bends(span.lam, s) + rows.bends(span.mu, ds))
        values = np.concatenate([
            M, -0.5 * h * M, M, -bent, bent, forced, -G, G, F, end, end, turned,
        ])  # fmt: skip
        K, (at, to) = forces.stiffness, self._places
        size = 2 * (rows.unknowns + rows.count)
        if K is not None:
            row, col = np.nonzero(K)
            values = np.concatenate([values, h * K[row, col]])
            at = np.concatenate([at, rows.unknowns + row])
            to = np.concatenate([to, col])
        if size > DENSE:
            try:
                return splu(csc_array((values, (at, to)), shape=(size, size))).solve
            except RuntimeError:
                raise StepFailedError("redundant constraints") from None
        matrix = np.bincount(to * size + at, values, size**2).reshape(size, size)
        LU, order, singular = dgetrf(matrix.T)
        if singular:
            raise StepFailedError("redundant constraints")
        return lambda right: dgetrs(LU, order, right)[0]
