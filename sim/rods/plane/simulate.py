"""Motion of a rod on the ground: the solver, a generator of step records."""

from collections.abc import Iterator
from dataclasses import fields
from operator import is_not

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import pointed
from sim.core.options import NotConvergedError
from sim.rods.plane.actuation import Pulse, actuate
from sim.rods.plane.compiled_time_loop import make_steps
from sim.rods.plane.elastic_energy import energies, join, room_for_limbs
from sim.rods.plane.energy_balance import (
    CONSERVED,
    OF_CONTACTS,
    mechanical_energies,
)
from sim.rods.plane.ground import GroundPlane, gaps
from sim.rods.plane.many_contact_impulses import MANY
from sim.rods.plane.options import StepOptions, rod_model, step_method
from sim.rods.plane.records_and_checkpoints import MotionLoop, lowest_limb
from sim.rods.plane.state import (
    RodState,
    RodStep,
    Run,
    by_addresses,
    clear,
    copied,
    new_state,
    numbers_of,
    work_space,
)
from sim.rods.plane.world import World, places_of


class RodSimulator(MotionLoop[RodStep]):
    """The arrays of a run, and the compiled loop over them."""

    def __init__(
        self, world: World, options: StepOptions, start: RodState | None
    ) -> None:
        if (world.turning or world.driven) and options.accuracy > 0.0:
            raise ValueError(
                f"steps: accuracy is {options.accuracy:g}, but turning ends and hinges "
                "need a fixed step: set accuracy to 0"
            )
        for turn in world.turning:
            turn.motion.refuse_far(options.h)
        super().__init__(options, world.schedule)
        self.world = world
        self.model = rod_model(world)
        self.method = step_method(options, world)
        touch = self.model.touch
        self.touch = touch if touch.ground or touch.rods or touch.arcs else None
        few = self.touch is None and len(world.rod.nodes) <= MANY
        self.crowd = None if few else True
        velocity = np.zeros_like(world.rod.nodes)
        if world.velocity is not None:
            velocity[:] = world.velocity
        pairs = 0 if world.edge_contact is None else 2 * len(world.rod.nodes)
        pattern = self.model.pattern
        new = new_state(world.rod, pattern, velocity, pairs)
        self.state = copied(start) if start else new
        self._before = copied(self.state)
        self.work = work_space(world.rod, pattern, pairs)
        self._parts: tuple[object, ...] = ()
        self._drive(self.time - 0.5 * options.h)  # as in the step before

    @property
    def time(self) -> float:
        return float(self.state.clock.time)

    @property
    def step(self) -> int:
        return int(self.state.clock.step)

    def run_to(self, step: int, end: float) -> bool:
        clear(self.work.report)
        return super().run_to(step, end)

    def switch_on(self, pulse: Pulse) -> None:
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
        clock = self.state.clock
        clock.given += energy
        clock.supplied += energy
        clock.at_work = max(clock.at_work, clock.supplied)

    def steps(self, steps: int, stop: float, end: float = np.inf) -> bool:
        if not (self.world.turning or self.world.driven):
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
            nodes = rod.edges[turn.edge]
            before = v[nodes]
            v[nodes] = (places_of(turn, rod, self.time + h) - x[nodes]) / h
            gained = np.sum(v[nodes] ** 2 - before**2, axis=1)
            self.give(0.5 * float(rod.mass[nodes] @ gained))
        if self.world.driven:
            energy = sum(self.elastic())
            self._drive(self.time + 0.5 * h)
            self.give(sum(self.elastic()) - energy)
            self.state.clock.ready = 0.0  # forces at the start of a step are new

    def _drive(self, time: float) -> None:
        """Turn the springs of driven hinges; they stay as stiff."""
        rod, element = self.world.rod, self.model.element
        for node, motion in self.world.driven:
            b = np.flatnonzero(rod.bends[:, 1] == node)
            tan = 0.5 * rod.curvature[b] * rod.voronoi[b]
            now = np.tan(np.arctan(tan) + 0.5 * motion.angle(time))
            element.curvature[b] = 2.0 * now / rod.voronoi[b]
            element.bending[b] = rod.bending[b] * ((1 + tan**2) / (1 + now**2)) ** 2

    def _run(self, steps: int, stop: float, end: float) -> bool:
        h = float(self.options.h)
        return make_steps(
            self.handed(), self.touch, self.crowd, steps, h, float(stop), float(end)
        )

    def handed(self) -> Run:
        """The parts as kernels read them."""
        now = Run(self.model, self.method, self.state, self.work, self._before)
        if not self._parts or any(map(is_not, now, self._parts)):
            self._parts, self._handed = now, by_addresses(now)
        return self._handed

    def elastic(self) -> tuple[float, float]:
        """Stretching and bending energy, as the limbs are actuated now, J."""
        actuated = pointed(room_for_limbs(self.world.rod))
        model, state = self.handed().model, self.state
        actuate(state.clock.time, state.pulse, model.law, actuated)
        join(model.element, actuated)
        return energies(state.x, model.element, actuated)

    def record(self, *, failed: bool = False) -> RodStep:
        state, handed = copied(self.state), self.handed()
        kinetic, gravity = mechanical_energies(handed.model, handed.state)
        stretching, bending = self.elastic()
        known = numbers_of(state.clock) | numbers_of(self.work.report)
        shown = {one.name for one in fields(RodStep)} & known.keys()
        return RodStep(
            **{name: known[name] for name in shown},
            x=state.x,
            v=state.v,
            reaction=self.work.reaction.copy(),
            contact=state.contact,
            kinetic=kinetic,
            stretching=stretching,
            bending=bending,
            gravity=gravity,
            h=state.clock.last_step,
            state=state,
            failed=failed,
        )

    def failure(self) -> NotConvergedError:
        time, h = self.state.clock.time, self.options.h
        tried = f"no time step from {h:g} s down to {h * self.method.least:.2g} s"
        remedy = self.options.steadier
        if self.work.memo.full:
            room = len(self.work.known if self.touch is None else self.work.friction)
            why = f"too many contacts: at most {room} are supported"
            remedy = "choose contact exact, or use fewer nodes"
        elif self.work.memo.apart:
            gap = self.method.contact_gap / self.world.rod.rest_length.min()
            why = f"{tried} resolves impacts to {gap:g} of the shortest edge"
        elif self.work.memo.unsound:
            balance = self.options.balance
            most = balance * (CONSERVED if self.method.conserving else 1.0)
            why = (
                f"{tried} keeps the edge strain below {self.options.strain:g} and the "
                f"energy error below {most:g} of the largest energy "
                f"({OF_CONTACTS * balance:g} if contacts add energy); the energy error "
                f"so far is {self.state.clock.out_of_balance:.3g} J"
            )
        else:
            why = (
                f"{tried} converges to {self.options.tolerance:g} m, "
                f"{self.options.residual:g} of the largest force and "
                f"{self.options.complementarity:g} m/s in "
                f"{self.options.max_newton} iterations"
            )
        return NotConvergedError(
            f"at t = {time:g} s {why}: {remedy}", best=self.record(failed=True)
        )


def contact_limb(world: World, x: Floats) -> int:
    """The limb whose actuated edges lie lowest above the ground."""
    rod = world.rod
    middle = 0.5 * (x[rod.edges[:, 0]] + x[rod.edges[:, 1]])
    height = gaps(world.ground or GroundPlane(), middle)
    return lowest_limb(height, rod.edge_limb, rod.last_limb + 1)


def simulate(
    world: World,
    options: StepOptions,
    duration: float,
    *,
    every: int = 1,
    start: RodState | None = None,
) -> Iterator[RodStep]:
    """Yield the rod as `MotionLoop.records`, to continue from the state of a record."""
    loop = RodSimulator(world, options, start)
    yield from loop.records(duration, every, continued=start is not None)
