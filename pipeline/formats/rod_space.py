"""Robots of rods in space from a rod file."""

from dataclasses import dataclass, replace

import numpy as np

from pipeline.formats.rod_entries import RodEntry, RodFile
from pipeline.formats.rod_places import RodPlaces
from sim.arrays import Floats
from sim.rod.gravity import GRAVITY
from sim.rod.moving.touching import LevelGround
from sim.rod.rod.draft import NEAR, SAME
from sim.rod.space.clamping import clamped_end, turned_section
from sim.rod.space.sections import RodSection, SpaceMaterial, rectangle, tube
from sim.rod.space.space_rod import SpaceRod, through, together

PLANAR = ("hinges", "pulses")


@dataclass(frozen=True, eq=False)
class SpaceRobot:
    """What a rod file describes in space, in m.

    Attributes
    ----------
    radii : (m,) half the thickness of each edge
    force : (n, 3) N
    """

    rod: SpaceRod
    radii: Floats
    force: Floats
    ground: LevelGround | None
    gravity: tuple[float, float, float]
    duration: float


class DrawnInSpace(RodPlaces):
    """Draws the content of a file in space."""

    def __init__(self, content: RodFile) -> None:
        super().__init__(content)
        for name in PLANAR:
            if getattr(content, name):
                raise ValueError(f"{name} are of the plane: leave them out in space")
        self.rods = [self._rod(f"rods[{k}]", rod) for k, rod in enumerate(content.rods)]
        self.ends = [len(rod.nodes) - 1 for rod in self.rods]
        self._refuse_common()

    def drawn(self) -> SpaceRobot:
        content = self.content
        for clamp in content.clamps:
            self._clamp(self.place(clamp.at), clamp.stiffness or np.inf)
        rod = together(*self.rods)
        mass, held, force = rod.mass.copy(), rod.held.copy(), np.zeros(rod.nodes.shape)
        for one in content.masses:
            mass[_node(rod, self.place(one.at))] += one.mass
        for at in content.pins:
            held[_node(rod, self.place(at))] = True
        load = content.load
        if load is not None:
            if load.start or load.duration is not None:
                raise ValueError("load: in space it acts all the time: leave times out")
            for at in load.at:
                force[_node(rod, self.place(at))] += self.numbers_of(load.force)
        gravity = content.gravity or (0.0, 0.0, -GRAVITY)
        x, y, z = self.numbers_of(gravity)
        radii = [
            np.full(len(own.edges), self._half(entry))
            for own, entry in zip(self.rods, content.rods, strict=True)
        ]
        return SpaceRobot(
            replace(rod, mass=mass, held=held),
            np.concatenate(radii),
            force,
            self._ground(),
            (x, y, z),
            content.duration,
        )

    def _rod(self, where: str, rod: RodEntry) -> SpaceRod:
        try:
            if rod.arc is not None or rod.limb >= 0:
                raise ValueError("arcs and limbs are of the plane: draw a curve")
            if rod.closed and rod.twist:
                raise ValueError("a closed rod has no end to twist: open it")
            points = self.points(rod)
            if rod.closed and np.allclose(points[0], points[-1]):
                points = points[:-1]
            self.refuse_many(where, rod, len(points))
            of = rod.material or self.content.material
            material = SpaceMaterial(of.modulus, of.density, of.poisson)
            made = through(
                points, material, self._section(rod), first=_across(rod, points),
                closed=rod.closed,
            )  # fmt: skip
            return turned_section(made, np.radians(rod.twist)) if rod.twist else made
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None

    def _section(self, rod: RodEntry) -> RodSection:
        size = rod.section or self.content.section
        if size.rectangular is not None:
            thickness, width = size.rectangular.thickness, size.rectangular.width
            return rectangle(self.m * thickness, self.m * width)
        assert size.round is not None  # one of the two is there
        return tube(0.5 * self.m * size.round.diameter, 0.5 * self.m * size.round.bore)

    def _half(self, rod: RodEntry) -> float:
        """Half the thickness, m."""
        size = rod.section or self.content.section
        if size.rectangular is not None:
            return 0.5 * self.m * size.rectangular.thickness
        assert size.round is not None  # one of the two is there
        return 0.5 * self.m * size.round.diameter

    def _clamp(self, at: list[float], stiffness: float) -> None:
        """Hold the end of a rod that is nearest, and its direction."""
        places = [(k, end) for k, last in enumerate(self.ends) for end in (0, last)]
        apart = [np.linalg.norm(self.rods[k].nodes[end] - at) for k, end in places]
        k, end = places[int(np.argmin(apart))]
        rod = self.rods[k]
        if min(apart) > NEAR * rod.rest_length.max():
            raise ValueError(f"no rod ends at {_shown(at)} m, where a clamp holds one")
        self.rods[k] = clamped_end(rod, end, stiffness=stiffness)

    def _refuse_common(self) -> None:
        """Rods in space are not joined: none has a point in common with another."""
        for k, rod in enumerate(self.rods):
            for j, other in enumerate(self.rods[:k]):
                between = rod.nodes[:, None] - other.nodes
                apart = np.linalg.norm(between, axis=2)
                if apart.min() <= SAME * max(rod.length, other.length):
                    i = int(np.argmin(apart)) // len(other.nodes)
                    raise ValueError(
                        f"rods[{k}] and rods[{j}] meet at {_shown(rod.nodes[i])} m: "
                        "rods in space are not joined, move them apart"
                    )

    def _ground(self) -> LevelGround | None:
        given = self.content.ground
        if given is None:
            return None
        if given.wave is not None or given.points is not None:
            raise ValueError("ground: in space it is a plane: give height and angle")
        if not abs(given.angle) <= 80.0:
            raise ValueError(f"ground: angle is {given.angle:g}: choose -80 to 80")
        angle = np.radians(given.angle)
        c, s = float(np.cos(angle)), float(np.sin(angle))
        return LevelGround((-s, 0.0, c), c * self.m * given.height)


def _across(rod: RodEntry, points: Floats) -> tuple[float, float, float]:
    """The direction of the thickness where a rod begins."""
    if rod.across is not None:
        return rod.across
    run = np.abs(points[1] - points[0])
    rises = run[2] > np.hypot(run[0], run[1])
    return (1.0, 0.0, 0.0) if rises else (0.0, 0.0, 1.0)


def _node(rod: SpaceRod, at: list[float]) -> int:
    """The node at a place, or half an edge from it."""
    apart = np.linalg.norm(rod.nodes - at, axis=1)
    k = int(np.argmin(apart))
    beside = rod.rest_length[(rod.edges == k).any(axis=1)]
    if apart[k] > NEAR * beside.max():
        raise ValueError(
            f"there is no node at {_shown(at)} m: the nearest is {apart[k]:.3g} m "
            f"away, at {_shown(rod.nodes[k])}"
        )
    return k


def _shown(at: Floats | list[float]) -> str:
    return f"({', '.join(f'{value:g}' for value in at)})"
