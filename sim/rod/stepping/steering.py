"""A star robot that a controller drives to a wanted place.

Every period the controller looks where the centroid is, and decides: less than half a
stride from the goal, nothing is switched on; otherwise the limb beside the contact limb
on the side away from the goal, so that the robot rolls towards it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.rod.rod.paths import centroid
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import contact_limb
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.stepping import RodWorld
from sim.rod.stepping.world import World


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


@dataclass(frozen=True)
class Steering:
    """What a controller is asked to do.

    Attributes
    ----------
    goal : m, of the centroid from its start
    stride : m, how far one pulse brings the robot
    interval : s, between two records
    every : records between two decisions
    duration : s
    """

    goal: float
    stride: float
    interval: float
    every: int
    duration: float


def steered(world: World, options: StepOptions, asked: Steering) -> Iterator[RodStep]:
    """Observe, act, step."""
    robot = RodWorld(world, options)
    seen, record = robot.observe(), 0
    goal = asked.goal + float(centroid(seen.x, world.rod.mass)[0])
    yield seen
    while seen.time < asked.duration - 1e-6 * options.h:
        if record % asked.every == 0:
            limb = towards(world, seen, goal, asked.stride)
            if limb is not None:
                robot.act(switch_on=[limb])
        seen = robot.step(asked.interval)
        record += 1
        yield seen


def last_switched_on(step: RodStep) -> int:
    """The limb whose pulse began last, or -1."""
    begun = np.where(np.isfinite(step.state.pulse), step.state.pulse, -np.inf)
    return int(np.argmax(begun)) if np.isfinite(begun).any() else -1
