"""One energy-momentum step of a constrained mechanism.

With M of `sim.morph.dynamics.masses`, the quadratic rows c of `constraint_rows`, G
their Jacobian and D the slope of `forces`, a step of h from (z0, v0) to (z1, v1) solves

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
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from sim.arrays import Floats
from sim.morph.dynamics.forces import Forces, StepForces
from sim.morph.dynamics.rows import QuadraticRows

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
        found, before = None, np.inf
        for iteration in range(MOST_ITERATIONS):
            forces = self.forces.between(span.z0, span.z1, span.h)
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
                raise StepFailedError("rows depend on each other") from None
            span = self._free(span, factors.solve(-residual))
        raise StepFailedError(f"{before:.1e} left after {MOST_ITERATIONS} iterations")

    def _free(self, span: Span, delta: Floats) -> Span:
        """With the largest half, quarter ... of the correction that bodies allow."""
        share = 1.0
        for _ in range(MOST_CUTS):
            there = span.moved(share * delta)
            if self.forces.passes(span.z0, there.z1):
                return there
            share = 0.5 * share
        raise StepFailedError("bodies are in the way")

    def _residual(self, span: Span, forces: StepForces) -> Floats:
        rows, time, lam, mu, h = self.rows, span.time, span.lam, span.mu, span.h
        pull = rows.pulled(span.z, time.s, mu)
        first = self.mass @ (span.z1 - span.z0 - h * span.v) - pull
        second = self.mass @ (span.v1 - span.v0)
        second[: len(forces.slope)] += h * forces.slope
        second += rows.pulled(span.z, time.s, lam)
        second += rows.pulled(span.v, time.s, mu, 0.0)
        second += rows.pulled(span.z, time.ds, mu)
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
        K, N = forces.stiffness.tocoo(), self.rows.unknowns
        more = coo_array((h * K.data, (N + K.row, K.col)), shape=pattern.shape)
        return csc_array(matrix + more.tocsc())
