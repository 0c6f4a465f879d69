"""A robot of rods that a file draws."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

from pipeline.cases.record import State, Summary
from pipeline.cases.rod_record import RodRecorder, moving, refuse_times, rod_state
from pipeline.formats.rod_file import DrawnRod, read_rod
from sim.limits import refuse_unless_positive
from sim.rod.actuation.actuation import Actuator
from sim.rod.rod.paths import centroid
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, World


@dataclass(frozen=True, eq=False)
class RodFileCase:
    """A file of `pipeline.formats.rod_file`, and how it is stepped.

    lasts : s, in place of the file's duration
    """

    path: str
    friction: float = 0.8
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    lasts: float | None = None
    every: int = 10
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        if self.lasts is not None:
            refuse_unless_positive(self, "lasts", of="rod file")
        refuse_times(self.duration, self.every)
        _ = self.world

    @cached_property
    def _drawn(self) -> DrawnRod:
        return read_rod(self.path)

    @property
    def duration(self) -> float:
        return self._drawn.duration if self.lasts is None else self.lasts

    @cached_property
    def world(self) -> World:
        drawn = self._drawn
        return World(
            drawn.rod,
            drawn.ground,
            self.friction,
            gravity=drawn.gravity,
            damping=self.damping,
            actuator=self.actuator,
            schedule=drawn.schedule,
            load=drawn.load,
        )

    def steps(self) -> Iterator[RodStep]:
        return moving(self)

    def continued(self, state: State) -> tuple[RodRecorder, Iterator[RodStep]]:
        return self.recorder(), moving(self, state)

    def recorder(self) -> RodRecorder:
        state = partial(rod_state, self)
        return RodRecorder(self, "duration", self._ends, state=state)

    def _ends(self, last: RodStep) -> Summary:
        x_c, y_c = centroid(last.x, self.world.rod.mass)
        return {"x_c": float(x_c), "y_c": float(y_c), "nodes": len(last.x)}
