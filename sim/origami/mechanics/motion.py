"""A sheet with mass that moves: from rest or from speeds, with damping and contact.

Newmark's rule with constant mean acceleration (J. Eng. Mech. Div. ASCE 85, 1959), of
second order, over a step h:

    v1 = 2 (x1 - x0) / h - v0,    a1 = 2 (v1 - v0) / h - a0
    m a1 + A m v1 + f(x1) + sum over hinges of B k w1 dtheta/dx = m g

with the inner forces f, contact's among them, the mass m of nodes (a third of each
triangle's), and w the rate of a hinge's angle theta, by the same rule. A hinge with its
dashpot is one of stiffness k (1 + 2 B / h) with another rest angle, so that Newton's
matrix is exact. Where panels rub, `rubbing` adds its impulses. A step is divided where
it does not converge, or where the energies, with what damping and friction took, do not
keep their sum: the rule keeps it to second order only, and the barrier of contact is
stiff.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.contact.safe_step import largest_step
from sim.convergence import NotConvergedError
from sim.limits import is_count, is_finite, refuse_negative, refuse_unless_positive
from sim.origami.folding.equilibrium import spread
from sim.origami.folding.problem import (
    FoldingProblem,
    NearbyPairs,
    farthest,
    near_at,
    refreshed,
    safe_step_length,
)
from sim.origami.folding.sheet import StartError, hinge_angles
from sim.origami.mechanics.moving_state import MovingState, StepMatrix, StepTrial
from sim.origami.mechanics.rubbing import Rubbed, rubbed_at, rubbed_further
from sim.origami.model.assembly import assemble, energies_at
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.model.skyline import factorise, solve

MOST_NEWTON = 30  # linear solves of a step before it is divided
HALVINGS = 16
ROUNDING = 1e-15  # of positions, of the sheet's size
SMALL = 1e-2  # of what moves a sheet: the largest tolerance


@dataclass(frozen=True)
class MotionSettings:
    """How a sheet moves.

    Parameters
    ----------
    panel_density, crease_density : kg/m^3
    gravity : m/s^2 against z
    slope : degrees by which gravity leans from there towards x
    mass_damping : A, 1/s
    hinge_damping : B, s, in proportion to the stiffness of hinges
    duration, steps : s, and into how many equal steps it is divided
    tolerance : on the unbalanced force, N
    balance : share of the energies by which a part of a step may change their sum
    friction : mu of Coulomb's law between panels
    complementarity : residual of that law that a step may leave, m/s
    """

    panel_density: float
    crease_density: float
    duration: float
    steps: int
    gravity: float = 0.0
    mass_damping: float = 0.0
    hinge_damping: float = 0.0
    tolerance: float = 1e-9
    balance: float = 1e-5
    friction: float = 0.0
    complementarity: float = 1e-9
    slope: float = 0.0

    def __post_init__(self) -> None:
        refuse_unless_positive(
            self, "panel_density", "duration", "tolerance", "balance",
            "complementarity",
        )  # fmt: skip
        refuse_negative(
            self, "crease_density", "gravity", "mass_damping", "hinge_damping",
            "friction",
        )  # fmt: skip
        if not is_count(self.steps):
            raise ValueError(f"steps is {self.steps}: give 1 or more")
        if not is_finite(self.slope) or abs(self.slope) > 90.0:
            raise ValueError(
                f"slope is {self.slope}: give a number of degrees, -90 to 90"
            )

    @property
    def up(self) -> Floats:
        """(3,) unit vector against gravity."""
        lean = np.radians(self.slope)
        return np.array([-np.sin(lean), 0.0, np.cos(lean)])


def node_masses(
    mesh: BarHingeMesh, material: SheetMaterial, settings: MotionSettings
) -> Floats:
    """(n,) kg: a third of each triangle at each of its corners."""
    panels = len(mesh.pattern.panels)
    thick = np.append(material.thicknesses(panels), material.crease_thickness)
    density = np.append(np.full(panels, settings.panel_density),
                        settings.crease_density)  # fmt: skip
    kind = np.minimum(mesh.triangle_panel, panels)
    a, b, c = (mesh.rest[mesh.triangle[:, i]] for i in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    each = (thick * density)[kind] * area / 3.0
    corners, nodes = mesh.triangle.ravel(), len(mesh.rest)
    return np.asarray(np.bincount(corners, np.repeat(each, 3), nodes), np.float64)


@dataclass(frozen=True, eq=False)
class MovingSheet:
    """What stays the same during a motion.

    Attributes
    ----------
    angles : (h,) rest angles, rad
    mass : (n,) kg; nodes without any may only be held
    """

    mesh: BarHingeMesh
    problem: FoldingProblem
    angles: Floats
    mass: Floats
    settings: MotionSettings

    def at_rest(self, x: Floats, v: Floats | None = None) -> MovingState:
        """A state at time zero that is let go at x, with speeds v if there are any."""
        free = self.problem.model.unknown >= 0
        speed = np.where(free, 0.0 if v is None else v, 0.0)
        near = near_at(self.problem, x, self.problem.skin)
        theta, rate = hinge_angles(self.mesh, x), np.zeros(len(self.angles))
        if speed.any():
            scale = 1e-6 * self.mesh.pattern.size / np.abs(speed).max()
            ahead = hinge_angles(self.mesh, x + scale * speed)
            rate = (ahead - hinge_angles(self.mesh, x - scale * speed)) / (2.0 * scale)
        model, ke = self.problem.model, self.problem.ke
        r = -assemble(model, near.pairs, ke, x, self._eased(theta, rate, 0.0)).force
        given = self._given(speed)
        a = np.where(free, (spread(model, r) + given) / self.mass[:, None], 0.0)
        return self._state(0.0, x, speed, a, theta, rate, near, 0.0)

    def _eased(self, theta: Floats, rate: Floats, span: float) -> Floats:
        """(h,) rest angles at which stiffer hinges do what dashpots and hinges do."""
        B = self.settings.hinge_damping
        stiffer = 1.0 + (2.0 * B / span if span else 0.0)
        return np.asarray(theta - (theta - self.angles + B * rate) / stiffer)

    def _given(self, v: Floats) -> Floats:
        """(n, 3) N: weight, less what damping by mass takes."""
        down = self.settings.gravity * self.settings.up
        pull = down + self.settings.mass_damping * v
        return np.asarray(-self.mass[:, None] * pull)

    def _state(
        self, time: float, x: Floats, v: Floats, a: Floats, theta: Floats,
        rate: Floats, near: NearbyPairs, lost: float,
    ) -> MovingState:  # fmt: skip
        model, ke = self.problem.model, self.problem.ke
        energies = energies_at(model, near.pairs, ke, x, self.angles)
        kinetic = 0.5 * float(self.mass @ (v * v).sum(axis=1))
        high = x @ self.settings.up if self.settings.slope else x[:, 2]
        height = self.settings.gravity * float(self.mass @ high)
        return MovingState(time, x, v, a, theta, rate, kinetic, height, energies, lost)

    def _power(self, state: MovingState) -> float:
        """W that damping takes."""
        k, s = self.mesh.hinge_stiffness, self.settings
        turning = s.hinge_damping * float(k @ state.rate**2)
        return turning + 2.0 * s.mass_damping * state.kinetic

    def _matrix(self, h: float) -> StepMatrix:
        model, s = self.problem.model, self.settings
        stiffer = model._replace(
            hinge_stiffness=model.hinge_stiffness * (1.0 + 2.0 * s.hinge_damping / h)
        )
        inertia = self.mass * (4.0 / h**2 + 2.0 * s.mass_damping / h)
        free = model.unknown >= 0
        order = model.unknown[free]
        diagonal = np.empty(len(model.first))
        diagonal[order] = np.broadcast_to(inertia[:, None], free.shape)[free]
        rounding = ROUNDING * self.mesh.pattern.size * float(np.linalg.norm(diagonal))
        return StepMatrix(h, stiffer, order, diagonal, rounding)

    def _tried(
        self, step: StepMatrix, before: MovingState, near: NearbyPairs, x: Floats
    ) -> StepTrial:
        h, free = step.h, self.problem.model.unknown >= 0
        v = 2.0 * (x - before.x) / h - before.v
        a = 2.0 * (v - before.v) / h - before.a
        theta = hinge_angles(self.mesh, x)
        rate = 2.0 * (theta - before.theta) / h - before.rate
        eased = self._eased(theta, rate, h)
        system = assemble(step.stiffer, near.pairs, self.problem.ke, x, eased)
        r = -system.force
        r[step.order] += (self._given(v) - self.mass[:, None] * a)[free]
        return StepTrial(x, v, a, theta, rate, system, r)

    def _ended(
        self, before: MovingState, h: float, at: StepTrial, near: NearbyPairs
    ) -> MovingState:
        end = self._state(
            before.time + h, at.x, at.v, at.a, at.theta, at.rate, near, 0.0
        )
        lost = 0.5 * h * (self._power(before) + self._power(end))
        return replace(end, lost=before.lost + lost, rubbed=before.rubbed)

    def after(
        self, before: MovingState, near: NearbyPairs, h: float
    ) -> tuple[MovingState | None, NearbyPairs, int]:
        """One step of h seconds, None where it does not converge; linear solves."""
        if self.settings.friction:
            return self._after_rubbing(before, near, h)
        model, step = self.problem.model, self._matrix(h)
        x, last = before.x, 0.0
        for iteration in range(MOST_NEWTON):
            near = refreshed(self.problem, near, x, last or np.inf)
            at = self._tried(step, before, near, x)
            residual = float(np.linalg.norm(at.r))
            if residual <= self.settings.tolerance + step.rounding:
                return self._ended(before, h, at, near), near, iteration
            values, start, first = at.system.values, at.system.start, at.system.first
            values[start[1:] - 1] += step.diagonal
            factorise(values, start, first)
            solve(values, start, first, at.r)
            move = spread(model, at.r)
            near, share = safe_step_length(self.problem, near, x, move)
            moved = x + share * move
            x, last = moved, farthest(moved, x)
        return None, near, MOST_NEWTON

    def _after_rubbing(
        self, before: MovingState, near: NearbyPairs, h: float
    ) -> tuple[MovingState | None, NearbyPairs, int]:
        """The same with friction; nodes stay within the skin of one list of pairs."""
        problem, s, step = self.problem, self.settings, self._matrix(h)
        if farthest(before.x, near.base) > 0.5 * near.skin or near.skin < problem.skin:
            near = near_at(problem, before.x, problem.skin)
        allowed = max(s.complementarity * h, ROUNDING * self.mesh.pattern.size)
        x, friction = before.x, np.zeros((len(near.pairs.node), 2))
        for iteration in range(MOST_NEWTON):
            at = self._tried(step, before, near, x)
            rubbed = rubbed_at(
                problem, near, (before.x, x), 0.5 * h * at.v, friction, s.friction,
                step.diagonal,
            )  # fmt: skip
            off = float(np.linalg.norm(at.r + rubbed.force))
            if off <= s.tolerance + step.rounding and rubbed.residual <= allowed:
                end = self._ended(before, h, at, near)
                return self._rubbed(before, end, rubbed, h), near, iteration
            found = rubbed_further(
                rubbed, at.system, at.r, s.friction, step.diagonal, 0.5 * allowed
            )
            if found is None:
                break
            move, friction[rubbed.pair] = spread(problem.model, found[0]), found[1]
            longest, room = farthest(x + move, x), near.skin - farthest(x, near.base)
            share = 1.0 if longest <= room else room / longest
            if problem.safe:
                share = largest_step(near.pairs, x, move, share)
            x = x + share * move
        return None, near, MOST_NEWTON

    def _rubbed(
        self, before: MovingState, end: MovingState, rubbed: Rubbed, h: float
    ) -> MovingState:
        """The end of a step, whose a is that of all other forces."""
        force = spread(self.problem.model, rubbed.force)
        free = self.problem.model.unknown >= 0
        slower = np.divide(force, self.mass[:, None], np.zeros_like(force), where=free)
        taken = -0.5 * float(np.sum(force * (end.x - before.x)))
        return replace(
            end, a=end.a - slower, rubbed=before.rubbed + taken,
            residual=rubbed.residual / h,
        )  # fmt: skip


def motion(sheet: MovingSheet, start: MovingState) -> Iterator[MovingState]:
    """Yield the start, then a state after each step.

    Raises
    ------
    NotConvergedError
        where a step does not converge in small parts, with the last state as `best`.
    StartError
        where the tolerance is not small beside what moves the sheet
    """
    _check_tolerance(sheet, start)
    settings, state, most = sheet.settings, start, 0.0
    near = near_at(sheet.problem, start.x, sheet.problem.skin)
    whole = settings.duration / settings.steps
    yield state
    for number in range(1, settings.steps + 1):
        ahead, done, parts, solves, worst = [1.0], 0.0, 0, 0, 0.0
        while ahead:
            reached, near, count = sheet.after(state, near, (ahead[-1] - done) * whole)
            solves += count
            if reached is not None and _balanced(state, reached, settings, most):
                most, worst = max(most, reached.kinetic), max(worst, reached.residual)
                state, done, parts = reached, ahead.pop(), parts + 1
            elif len(ahead) <= HALVINGS:
                ahead.append(0.5 * (done + ahead[-1]))
            else:
                raise NotConvergedError(
                    f"no motion is found after {state.time:.3e} s: take more steps, or "
                    "a larger tolerance or balance",
                    best=state,
                )
        state = replace(state, time=number * whole, parts=parts, iterations=solves,
                        residual=worst)  # fmt: skip
        yield state


def _check_tolerance(sheet: MovingSheet, start: MovingState) -> None:
    """Refuse one within which the sheet would stay where it is, or nearly so."""
    s, free = sheet.settings, sheet.problem.model.unknown >= 0
    weight = sheet.mass[free.any(axis=1)] * s.gravity
    pulled = np.where(free, sheet.mass[:, None] * start.a, 0.0)
    carried = sheet.mass[:, None] * start.v / s.duration
    moving = sum(float(np.linalg.norm(part)) for part in (weight, pulled, carried))
    if s.tolerance > SMALL * moving > 0.0:
        raise StartError(
            f"tolerance is {s.tolerance} N, but what moves the sheet is "
            f"{moving:.3g} N: give {SMALL * moving:.1g} or less"
        )


def _balanced(
    before: MovingState, after: MovingState, settings: MotionSettings, most: float
) -> bool:
    """Whether a part of a step keeps the sum of energies.

    most : the largest kinetic energy so far, J
    """
    there = max(most, after.kinetic + float(after.energies.sum()))
    return abs(after.total - before.total) <= settings.balance * there
