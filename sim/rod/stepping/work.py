"""Work of the actuators: how elastic energy changes by actuation alone.

Between two records, the modulus and the natural curvature go from a0 to a1 while the
nodes go from x0 to x1. What the actuators put in is, to second order in the interval,

    W = 1/2 [U(x0, a1) - U(x0, a0) + U(x1, a1) - U(x1, a0)],

and the rest of the change of U is the work of the forces. A wire gives nothing back:
what a robot has to pay for is the sum of the positive W of each limb.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.rod.actuation.actuation import actuate
from sim.rod.energy.elastic import Actuated, Elements, elements, energies, join, passive
from sim.rod.stepping.state import RodState
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import World


@dataclass(eq=False)
class ActuationWork:
    """Adds up the work of each limb from record to record.

    Attributes
    ----------
    total, positive : (limbs,) J, work, and its positive parts alone
    """

    world: World
    total: Floats = field(init=False)
    positive: Floats = field(init=False)

    def __post_init__(self) -> None:
        limbs = self.world.rod.last_limb + 1
        self.total, self.positive = np.zeros(limbs), np.zeros(limbs)
        self._element: Elements = elements(self.world.rod)
        self._before: tuple[Floats, Actuated] | None = None

    def resume(self, state: RodState, total: Floats, positive: Floats) -> None:
        """Go on from a state with the sums up to there."""
        self.total[:], self.positive[:] = total, positive
        self._before = state.x.copy(), self._actuated(state)

    def _actuated(self, state: RodState) -> Actuated:
        actuated = passive(self.world.rod)
        actuate(state.clock.time, state.pulse, self.world.actuator.law, actuated)
        join(self._element, actuated)
        return actuated

    def add(self, step: RodStep) -> None:
        """The next record, or the first."""
        after = self._actuated(step.state)
        if self._before is not None:
            x, before = self._before
            work = self._work(x, step.x, before, after)
            self.total += work
            self.positive += np.maximum(work, 0.0)
        self._before = step.x, after

    def _work(self, x0: Floats, x1: Floats, a0: Actuated, a1: Actuated) -> Floats:
        """W of each limb, one after the other: two limbs share the bends of a joint."""
        work = np.zeros_like(self.total)
        changed = (a0.modulus != a1.modulus) | (a0.curvature != a1.curvature)
        for limb in np.flatnonzero(changed[: len(work)]):
            one = Actuated(a0.modulus.copy(), a0.curvature.copy())
            one.modulus[limb] = a1.modulus[limb]
            one.curvature[limb] = a1.curvature[limb]
            join(self._element, one)
            for x in (x0, x1):
                gained = sum(energies(x, self._element, one))
                work[limb] += 0.5 * (gained - sum(energies(x, self._element, a0)))
            a0 = one
        return work


class PaidStep(NamedTuple):
    """A record, and what the actuators had put in by then.

    Attributes
    ----------
    total, positive : (limbs,) J, as of `ActuationWork`
    """

    rod: RodStep
    total: Floats
    positive: Floats


def paid(work: ActuationWork, steps: Iterable[RodStep]) -> Iterator[PaidStep]:
    """Yield the records with the work up to each of them."""
    for step in steps:
        work.add(step)
        yield PaidStep(step, work.total.copy(), work.positive.copy())
