"""How far the star robot comes for the work of its limbs, by its gait."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pipeline.cases.record import Arrays, Documents, Row, State, Summary, Tables
from pipeline.cases.rod import StarCase
from pipeline.cases.rod_record import (
    moving,
    rod_arrays,
    rod_fixed_arrays,
    rod_progress,
    rod_row,
    rod_state,
    rod_summary,
)
from sim.rod.actuation.actuation import LeftOfContact
from sim.rod.gravity import GRAVITY
from sim.rod.stepping.storage import from_arrays
from sim.rod.stepping.work import ActuationWork, PaidStep, paid


@dataclass(frozen=True, eq=False)
class StarGaitCase:
    """The star robot, with the positive work of its actuators.

    The work is summed over all steps; `every` of the robot is of the records.
    """

    robot: StarCase = field(default_factory=StarCase)

    def steps(self) -> Iterator[PaidStep]:
        return self._steps(None)

    def continued(self, state: State) -> tuple["GaitRecorder", Iterator[PaidStep]]:
        return self.recorder(), self._steps(state)

    def _steps(self, state: State | None) -> Iterator[PaidStep]:
        robot, work = self.robot, ActuationWork(self.robot.world)
        if state is not None:
            start = from_arrays(state)
            work.resume(start, state["work_total"], state["work_positive"])
        end = robot.duration - 1e-6 * robot.options.h
        for step in paid(work, moving(robot, state, every=1)):
            if step.rod.step % robot.every == 0 or step.rod.time >= end:
                yield step

    def recorder(self) -> "GaitRecorder":
        return GaitRecorder(self.robot)


def star_gait(**robot: Any) -> StarGaitCase:
    """One of conf/case, built by Hydra: the keys are those of the robot."""
    return StarGaitCase(StarCase(**robot))


@dataclass(eq=False)
class GaitRecorder:
    """Records the robot and its work."""

    robot: StarCase
    last: PaidStep = field(init=False)

    def see(self, step: PaidStep) -> None:
        self.last = step

    def row(self, step: PaidStep) -> Row:
        work = {"actuation_work": float(step.positive.sum())}
        world, rod = self.robot.world, step.rod
        return rod_row(world, rod) | self.robot.columns(rod) | work

    def arrays(self, step: PaidStep) -> Arrays:
        return rod_arrays(step.rod)

    def state(self, step: PaidStep) -> Arrays:
        state = rod_state(self.robot, step.rod)
        work = {"work_total": step.total, "work_positive": step.positive}
        return state | work if state else {}

    def progress(self, step: PaidStep) -> str:
        return rod_progress(step.rod)

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return rod_fixed_arrays(self.robot.world)

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        robot, rod = self.robot, self.last.rod
        work, ends = float(self.last.positive.sum()), robot.ends(rod)
        way = float(ends["way_over_H"]) * robot.height
        weight = float(robot.world.rod.mass.sum()) * GRAVITY
        found = rod_summary(robot.world, rod, "duration") | ends
        found |= {
            "actuation_work": work,
            "way_per_work": weight * way / work if work > 0.0 else 0.0,
        }
        if isinstance(robot.schedule, LeftOfContact):
            schedule = robot.schedule
            found |= {"order": schedule.order, "period": schedule.period}
        return found
