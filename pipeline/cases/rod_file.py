"""A robot of rods that a file draws."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from pipeline.cases.moved_most import ToldLengths
from pipeline.cases.record import Row, State, Summary
from pipeline.cases.rod_end import end_in_plane, end_in_space
from pipeline.cases.rod_record import RodRecorder, moving, refuse_times, rod_state
from pipeline.cases.space_motion import SpaceMotionRecorder, moving_in_space
from pipeline.formats.rod_file import DrawnRod, read_rod
from pipeline.formats.rod_places import in_unit
from pipeline.formats.space_robot import SpaceRobot
from sim.arrays import Floats
from sim.limits import refuse_unless_positive
from sim.rod.actuation.actuation import Actuator
from sim.rod.contact.touching import PlaneTouching
from sim.rod.moving.from_plane import OF_THE_PLANE, half_thickness, in_space
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import OverlapError, Touching
from sim.rod.space.limbs import DrawnLimbs
from sim.rod.stepping.markers import Marker
from sim.rod.stepping.options import CONSERVING, StepOptions
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, World


@dataclass(frozen=True, eq=False)
class RodFileCase:
    """A file of `pipeline.formats.rod_file`, and how it is stepped.

    lasts : s, in place of the file's duration
    finer : by which every spacing of the file is divided
    dimension : 2, or 3: rods of the plane are free to leave it; a file may be in space
        by itself
    touching : in the plane, edges feel the ground, rods feel rods and themselves; in
        space they do where there is a ground, or bodies
    """

    path: str
    friction: float = 0.8
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    lasts: float | None = None
    every: int = 10
    options: StepOptions = CONSERVING
    dimension: int = 2
    finer: float = 1.0
    touching: PlaneTouching | None = None

    def __post_init__(self) -> None:
        if self.lasts is not None:
            refuse_unless_positive(self, "lasts", of="rod file")
        refuse_unless_positive(self, "finer", of="rod file")
        refuse_times(self.duration, self.every)
        if self.dimension not in (2, 3):
            raise ValueError(f"dimension is {self.dimension}: choose 2 or 3")
        drawn = self._drawn
        try:
            _ = self.space_world if self.goes_into_space else self.world
        except ValueError as error:
            raise ValueError(
                f"{self.path}: {in_unit(str(error), drawn.unit, drawn.metres)}"
            ) from None

    @cached_property
    def _drawn(self) -> DrawnRod | SpaceRobot:
        return read_rod(self.path, self.finer)

    @property
    def goes_into_space(self) -> bool:
        return self.dimension == 3 or isinstance(self._drawn, SpaceRobot)

    @property
    def _plane(self) -> DrawnRod:
        assert isinstance(self._drawn, DrawnRod)  # asked for nowhere else
        return self._drawn

    @property
    def duration(self) -> float:
        return self._drawn.duration if self.lasts is None else self.lasts

    @cached_property
    def world(self) -> World:
        drawn = self._plane
        return World(
            drawn.rod,
            drawn.ground,
            self.friction,
            gravity=drawn.gravity,
            damping=self.damping,
            actuator=self.actuator,
            schedule=drawn.schedule,
            load=drawn.load,
            fluid=drawn.fluid,
            distributed_loads=drawn.distributed_loads,
            follower_forces=drawn.follower_forces,
            turning=drawn.turning,
            touching=self.touching,
        )

    @cached_property
    def space_world(self) -> SpaceWorld:
        """Of rods of the plane the same, in the plane z = 0 at the start."""
        drawn = self._drawn
        if isinstance(drawn, DrawnRod):
            return in_space(self.world, drawn.sections)
        if self.touching is not None:
            raise ValueError(OF_THE_PLANE)
        touching = drawn.touching(self.friction)
        try:
            return self._world_in_space(drawn, touching)
        except OverlapError as error:
            raise ValueError(drawn.told(error)) from None

    def _world_in_space(
        self, drawn: SpaceRobot, touching: Touching | None
    ) -> SpaceWorld:
        limbs = drawn.limbs and DrawnLimbs(*drawn.limbs, self.actuator)
        return SpaceWorld(
            drawn.rod, drawn.gravity, self.damping, drawn.force, touching=touching,
            tendons=drawn.tendons, pulling=drawn.pulling, fluid=drawn.fluid,
            drive=drawn.drive, natural=drawn.natural, limbs=limbs,
            schedule=drawn.pulses, load=drawn.load,
            distributed_loads=drawn.distributed_loads,
            follower_forces=drawn.follower_forces,
        )  # fmt: skip

    @property
    def radii(self) -> Floats:
        """Half the thickness of each edge, m."""
        drawn = self._drawn
        if isinstance(drawn, SpaceRobot):
            return drawn.radii
        return half_thickness(len(drawn.sections), drawn.sections)

    def steps(self) -> Iterator[Any]:
        return self._steps(None)

    def _steps(self, state: State | None) -> Iterator[Any]:
        if self.goes_into_space:
            return moving_in_space(self, state)
        return moving(self, state)

    def continued(
        self, state: State
    ) -> tuple[RodRecorder | SpaceMotionRecorder, Iterator[Any]]:
        return self.recorder(), self._steps(state)

    def recorder(self) -> RodRecorder | SpaceMotionRecorder:
        if self.goes_into_space:
            return SpaceMotionRecorder(self, self._ends_in_space, self._marked)
        state = partial(rod_state, self)
        return RodRecorder(self, "duration", self._ends, self._marked, state)

    @property
    def markers(self) -> dict[str, Marker]:
        """Those of the file, by their columns of steps.csv, in space."""
        return self._drawn.markers.weighted(self.space_world.rod.nodes)

    def _marked(self, step: RodStep | SpaceMotionStep) -> Row:
        """Where the markers are; rods lifted into space keep their nodes' numbers."""
        return self._drawn.markers.columns(step.x)

    @property
    def _lengths(self) -> ToldLengths:
        return ToldLengths(self._drawn.unit, self._drawn.metres, drawn=True)

    def _ends(self, last: RodStep) -> Summary:
        return end_in_plane(self.world, last, self._lengths, "case.lasts")

    def _ends_in_space(self, last: SpaceMotionStep) -> Summary:
        return end_in_space(self.space_world, last, self._lengths, "case.lasts")
