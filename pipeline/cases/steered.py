"""A star robot that a controller drives to a wanted place: `sim.rod.stepping`.

Every period the controller looks where the centroid is, and decides: less than half a
stride from the goal, nothing is switched on; otherwise the limb beside the contact limb
on the side away from the goal, so that the robot rolls towards it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from pipeline.cases.rod import StarCase, last_switched_on
from pipeline.cases.rod_record import RodCase, common_result
from sim.rod.paths import centroid
from sim.rod.simulate import RodStep, contact_limb
from sim.rod.stepping import RodWorld
from sim.rod.world import World


def towards(world: World, seen: RodStep, goal: float, stride: float) -> int | None:
    """The limb to switch on so that the robot rolls towards the goal; None near it.

    Parameters
    ----------
    goal, stride : m, where the centroid is wanted, and how far a pulse brings it
    """
    away = goal - float(centroid(seen.x, world.rod.mass)[0])
    if abs(away) <= 0.5 * stride:
        return None
    limb = contact_limb(world, seen.x) - int(np.sign(away))  # left of contact: ahead
    return limb % (world.rod.last_limb + 1)


@dataclass(frozen=True, eq=False)
class SteeredCase(RodCase):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    robot : the star and its ground; its schedule is left out
    goal : of the centroid from its start, in body heights H
    stride : how far one pulse brings the robot, H
    period : s between two decisions
    duration : s
    """

    robot: StarCase = field(default_factory=StarCase)
    goal: float = 1.0
    stride: float = 0.31
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

    @property
    def world(self) -> World:
        return replace(self.robot.world, schedule=None)

    def steps(self) -> Iterator[RodStep]:
        """Observe, act, step."""
        options, H = self.robot.options, self.robot.height
        world = RodWorld(self.world, options)
        seen = world.observe()
        goal = self.goal * H + float(centroid(seen.x, self.world.rod.mass)[0])
        every, record = round(self.period / (self.robot.every * options.h)), 0
        yield seen
        while seen.time < self.duration - 1e-6 * options.h:
            if record % every == 0:
                limb = towards(self.world, seen, goal, self.stride * H)
                if limb is not None:
                    world.act(switch_on=[limb])
            seen = world.step(self.robot.every * options.h)
            record += 1
            yield seen

    def _way(self, step: RodStep) -> float:
        """How far the centroid has come, H."""
        mass = self.world.rod.mass
        way = centroid(step.x, mass)[0] - centroid(self.world.rod.nodes, mass)[0]
        return float(way) / self.robot.height

    def numbers(self, step: RodStep) -> dict[str, float]:
        return super().numbers(step) | {
            "way_over_H": self._way(step),
            "goal_over_H": self.goal,
            "contact_limb": contact_limb(self.world, step.x) + 1,
            "switched_on": last_switched_on(step) + 1,
        }

    def result(self, last: RodStep) -> dict[str, float | str | int | bool]:
        away = self._way(last) - self.goal
        return common_result(last, "duration") | {
            "way_over_H": self._way(last),
            "goal_over_H": self.goal,
            "away_over_H": away,
            "reached": bool(abs(away) <= 0.5 * self.stride),
        }
