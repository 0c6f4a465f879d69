"""Robots of rods from files in JSON or YAML, in the plane, drawn as curves.

    unit      mm, cm, m or inch: of all lengths of the file
    section   {rectangular: {thickness: 2, width: 18}} or {round: {diameter: 3}}
    material  {modulus: 3.0e6 (Pa), density: 1912 (kg/m^3)}
    spacing   between nodes
    rods      [{line: [[x, y], ...]}, {arc: {...}}, {curve: [[x, y], ...]}], one each;
              beside it limb, section, material, spacing, closed of its own
    hinges    [[x, y], ...] where rods turn freely; else they are joined rigidly
    pins      [[x, y], ...] held in place
    clamps    [{at: [x, y], stiffness: 0.1 (N m/rad)}]: ends held in direction too
    masses    [{at: [x, y], mass: 0.005 (kg)}]
    load      {at: [[x, y], ...], force: [0, -0.1] (N, each), start: 0, duration: 1 (s)}
    ground    {height: 0, angle: 0 (degrees)}
    gravity   [0, -9.81] (m/s^2)
    pulses    [{limb: 0, time: 0.5 (s)}]
    duration  s

The shape that is drawn is the one at rest. Places name nodes: half a spacing away is
near enough. `name`, `description` and `source` are notes.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from pipeline.config.checking import checked
from pipeline.config.models import Entry, Positive, Rows, numbers
from pipeline.formats.json_file import read_entries
from pipeline.scans.reading.units import unit_named
from sim.arrays import Floats
from sim.rod.actuation.actuation import Pulses
from sim.rod.contact.ground import GroundPlane
from sim.rod.gravity import GRAVITY
from sim.rod.rod.draft import RodDraft, along_arc, along_curve, along_line
from sim.rod.rod.rod import PASSIVE, Rod, RodMaterial
from sim.rod.rod.sections import RoundSection, Section
from sim.rod.stepping.world import NodeLoad

MOST_NODES = 5000

Place = Annotated[tuple[float, float], numbers(2)]
Places = Annotated[list[Place], Field(min_length=2)]


class RectangularEntry(Entry):
    """Thickness in the plane of motion, width out of it."""

    thickness: Positive
    width: Positive


class RoundEntry(Entry):
    """A round rod, or a tube with a bore."""

    diameter: Positive
    bore: float = 0.0


class SectionEntry(Entry):
    """One of them."""

    rectangular: RectangularEntry | None = None
    round: RoundEntry | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.rectangular is None) == (self.round is None):
            raise ValueError("says no section or two: give rectangular or round")
        return self


class MaterialEntry(Entry):
    """Young's modulus in Pa, density in kg/m^3."""

    modulus: Positive
    density: Positive


class ArcEntry(Entry):
    """Angles in degrees from the x axis; 180 to 0 is the upper half, to the right."""

    centre: Place
    radius: Positive
    start: float
    end: float

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not 0.0 < abs(self.end - self.start) <= 360.0:
            raise ValueError(
                f"goes from {self.start:g} to {self.end:g} degrees: turn by more than "
                "0 and at most 360"
            )
        return self


class RodEntry(Entry):
    """A rod along one of three kinds of curve."""

    line: Places | None = None
    arc: ArcEntry | None = None
    curve: Places | None = None
    closed: bool = False
    limb: Annotated[int, Field(ge=PASSIVE)] = PASSIVE
    section: SectionEntry | None = None
    material: MaterialEntry | None = None
    spacing: Positive | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        said = [n for n in ("line", "arc", "curve") if getattr(self, n) is not None]
        if len(said) != 1:
            raise ValueError(
                f"is drawn as {' and '.join(said) or 'nothing'}: give one of line, arc "
                "and curve"
            )
        return self


class ClampEntry(Entry):
    """An end held in place, and in direction with a stiffness in N m/rad."""

    at: Place
    stiffness: Positive | None = None


class MassEntry(Entry):
    """A point mass, kg."""

    at: Place
    mass: Positive


class LoadEntry(Entry):
    """A force in N on each node named, for a time in s."""

    at: Annotated[list[Place], Field(min_length=1)]
    force: Place
    start: float = 0.0
    duration: float | None = None


class GroundEntry(Entry):
    """A plane through (0, height) that rises by `angle` degrees towards +x."""

    height: float = 0.0
    angle: float = 0.0


class PulseEntry(Entry):
    """A limb switched on at a time, s."""

    limb: Annotated[int, Field(ge=0)]
    time: Annotated[float, Field(ge=0.0)]


class RodFile(Entry):
    """The content of a rod file."""

    unit: Literal["mm", "cm", "m", "inch"]
    section: SectionEntry
    material: MaterialEntry
    spacing: Positive
    rods: Annotated[list[RodEntry], Field(min_length=1)]
    hinges: Rows[Place]
    pins: Rows[Place]
    clamps: Rows[ClampEntry]
    masses: Rows[MassEntry]
    load: LoadEntry | None = None
    ground: GroundEntry | None = None
    gravity: Place = (0.0, -GRAVITY)
    pulses: Rows[PulseEntry]
    duration: Positive = 1.0
    name: Any = None
    description: Any = None
    source: Any = None


@dataclass(frozen=True, eq=False)
class DrawnRod:
    """What a rod file describes, in m.

    sections : of each edge
    """

    rod: Rod
    sections: list[Section]
    load: NodeLoad | None
    ground: GroundPlane | None
    schedule: Pulses | None
    gravity: tuple[float, float]
    duration: float


def read_rod(path: str) -> DrawnRod:
    """Read a rod file; whatever is wrong is told with the file's name."""
    content = checked(RodFile, read_entries(path, "rod file", "`rods`"), path)
    try:
        return _Drawing(content).drawn()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


class _Drawing:
    """Draws the content of a file."""

    def __init__(self, content: RodFile) -> None:
        self.content = content
        self.m = unit_named(content.unit).mm / 1000.0
        self.draft = RodDraft()

    def drawn(self) -> DrawnRod:
        content, draft = self.content, self.draft
        for k, rod in enumerate(content.rods):
            self._draw(f"rods[{k}]", rod)
        draft.hinges |= {self._node(at) for at in content.hinges}
        draft.pins += [self._node(at) for at in content.pins]
        draft.clamps += [
            (self._node(c.at), np.inf if c.stiffness is None else c.stiffness)
            for c in content.clamps
        ]
        draft.masses += [(self._node(m.at), m.mass) for m in content.masses]
        return DrawnRod(
            draft.rod(),
            draft.all_sections(),
            self._load(),
            self._ground(),
            self._pulses(),
            content.gravity,
            content.duration,
        )

    def _draw(self, where: str, rod: RodEntry) -> None:
        spacing = self.m * (rod.spacing or self.content.spacing)
        try:
            points = self._points(rod, spacing)
            section = self._section(rod)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if len(self.draft.points) + len(points) > MOST_NODES:
            raise ValueError(
                f"{where}: spacing {rod.spacing or self.content.spacing:g} asks for "
                f"more than {MOST_NODES} nodes: make it larger"
            )
        self.draft.curve(points, section, limb=rod.limb, closed=rod.closed)

    def _points(self, rod: RodEntry, spacing: float) -> Floats:
        if rod.line is not None:
            corners = list(rod.line) + ([rod.line[0]] if rod.closed else [])
            return along_line(self.m * np.array(corners), spacing)
        if rod.curve is not None:
            return along_curve(self.m * np.array(rod.curve), spacing)
        assert rod.arc is not None  # one of the three is there
        x, y = rod.arc.centre
        start, end = np.radians(rod.arc.start), np.radians(rod.arc.end)
        centre, radius = (self.m * x, self.m * y), self.m * rod.arc.radius
        return along_arc(centre, radius, float(start), float(end), spacing)

    def _section(self, rod: RodEntry) -> Section:
        size = rod.section or self.content.section
        of = rod.material or self.content.material
        if size.rectangular is not None:
            thickness = self.m * size.rectangular.thickness
            width = self.m * size.rectangular.width
            return RodMaterial(of.modulus, of.density, thickness, width)
        assert size.round is not None  # one of the two is there
        diameter, bore = self.m * size.round.diameter, self.m * size.round.bore
        return RoundSection(of.modulus, of.density, diameter, bore)

    def _node(self, at: tuple[float, float]) -> int:
        return self.draft.node((self.m * at[0], self.m * at[1]))

    def _load(self) -> NodeLoad | None:
        given = self.content.load
        if given is None:
            return None
        nodes = [self._node(at) for at in given.at]
        duration = np.inf if given.duration is None else given.duration
        return NodeLoad(nodes, given.force, given.start, duration)

    def _ground(self) -> GroundPlane | None:
        given = self.content.ground
        if given is None:
            return None
        return GroundPlane(given.angle, self.m * given.height)

    def _pulses(self) -> Pulses | None:
        given = sorted(self.content.pulses, key=lambda pulse: pulse.time)
        if not given:
            return None
        return Pulses([pulse.time for pulse in given], [pulse.limb for pulse in given])
