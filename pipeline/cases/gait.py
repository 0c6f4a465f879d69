"""How far the star robot comes for the work of its limbs, by its gait."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from pipeline.cases.rod import StarCase
from sim.rod.actuation import LeftOfContact
from sim.rod.simulate import RodStep, simulate
from sim.rod.storage import from_arrays
from sim.rod.work import ActuationWork
from sim.rod.world import GRAVITY


@dataclass(frozen=True, eq=False)
class GaitCase(StarCase):
    """The star robot, with the positive work of its actuators.

    The work is summed over all steps; `every` is of the records.
    """

    def steps(self) -> Iterator[RodStep]:
        work = ActuationWork(self.world)
        self._works[:] = [work]
        steps = simulate(self.world, self.options, self.duration)
        return self._followed(steps, work)

    def continued(self, arrays: Mapping[str, NDArray[Any]]) -> Iterator[RodStep]:
        state = from_arrays(arrays)
        work = ActuationWork(self.world)
        work.resume(state, arrays["work_total"], arrays["work_positive"])
        self._works[:] = [work]
        steps = simulate(self.world, self.options, self.duration, start=state)
        return self._followed(steps, work)

    def checkpoint(self, step: RodStep) -> dict[str, NDArray[Any]]:
        arrays = super().checkpoint(step)
        if not arrays:
            return {}
        paid = {
            "work_total": self._work.total.copy(),
            "work_positive": self._work.positive.copy(),
        }
        return arrays | paid

    def _followed(
        self, steps: Iterator[RodStep], work: ActuationWork
    ) -> Iterator[RodStep]:
        end = self.duration - 1e-6 * self.options.h
        for step in steps:
            work.add(step)
            if step.step % self.every == 0 or step.time >= end:
                yield step

    @cached_property
    def _works(self) -> list[ActuationWork]:
        return []

    @property
    def _work(self) -> ActuationWork:
        (work,) = self._works  # of the run that goes on
        return work

    def numbers(self, step: RodStep) -> dict[str, float]:
        paid = float(self._work.positive.sum())
        return super().numbers(step) | {"actuation_work": paid}

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        found = super().result(last)
        paid = float(self._work.positive.sum())
        way = float(found["way_over_H"]) * self.height
        weight = float(self.world.rod.mass.sum()) * GRAVITY
        found |= {
            "actuation_work": paid,
            "way_per_work": weight * way / paid if paid > 0.0 else 0.0,
        }
        if isinstance(self.schedule, LeftOfContact):
            found |= {"order": self.schedule.order, "period": self.schedule.period}
        return found
