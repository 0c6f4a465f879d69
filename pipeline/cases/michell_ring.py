"""A twisted ring that buckles, coils and lies on itself."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.rod_record import refuse_times
from pipeline.cases.space_motion import RunsInSpace, skins_touching
from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import Touching
from sim.rod.space.linking import linking_number, writhe
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping


@dataclass(frozen=True, eq=False)
class MichellRingCase(RunsInSpace):
    """A naturally straight wire, twisted and closed to a ring, is let go.

    From a twist of 2 pi sqrt(3) B / C of its ends on the flat ring is not stable
    (Michell 1889). It then coils until it lies on itself, where twist becomes writhe
    and their sum, the linking number, is kept: contact lets nothing through.

    Parameters
    ----------
    radius : of the ring, m
    twist : over Michell's
    lift : largest velocity across its plane at the start, two waves around it, m/s
    """

    wire: Wire
    radius: float = 0.1
    edges: int = 60
    twist: float = 1.3
    lift: float = 5.0e-3
    friction: float = 0.1
    damping: Damping = field(default_factory=lambda: Damping(4.0, 1.0e-3))
    duration: float = 1.3
    every: int = 10
    options: StepOptions = field(
        default_factory=lambda: StepOptions(5.0e-3, Integrator.ENERGY_MOMENTUM)
    )

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "radius", "twist", "lift", of="ring")
        refuse_unless_count(self, "edges", of="ring")
        refuse_times(self.duration, self.every)
        if self.edges < 8:
            raise ValueError(f"ring: edges is {self.edges}: give 8 or more")
        _ = self.space_world

    @property
    def radii(self) -> Floats:
        """m"""
        return np.full(self.edges, self.wire.radius)

    @property
    def critical(self) -> float:
        """Michell's twist, rad."""
        stiff = self.wire.bending / self.wire.twisting
        return float(2.0 * np.pi * np.sqrt(3.0) * stiff)

    @cached_property
    def space_world(self) -> SpaceWorld:
        """Twist is natural with the other sign: the frames of the ring close."""
        angle = 2.0 * np.pi * np.arange(self.edges) / self.edges
        x = self.radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
        rod = self.wire.through(x, closed=True)
        natural = np.zeros_like(rod.curvature)
        natural[:, 2] = -self.twist * self.critical / rod.length
        velocity = self.lift * np.outer(np.cos(2.0 * angle), [0.0, 0.0, 1.0])
        return SpaceWorld(
            replace(rod, curvature=natural),
            (0.0, 0.0, 0.0),
            self.damping,
            velocity=velocity,
            touching=Touching(self.radii, self.friction),
        )

    def ends(self, last: SpaceMotionStep) -> Summary:
        """How far it coiled; writhe, and change of the linking number, in turns."""
        world, state = self.space_world, last.moving.state
        return {
            "michell_twist": self.critical,
            "height_over_R": float(np.ptp(last.x[:, 2]) / self.radius),
            "writhe": writhe(last.x),
            "linking_changed": linking_number(state) - linking_number(world.rod.state),
            "touching": skins_touching(self, last.x),
        }
