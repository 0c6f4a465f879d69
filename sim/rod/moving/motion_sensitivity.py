"""How a motion in space changes with the parameters of its rod, exactly, step by step.

The equation of a step of Newmark's rule, `sim.rod.moving.step_equation`, holds to
rounding, and so does its derivative, `sim.rod.moving.step_tangent`; how states change
is said by `sim.rod.moving.state_tangent`.
"""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.rod.moving.account import Effort
from sim.rod.moving.motion import at_start
from sim.rod.moving.one_step import made
from sim.rod.moving.space_parameters import SpaceParameter
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.step_tangent import StepTangent
from sim.rod.moving.trial import SpaceMoving
from sim.rod.stepping.options import Integrator, StepOptions


class SpaceTangents(NamedTuple):
    """The motion at one time, and how it changes with P parameters.

    Attributes
    ----------
    x, v : (n, 3) m, m/s
    dx, dv : (P, n, 3) by relative changes of the parameters
    """

    time: float
    x: Floats
    v: Floats
    dx: Floats
    dv: Floats


def refuse_without_tangents(world: SpaceWorld, options: StepOptions) -> None:
    """Only what the derivative above knows of."""
    if options.integrator is not Integrator.NEWMARK or options.accuracy > 0.0:
        raise ValueError(
            "steps: sensitivities are those of the integrator newmark with accuracy 0: "
            "choose them"
        )
    rod = world.rod
    if len(rod.hinges):
        raise ValueError(
            "sensitivities in space know no hinges about an axis: let rods turn about "
            "balls, or rods of the plane stay in it with dimension 2"
        )
    if world.dry is not None:
        raise ValueError(
            "sensitivities in space know no friction along tendons or in hinges: set "
            "it to 0"
        )
    swings = rod.held_frames & ~rod.held[rod.edges].all(axis=(1, 2))
    for k in np.flatnonzero(swings).tolist():
        raise ValueError(
            f"sensitivities: the frame of edge {k} is held, but not its nodes: hold "
            "both, or neither"
        )
    if world.touching is not None and (
        world.touching.bodies or world.touching.rims is not None
    ):
        raise ValueError(
            "sensitivities in space know contact of round rods with a plane only: "
            "leave bodies and rims out"
        )
    if world.fluid is not None:
        raise ValueError("sensitivities in space know no fluid: leave it out")
    if len(world.along.ends):
        raise ValueError(
            "sensitivities in space know no loads that are spread or turn: leave them "
            "out"
        )
    if world.schedule is not None or world.natural is not None:
        raise ValueError(
            "sensitivities in space know no limbs and no natural curvature in time: "
            "leave them out"
        )


def space_tangents(
    world: SpaceWorld,
    options: StepOptions,
    parameters: Sequence[SpaceParameter],
    duration: float,
) -> Iterator[SpaceTangents]:
    """Yield the motion at the start and after every step, with its derivatives.

    The start does not change with the parameters.

    Raises
    ------
    ValueError
        where the world has what this has no derivative of
    NotConvergedError
        where a step cannot be made whole
    """
    refuse_without_tangents(world, options)
    now, free = at_start(world, options), world.system.free
    dx = np.zeros((len(parameters), len(free)))
    dv = np.zeros_like(dx)
    yield _told(now, dx, dv)
    for _ in range(ceil(duration / options.h - 1e-6)):
        effort = Effort()
        after = made(world, options, now, options.h, effort)
        if after is None:
            raise NotConvergedError(
                f"sensitivities: at t = {now.time:g} s no step of {options.h:g} s "
                "converges: choose a smaller h",
                best=now,
            )
        step = StepTangent(world, now, after, options.h, effort.end)
        for p, parameter in enumerate(parameters):
            dx[p], dv[p] = step.solved(dx[p], dv[p], parameter)
        now = after
        yield _told(now, dx, dv)


def _told(now: SpaceMoving, dx: Floats, dv: Floats) -> SpaceTangents:
    n, shape = now.state.x.size, (len(dx), *now.state.x.shape)
    v = now.v[:n].reshape(shape[1:])
    places, speeds = (by[:, :n].reshape(shape).copy() for by in (dx, dv))
    return SpaceTangents(now.time, now.state.x, v, places, speeds)
