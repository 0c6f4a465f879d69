"""Motion of a rod on the ground: the solver, a generator of step records."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.pointed import pointed
from sim.rod.actuation.actuation import Pulse, actuate, pulses_due
from sim.rod.contact.ground import GroundPlane, gaps
from sim.rod.energy.elastic import energies, join, passive
from sim.rod.stepping.energy_balance import OF_CONTACTS, mechanical_energies
from sim.rod.stepping.inputs import pairs_of, scheme_of, setting_of
from sim.rod.stepping.loop import run
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.state import RodState, clear, copied, new_state, with_factor
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.workspace import work_space
from sim.rod.stepping.world import World


class Loop:
    """The arrays of a run, and the compiled loop over them."""

    def __init__(
        self,
        world: World,
        options: StepOptions,
        start: RodState | None,
    ) -> None:
        if world.turning and options.accuracy > 0.0:
            raise ValueError(
                f"steps: accuracy is {options.accuracy:g}: ends that turn have steps "
                "of fixed length, set it to 0"
            )
        for turn in world.turning:
            turn.refuse_far(options.h)
        self.world = world
        self.options = options
        self.setting = setting_of(world)
        self.scheme = scheme_of(options, world)
        touch = self.setting.touch
        self.touch = touch if touch.ground or touch.rods or touch.arcs else None
        self._pointed: dict[str, tuple[Any, Any]] = {}
        velocity = np.zeros_like(world.rod.nodes)
        if world.velocity is not None:
            velocity[:] = world.velocity
        pairs = pairs_of(world)
        state = copied(start) if start else new_state(world.rod, velocity, pairs)
        self.state = with_factor(state, self.setting.pattern)
        self.before = copied(self.state)
        self.work = work_space(world.rod, self.setting.pattern, pairs)
        self.reaction = np.zeros_like(world.rod.nodes)

    @property
    def time(self) -> float:
        return float(self.state.clock.time)

    @property
    def step(self) -> int:
        return int(self.state.clock.step)

    def run_to(self, step: int, end: float) -> bool:
        """Run to a number of steps or a time, and switch limbs on where they are due.

        A pulse between two steps of fixed length begins to act with the later one.
        """
        clear(self.work.report)
        h = self.options.h
        near, schedule = 1e-6 * h, self.world.schedule
        window = near if self.options.accuracy > 0.0 else h - near
        while self.step < step and self.time < end - near:
            for due in pulses_due(schedule, self.time - window, self.time + near):
                self._switch_on(due)
            later = next(pulses_due(schedule, self.time + near, end), None)
            stop = end if later is None else later.time
            if not self.steps(step - self.step, stop, end):
                return False
        return True

    def _switch_on(self, pulse: Pulse) -> None:
        limb = pulse.limb
        if pulse.from_contact:
            limb += contact_limb(self.world, self.state.x)
        self.pulse(limb % len(self.state.pulse), pulse.time)

    def pulse(self, limb: int, time: float) -> None:
        """Let a pulse of a limb begin; where eq. (7) jumps, its energy is given."""
        before = sum(self.elastic())
        self.state.pulse[limb] = time
        self.give(sum(self.elastic()) - before)
        self.state.clock.ready = 0.0  # forces at the start of a step are new

    def give(self, energy: float) -> None:
        """Account for energy that is put in between two steps, J."""
        self.state.clock.given += energy
        self.state.clock.at_work += max(energy, 0.0)

    def steps(self, steps: int, stop: float, end: float = np.inf) -> bool:
        if not self.world.turning:
            return self._run(steps, stop, end)
        h = self.options.h
        for _ in range(steps):
            if self.time > stop - 1e-6 * h:
                break
            left = end - self.time
            self._turn(h if left >= (1.0 - 1e-6) * h else left)
            if not self._run(1, stop, end):
                return False
        return True

    def _turn(self, h: float) -> None:
        """Set out with the ends that turn to their places at the end of the step."""
        rod, x, v = self.world.rod, self.state.x, self.state.v
        for turn in self.world.turning:
            nodes = [turn.about, turn.node]
            before = v[nodes]
            v[nodes] = (turn.places(rod.nodes, self.time + h) - x[nodes]) / h
            gained = np.sum(v[nodes] ** 2 - before**2, axis=1)
            self.give(0.5 * float(rod.mass[nodes] @ gained))

    def _run(self, steps: int, stop: float, end: float) -> bool:
        return run(
            self._handed("setting"),
            self._handed("scheme"),
            self.touch,
            self._handed("state"),
            self._handed("before"),
            self._handed("work"),
            self.reaction,
            steps,
            float(self.options.h),
            float(stop),
            float(end),
            float(self.options.accuracy),
        )

    def _handed(self, name: str) -> Any:
        """An attribute as kernels read it."""
        part = getattr(self, name)
        if name not in self._pointed or self._pointed[name][0] is not part:
            self._pointed[name] = part, pointed(part)
        return self._pointed[name][1]

    def elastic(self) -> tuple[float, float]:
        """Stretching and bending energy, as the limbs are actuated now, J."""
        actuated, state = passive(self.world.rod), self.state
        actuate(state.clock.time, state.pulse, self.setting.law, actuated)
        join(self.setting.element, actuated)
        return energies(state.x, self.setting.element, actuated)

    def record(self, *, failed: bool = False) -> RodStep:
        state, report = copied(self.state), self.work.report
        setting, now = self._handed("setting"), self._handed("state")
        kinetic, gravity = mechanical_energies(setting, now)
        stretching, bending = self.elastic()
        return RodStep(
            step=int(state.clock.step),
            time=float(state.clock.time),
            x=state.x,
            v=state.v,
            reaction=self.reaction.copy(),
            contact=state.contact,
            kinetic=kinetic,
            stretching=stretching,
            bending=bending,
            gravity=gravity,
            residual=float(report.residual),
            complementarity=float(report.complementarity),
            worst_residual=float(state.clock.worst_residual),
            worst_complementarity=float(state.clock.worst_complementarity),
            worst_share=float(state.clock.worst_share),
            contact_gap=float(state.clock.contact_gap),
            given=float(state.clock.given),
            damped=float(state.clock.damped),
            friction=float(state.clock.friction),
            impact=float(state.clock.impact),
            out_of_balance=float(state.clock.left),
            worst_balance=float(state.clock.worst_balance),
            iterations=int(report.iterations),
            substeps=int(report.substeps),
            factorisations=int(report.factorisations),
            error=float(report.error),
            h=float(state.clock.last_step),
            state=state,
            failed=failed,
        )

    def failure(self) -> NotConvergedError:
        time, h = self.state.clock.time, self.options.h
        if self.work.memo.full:
            room = len(self.work.known if self.touch is None else self.work.friction)
            why = f"contacts have no room: there is room for {room} of them"
            remedy = "choose contact exact, or use fewer nodes"
        elif self.work.memo.apart:
            gap = self.scheme.contact_gap / self.world.rod.rest_length.min()
            why = (
                f"no step from {h:g} s down to {h * self.scheme.least:.2g} s lets "
                f"nodes land within {gap:g} of the shortest edge"
            )
            remedy = "choose a smaller h"
        elif self.work.memo.unsound:
            why = (
                f"no step from {h:g} s down to {h * self.scheme.least:.2g} s keeps "
                f"edges stretched by {self.options.strain:g} at most and the balance "
                f"of energy within {self.options.balance:g} of what is at work "
                f"({self.state.clock.left:.3g} J out of balance before), "
                f"{OF_CONTACTS:g} of that where contacts give"
            )
            remedy = self.options.steadier
        else:
            why = (
                f"no step from {h:g} s down to {h * self.scheme.least:.2g} s "
                f"converges to {self.options.tolerance:g} m and "
                f"{self.options.complementarity:g} m/s in "
                f"{self.options.max_newton} iterations"
            )
            remedy = "choose a smaller h, or allow more iterations"
        return NotConvergedError(
            f"at t = {time:g} s {why}: {remedy}", best=self.record(failed=True)
        )


def contact_limb(world: World, x: Floats) -> int:
    """The limb whose actuated edges lie lowest above the ground."""
    rod = world.rod
    middle = 0.5 * (x[rod.edges[:, 0]] + x[rod.edges[:, 1]])
    height = gaps(world.ground or GroundPlane(), middle)
    limbs = range(rod.last_limb + 1)
    return int(np.argmin([height[rod.edge_limb == k].mean() for k in limbs]))


def simulate(
    world: World,
    options: StepOptions,
    duration: float,
    *,
    every: int = 1,
    start: RodState | None = None,
) -> Iterator[RodStep]:
    """Yield the rod at the start, after every `every` steps, and at the end.

    Parameters
    ----------
    duration : s, the time at which to end
    every : steps between two records
    start : the state of an earlier record, to continue from

    Raises
    ------
    NotConvergedError
        after yielding what was reached in the step that failed, which is `best`.
    """
    if not (duration > 0.0 and every >= 1):
        raise ValueError(
            f"duration is {duration} s, recorded every {every} steps: give a positive "
            "time and 1 or more"
        )
    loop = Loop(world, options, start)
    if start is None:
        yield loop.record()
    while loop.time < duration - 1e-6 * options.h:
        recorded = loop.time
        made = loop.run_to((loop.step // every + 1) * every, duration)
        if loop.time > recorded:
            yield loop.record(failed=not made)
        if not made:
            raise loop.failure()
