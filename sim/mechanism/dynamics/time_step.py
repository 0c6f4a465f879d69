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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
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
                f"{len(self.viscosity)} viscosities for {len(self.coordinates)} "
                "dampers: give one each"
            )
        for name, c in zip(self.coordinates.names, self.viscosity, strict=True):
            if not (np.isfinite(c) and c >= 0.0):
                raise ValueError(f"viscosity of damper {name} is {c}: give 0 or more")

    @classmethod
    def none(cls) -> "Dampers":
        """Nothing is damped."""
        return cls(Coordinates.of(), np.empty(0))


@dataclass(frozen=True, eq=False)
class StepForces:
    """Forces of one step.

    Attributes
    ----------
    slope : (3n,) D and what dampers do, of the opposite sign of a force
    damped : energy that dampers take
    stiffness : (3n, 3n) derivative of `slope` in the nodes at the end, without small
        parts; None where nothing is elastic or damped
    """

    slope: Floats
    damped: float
    stiffness: Floats | None


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

    def between(
        self, z0: Floats, z1: Floats, h: float, begin: InnerForces
    ) -> StepForces:
        """Of a step of h from z0, with the forces `begin` there, to z1 (N,)."""
        middle, d = self._state(0.5 * (z0 + z1)), (z1 - z0)[: self.dead.size]
        r, slope = middle[: len(self.dead)], -self.dead.ravel()
        damped, K = 0.0, []
        if is_elastic(self.potential) or self.potential.obstacles is not None:
            own, stiffness = self._discrete(begin, z1, middle, d)
            slope = slope + own
            K.append(stiffness)
        if len(self.dampers.viscosity):
            along = self.dampers.coordinates.slopes(r).reshape(-1, d.size)
            rate, c = along @ d / h, self.dampers.viscosity
            slope = slope + (c * rate) @ along
            damped = h * float(c @ rate**2)
            K.append(along.T @ (c[:, None] / h * along))
        return StepForces(slope, damped, sum(K[1:], K[0]) if K else None)

    def _discrete(
        self, begin: InnerForces, z1: Floats, middle: Floats, d: Floats
    ) -> tuple[Floats, Floats]:
        """D (3n,) and its derivative in the nodes at the end, but for how e turns."""
        end, half_way = self.inner(z1), InnerForces(self.potential, middle)
        change = end.energy - begin.energy
        if not np.isfinite(change):
            return np.full_like(d, np.inf), np.zeros((len(d), len(d)))
        slope, half = half_way.slope.ravel(), 0.5 * half_way.curvature()
        slopes = half_way.slope, begin.slope, end.slope
        somewhere = np.any([each != 0.0 for each in slopes], axis=0)
        felt = np.flatnonzero(np.repeat(somewhere.any(axis=1), 3))
        if not len(felt):
            return slope, half
        r = middle[: len(self.dead)].ravel()[felt].reshape(-1, 3)
        e, apart = deforming(r, d[felt])
        if float(e @ e) <= (STILL * float(np.ptp(r, axis=0).max())) ** 2:
            return slope, half
        e = e / float(e @ e)
        missing = change - float(slope @ d)
        more = end.slope.ravel() - slope - half.T @ d
        D = slope.copy()
        D[felt] += missing * e
        half[felt] += np.outer(e, more)
        turned = missing * (float(e @ e) * apart - 2.0 * np.outer(e, e))
        half[np.ix_(felt, felt)] += turned
        return D, half


def deforming(r: Floats, d: Floats) -> tuple[Floats, Floats]:
    """What d (3n,) is without rigid motions about r (n, 3), and the projector."""
    rigid = rigid_motions(r)
    apart: Floats = np.eye(len(d)) - rigid @ rigid.T
    return apart @ (apart @ d), apart


MOST_ITERATIONS = 30
MOST_CUTS = 12  # in two, of a correction
FALLS = 0.25  # to which the residual falls at least, else rounding is reached
CLOSE = 1e-9  # residual from which on that may end the iteration


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
class StepEnd:
    """A step that was found.

    Attributes
    ----------
    driven, damped : energy that drivers brought and dampers took
    iterations : of Newton's method
    left : the largest part of the equations that is left, dimensionless
    """

    span: Span
    driven: float
    damped: float
    iterations: int
    left: float


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
    mass: csr_array
    forces: Forces
    size: float
    heavy: float

    def solve(self, span: Span) -> StepEnd:
        """The step that begins as `span`, with its end as a first guess.

        Raises
        ------
        StepFailedError
            where the residual does not vanish.
        """
        if not self.forces.passes(span.z0, span.z1):
            span = replace(span, z1=span.z0.copy())
        found, before, begin = None, np.inf, self.forces.inner(span.z0)
        for iteration in range(MOST_ITERATIONS):
            forces = self.forces.between(span.z0, span.z1, span.h, begin)
            residual = self._residual(span, forces)
            left = self._size_of(residual, span.h)
            if not left < np.inf:
                raise StepFailedError("a force is infinite")
            if found is not None and before < CLOSE and left >= FALLS * before:
                return found
            driven = self._driven(span)
            found = StepEnd(span, driven, forces.damped, iteration, left)
            before = left
            try:
                factors = splu(self._derivative(span, forces))
            except RuntimeError:
                raise StepFailedError("redundant constraints") from None
            span = self._free(span, factors.solve(-residual))
        raise StepFailedError(
            f"residual {before:.1e} after {MOST_ITERATIONS} iterations"
        )

    def _free(self, span: Span, delta: Floats) -> Span:
        """With the largest half, quarter ... of the correction that bodies allow."""
        share = 1.0
        for _ in range(MOST_CUTS):
            there = span.moved(share * delta)
            if self.forces.passes(span.z0, there.z1):
                return there
            share = 0.5 * share
        raise StepFailedError("bodies block the motion")

    def _residual(self, span: Span, forces: StepForces) -> Floats:
        rows, time, lam, mu, h = self.rows, span.time, span.lam, span.mu, span.h
        pull = rows.transpose_times(span.z, time.s, mu)
        first = self.mass @ (span.z1 - span.z0 - h * span.v) - pull
        second = self.mass @ (span.v1 - span.v0)
        second[: len(forces.slope)] += h * forces.slope
        second += rows.transpose_times(span.z, time.s, lam)
        second += rows.transpose_times(span.v, time.s, mu, 0.0)
        second += rows.transpose_times(span.z, time.ds, mu)
        hidden = rows.along(span.z1, time.s1, span.v1) + rows.values(span.z1, time.ds1)
        return np.concatenate([first, second, rows.values(span.z1, time.s1), hidden])

    def _size_of(self, residual: Floats, h: float) -> float:
        """The largest part of the residual, dimensionless; nan if one is."""
        N, m = self.rows.unknowns, self.rows.count
        force = 1.0 / (self.heavy * self.size)
        unit = np.repeat([force, h * force, 1.0, h], [N, N, m, m])
        return float((np.abs(residual) * unit).max())

    def _driven(self, span: Span) -> float:
        rows, time = self.rows, span.time
        dz, dv = span.z1 - span.z0, span.v1 - span.v0
        turned = rows.along(span.v, time.s, dz, 0.0) + rows.along(span.z, time.ds, dz)
        turned += rows.along(span.z, time.s, dv)
        work = span.lam @ rows.along(span.z, time.s, dz) + span.mu @ turned
        return -float(work) / span.h

    @cached_property
    def _places(self) -> tuple[csc_array, csr_array]:
        """The pattern of the derivative, and what adds its entries up."""
        N, m = self.rows.unknowns, self.rows.count
        M, v, lam, mu = self.mass.tocoo(), N, 2 * N, 2 * N + m
        row, col = self.rows.slope_places
        a, b = self.rows.bend_places
        parts = [
            (M.row, M.col), (M.row, v + M.col), (v + M.row, v + M.col),
            (a, b), (v + a, v + b), (v + a, b),
            (col, mu + row), (v + col, lam + row), (v + col, mu + row),
            (lam + row, col), (mu + row, v + col), (mu + row, col),
        ]  # fmt: skip
        at, to = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        size = 2 * (N + m)
        keys, place = np.unique(to * size + at, return_inverse=True)
        shape = (len(keys), len(at))
        adds = csr_array((np.ones(len(at)), (place, np.arange(len(at)))), shape=shape)
        start = np.searchsorted(keys, np.arange(size + 1) * size)
        return csc_array((np.zeros(len(keys)), keys % size, start), (size, size)), adds

    def _derivative(self, span: Span, forces: StepForces) -> csc_array:
        rows, time, h = self.rows, span.time, span.h
        M, s, ds = self.mass.tocoo().data, time.s, time.ds
        middle = rows.slopes(span.z, s)
        hidden = rows.slopes(span.v, s, 0.0) + rows.slopes(span.z, ds)
        end = rows.slopes(span.z1, time.s1)
        turned = rows.slopes(span.v1, time.s1, 0.0) + rows.slopes(span.z1, time.ds1)
        bent = 0.5 * rows.bends(span.mu, s)
        forced = 0.5 * (rows.bends(span.lam, s) + rows.bends(span.mu, ds))
        values = [
            M, -0.5 * h * M, M, -bent, bent, forced, -middle, middle, hidden, end,
            end, turned,
        ]  # fmt: skip
        pattern, adds = self._places
        filled = adds @ np.concatenate(values)
        matrix = csc_array((filled, pattern.indices, pattern.indptr), pattern.shape)
        if forces.stiffness is None:
            return matrix
        K, N = forces.stiffness, self.rows.unknowns
        row, col = np.nonzero(K)
        more = coo_array((h * K[row, col], (N + row, col)), shape=pattern.shape)
        return csc_array(matrix + more.tocsc())
