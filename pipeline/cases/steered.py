"""A star robot that a controller drives to a wanted place."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Row, Summary
from pipeline.cases.rod import StarCase
from pipeline.cases.rod_record import RodRecorder
from sim.rod.stepping.steering import Steering, steered
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import World


@dataclass(frozen=True, eq=False)
class SteeredCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    robot : the star and its ground; its schedule is left out
    goal : of the centroid from its start, in body heights H
    stride : how far one pulse brings the robot, H; the way of the first cycle of Fig. 4
        of [Hu20] on the plane (0.2648 at N = 84 here, 0.2640 in the limit of many)
    period : s between two decisions
    duration : s
    """

    robot: StarCase = field(default_factory=StarCase)
    goal: float = 1.0
    stride: float = 0.265
    period: float = 3.0
    duration: float = 12.0

    def __post_init__(self) -> None:
        for name in ("stride", "period", "duration"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and 0.0 < value < np.inf):
                raise ValueError(f"{name} must be positive, not {value}")
        if not np.isfinite(self.goal):
            raise ValueError(f"goal is {self.goal}: give a place in body heights")
        steps = self.period / (self.robot.every * self.robot.options.h)
        if abs(steps - round(steps)) > 1e-6 or steps < 1.0:
            raise ValueError(
                f"period {self.period} s is no multiple of the "
                f"{self.robot.every * self.robot.options.h:g} s between two records"
            )

    @cached_property
    def world(self) -> World:
        return replace(self.robot.world, schedule=None)

    def steps(self) -> Iterator[RodStep]:
        options, H = self.robot.options, self.robot.height
        interval = self.robot.every * options.h
        asked = Steering(
            self.goal * H,
            self.stride * H,
            interval,
            round(self.period / interval),
            self.duration,
        )
        yield from steered(self.world, options, asked)

    def recorder(self) -> RodRecorder:
        return RodRecorder(self, "duration", self._ends, self._columns)

    def _columns(self, step: RodStep) -> Row:
        found = self.robot.columns(step)
        way = found.pop("way_over_H")
        return {"way_over_H": way, "goal_over_H": self.goal, **found}

    def _ends(self, last: RodStep) -> Summary:
        way = self.robot.columns(last)["way_over_H"]
        return {
            "way_over_H": way,
            "goal_over_H": self.goal,
            "away_over_H": way - self.goal,
            "reached": bool(abs(way - self.goal) <= 0.5 * self.stride),
        }
