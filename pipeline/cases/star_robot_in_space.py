"""The star robot of [Hu20] in space."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.robots import StarCase
from pipeline.cases.rod_in_space_record import MovingSpaceRod
from sim.core.arrays import Floats
from sim.core.options import Count, Finite, Positive
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import GRAVITY
from sim.rods.space.frames import edge_tangents
from sim.rods.space.from_plane import half_thickness, in_space
from sim.rods.space.rod import SpaceRod
from sim.rods.space.simulate import SpaceMotionStep
from sim.rods.space.world import SpaceWorld


@dataclass(frozen=True, eq=False)
class StarSpaceCase(MovingSpaceRod):
    """The robot stands on both rims of its limbs, with a sideways velocity at first.

    The push lets it turn about the rims on one side, as a rigid body would.

    Attributes
    ----------
    robot : the star, its ground and its schedule; how long and in what steps is here
    push : speed of turning, over that which just tips a rigid body; below zero about
        the other rims, to the other side
    duration : s
    every : steps between two records
    options : time step and tolerances
    """

    of: ClassVar[str] = "star"
    robot: StarCase = field(default_factory=StarCase)
    push: Finite = 0.0
    duration: Positive = 1.0
    every: Count = 10
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = in_space(self.robot.unsettled, self.robot.material)

    @cached_property
    def _on_ground(self) -> SpaceWorld:
        return in_space(self.robot.world, self.robot.material)

    @property
    def tipping(self) -> float:
        """Speed of turning about a rim that lifts a rigid body just over it, rad/s.

        1/2 I w^2 = m g (sqrt(h^2 + b^2) - h), h the height of the centroid, b half the
        width, I about the rim.
        """
        rod, b = self._on_ground.rod, 0.5 * self.robot.material.width
        y, mass = rod.nodes[:, 1], rod.mass.sum()
        h = float(rod.mass @ y) / mass
        about = float(rod.mass @ (y**2 + b**2))
        t = edge_tangents(rod.nodes, rod.edges)
        about += float(rod.inertia @ t[:, 0] ** 2)
        lift = np.sqrt(h**2 + b**2) - h
        return float(np.sqrt(2.0 * mass * GRAVITY * lift / about))

    @cached_property
    def space_world(self) -> SpaceWorld:
        rod, b = self._on_ground.rod, 0.5 * self.robot.material.width
        w = np.array([self.push * self.tipping, 0.0, 0.0])
        rim = np.array([0.0, 0.0, np.copysign(b, self.push)])
        return replace(
            self._on_ground,
            velocity=np.cross(w, rod.nodes - rim),
            spin=edge_tangents(rod.nodes, rod.edges) @ w,
        )

    @property
    def radii(self) -> Floats:
        """Half the thickness of each edge, m."""
        return half_thickness(len(self.space_world.rod.edges), self.robot.material)

    def tilt(self, step: SpaceMotionStep) -> float:
        """Of the best plane through its nodes from where it was, degrees."""
        rod: SpaceRod = self.space_world.rod
        centred = step.x - rod.mass @ step.x / rod.mass.sum()
        normal = np.linalg.svd(centred)[2][2]
        return float(np.degrees(np.arccos(min(1.0, abs(float(normal[2]))))))

    def ends(self, last: SpaceMotionStep) -> Summary:
        mass, start = self.space_world.rod.mass, self.space_world.rod.nodes
        way = float(mass @ (last.x - start)[:, 0]) / float(mass.sum())
        out, tilt = float(np.abs(last.x[:, 2]).max()), self.tilt(last)
        return {
            "way_over_H": way / self.robot.height,
            "out_of_plane_over_H": out / self.robot.height,
            "tilt": tilt,
            "fallen": bool(tilt > 60.0),
        }
