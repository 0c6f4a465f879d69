"""What is recorded of a rod that moves in space."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, State, Summary, Tables
from pipeline.cases.rod_record import TimedCase, nothing
from pipeline.cases.space_record import CORNERS, SLIM, skin, skin_fixed_arrays
from sim.arrays import Floats
from sim.rod.moving.kept import moving_arrays, moving_from
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.prescribed import DrivenBody
from sim.rod.moving.space_world import SpaceWorld


class MovingSpaceCase(TimedCase, Protocol):
    """A case about a rod that moves in space for a time.

    Attributes
    ----------
    radii : (m,) of the section of each edge as it is drawn, m
    """

    @property
    def space_world(self) -> SpaceWorld: ...

    @property
    def radii(self) -> Floats: ...


def moving_in_space(
    case: MovingSpaceCase, state: State | None = None
) -> Iterator[SpaceMotionStep]:
    """The steps of a case, from its start or from a recorded state."""
    start = None if state is None else moving_from(state)
    yield from moves(
        case.space_world, case.options, case.duration, every=case.every, start=start
    )


def _ground_of(world: SpaceWorld) -> Arrays:
    """What is drawn of what stays: lines on bodies, and of a plane normal . x = height
    four numbers.
    """
    found: Arrays = {}
    touching = world.touching
    if touching is None:
        return found
    stay = [body for body in touching.bodies if not isinstance(body, DrivenBody)]
    if stay:
        lines = [body.lines(world.rod.nodes) for body in stay]
        found["ground_lines"] = np.concatenate(lines)
    if touching.ground is not None:
        normal, height = np.array(touching.ground.normal), touching.ground.height
        size = float(np.linalg.norm(normal))
        found["ground_plane"] = np.array([*(normal / size), height])
    return found


def moved_lines(world: SpaceWorld, time: float, x: Floats) -> Floats:
    """(2 q, 3) ends of lines on bodies that move, m, beside nodes x (n, 3)."""
    moved = world.touching.at(time).moved if world.touching else []
    each = [body.lines(x).reshape(-1, 3) for body in moved]
    return np.concatenate([np.empty((0, 3)), *each])


@dataclass(eq=False)
class SpaceMotionRecorder:
    """Records a motion.

    Attributes
    ----------
    ends : what a case says of its last step, besides
    columns : of steps.csv, besides
    """

    case: MovingSpaceCase
    ends: Callable[[SpaceMotionStep], Summary]
    columns: Callable[[SpaceMotionStep], Row] = nothing
    last: SpaceMotionStep = field(init=False)

    def see(self, step: SpaceMotionStep) -> None:
        self.last = step

    def row(self, step: SpaceMotionStep) -> Row:
        mass, ledger = self.case.space_world.rod.mass, step.moving.ledger
        place = mass @ step.x / mass.sum()
        return {
            "step": step.moving.step,
            "time": step.time,
            **{f"{a}_c": float(v) for a, v in zip("xyz", place, strict=True)},
            "kinetic": step.kinetic,
            "stretching": step.stretching,
            "bending": step.bending,
            "twisting": step.twisting,
            "gravity": step.gravity,
            "turned": float(step.moving.state.twist.sum()),
            "given": ledger.given,
            "damped": ledger.damped,
            "friction": ledger.friction,
            "impact": ledger.impact,
            "out_of_balance": ledger.left,
            "iterations": step.iterations,
            "substeps": step.substeps,
            "h": step.moving.last,
            **self.columns(step),
        }

    def arrays(self, step: SpaceMotionStep) -> Arrays:
        state, rod = step.moving.state, self.case.space_world.rod
        radii = np.maximum(self.case.radii, SLIM * rod.length)
        lines = moved_lines(self.case.space_world, step.time, state.x)
        r = np.concatenate([skin(state, rod.edges, radii), lines])
        found = {"r": r, "nodes": state.x}
        return {**found, "directors": state.d, "twist": state.twist}

    def progress(self, step: SpaceMotionStep) -> str:
        return f"t {step.time:.3f} s"

    def state(self, step: SpaceMotionStep) -> Arrays:
        """What every later step depends on; nothing where none is left."""
        left = step.time < self.case.duration - 1e-6 * self.case.options.h
        return moving_arrays(step.moving) if left else {}

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        world = self.case.space_world
        gravity = np.array(world.gravity)
        up = {"up": -gravity / np.linalg.norm(gravity)} if gravity.any() else {}
        found = {**skin_fixed_arrays(world.rod), **up, **_ground_of(world)}
        ends = len(moved_lines(world, 0.0, world.rod.nodes))
        if ends:
            first = CORNERS * len(world.rod.edges)
            found["body_edges"] = np.arange(first, first + ends).reshape(-1, 2)
        return found

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        step = self.last
        ledger = step.moving.ledger
        return {
            "stop": "duration",
            "nodes": len(step.x),
            "time": step.time,
            "steps": step.moving.step,
            "energy": step.energy,
            "residual": ledger.residual,
            "residual_share": ledger.share,
            "out_of_balance": ledger.left,
            "balance": ledger.balance,
            "complementarity": ledger.complementarity,
            "contact_gap": ledger.gap,
            **self.ends(step),
        }


class RunsInSpace:
    """How a case about a rod that moves in space is run; `ends` is what it tells."""

    def steps(self: Any) -> Iterator[SpaceMotionStep]:
        return moving_in_space(self)

    def continued(
        self: Any, state: State
    ) -> tuple[SpaceMotionRecorder, Iterator[SpaceMotionStep]]:
        return self.recorder(), moving_in_space(self, state)

    def recorder(self: Any) -> SpaceMotionRecorder:
        return SpaceMotionRecorder(self, self.ends)
