"""A rod that a controller steps: observe, act, step.

    world = RodWorld(World(...), StepOptions())
    seen = world.observe()              # RodStep: time, x, v, contact, reaction, ...
    world.act(switch_on=[3])            # a pulse of eq. (7) of [Hu20] begins
    world.act(curvatures={2: 0.4})      # kbar / kbar0 of a limb, until the next
    seen = world.step(0.25)             # s

The loop behind it is that of `sim.rods.plane.simulate`: switched on at the same
times, it makes the same steps to the last bit. `save` and `restore` serve planning: try
what an action brings, then go back. A step that does not converge leaves the world as
it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import refuse_missing
from sim.rods.plane.options import StepOptions
from sim.rods.plane.records_and_checkpoints import NEAR
from sim.rods.plane.simulate import RodSimulator
from sim.rods.plane.state import RodState, RodStep, clear, copied
from sim.rods.plane.world import World


@dataclass(frozen=True, eq=False)
class SavedRod:
    """Where a world was, and the curvatures of its limbs."""

    state: RodState
    curvature: Floats
    reaction: Floats


class RodWorld:
    """A rod in its world, at one time.

    Parameters
    ----------
    world : may have a schedule of its own, to which actions are added
    """

    def __init__(self, world: World, options: StepOptions | None = None) -> None:
        self._loop = RodSimulator(world, options or StepOptions(), None)
        model = self._loop.model
        element, self._at_rest = model.element, model.element.curvature
        own = element._replace(
            curvature=element.curvature.copy(), joint_turn=element.joint_turn.copy()
        )
        self._loop.model = model._replace(element=own)
        self._limbs = world.rod.last_limb + 1
        self._ratio = np.ones(self._limbs)

    @property
    def world(self) -> World:
        return self._loop.world

    @property
    def time(self) -> float:
        """s"""
        return self._loop.time

    def observe(self) -> RodStep:
        """Positions, velocities, contacts and forces; nothing of it changes later."""
        return self._loop.record()

    def act(
        self,
        *,
        switch_on: Sequence[int] = (),
        curvatures: Mapping[int, float] | None = None,
    ) -> None:
        """Tell limbs what to do from now on.

        Parameters
        ----------
        switch_on : limbs in which a pulse of the actuator begins
        curvatures : natural curvature of limbs, relative to that at rest; 1 ends it
        """
        ratios = curvatures or {}
        named = (*switch_on, *ratios)
        refuse_missing("limb {} does not exist", named, self._limbs, "choose")
        for limb, ratio in ratios.items():
            if not np.isfinite(ratio):
                raise ValueError(
                    f"curvature of limb {limb} must be finite, not {ratio}"
                )
        for limb in switch_on:
            self._loop.pulse(limb, self._loop.time)
        if ratios:
            for limb, ratio in ratios.items():
                self._ratio[limb] = ratio
            self._bend()

    def _bend(self) -> None:
        """Set natural curvatures by their ratios."""
        rod, curvature = self.world.rod, self._loop.model.element.curvature
        before = sum(self._loop.elastic())
        curvature[:] = self._at_rest
        turn, of = self._loop.model.element.joint_turn, rod.joints.limb[:, :2]
        turn[:] = rod.joints.turn * np.where(of < 0, 1.0, self._ratio[of])
        for limb in range(self._limbs):
            curvature[rod.bend_limb == limb] *= self._ratio[limb]
        self._loop.give(sum(self._loop.elastic()) - before)
        self._loop.state.clock.ready = 0.0  # forces at the start of a step are new

    def step(self, dt: float) -> RodStep:
        """Advance by `dt` seconds, a whole number of steps unless they are adapted.

        Raises
        ------
        NotConvergedError
            where a step cannot be made; the world is where it was.
        """
        options, loop = self._loop.options, self._loop
        if not (np.isfinite(dt) and dt > 0.0):
            raise ValueError(f"dt is {dt} s: give a positive time")
        steps, end = 1 << 62, loop.time + dt
        if not options.accuracy > 0.0:
            count = round(dt / options.h)
            if count < 1 or abs(dt - count * options.h) > NEAR * options.h:
                raise ValueError(
                    f"dt is {dt} s: give a multiple of the time step {options.h} s"
                )
            steps, end = loop.step + count, np.inf
        before = self.save()
        if not loop.run_to(steps, end):
            failure = loop.failure()
            self.restore(before)
            raise failure
        return loop.record()

    def save(self) -> SavedRod:
        """Where the world is, to come back to."""
        loop = self._loop
        reaction = loop.work.reaction.copy()
        return SavedRod(copied(loop.state), self._ratio.copy(), reaction)

    def restore(self, saved: SavedRod) -> None:
        """Go back to where the world was."""
        loop = self._loop
        bent = not np.array_equal(saved.curvature, self._ratio)
        self._ratio = saved.curvature.copy()
        if bent:
            self._bend()
        loop.state = copied(saved.state)
        loop.work.reaction[:] = saved.reaction
        clear(loop.work.memo)  # columns belong to the factor that was

    def copy(self) -> "RodWorld":
        """Another world in the same state, which goes its own way."""
        other = RodWorld(self.world, self._loop.options)
        other.restore(self.save())
        return other
