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
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dgbtrf, dgbtrs
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
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
    def is_damped(self) -> bool:
        """Whether there are dampers."""
        return len(self.dampers.viscosity) > 0

    @property
    def has_stiffness(self) -> bool:
        """Whether the slope of a step's forces depends on where it ends."""
        return self.has_inner or self.is_damped

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


Solve = Callable[[Floats], Floats]

MOST_ITERATIONS = 12  # more may lead to another root, far away: a step is halved first
MOST_CUTS = 12  # in two, of a correction
FALLS = 0.25  # to which the residual falls at least, else rounding is reached
CLOSE = 1e-9  # residual from which on that may end the iteration
SOLVED = 1e-13  # of the first residual, at most of 0.01: the goal
BAND = 100  # off the diagonal, up to which a banded matrix is faster than a sparse one


class StepFailedError(RuntimeError):
    """Newton's method did not end; a shorter step may."""


@dataclass(frozen=True, eq=False)
class TimeNumbers:
    """A step's length, the numbers s(t) of driven rows at its ends, and their rates."""

    h: float
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

    @cached_property
    def all(self) -> Floats:
        """h, then of each s itself and its rate, at the middle and at the end."""
        return np.append(self.h, np.array([self.s, self.ds, self.s1, self.ds1]).T)


@dataclass(frozen=True, eq=False)
class Span:
    """A step while it is sought.

    Attributes
    ----------
    start : (2N,) unknowns and rates, z0 and v0
    w : (2N + 2m,) those at the end, z1 and v1, then lam and mu, the forces of the rows
        times h and what stabilises them
    """

    time: TimeNumbers
    start: Floats
    w: Floats

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """(N,) z0 and z1."""
        N = len(self.start) // 2
        return self.start[:N], self.w[:N]

    @cached_property
    def middle(self) -> Floats:
        """(2N,) z and v."""
        return np.asarray(0.5 * (self.start + self.w[: len(self.start)]))

    @cached_property
    def change(self) -> Floats:
        """(2N,) z1 - z0 and v1 - v0."""
        return self.w[: len(self.start)] - self.start

    @property
    def row_forces(self) -> Floats:
        """(2, m) lam and mu."""
        return self.w[len(self.start) :].reshape(2, -1)

    @cached_property
    def factors(self) -> Floats:
        """(6N + 2m,) of the products in the equations of a step."""
        return np.concatenate([self.w, self.middle, self.change])


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
        if self.forces.is_damped:
            along, force, _ = self._damping
            slope += force @ along
        return slope

    @property
    def stiffness(self) -> Floats:
        """(3n, 3n) derivative of `slope` in the nodes at the end, but small parts."""
        K: Floats | float = 0.0
        if self.forces.is_damped:
            along, _, viscous = self._damping
            K = along.T @ (viscous[:, None] * along)
        if not self.forces.has_inner:
            return np.asarray(K)
        half = 0.5 * self._middle.curvature()
        if self._deforming is not None:
            felt, e, missing, rigid = self._deforming
            more = (self._end.slope - self._middle.slope).ravel() - half.T @ self._d
            apart = np.eye(len(felt)) - rigid @ rigid.T
            turned = missing * (float(e @ e) * apart - 2.0 * np.outer(e, e))
            half[felt] += np.outer(e, more)
            half[np.ix_(felt, felt)] += turned
        return np.asarray(half + K)

    @property
    def damped(self) -> float:
        """Energy that dampers take."""
        if not self.forces.is_damped:
            return 0.0
        along, force, _ = self._damping
        return float(force @ (along @ self._d))

    @cached_property
    def _middle(self) -> InnerForces:
        return self.forces.inner(self.span.middle)

    @cached_property
    def _end(self) -> InnerForces:
        return self.forces.inner(self.span.w)

    @cached_property
    def _d(self) -> Floats:
        """(3n,) by how much nodes move."""
        return self.span.change[: self.forces.dead.size]

    @property
    def _r(self) -> Floats:
        """(n, 3) nodes at the middle."""
        return self.span.middle[: self.forces.dead.size].reshape(-1, 3)

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
        viscous = own.viscosity / self.span.time.h
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

    @np.errstate(over="ignore", invalid="ignore")  # of what diverges, and is refused
    def solve(self, span: Span) -> StepEnd:
        """The step that begins as `span`, with its end as a first guess.

        Where a correction by the factors there are reaches the goal, it is the last: it
        leaves left / before of what is left (Hairer and Wanner, vol. II, sect. IV.8).

        Raises
        ------
        StepFailedError
            where the residual does not vanish.
        """
        N = self.rows.unknowns
        if not self.forces.passes(*span.ends):
            span = replace(span, w=np.append(span.start[:N], span.w[N:]))
        found, before, goal, solve = span, np.inf, 0.0, None
        begin, unit = self.forces.inner(span.start), self._unit(span.time.h)
        for iteration in range(MOST_ITERATIONS):
            forces = StepForces(self.forces, span, begin)
            residual = self._residual(span, forces)
            left = float((np.abs(residual) * unit).max())
            if not left < np.inf:
                raise StepFailedError("a force is infinite")
            if before < CLOSE and left >= FALLS * before:
                return self._end(found, begin, iteration - 1)
            last = left * left <= goal * before
            if solve is None or not last:
                solve = self._solver(span, forces)
            found, before, goal = span, left, goal or SOLVED * min(left, 0.01)
            span, whole = self._free(span, solve(-residual))
            if last and whole:
                return self._end(span, begin, iteration + 1)
        raise StepFailedError(
            f"residual {before:.1e} after {MOST_ITERATIONS} iterations"
        )

    def _end(self, span: Span, begin: InnerForces, iterations: int) -> StepEnd:
        damped = StepForces(self.forces, span, begin).damped
        if not self.rows.slot.any():  # nothing is driven
            return StepEnd(span, 0.0, damped, iterations)
        rows, time, (lam, mu) = self.rows, span.time, span.row_forces
        (z, v), (dz, dv) = span.middle.reshape(2, -1), span.change.reshape(2, -1)
        G = rows.slopes(z, time.s)
        F = rows.slopes(v, time.s, 0.0) + rows.slopes(z, time.ds)
        work = lam @ rows.along(G, dz) + mu @ (rows.along(F, dz) + rows.along(G, dv))
        return StepEnd(span, -float(work) / time.h, damped, iterations)

    def _free(self, span: Span, delta: Floats) -> tuple[Span, bool]:
        """With the most of a correction that bodies allow, and if that is all of it."""
        share = 1.0
        for _ in range(MOST_CUTS):
            there = replace(span, w=span.w + share * delta)
            if self.forces.passes(*there.ends):
                return there, share == 1.0
            share = 0.5 * share
        raise StepFailedError("bodies block the motion")

    def _unit(self, h: float) -> Floats:
        """(2N + 2m,) what makes residuals dimensionless."""
        N, m, force = self.rows.unknowns, self.rows.count, 1.0 / self.heavy / self.size
        return np.repeat([force, h * force, 1.0, h], [N, N, m, m])

    @cached_property
    def _products(self) -> QuadraticRows:
        """The equations but for forces, rows of products of `Span.factors`."""
        rows, N, m = self.rows, self.rows.unknowns, self.rows.count
        lam, mu, z, v = 2 * N, 2 * N + m, 2 * N + 2 * m, 3 * N + 2 * m
        dz, dv, one = v + N, v + 2 * N, v + 3 * N
        h, s, ds, s1, ds1 = range(5)
        row, col, other, slot, factor = rows.entries
        slot, of = 4 * slot, 4 * rows.slot
        linear, M, (p, q) = other < N, self.mass.data, self.mass.coords
        at_z, at_z1 = (np.where(linear, first + other, one) for first in (z, 0))
        i, j = (np.where(x < N, x, one) for x in (rows.i, rows.j))
        parts: list[tuple[ArrayLike, ...]] = [
            (p, dz + q, one, s, M), (p, v + q, one, h, -M),
            (col, at_z, mu + row, s + slot, -factor),
            (N + p, dv + q, one, s, M), (N + col, at_z, lam + row, s + slot, factor),
            (N + col, v + other, mu + row, s + slot, linear * factor),
            (N + col, at_z, mu + row, ds + slot, factor),
            (lam + rows.row, i, j, s1 + of, rows.factor),
            (mu + row, at_z1, N + col, s1 + slot, factor),
            (mu + rows.row, i, j, ds1 + of, rows.factor),
        ]  # fmt: skip
        alike = (np.broadcast_arrays(*part) for part in parts)
        columns = [np.concatenate(column) for column in zip(*alike, strict=True)]
        own = (columns[4] != 0.0) & (columns[3] != ds) & (columns[3] != ds1)
        return QuadraticRows(z, one, *(column[own] for column in columns))

    @cached_property
    def _places(self) -> tuple[Ints, Ints, Floats]:
        """Rows and columns of the derivatives in w, and what each is multiplied by.

        Those of products, then, where there is a stiffness, all of that.
        """
        N, size = self.rows.unknowns, self._products.count
        row, col = self._products.slope_places
        column = np.append(np.arange(size), np.tile(np.arange(2 * N), 2))
        middle = (col >= size) & (col < size + 2 * N)
        felt = np.arange(self.forces.dead.size * self.forces.has_stiffness)
        at, to = np.repeat(N + felt, len(felt)), np.tile(felt, len(felt))
        each = np.append(row, at), np.append(column[col], to)
        return *each, np.where(middle, 0.5, 1.0)

    @cached_property
    def _band(self) -> tuple[Ints, Ints, int, Ints]:
        """Order of w, place of each in it, how far entries are off the diagonal then,
        and where they are in LAPACK's banded matrix, which has 3 band + 1 rows."""
        (at, to, _), size = self._places, self._products.count
        both = np.append(at, to), np.append(to, at)
        graph = csr_array((np.ones(len(both[0])), both), shape=(size, size))
        order = reverse_cuthill_mckee(graph, symmetric_mode=True).astype(np.int64)
        place = np.argsort(order)
        band = int(np.abs(place[at] - place[to]).max())
        return order, place, band, place[to] * 3 * band + 2 * band + place[at]

    def _residual(self, span: Span, forces: StepForces) -> Floats:
        residual = self._products.values(span.factors, span.time.all)
        felt = slice(self.rows.unknowns, self.rows.unknowns + self.forces.dead.size)
        residual[felt] += span.time.h * forces.slope
        return residual

    def _solver(self, span: Span, forces: StepForces) -> Solve:
        """What divides by the derivative."""
        (at, to, factor), (order, place, band, places) = self._places, self._band
        values = factor * self._products.slopes(span.factors, span.time.all)
        if self.forces.has_stiffness:
            values = np.append(values, span.time.h * forces.stiffness)
        size, height = len(order), 3 * band + 1
        if band > BAND:
            own = np.flatnonzero(values)
            entries = values[own], (at[own], to[own])
            try:
                return splu(csc_array(entries, shape=(size, size))).solve
            except RuntimeError:
                raise StepFailedError("redundant constraints") from None
        filled = np.bincount(places, values, height * size).reshape(size, height)
        LU, pivots, singular = dgbtrf(filled.T, band, band)
        if singular:
            raise StepFailedError("redundant constraints")
        return lambda right: dgbtrs(LU, band, band, right[order], pivots)[0][place]
