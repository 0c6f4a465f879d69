"""Rods in space at rest: a shaft, a hanging helix, an arm with tendons."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.space_record import SpaceRecorder, rests_of
from sim.arrays import Floats
from sim.limits import (
    refuse_negative,
    refuse_unless_count,
    refuse_unless_finite,
    refuse_unless_positive,
)
from sim.rod.gravity import GRAVITY
from sim.rod.space.arm import TaperedArm
from sim.rod.space.loads import no_loads
from sim.rod.space.path import SpaceSetting, SpaceStep, settled
from sim.rod.space.sections import SpaceMaterial, disc
from sim.rod.space.space_rod import SpaceRod, StretchLaw, clamped, through

FAR = 2.0e-4  # of the size: what has moved by more has buckled


@dataclass(frozen=True)
class Wire:
    """A round wire: m, Pa, kg/m^3."""

    radius: float = 1.0e-3
    modulus: float = 1.0e7
    density: float = 1000.0
    poisson: float = 0.3

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "radius", of="wire")
        _ = self.material

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


def _refuse_few(owner: object, least: int, of: str) -> None:
    refuse_unless_count(owner, "edges", "rests", of=of)
    edges = owner.edges  # type: ignore[attr-defined]
    if edges < least:
        raise ValueError(f"{of}: edges is {edges}: give {least} or more")


def _left(seen: Sequence[SpaceStep], size: float) -> float:
    """The first share at which nodes left their first place; nan if none."""
    first = seen[0].rest.state.x
    for step in seen:
        if np.abs(step.rest.state.x - first).max() > FAR * size:
            return step.share
    return float("nan")


@dataclass(frozen=True)
class GreenhillShaftCase:
    """A straight shaft clamped at both ends, one of which is turned until it buckles.

    Greenhill: M = 8.987 B / L. The clamps keep their distance, so it bows little.

    Parameters
    ----------
    moment : at the end, over Greenhill's, if the shaft stayed straight
    """

    wire: Wire
    length: float = 0.5
    edges: int = 60
    moment: float = 1.2
    rests: int = 24

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "length", "moment", of="shaft")
        _refuse_few(self, 8, "shaft")

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

    def steps(self) -> Iterator[SpaceStep]:
        return rests_of(self)

    def recorder(self) -> SpaceRecorder:
        return SpaceRecorder(self, self._ends)

    def _ends(self, seen: list[SpaceStep]) -> Summary:
        off_axis = np.hypot(*seen[-1].rest.state.x[:, 1:].T)
        return {
            "greenhill_moment": self.critical,
            "buckled_over_greenhill": self.moment * _left(seen, self.length),
            "bow_over_L": float(off_axis.max() / self.length),
        }


@dataclass(frozen=True)
class HelixCase:
    """A wire of natural curvature, clamped at its top, let down under gravity.

    It hangs straight at first, as heavy as it must be for that, and gravity falls to
    what it is (after Miller et al., PRL 112 (2014) 068103).

    Parameters
    ----------
    curvature : natural, 1/m
    times : of gravity at the start
    """

    wire: Wire
    length: float = 0.4
    curvature: float = 40.0
    edges: int = 80
    times: float = 30.0
    gravity: float = GRAVITY
    rests: int = 30

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "length", "times", "gravity", of="helix")
        refuse_unless_finite(self, "curvature", of="helix")
        _refuse_few(self, 8, "helix")

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

    def steps(self) -> Iterator[SpaceStep]:
        return rests_of(self)

    def recorder(self) -> SpaceRecorder:
        return SpaceRecorder(self, self._ends)

    def _ends(self, seen: list[SpaceStep]) -> Summary:
        x = seen[-1].rest.state.x
        wide = np.ptp(x, axis=0)
        return {
            "height": float(-x[-1, 2]),
            "width": float(wide[:2].max()),
            "depth": float(wide[:2].min()),
        }


@dataclass(frozen=True)
class TendonArmCase:
    """A hanging tapered arm whose tendons are pulled.

    Parameters
    ----------
    profile : rows of arc length and radius, m
    tied : arc length at which tendons end, m
    offset : rows of arc length and distance of a tendon from the axis, m
    angles : of each tendon about the axis, degrees
    tensions : at the end, N
    friction : coefficient along tendons
    law : hooke, or rubber: sections follow stretch
    """

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
    gravity: float = GRAVITY
    rests: int = 12

    def __post_init__(self) -> None:
        refuse_negative(self, "gravity", of="arm")
        refuse_unless_count(self, "rests", of="arm")
        if len(self.angles) != len(self.tensions) or not len(self.angles):
            raise ValueError(
                f"arm: {len(self.angles)} angles for {len(self.tensions)} tensions: "
                "give one of each a tendon"
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

    def steps(self) -> Iterator[SpaceStep]:
        return rests_of(self)

    def recorder(self) -> SpaceRecorder:
        return SpaceRecorder(self, self._ends)

    def _ends(self, seen: list[SpaceStep]) -> Summary:
        rest = seen[-1].rest
        tip = rest.state.x[-1]
        size = np.linalg.norm(np.diff(rest.state.x, axis=0), axis=1)
        shortest = float((size / self._rod.rest_length).min())
        return {
            **{f"{axis}_tip": float(v) for axis, v in zip("xyz", tip, strict=True)},
            "shortest_over_rest": shortest,
            "least_tension": float(rest.tension.min()),
        }
