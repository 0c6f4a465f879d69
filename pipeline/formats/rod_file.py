"""Robots of rods from files in JSON or YAML, see `pipeline.formats.rod_entries`."""

from dataclasses import dataclass

import numpy as np

from pipeline.config.checking import checked
from pipeline.formats.json_file import read_entries
from pipeline.formats.rod_drawing import RodEntry
from pipeline.formats.rod_ends import refuse_apart, refuse_overlap
from pipeline.formats.rod_entries import RodFile
from pipeline.formats.rod_numbers import Place, endless
from pipeline.formats.rod_places import RodMarkers, RodPlaces, in_unit
from pipeline.formats.rod_space import DrawnInSpace
from pipeline.formats.space_robot import SpaceRobot
from pipeline.scans.reading.units import unit_named
from sim.rod.actuation.actuation import Pulses
from sim.rod.contact.ground import Ground, GroundPlane, Terrain, Wave
from sim.rod.gravity import GRAVITY
from sim.rod.rod.draft import RodDraft
from sim.rod.rod.rod import Rod, RodMaterial
from sim.rod.rod.sections import RoundSection, Section
from sim.rod.stepping.surroundings import (
    DistributedLoad,
    Fluid,
    FollowerForce,
)
from sim.rod.stepping.turning import TurningEnd
from sim.rod.stepping.world import NodeLoad


@dataclass(frozen=True, eq=False)
class DrawnRod:
    """What a rod file describes, in m.

    sections : of each edge
    markers : points that are recorded
    unit, metres : of the file, and how long it is
    """

    rod: Rod
    sections: list[Section]
    load: NodeLoad | None
    distributed_loads: tuple[DistributedLoad, ...]
    follower_forces: tuple[FollowerForce, ...]
    fluid: Fluid | None
    turning: tuple[TurningEnd, ...]
    ground: Ground | None
    schedule: Pulses | None
    gravity: tuple[float, float]
    duration: float
    markers: RodMarkers
    unit: str
    metres: float


def read_rod(path: str, finer: float = 1.0) -> DrawnRod | SpaceRobot:
    """Read a rod file; whatever is wrong is told with the file's name.

    Parameters
    ----------
    finer : by which every spacing is divided
    """
    content = checked(RodFile, read_entries(path, "rod file", "`rods`"), path)
    try:
        if content.dimension == 3:
            return DrawnInSpace(content, finer).drawn()
        return _Drawing(content, finer).drawn()
    except ValueError as error:
        metre = unit_named(content.unit).mm / 1000.0
        raise ValueError(
            f"{path}: {in_unit(str(error), content.unit, metre)}"
        ) from None


class _Drawing(RodPlaces):
    """Draws the content of a file in the plane."""

    def __init__(self, content: RodFile, finer: float) -> None:
        super().__init__(content, finer)
        self.draft = RodDraft()
        self.chains: list[list[int]] = []
        self.edges: list[list[int]] = []  # of each rod

    def drawn(self) -> DrawnRod:
        content, draft, given = self.content, self.draft, self.content.gravity
        if content.tendons:
            raise ValueError("tendons are of space: say `dimension: 3`")
        if self.content.natural:
            raise ValueError("natural is of space: say `dimension: 3`, or give pulses")
        if self.content.bodies:
            raise ValueError("bodies are of space: say `dimension: 3`")
        for k, rod in enumerate(content.rods):
            self._draw(f"rods[{k}]", rod)
        points = np.array(draft.points) / self.m
        refuse_apart(self.chains, points, content.unit)
        if any(hinge.axis is not None for hinge in content.turning):
            raise ValueError("hinges: an axis is of space: say `dimension: 3`")
        draft.hinges |= {self._node(hinge.at) for hinge in content.turning}
        refuse_overlap(self.chains, points, content.unit, draft.hinges)
        draft.pins += [self._node(at) for at in content.pins]
        draft.clamps += [
            (self._node(c.at), np.inf if c.stiffness is None else c.stiffness)
            for c in content.clamps
        ]
        draft.masses += [(self._node(m.at), m.mass) for m in content.masses]
        whole = draft.rod()
        return DrawnRod(
            whole,
            draft.all_sections(),
            self._load(),
            self.spread(self.edges),
            self.followers(whole, self._node),
            self.fluid,
            self._turning(),
            self._ground(),
            self.pulses,
            self._plane((0.0, -GRAVITY, None) if given is None else given),
            content.duration,
            self.markers(whole.nodes, whole.edges),
            content.unit,
            self.m,
        )

    def _draw(self, where: str, rod: RodEntry) -> None:
        try:
            if rod.across is not None or rod.twist:
                raise ValueError("across and twist are of space: say `dimension: 3`")
            points = self.points(rod)
            section = self._section(rod)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        first = len(self.draft.edges)
        self.draft.curve(points, section, limb=rod.limb, closed=rod.closed)
        edges = self.draft.edges[first:]
        self.edges.append(list(range(first, len(self.draft.edges))))
        self.chains.append([edges[0][0], *(j for _, j in edges)])

    def _section(self, rod: RodEntry) -> Section:
        size = rod.section or self.content.section
        of = rod.material or self.content.material
        if size.flat is not None:
            thickness = self.m * size.flat.thickness
            width = self.m * size.flat.width
            return RodMaterial(of.modulus, of.density, thickness, width)
        assert size.round is not None  # one of the two is there
        diameter, bore = self.m * size.round.diameter, self.m * size.round.bore
        return RoundSection(of.modulus, of.density, diameter, bore)

    def _node(self, at: Place) -> int:
        x, y = self.place(at)
        return self.draft.node((x, y))

    def _plane(self, of: Place) -> tuple[float, float]:
        x, y = self.numbers_of(of)
        return x, y

    def _load(self) -> NodeLoad | None:
        given = self.content.load
        if given is None:
            return None
        nodes = [self._node(at) for at in given.at]
        lasts = endless(given.duration)
        return NodeLoad(nodes, self._plane(given.force), given.start, lasts)

    def _turning(self) -> tuple[TurningEnd, ...]:
        """The ends behind clamps, which come after all that is drawn."""
        first, found = len(self.draft.points), []
        for k, clamp in enumerate(self.content.clamps):
            if clamp.axis is not None:
                raise ValueError(
                    f"clamps[{k}]: in the plane they turn to the left: leave axis out"
                )
            about, way = self.draft.clamps[k][0], self.way(f"clamps[{k}]", clamp)
            if way is not None:
                found.append(TurningEnd(first + k, about, *way))
        return tuple(found)

    def _ground(self) -> Ground | None:
        given = self.content.ground
        if given is None:
            return None
        if given.wave is not None:
            wave = given.wave
            return Wave(
                self.m * wave.amplitude, self.m * wave.wavelength, self.m * wave.start
            )
        if given.points is not None:
            return Terrain([self.place(at) for at in given.points])
        if given.heights is not None:
            raise ValueError("ground: heights are of space: say `dimension: 3`")
        return GroundPlane(given.angle, self.m * given.height)
