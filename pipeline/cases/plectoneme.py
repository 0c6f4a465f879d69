"""A twisted wire that is slackened until it winds about itself."""

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
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.moving.touching import Touching
from sim.rod.space.space_rod import clamped
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping


@dataclass(frozen=True, eq=False)
class PlectonemeCase(RunsInSpace):
    """A straight wire with both ends clamped, one of which comes towards the other.

    It holds so much twist that it buckles as soon as it is slack, and pays bending and
    contact with the twist that it loses.

    Parameters
    ----------
    turns : of twist at the start
    slack : of the length, by which the ends have come together at the end of `until`
    sag : m/s^2 across the wire, which says to which side it buckles
    """

    wire: Wire
    length: float = 0.2
    edges: int = 50
    turns: float = 5.0
    slack: float = 0.5
    until: float = 1.0
    sag: float = 0.5
    friction: float = 0.1
    damping: Damping = field(default_factory=lambda: Damping(8.0, 2.0e-3))
    duration: float = 1.2
    every: int = 20
    options: StepOptions = field(
        default_factory=lambda: StepOptions(2.0e-3, Integrator.ENERGY_MOMENTUM)
    )

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "length", "turns", "until", of="plectoneme")
        refuse_unless_count(self, "edges", of="plectoneme")
        refuse_times(self.duration, self.every)
        if not 0.0 < self.slack < 1.0 or self.edges < 8:
            raise ValueError(
                f"plectoneme: slack is {self.slack}, edges {self.edges}: give a share "
                "of the length between 0 and 1, and 8 edges or more"
            )
        _ = self.space_world

    @property
    def radii(self) -> Floats:
        """m"""
        return np.full(self.edges, self.wire.radius)

    @cached_property
    def space_world(self) -> SpaceWorld:
        """Twist is natural at the start with the other sign: the wire is straight."""
        along = self.length / (self.edges - 1) * (np.arange(self.edges + 1) - 0.5)
        rod = self.wire.through(np.column_stack([along, 0 * along, 0 * along]))
        natural = np.zeros_like(rod.curvature)
        natural[:, 2] = -2.0 * np.pi * self.turns / self.length
        velocity = np.zeros_like(rod.nodes)
        velocity[-2:, 0] = -self.slack * self.length / self.until
        drive = MovingSupports(velocity, np.zeros(self.edges), end=self.until)
        return SpaceWorld(
            clamped(replace(rod, curvature=natural), 0, self.edges - 1),
            (0.0, 0.0, -self.sag),
            self.damping,
            drive=drive,
            touching=Touching(self.radii, self.friction),
        )

    def ends(self, last: SpaceMotionStep) -> Summary:
        """How far it reaches off the line of its ends, and what touches."""
        return {
            "off_axis_over_L": float(np.hypot(*last.x[:, 1:].T).max() / self.length),
            "touching": skins_touching(self, last.x),
            "twist_over_first": float(
                (last.moving.state.twist.sum() + 2.0 * np.pi * self.turns)
                / (2.0 * np.pi * self.turns)
            ),
        }
