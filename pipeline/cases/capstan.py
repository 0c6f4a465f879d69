"""A thin rope that is pulled around a fixed drum."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.rod_record import refuse_times
from pipeline.cases.space_motion import RunsInSpace
from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.moving.touching import Touching
from sim.rod.space.frames import edge_lengths
from sim.rod.space.space_rod import SpaceRod, edge_tangents, together
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping

FREE = 4  # edges of rope that hang down on either side
DRUM = 3  # edges of the drum, whose middle one carries the rope


@dataclass(frozen=True, eq=False)
class CapstanCase(RunsInSpace):
    """A rope over a drum: a force holds one end, the other is pulled at a given speed.

    All of it slides, so the pull is the holding force times exp(mu beta), with beta the
    angle that the rope turns by (Euler, Eytelwein). The drum is a thick rod that is
    held with its frames, so that friction does not turn it.

    Parameters
    ----------
    drum : its radius, m
    edges : of the rope where it lies on the drum at the start
    holding : N
    speed : of the pulled end, m/s
    """

    wire: Wire
    drum: float = 0.05
    edges: int = 24
    holding: float = 0.1
    friction: float = 0.3
    speed: float = 0.1
    damping: Damping = field(default_factory=lambda: Damping(5.0, 2.0e-3))
    duration: float = 0.02
    every: int = 20
    options: StepOptions = field(
        default_factory=lambda: StepOptions(1.0e-4, Integrator.ENERGY_MOMENTUM)
    )

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "drum", "holding", "speed", of="capstan")
        refuse_unless_count(self, "edges", of="capstan")
        refuse_times(self.duration, self.every)
        if self.edges < 8 or not self.wire.radius < self.drum:
            raise ValueError(
                f"capstan: edges is {self.edges}, the rope's radius {self.wire.radius} "
                f"m, the drum's {self.drum} m: give 8 edges or more and a thin rope"
            )
        _ = self.space_world

    @property
    def radii(self) -> Floats:
        """m"""
        rope = np.full(self.edges + 2 * FREE, self.wire.radius)
        return np.append(rope, np.full(DRUM, self.drum))

    @property
    def rope(self) -> SpaceRod:
        """Over the top of a drum along y: edges touch it in their middle."""
        turn = np.pi / self.edges
        far = self.drum + self.wire.radius
        angle = (np.arange(self.edges + 1) - 0.5) * turn
        corner = far / np.cos(0.5 * turn)
        over = corner * np.column_stack([-np.cos(angle), 0 * angle, np.sin(angle)])
        size = 2.0 * far * np.tan(0.5 * turn)
        down = size * np.arange(FREE, 0, -1)
        sides = [
            end + np.outer(down[::way], [0.0, 0.0, -1.0])
            for end, way in ((over[0], 1), (over[-1], -1))
        ]
        rod = self.wire.through(np.concatenate([sides[0], over, sides[1]]))
        rod.held[-1] = True
        return replace(rod, curvature=np.zeros_like(rod.curvature))

    @cached_property
    def space_world(self) -> SpaceWorld:
        """The rope, naturally straight, before the drum."""
        y = 2.0 * self.drum * (np.arange(DRUM + 1) / DRUM - 0.5)
        axis = np.column_stack([0 * y, y, 0 * y])
        drum = self.wire.through(axis, first=(0.0, 0.0, 1.0))
        drum.held[:], drum.held_frames[:] = True, True
        rod = together(self.rope, drum)
        last = len(rod.nodes) - DRUM - 2
        force, velocity = np.zeros_like(rod.nodes), np.zeros_like(rod.nodes)
        force[0, 2], velocity[last, 2] = -self.holding, -self.speed
        return SpaceWorld(
            rod,
            (0.0, 0.0, 0.0),
            self.damping,
            force=force,
            drive=MovingSupports(velocity, np.zeros(len(rod.edges))),
            touching=Touching(self.radii, self.friction),
        )

    def tensions(self, step: SpaceMotionStep) -> Floats:
        """(m,) of the rope's edges, from the held end on, N."""
        rod, m = self.space_world.rod, self.edges + 2 * FREE
        longer = edge_lengths(step.x, rod.edges) / rod.rest_length - 1.0
        return np.asarray((rod.stretching * longer)[:m])

    def ends(self, last: SpaceMotionStep) -> Summary:
        """Tensions of the first and the last edge, and what turns between them."""
        pulled = self.tensions(last)
        t = edge_tangents(last.x, self.space_world.rod.edges)
        ends = t[0], t[len(pulled) - 1]
        turned = float(np.arctan2(np.cross(*ends)[1], ends[0] @ ends[1]) % (2 * np.pi))
        return {
            "tension_ratio": float(pulled[-1] / pulled[0]) if last.time else np.nan,
            "turned_by": turned,
            "exp_mu_beta": float(np.exp(self.friction * turned)),
        }
