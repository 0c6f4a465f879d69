"""Motion of a rod in space: the solver, a generator of step records.

`made` makes one step. Its end is found, or there is none that is sound: what turns or
stretches too far, passes through something, or leaves its energy unaccounted for is
tried by parts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.actuation import Pulse
from sim.rods.plane.compiled_time_loop import FIRST, SHORTEST, next_length
from sim.rods.plane.options import StepOptions
from sim.rods.plane.records_and_checkpoints import NEAR, MotionLoop
from sim.rods.space.contact_detection import in_touch
from sim.rods.space.contact_forces import end_of_step_impulse, passes_through
from sim.rods.space.elastic_energy import energies, strains_of_hinges
from sim.rods.space.end_of_step import contact_allowed, end_of_step
from sim.rods.space.energy_balance import (
    SpaceEnd,
    StepStatistics,
    accounted,
    kinetic_energy,
    with_stopped,
)
from sim.rods.space.energy_conserving_forces import changes
from sim.rods.space.frames import SpaceState
from sim.rods.space.state import SpaceLedger, SpaceMoving, set_up
from sim.rods.space.world import SpaceWorld, limb_in_contact

QUARTER = 0.5 * np.pi  # rad, largest change of a twist in a step
LARGEST_SPIN = 2.0  # rad, turn of an edge about itself in a step


def made(
    world: SpaceWorld, options: StepOptions, now: SpaceMoving, h: float,
    effort: StepStatistics,
) -> SpaceMoving | None:  # fmt: skip
    """The end of a step of h seconds; None where there is no sound one."""
    if h * np.abs(now.v[world.rod.nodes.size :]).max() > LARGEST_SPIN:
        return None
    trial = set_up(world, options, now, h)
    effort.substeps += 1
    solved = end_of_step(world, options, trial, effort)
    if solved is None or not _sound(world, options, now.state, solved[0]):
        return None
    after, found = solved
    if passes_through(world, now.state, after, now.time, h):
        return None
    v = np.where(world.system.free, 2.0 * found.moves / h - now.v, found.moves / h)
    acceleration = (v - now.v) / h
    ending = with_stopped(world, SpaceEnd(after, found, v, v, np.empty(0)))
    v = ending.v
    if found.contact and world.contact:
        rows = found.contact.facing
        allowed = contact_allowed(options, trial)
        kick, unsettled = end_of_step_impulse(world, found.contact, rows, v, h, allowed)
        if not unsettled <= allowed:
            return None
        gained = rows.push(kick, len(v)) / world.inertia
        v = np.where(world.system.free, v + gained, v)
        ending = ending._replace(v=v, kick=kick, rows=rows)
        acceleration -= found.contact.push / world.inertia
        acceleration[~world.system.free] = 0.0
    push = (v - now.v) / h - acceleration
    smooth = now.step > 0 and not found.contact
    drift = acceleration - now.acceleration if smooth else np.zeros_like(v)
    ledger = accounted(world, options, trial, ending, effort)
    if ledger.unbalanced > options.balance:
        return None
    return SpaceMoving(
        after, v, acceleration, push, drift, now.step, now.time + h, now.length, h,
        ledger, now.pulse, found.dry.force if found.dry else now.inner_friction,
    )  # fmt: skip


def _sound(
    world: SpaceWorld, options: StepOptions, before: SpaceState, after: SpaceState
) -> bool:
    """Whether strains stay those of a rod, and nothing turns by a quarter turn."""
    part = world.system.part
    if part.hinge_stiffness[:, 2].any():
        both = [strains_of_hinges(state, part)[:, 2] for state in (before, after)]
        beyond = np.abs(both[1] - both[0]) > np.pi
        if (beyond & (part.hinge_stiffness[:, 2] > 0.0)).any():
            return False
    stretched, ahead = changes(before.x, after.x, part.edges, part.rest)
    twisted = np.abs(after.twist - before.twist).max(initial=0.0)
    return bool(stretched <= options.strain and ahead > 0.0 and twisted <= QUARTER)


SHOWN = 3  # pairs that are named
WOUND = 0.95 * np.pi  # rad, beyond which a spring may be why no step is made


@dataclass(frozen=True, eq=False)
class SpaceMotionStep:
    """The rod at one time.

    Attributes
    ----------
    stretching, bending, twisting, kinetic, gravity : J
    iterations, substeps : since the last record
    moving : to continue from
    """

    moving: SpaceMoving
    stretching: float
    bending: float
    twisting: float
    kinetic: float
    gravity: float
    iterations: int
    substeps: int

    @property
    def time(self) -> float:
        """s"""
        return self.moving.time

    @property
    def x(self) -> Floats:
        """(n, 3) m"""
        return self.moving.state.x

    @property
    def v(self) -> Floats:
        """(n, 3) m/s, of nodes"""
        return self.moving.v[: self.x.size].reshape(self.x.shape)

    @property
    def mean_velocity(self) -> Floats:
        """(n, 3) m/s, of the last step: what rings from step to step is not in it."""
        now = self.moving
        gained = now.last * (now.acceleration + now.push)[: self.x.size]
        return self.v - 0.5 * gained.reshape(self.x.shape)

    @property
    def energy(self) -> float:
        """J"""
        stored = self.stretching + self.bending + self.twisting
        return stored + self.kinetic + self.gravity


def at_start(world: SpaceWorld, options: StepOptions) -> SpaceMoving:
    """A rod that is let go."""
    rod = world.rod
    v = np.zeros(rod.nodes.size + len(rod.edges))
    if world.velocity is not None:
        v[: rod.nodes.size] = np.ravel(world.velocity)
    if world.spin is not None:
        v[rod.nodes.size :] = world.spin
    v[~world.system.free] = 0.0
    length, still = options.h * (FIRST if options.accuracy > 0.0 else 1.0), 0.0 * v
    return SpaceMoving(
        rod.state, v, still, still, still, 0, 0.0, length, length, SpaceLedger(),
        np.full(0 if world.limbs is None else world.limbs.count, np.inf),
        np.zeros(0 if world.dry is None else world.dry.count),
    )  # fmt: skip


class SpaceRodSimulator(MotionLoop[SpaceMotionStep]):
    """A run: where the rod is, and what steps took since the last record."""

    def __init__(
        self, world: SpaceWorld, options: StepOptions, start: SpaceMoving | None
    ) -> None:
        for motion in world.motions:
            motion.refuse_far(options.h)
        super().__init__(options, world.schedule)
        self.world = world
        self.now = start or at_start(world, options)
        self.effort = StepStatistics()

    @property
    def time(self) -> float:
        return self.now.time

    @property
    def step(self) -> int:
        return self.now.step

    def _in_parts(self, h: float) -> SpaceMoving | None:
        """The end of h seconds in one step, or in ever more where there is none."""
        parts = 1
        while parts <= round(1.0 / self.options.shortest):
            at: SpaceMoving | None = self.now
            for _ in range(parts):
                if at is not None:
                    at = made(self.world, self.options, at, h / parts, self.effort)
            if at is not None:
                return at
            parts *= 2
        return None

    def switch_on(self, due: Pulse) -> None:
        world, now = self.world, self.now
        assert world.limbs is not None  # or the schedule was refused
        pulse = now.pulse.copy()
        limb = due.limb
        if due.from_contact:
            limb += limb_in_contact(world, now.state.x)
        pulse[limb % len(pulse)] = due.time
        stored = [
            sum(energies(now.state, world.part(now.time, own)))
            for own in (now.pulse, pulse)
        ]
        ledger = now.ledger
        given = stored[1] - stored[0]
        ledger = ledger._replace(
            given=ledger.given + given, supplied=ledger.supplied + max(given, 0.0)
        )
        self.now = now._replace(pulse=pulse, ledger=ledger)

    def steps(self, steps: int, stop: float, end: float) -> bool:  # noqa: ARG002
        h, left = self.options.h, end - self.time
        if self.options.accuracy > 0.0:
            return self._adapted_step(stop)
        after = self._in_parts(h if left > (1.0 - NEAR) * h else left)
        if after is None:
            return False
        self.now = after._replace(step=self.step + 1)
        return True

    def _adapted_step(self, stop: float) -> bool:
        options, now, h = self.options, self.now, self.now.length
        while h >= SHORTEST * options.h:
            trial = min(h, stop - now.time)
            after = self._in_parts(trial)
            if after is None:
                return False
            error = self._error(now, after)
            h = min(next_length(trial, h, error, options.accuracy), options.h)
            if error <= options.accuracy:
                self.now = after._replace(step=now.step + 1, length=h)
                return True
        return False

    def _error(self, before: SpaceMoving, after: SpaceMoving) -> float:
        """Of a step, m: h^3 / 12 d3q/dt3, as in the plane; turns at their gyration."""
        if before.step == 0:
            return 0.0
        rod = self.world.rod
        change = np.abs(after.acceleration - before.acceleration)
        line = rod.mass.sum() / rod.length * rod.rest_length
        change[rod.nodes.size :] *= np.sqrt(rod.inertia / line)
        h = after.last
        return float(h * h / 12.0 * change.max() * 2.0 * h / (h + before.last))

    def record(self, *, failed: bool = False) -> SpaceMotionStep:  # noqa: ARG002
        world, now, effort = self.world, self.now, self.effort
        n, part = world.rod.nodes.size, world.part(now.time, now.pulse)
        stretching, bending, twisting = energies(now.state, part)
        self.effort = StepStatistics()
        return SpaceMotionStep(
            moving=now,
            stretching=stretching,
            bending=bending,
            twisting=twisting,
            kinetic=kinetic_energy(world, now.v),
            gravity=-float(world.pull[:n] @ now.state.x.ravel()),
            iterations=effort.iterations,
            substeps=effort.substeps,
        )

    def failure(self) -> NotConvergedError:
        h, options, model = self.options.h, self.options, self.world.contact
        pairs_named, state = "", self.now.state
        if model is not None:
            there = model.at(self.now.time)
            pairs = in_touch(self.world.rod, there, state.x, state.d)
            more = f" and {len(pairs) - SHOWN} pairs more" * (len(pairs) > SHOWN)
            pairs_named = f"; {', '.join(pairs[:SHOWN])}{more} touch" * bool(pairs)
        part = self.world.system.part
        sprung = part.hinge_stiffness[:, 2] > 0.0
        turned = np.abs(strains_of_hinges(state, part)[sprung, 2]).max(initial=0.0)
        remedy = options.steadier
        if turned > WOUND:  # where no h helps
            remedy = (
                f"a hinge spring is turned by {np.degrees(turned):.0f} degrees, close "
                "to the limit of 180: make the spring stiffer, or remove it"
            )
        return NotConvergedError(
            f"at t = {self.now.time:g} s no step from {h:g} s down to "
            f"{h * options.shortest:.2g} s converges to {options.tolerance:g} m in "
            f"{options.max_newton} iterations (edge strain up to {options.strain:g}, "
            f"energy error up to {options.balance:g}): {remedy}{pairs_named}",
            best=self.record(),
        )


def simulate_in_space(
    world: SpaceWorld,
    options: StepOptions,
    duration: float,
    *,
    every: int = 1,
    start: SpaceMoving | None = None,
) -> Iterator[SpaceMotionStep]:
    """Yield the rod as `MotionLoop.records`, to continue from what a record moves."""
    loop = SpaceRodSimulator(world, options, start)
    yield from loop.records(duration, every, continued=start is not None)
