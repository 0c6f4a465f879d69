"""Rods in space at rest: a shaft, a hanging helix, an arm with tendons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from pipeline.cases.record import Summary, along_axes
from pipeline.cases.rod_in_space_record import RestingSpaceRod
from sim.core.arrays import Floats
from sim.core.options import Checked, Count, Finite, NotNegative, Positive, counted
from sim.rods.plane.rod import GRAVITY, PoissonRatio
from sim.rods.space.assembled_system import no_loads
from sim.rods.space.rod import (
    SpaceMaterial,
    SpaceRod,
    StretchLaw,
    clamped,
    disc,
    through,
)
from sim.rods.space.statics import SpaceSetting, SpaceStep, settled
from sim.rods.space.tendons import TaperedArm

FAR = 2.0e-4  # of the size: what has moved by more has buckled
Edges = Annotated[int, counted(8)]


@dataclass(frozen=True)
class Wire(Checked):
    """A round wire: m, Pa, kg/m^3."""

    of: ClassVar[str] = "wire"
    radius: Positive = 1.0e-3
    modulus: Positive = 1.0e7
    density: Positive = 1000.0
    poisson: PoissonRatio = 0.3

    @property
    def material(self) -> SpaceMaterial:
        return SpaceMaterial(self.modulus, self.density, self.poisson)

    @property
    def bending(self) -> float:
        """B = EI, N m^2."""
        return self.modulus * disc(self.radius).second[0]

    @property
    def twisting(self) -> float:
        """C = GJ, N m^2."""
        return self.material.shear * disc(self.radius).torsion

    def through(self, nodes: Floats) -> SpaceRod:
        """A rod at rest in the shape of its nodes; d1 of its first edge is along y."""
        section = disc(self.radius)
        return through(nodes, self.material, section, first=(0.0, 1.0, 0.0))


def _left(seen: Sequence[SpaceStep], size: float) -> float:
    """The first share at which nodes left their first place; nan if none."""
    first = seen[0].rest.state.x
    for step in seen:
        if np.abs(step.rest.state.x - first).max() > FAR * size:
            return step.share
    return float("nan")


@dataclass(frozen=True)
class GreenhillShaftCase(RestingSpaceRod):
    """A straight shaft clamped at both ends, one of which is turned until it buckles.

    Greenhill: M = 8.987 B / L. The clamps keep their distance, so it bows little.

    Parameters
    ----------
    moment : at the end, over Greenhill's, if the shaft stayed straight
    wire : radius, modulus, density, Poisson's ratio
    length : m
    edges : their number
    load_steps : to the full turn
    """

    of: ClassVar[str] = "shaft"
    wire: Wire
    length: Positive = 0.5
    edges: Edges = 60
    moment: Positive = 1.2
    load_steps: Count = 24

    @property
    def radii(self) -> Floats:
        return np.full(self.edges, self.wire.radius)

    @property
    def critical(self) -> float:
        """Greenhill's moment, N m."""
        return 8.986818916 * self.wire.bending / self.length

    @cached_property
    def shaft(self) -> SpaceRod:
        edge = self.length / (self.edges - 1)
        along = edge * (np.arange(self.edges + 1) - 0.5)
        rod = self.wire.through(np.column_stack([along, 0 * along, 0 * along]))
        return clamped(rod, 0, self.edges - 1)

    def setting(self, share: float) -> SpaceSetting:
        angle = share * self.moment * self.critical * self.length / self.wire.twisting
        return settled(self.shaft, no_loads(self.shaft))._replace(
            turned=np.where(np.arange(self.edges) == self.edges - 1, angle, 0.0)
        )

    def ends(self, seen: list[SpaceStep]) -> Summary:
        off_axis = np.hypot(*seen[-1].rest.state.x[:, 1:].T)
        return {
            "greenhill_moment": self.critical,
            "buckled_over_greenhill": self.moment * _left(seen, self.length),
            "bow_over_L": float(off_axis.max() / self.length),
        }


@dataclass(frozen=True)
class HelixCase(RestingSpaceRod):
    """A wire of natural curvature, clamped at its top, let down under gravity.

    It hangs straight at first, as heavy as it must be for that, and gravity falls to
    what it is (after Miller et al., PRL 112 (2014) 068103).

    Parameters
    ----------
    curvature : natural, 1/m
    times : of gravity at the start
    wire : radius, modulus, density, Poisson's ratio
    length : m
    edges : their number
    gravity : at the end, m/s^2
    load_steps : to that gravity
    """

    of: ClassVar[str] = "helix"
    wire: Wire
    length: Positive = 0.4
    curvature: Finite = 40.0
    edges: Edges = 80
    times: Positive = 30.0
    gravity: Positive = GRAVITY
    load_steps: Count = 30

    @property
    def radii(self) -> Floats:
        return np.full(self.edges, self.wire.radius)

    @cached_property
    def wire_down(self) -> SpaceRod:
        edge = self.length / (self.edges - 0.5)
        down = -edge * (np.arange(self.edges + 1) - 0.5)
        rod = self.wire.through(np.column_stack([0 * down, 0 * down, down]))
        natural = np.zeros_like(rod.curvature)
        natural[:, 0] = self.curvature
        return clamped(replace(rod, curvature=natural), 0)

    def setting(self, share: float) -> SpaceSetting:
        rod = self.wire_down
        fall = np.array([0.0, 0.0, -self.gravity * self.times ** (1.0 - share)])
        return settled(rod, replace(no_loads(rod), gravity=fall))

    def ends(self, seen: list[SpaceStep]) -> Summary:
        x = seen[-1].rest.state.x
        wide = np.ptp(x, axis=0)
        return {
            "height": float(-x[-1, 2]),
            "width": float(wide[:2].max()),
            "depth": float(wide[:2].min()),
        }


@dataclass(frozen=True)
class TendonArmCase(RestingSpaceRod):
    """A hanging tapered arm with tendons under tension.

    Parameters
    ----------
    profile : rows of arc length and radius, m
    tied : arc length at which tendons end, m
    offset : rows of arc length and distance of a tendon from the axis, m
    angles : of each tendon about the axis, degrees
    tensions : at the end, N
    friction : coefficient along tendons
    law : hooke, or rubber: sections follow stretch
    modulus : Pa
    density : kg/m^3
    edges : their number
    gravity : m/s^2
    load_steps : to the full tensions
    """

    of: ClassVar[str] = "arm"
    profile: Sequence[tuple[float, float]]
    tied: float
    offset: Sequence[tuple[float, float]]
    angles: Sequence[float]
    tensions: Sequence[float]
    modulus: float = 3.15e5
    density: float = 1318.0
    friction: float = 0.0
    law: str = "rubber"
    edges: int = 24
    gravity: NotNegative = GRAVITY
    load_steps: Count = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.angles) != len(self.tensions) or not len(self.angles):
            raise ValueError(
                f"arm: {len(self.angles)} angles for {len(self.tensions)} tensions: "
                "give one of each per tendon"
            )
        _ = self.setting(1.0)

    @cached_property
    def arm(self) -> TaperedArm:
        material = SpaceMaterial(self.modulus, self.density)
        return TaperedArm(
            self.profile, self.tied, material, self.edges, law=StretchLaw(self.law)
        )

    @cached_property
    def _rod(self) -> SpaceRod:
        return self.arm.rod

    @property
    def radii(self) -> Floats:
        return self.arm.radii

    def setting(self, share: float) -> SpaceSetting:
        rod = self._rod
        tendons = tuple(
            self.arm.tendon(
                rod, self.offset, np.radians(angle), share * tension, self.friction
            )
            for angle, tension in zip(self.angles, self.tensions, strict=True)
        )
        loads = replace(
            no_loads(rod), gravity=np.array([0.0, 0.0, -self.gravity]), tendons=tendons
        )
        return settled(rod, loads)

    def ends(self, seen: list[SpaceStep]) -> Summary:
        rest = seen[-1].rest
        size = np.linalg.norm(np.diff(rest.state.x, axis=0), axis=1)
        shortest = float((size / self._rod.rest_length).min())
        return {
            **along_axes("{}_tip", rest.state.x[-1]),
            "shortest_over_rest": shortest,
            "least_tension": float(rest.tension.min()),
        }
