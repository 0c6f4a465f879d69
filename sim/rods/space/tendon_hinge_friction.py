"""Dry friction within a rod: of tendons in their channels, and of hinges.

Where a tendon turns by beta before piece k it slips towards its driven end by
s_k, what the pieces from k on shorten by. The tension of the piece before, T, falls by
the force D_k of friction (Euler, Eytelwein):

    s_k > 0:  D_k = (1 - exp(-mu beta)) T         s_k < 0:  D_k = (1 - exp(mu beta)) T
    s_k = 0:  D_k between both

A hinge of the moment M has D = M where it turns on, D = -M where it turns back, else
one between. Nothing is made smooth. Slips of a step are R dq, with the slopes R that
its forces -R^T D act by, so that friction takes D.s >= 0 and energy stays balanced.

An iteration of Newton's method changes forces by dD and slips by

    s = s0 - W dD,    W = R K^-1 R^T

(a rank-r correction: K stays in its small blocks), in which the law is solved: sweeps
over all forces in turn, then, as they tell which slip and which stick, all at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.sparse_ldl import Factor
from sim.rods.space.assembled_system import SpaceSystem
from sim.rods.space.energy_conserving_forces import add_step_forces, force_space
from sim.rods.space.frames import SpaceState
from sim.rods.space.rod import SpaceElements
from sim.rods.space.tendons import turned

SWEEPS = 200
GUESSES = 30  # which slip and which stick
UNIT = 1e-200  # stiffness of a hinge that is bent far off its rest by a moment of 1
WHOLE = 36.0  # mu beta, from which on no digit of the tension is left
INSIDE = 1e-9  # of the largest force: what is so far within its bounds sticks


class DryLaw(NamedTuple):
    """Bounds of forces D (r,): -lower P and upper P, P = whole - above D.

    Attributes
    ----------
    upper, lower : (r,) shares
    whole : (r,) N, N m
    above : (r, r) 1 where a force comes before another along its tendon
    """

    upper: Floats
    lower: Floats
    whole: Floats
    above: Floats

    def bounds(self, force: Floats) -> tuple[Floats, Floats]:
        """(r,) the least and the largest."""
        before = self.whole - self.above @ force
        return -self.lower * before, self.upper * before


class Dry(NamedTuple):
    """Friction in one step.

    Attributes
    ----------
    force : (r,) N, N m
    rows : (r, 3 n + m) slips by moves
    slip : (r,) m, rad
    left : m, largest residual of the law
    """

    force: Floats
    rows: Floats
    slip: Floats
    law: DryLaw
    left: float = 0.0

    @property
    def taken(self) -> float:
        """J"""
        return float(self.force @ self.slip)

    @property
    def sticks(self) -> Ints:
        """Which are within their bounds."""
        least, most = self.law.bounds(self.force)
        near = INSIDE * float(np.abs(self.law.whole).max(initial=0.0))
        within = (self.force > least + near) & (self.force < most - near)
        return np.flatnonzero(within)

    def residual(self, compliance: Floats) -> Floats:
        """(r,) of the law, m, rad: by how much slips would change forces it forbids."""
        least, most = self.law.bounds(self.force)
        soft = np.maximum(compliance, 1e-300)
        to = np.clip(self.force + self.slip / soft, least, most)
        return np.asarray(compliance * np.abs(self.force - to))


@dataclass(frozen=True, eq=False)
class DryPlaces:
    """Where a rod has friction.

    Attributes
    ----------
    first : (h,) pieces of tendons that forces on tendons come before
    hinges : (k,) those with friction
    """

    system: SpaceSystem
    first: Ints
    hinges: Ints

    @property
    def count(self) -> int:
        """r."""
        return len(self.first) + len(self.hinges)

    @property
    def after(self) -> Floats:
        """(h, q) 1 for pieces that come after a force on their tendon."""
        tendon, piece = self.system.way.tendon, np.arange(len(self.system.way.tendon))
        same = tendon[self.first][:, None] == tendon
        return np.where(same & (piece >= self.first[:, None]), 1.0, 0.0)

    @property
    def sizes(self) -> Floats:
        """(r,) by which slips are lengths: 1, of hinges an edge's, m."""
        rod = self.system.rod
        arms = rod.rest_length[rod.hinges[self.hinges, 0]]
        return np.concatenate([np.ones(len(self.first)), arms])

    def tension(self, driven: Floats, force: Floats) -> Floats:
        """(q,) of pieces of tendons, N, whose driven ends have these tensions."""
        return np.asarray(driven - force[: len(self.first)] @ self.after)

    def law(self, driven: Floats, states: Sequence[SpaceState]) -> DryLaw:
        """With the mean turns of tendons in some states."""
        rod, tendons = self.system.rod, self.system.loads.tendons
        turns = [
            tendon.friction * turned(rod, tendon, state)
            for state in states
            for tendon in tendons
        ]
        each = np.concatenate([np.empty(0), *turns])
        mean = each.reshape(len(states), -1).mean(axis=0)
        by = np.minimum(mean[self.first], WHOLE)
        ones = np.ones(len(self.hinges))
        whole = np.append(driven[self.first], rod.hinge_friction[self.hinges])
        above, k = np.zeros((self.count, self.count)), len(self.first)
        above[:k, :k] = np.tril(self.after.T[self.first], -1)
        return DryLaw(
            np.append(-np.expm1(-by), ones), np.append(np.expm1(by), ones), whole, above
        )

    def rows(
        self, slopes: Floats, ends: tuple[SpaceState, SpaceState], conserving: bool
    ) -> Floats:
        """(r, 3 n + m) slips by moves.

        Parameters
        ----------
        slopes : (q, 11) of lengths of pieces of tendons in the step
        ends : of the step
        """
        of_tendons = np.zeros((len(slopes), len(self.system.free)))
        at = self.system.tendon_places
        np.add.at(of_tendons, (np.arange(len(at))[:, None], at), slopes)
        turning = [self._turning(int(j), ends, conserving) for j in self.hinges]
        none = np.empty((0, len(self.system.free)))
        return np.vstack([-self.after @ of_tendons, *turning, none])

    def _turning(
        self, j: int, ends: tuple[SpaceState, SpaceState], conserving: bool
    ) -> Floats:
        """(3 n + m,) by which a hinge turns: what one that pulls by 1 N m meets."""
        part = _alone(self.system.part, j)
        if not conserving:
            each = [self.system.elastic(state, part)[0] for state in ends]
            return np.asarray(0.5 * (each[0] + each[1]))
        m, total = len(part.edges), np.zeros(len(self.system.free))
        still, spin = np.zeros(m), np.empty(m)
        add_step_forces(*ends, part, 0.0, still, 1.0, force_space(m), total, spin)
        return -total


def dry_places(system: SpaceSystem) -> DryPlaces | None:
    """Of a rod with its tendons; None where nothing rubs."""
    rubs = np.array([tendon.friction > 0.0 for tendon in system.loads.tendons])
    first = np.flatnonzero(rubs[system.way.tendon]) if len(rubs) else np.empty(0)
    hinges = np.flatnonzero(system.rod.hinge_friction > 0.0)
    if not len(first) and not len(hinges):
        return None
    return DryPlaces(system, first.astype(np.int64), hinges)


def _alone(part: SpaceElements, j: int) -> SpaceElements:
    """Elements of which only hinge j acts, by a moment of 1 N m about its axis."""
    none, stiff = np.zeros(len(part.bends)), np.zeros_like(part.hinge_stiffness)
    rest = np.zeros_like(part.hinge_rest)
    stiff[j, 2], rest[j, 2] = UNIT, -1.0 / UNIT
    return part._replace(
        stretching=np.zeros(len(part.edges)), bending=np.zeros((len(none), 2)),
        twisting=none, hinge_stiffness=stiff, hinge_rest=rest,
    )  # fmt: skip


def friction_newton_step(
    factor: Factor, free: Bools, dry: Dry, change: Floats
) -> tuple[Floats, Floats, Floats]:
    """An iteration: the change of all unknowns (3 n + m,), forces, compliance (r,).

    Parameters
    ----------
    change : (3 n + m,) with the forces as they are
    """
    own = dry.rows[:, free]
    soft = factor.solve(own.T) if len(own) else np.empty((int(free.sum()), 0))
    W = own @ soft
    slip = dry.slip + dry.rows @ change
    force = dry_forces(0.5 * (W + W.T), slip, dry.force, dry.law)
    further = change.copy()
    further[free] -= soft @ (force - dry.force)
    return further, force, W.diagonal().copy()


def dry_forces(W: Floats, slip: Floats, before: Floats, law: DryLaw) -> Floats:
    """(r,) forces that obey the law, or nearly where none of the guesses does.

    Parameters
    ----------
    W : (r, r) by which slips fall with forces
    slip : (r,) with the forces before
    """
    diagonal = np.maximum(W.diagonal(), 1e-14 * max(float(W.max()), 1e-300))
    free = slip + W @ before
    force = swept_forces(W, free, before, law, diagonal)
    seen = set()
    for _ in range(GUESSES):
        least, most = law.bounds(force)
        to = force + (free - W @ force) / diagonal
        way = np.where(to >= most, 1, np.where(to <= least, -1, 0))
        if way.tobytes() in seen:
            break
        seen.add(way.tobytes())
        share = np.where(way > 0, law.upper, -law.lower)
        sliding = np.eye(len(W)) + share[:, None] * law.above
        stuck = (way == 0) & (law.upper + law.lower > 0.0)
        A = np.where(stuck[:, None], W, sliding)
        b = np.where(stuck, free, share * law.whole)
        force = np.linalg.lstsq(A, b, rcond=None)[0]
    return np.asarray(force)


@kernel
def swept_forces(
    W: Floats, free: Floats, before: Floats, law: DryLaw, diagonal: Floats
) -> Floats:
    """(r,) forces after sweeps over each in turn."""
    force, r = before.copy(), len(before)
    for _ in range(SWEEPS):
        far = size = 0.0
        for k in range(r):
            slip, above = free[k], law.whole[k]
            for i in range(r):
                slip -= W[k, i] * force[i]
                above -= law.above[k, i] * force[i]
            to = force[k] + slip / diagonal[k]
            to = min(max(to, -law.lower[k] * above), law.upper[k] * above)
            far, size = max(far, abs(to - force[k])), max(size, abs(to))
            force[k] = to
        if far <= 1e-15 * size:
            break
    return force


def stopped(
    dry: Dry, inertia: Floats, free: Bools, v: Floats
) -> tuple[Floats, float, float]:
    """Velocities (3 n + m,) at the end of a step once what sticks has stopped.

    Returns
    -------
    velocities, and what friction takes and supports that move give by that, J
    """
    rows = dry.rows[dry.sticks]
    if not len(rows):
        return v, 0.0, 0.0
    light = np.where(free, 1.0 / inertia, 0.0)
    slip = rows @ v
    impulse = np.linalg.lstsq((rows * light) @ rows.T, slip, rcond=None)[0]
    held = impulse @ (rows * np.where(free, 0.0, v)).sum(axis=1)
    return v - light * (impulse @ rows), float(0.5 * impulse @ slip), float(held)
