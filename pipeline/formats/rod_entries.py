"""What a rod file may say: robots of rods, drawn as curves.

    unit      mm, cm, m or inch: of all lengths of the file
    section   {rectangular: {thickness: 2, width: 18}}, {round: {diameter: 3}} or
              {tape: {thickness: 0.1, width: 12}}, a flat one
    material  {modulus: 3.0e6 (Pa), density: 1912 (kg/m^3)}
    spacing   between nodes
    rods      [{line: [[x, y], ...]}, {arc: {...}}, {curve: [[x, y], ...]}], one each;
              beside it limb, section, material, spacing, closed of its own
    hinges    [[x, y], ...] where rods turn freely; else they are joined rigidly
    pins      [[x, y], ...] held in place
    clamps    [{at: [x, y], stiffness: 0.1 (N m/rad)}]: ends held in direction too, or
              turned by it: turns: [[0, 0], [2, 90], ...] (s, degrees to the left)
              and moved: moves: [[0, 0, 0], [2, 5, -1], ...] (s, x, y); in space
              about axis: [0, 0, 1], and by rows of s, x, y, z
    masses    [{at: [x, y], mass: 0.005 (kg)}]
    load      {at: [[x, y], ...], force: [0, -0.1] (N, each), start: 0, duration: 1 (s)}
    distributed_loads  [{rod: 0, force: [0, -1] (N/m)}] of a rod, counted from 0; or
              {rod: 0, along: 0, across: 2 (N/m)}, which turn with it; start, duration
    follower_forces    [{at: [x, y], along: -1, across: 0 (N)}]: on an end, out of the
              rod and to the left of that, as it turns; start, duration
    fluid     {along: 1, across: 2 (N s/m^2)}: drag on lengths of rods
    ground    {height: 0, angle: 0 (degrees)}, {wave: {amplitude: 6, wavelength: 200}}
              or {points: [[x, y], ...]}, a smooth curve through points from left to
              right, level beyond them
    gravity   [0, -9.81] (m/s^2)
    markers   {tip: [60, 0]}: points of rods whose way is recorded, by name
    pulses    [{limb: 0, time: 0.5 (s)}]
    duration  s

With `dimension: 3` places, forces and gravity have three numbers and z is up; a rod
may say `across`, the direction of its thickness where it begins (z, or x where the rod
rises more than it runs), and `twist`, degrees by which its section is turned from there
to its end, and material a `poisson` (0.5). Rods with a point in common are joined
rigidly there, or by a ball where `hinges` name it, or about an axis where that says
{at: [x, y, z], axis: [0, 0, 1], spring: 0 (N m/rad),
friction: 0 (N m)}. There are no arcs.
What loads along rods and on their ends have across is along the rod's `across`, and
against it on the end where the rod begins. A ground by wave or points is that curve of
x and height, level along y. Where there is a ground, or bodies, rods touch them and
each other as round ones of half their thickness. Cables pull them, shapes at rest
change, and bodies stay where they are, or go by `turns`, `axis` and `moves` as clamps
do, about a point `about`, their middle if it is not told:

    bodies    [{sphere: {centre: [x, y, z], radius: 5}}, {bar: {begin: [x, y, z],
              end: [x, y, z], radius: 5}}, {plate: {centre: [x, y, z],
              size: [90, 60, 4]}}], bars with round ends, plates along x, y and z
    tendons   [{rod: 0, offset: [4, 0], tension: 3 (N), rise: 0.5 (s)}], along a rod:
              its distances from the axis, along `across` and beside it, or rows of arc
              length and both; from `begin` (0) to `end` (that of the rod); `start`, s
    natural   [{rod: 0, bend: [[0, 0, 0], [2, 90, 0]], twist: [[0, 0], [2, 30]]}], s and
              degrees by which its end turns towards `across` and beside it, and about

The shape that is drawn is the one at rest. Places name nodes: half a spacing away is
near enough. `name`, `description` and `source` are notes.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from pipeline.config.models import Entry, Positive, Rows
from pipeline.formats.rod_drawing import (
    Hinge,
    MaterialEntry,
    RodEntry,
    RodHingeEntry,
    SectionEntry,
)
from pipeline.formats.rod_driven import ClampEntry, RigidEntry
from pipeline.formats.rod_loading import (
    DistributedEntry,
    FluidEntry,
    FollowerEntry,
    GroundEntry,
    LoadEntry,
    MassEntry,
    NaturalEntry,
    PulseEntry,
    TendonEntry,
)
from pipeline.formats.rod_numbers import Place


def _name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]\w*", value):
        raise ValueError(
            f"is {value!r}: begin with a letter, go on with letters or digits"
        )
    return value


Name = Annotated[str, AfterValidator(_name)]


class RodFile(Entry):
    """The content of a rod file."""

    unit: Literal["mm", "cm", "m", "inch"]
    dimension: Literal[2, 3] = 2
    section: SectionEntry
    material: MaterialEntry
    spacing: Positive
    rods: Annotated[list[RodEntry], Field(min_length=1)]
    hinges: Rows[Hinge]
    pins: Rows[Place]
    clamps: Rows[ClampEntry]
    masses: Rows[MassEntry]
    load: LoadEntry | None = None
    distributed_loads: Rows[DistributedEntry]
    follower_forces: Rows[FollowerEntry]
    fluid: FluidEntry | None = None
    ground: GroundEntry | None = None
    gravity: Place | None = None
    pulses: Rows[PulseEntry]
    tendons: Rows[TendonEntry]
    bodies: Rows[RigidEntry]
    natural: Rows[NaturalEntry]
    markers: dict[Name, Place] = Field(default_factory=dict)
    duration: Positive = 1.0
    name: Any = None
    description: Any = None
    source: Any = None

    @property
    def turning(self) -> list[RodHingeEntry]:
        """All hinges, those of which only the place is told too."""
        given = self.hinges
        return [
            h if isinstance(h, RodHingeEntry) else RodHingeEntry(at=h) for h in given
        ]
