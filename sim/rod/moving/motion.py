"""Motion of a rod in space: the solver, a generator of step records."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.rod.actuation.actuation import Pulse, pulses_due
from sim.rod.moving.account import Effort, kinetic_energy
from sim.rod.moving.one_step import made
from sim.rod.moving.space_world import SpaceWorld, lowest_limb
from sim.rod.moving.touching import in_touch
from sim.rod.moving.trial import SpaceLedger, SpaceMoving
from sim.rod.moving.turning_clamps import TurningClamps
from sim.rod.space.elastic import energies
from sim.rod.space.hinges import strains_of_hinges
from sim.rod.space.space_rod import edge_tangents
from sim.rod.stepping.loop import FIRST, LEAST, MOST, SAFETY, SHORTEST
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.turning import refuse_far

SHOWN = 3  # pairs that are named
WOUND = 0.95 * np.pi  # rad, beyond which a spring may be why no step is made


@dataclass(frozen=True, eq=False)
class SpaceMotionStep:
    """The rod at one time.

    Attributes
    ----------
    stretching, bending, twisting, kinetic, gravity : J
    momentum, angular_momentum : (3,) of nodes and spins, kg m/s, and about the origin,
        kg m^2/s
    iterations, substeps : since the last record
    error : m, largest estimated error of a step since then, if adapted
    moving : to continue from
    """

    moving: SpaceMoving
    stretching: float
    bending: float
    twisting: float
    kinetic: float
    gravity: float
    momentum: Floats
    angular_momentum: Floats
    iterations: int
    substeps: int
    error: float

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


class SpaceLoop:
    """A run: where the rod is, and what steps took since the last record."""

    def __init__(
        self, world: SpaceWorld, options: StepOptions, start: SpaceMoving | None
    ) -> None:
        if isinstance(world.drive, TurningClamps):
            world.drive.refuse_far(options.h)
        for body in world.touching.moved if world.touching else ():
            refuse_far(body.motion.times, body.motion.angles, options.h)
        self.world, self.options = world, options
        self.now = start or at_start(world, options)
        self.effort = Effort()

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

    def switch_on(self, end: float) -> float:
        """Let pulses that are due begin; the time by which steps must end.

        One between two steps of fixed length begins to act with the later one. Where
        eq. (7) jumps, its energy is given.
        """
        options, schedule, now = self.options, self.world.schedule, self.now
        near, adapted = 1e-6 * options.h, options.accuracy > 0.0
        window = near if adapted else options.h - near
        for due in pulses_due(schedule, now.time - window, now.time + near):
            self._begin(due)
        later = next(pulses_due(schedule, now.time + near, end), None)
        return later.time if adapted and later is not None else end

    def _begin(self, due: Pulse) -> None:
        world, now = self.world, self.now
        assert world.limbs is not None  # or the schedule was refused
        pulse = now.pulse.copy()
        limb = due.limb
        if due.from_contact:
            limb += lowest_limb(world, now.state.x)
        pulse[limb % len(pulse)] = due.time
        stored = [
            sum(energies(now.state, world.part(now.time, own)))
            for own in (now.pulse, pulse)
        ]
        ledger = now.ledger
        given = stored[1] - stored[0]
        told = ledger._replace(
            given=ledger.given + given, supplied=ledger.supplied + max(given, 0.0)
        )
        self.now = now._replace(pulse=pulse, ledger=told)

    def step(self, stop: float) -> bool:
        """One step, none beyond a time; whether it was made."""
        options, now = self.options, self.now
        if not options.accuracy > 0.0:
            left = stop - now.time
            whole = left > (1.0 - 1e-6) * options.h
            after = self._in_parts(options.h if whole else left)
            if after is None:
                return False
            self.now = after._replace(step=now.step + 1)
            return True
        return self._adapted_step(stop)

    def _adapted_step(self, stop: float) -> bool:
        options, now, h = self.options, self.now, self.now.length
        while h >= SHORTEST * options.h:
            trial = min(h, stop - now.time)
            after = self._in_parts(trial)
            if after is None:
                return False
            error = self._error(now, after)
            if error > options.accuracy or trial == h:
                h = min(trial * self._change(error), options.h)
            if error <= options.accuracy:
                self.effort.error = max(self.effort.error, error)
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

    def _change(self, error: float) -> float:
        """Of the step length, that brings the error to what is allowed."""
        allowed = self.options.accuracy
        change = SAFETY * (allowed / max(error, 1e-3 * allowed)) ** (1.0 / 3.0)
        return float(min(max(change, LEAST), MOST))

    def record(self) -> SpaceMotionStep:
        """What is there now."""
        world, now, effort = self.world, self.now, self.effort
        rod, n = world.rod, world.rod.nodes.size
        part = world.part(now.time, now.pulse)
        stretching, bending, twisting = energies(now.state, part)
        carried = rod.mass[:, None] * now.v[:n].reshape(-1, 3)
        spun = (rod.inertia * now.v[n:])[:, None] * edge_tangents(
            now.state.x, rod.edges
        )
        self.effort = Effort()
        return SpaceMotionStep(
            moving=now,
            stretching=stretching,
            bending=bending,
            twisting=twisting,
            kinetic=kinetic_energy(world, now.v),
            gravity=-float(world.pull[:n] @ now.state.x.ravel()),
            momentum=carried.sum(axis=0),
            angular_momentum=np.cross(now.state.x, carried).sum(axis=0)
            + spun.sum(axis=0),
            iterations=effort.iterations,
            substeps=effort.substeps,
            error=effort.error,
        )

    def failure(self) -> NotConvergedError:
        """What to say where a step cannot be made."""
        h, options, touching = self.options.h, self.options, self.world.touching
        told, state = "", self.now.state
        if touching is not None:
            there = touching.at(self.now.time)
            pairs = in_touch(self.world.rod, there, state.x, state.d)
            more = f" and {len(pairs) - SHOWN} pairs more" * (len(pairs) > SHOWN)
            told = f"; {', '.join(pairs[:SHOWN])}{more} touch" * bool(pairs)
        part = self.world.system.part
        sprung = part.hinge_stiffness[:, 2] > 0.0
        turned = np.abs(strains_of_hinges(state, part)[sprung, 2]).max(initial=0.0)
        remedy = options.steadier
        if turned > WOUND:  # where no h helps
            remedy = (
                f"a spring about an axis is turned by {np.degrees(turned):.0f} "
                "degrees, and ends at 180; choose a stiffer one, or none"
            )
        return NotConvergedError(
            f"at t = {self.now.time:g} s no step from {h:g} s down to "
            f"{h * options.shortest:.2g} s converges to {options.tolerance:g} m in "
            f"{options.max_newton} iterations, with edges stretched by "
            f"{options.strain:g} at most and energy balanced to {options.balance:g}: "
            f"{remedy}{told}",
            best=self.record(),
        )


def moves(
    world: SpaceWorld,
    options: StepOptions,
    duration: float,
    *,
    every: int = 1,
    start: SpaceMoving | None = None,
) -> Iterator[SpaceMotionStep]:
    """Yield the rod at the start, after every `every` steps, and at the end.

    Parameters
    ----------
    duration : s, the time at which to end
    every : steps between two records
    start : that of an earlier record, to continue from

    Raises
    ------
    NotConvergedError
        where a step cannot be made, with the last SpaceMotionStep
    """
    if not (duration > 0.0 and every >= 1):
        raise ValueError(
            f"duration is {duration} s, recorded every {every} steps: give a positive "
            "time and 1 or more"
        )
    loop = SpaceLoop(world, options, start)
    if start is None:
        yield loop.record()
    near = 1e-6 * options.h
    while loop.now.time < duration - near:
        if not loop.step(loop.switch_on(duration)):
            raise loop.failure()
        if loop.now.step % every == 0 or loop.now.time >= duration - near:
            yield loop.record()
