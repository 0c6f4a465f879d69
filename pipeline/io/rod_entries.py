"""What a rod file may say: rods as curves, their joints, drives and loads.

`RodFile` lists its keys, the other classes those of their entries. The shape in the
file is the one at rest. Lengths are in `unit`, everything else in SI units. Places name
nodes: half a spacing is near enough. Rods with a point in common are joined rigidly
there, but where `hinges` name it.

With `dimension: 3` places, forces and gravity have three numbers and z is up. There are
no arcs. The direction of a rod's thickness where it begins is `across`, without it z,
or x where the rod rises more than it runs. What loads along rods and on their ends have
across is along the rod's `across`, and against it on the end where the rod begins. A
ground by wave or points is that curve of x and height, level along y. Where there is a
ground, or bodies, rods touch them and each other as round ones of half their thickness.
Bodies stay where they are, or go by `turns`, `axis` and `moves` as clamps do.
"""

import re
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from pipeline.config.value_types import (
    Coordinate,
    Entry,
    OneOf,
    Point,
    Positive,
    Rows,
    numbers,
)
from pipeline.terminal import commas
from sim.rods.plane.rod import PASSIVE


def _of_some_length(axis: Point) -> Point:
    if not np.linalg.norm(axis) > 0.0:
        raise ValueError(f"is {list(axis)}, which has length 0: give its direction")
    return axis


def _dimension(info: ValidationInfo) -> int:
    """That of the file, which `pipeline.io.rod_file` gives as context."""
    return 3 if (info.context or {}).get("dimension") == 3 else 2


def _place(value: Any, info: ValidationInfo) -> tuple[Any, ...]:
    return _sized(value, _dimension(info), "")


def _way(value: Any, info: ValidationInfo) -> tuple[Any, ...]:
    return _sized(value, _dimension(info), "time, ")


def _sized(value: Any, dimension: int, before: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list, not {value!r}")
    if len(value) != dimension + bool(before):
        axes = "x, y and z in space" if dimension == 3 else "x and y in the plane"
        space = "" if dimension == 3 else ", or set `dimension: 3` for rods in space"
        remedy = commas(value) or space
        raise ValueError(f"is {list(value)}: give {before}{axes}{remedy}")
    return tuple(value)


def _of_space(value: Any, info: ValidationInfo) -> Any:
    if value and _dimension(info) == 2:
        raise ValueError("works in 3D only: remove it, or set `dimension: 3`")
    return value


Place = Annotated[tuple[Coordinate, ...], BeforeValidator(_place)]
Way = Annotated[tuple[Coordinate, ...], BeforeValidator(_way)]
OfSpace = AfterValidator(_of_space)
Places = Annotated[list[Place], Field(min_length=2)]
FromZero = Annotated[Coordinate, Field(ge=0.0)]
Pair = Annotated[tuple[Coordinate, Coordinate], numbers(2)]
Axis = Annotated[Point, AfterValidator(_of_some_length), OfSpace]
Moves = Annotated[list[Way], Field(min_length=1)]
Turns = Annotated[list[Pair], Field(min_length=1)]


SOFTEST = 100.0  # Pa, below any gel: a modulus in MPa or GPa
PLACE, ENTRY = "[place]", "[entry]"
LIGHTEST = 10.0  # kg/m^3, below any foam: a density in g/cm^3
LIMBS = 1000  # at most: a number beyond is a slip


class RectangularEntry(Entry):
    """Thickness in the plane of motion, width out of it.

    Attributes
    ----------
    thickness : in the plane of motion; in space along `across`
    width : square to it
    """

    thickness: Positive
    width: Positive


class RoundEntry(Entry):
    """A round rod, or a tube with a bore.

    Attributes
    ----------
    diameter : outer
    bore : diameter of the hole of a tube; 0 is solid
    """

    diameter: Positive
    bore: Coordinate = 0.0


class SectionEntry(OneOf):
    """One of them; a tape is flat, and bends as a beam does.

    Attributes
    ----------
    rectangular : thickness and width
    round : a diameter, and a bore
    tape : thickness and width of a flat one
    """

    remedy = "give one of rectangular, round and tape"

    rectangular: RectangularEntry | None = None
    round: RoundEntry | None = None
    tape: RectangularEntry | None = None

    @property
    def flat(self) -> RectangularEntry | None:
        """A section with a thickness and a width."""
        return self.rectangular or self.tape


class MaterialEntry(Entry):
    """Young's modulus in Pa, density in kg/m^3; Poisson's ratio counts in space.

    Attributes
    ----------
    modulus : Young's modulus, Pa
    density : kg/m^3
    poisson : Poisson's ratio, of rods in space
    """

    modulus: Positive
    density: Positive
    poisson: Coordinate = 0.5

    @model_validator(mode="after")
    def _in_si_units(self) -> Self:
        for name, unit, least, other, factor in (
            ("modulus", "Pa", SOFTEST, "MPa", 1e6),
            ("density", "kg/m^3", LIGHTEST, "g/cm^3", 1e3),
        ):
            value = getattr(self, name)
            if value < least:
                raise ValueError(
                    f"has {name} {value:g} {unit}, less than {least:g}: write "
                    f"{value * factor:g} if it is in {other}"
                )
        return self


class ArcEntry(Entry):
    """Angles in degrees from the x axis; 180 to 0 is the upper half, to the right.

    Attributes
    ----------
    centre : place
    radius : in `unit`
    start, end : degrees from the x axis; 180 to 0 is the upper half, to the right
    """

    centre: Place
    radius: Positive
    start: Coordinate
    end: Coordinate

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not 0.0 < abs(self.end - self.start) <= 360.0:
            raise ValueError(
                f"goes from {self.start:g} to {self.end:g} degrees: turn by more than "
                "0 and at most 360"
            )
        return self


def _of_plane(value: Any, info: ValidationInfo) -> Any:
    if _dimension(info) == 3:
        raise ValueError("works in 2D only: give a `curve`")
    return value


class RodEntry(OneOf):
    """A rod along one of three kinds of curve.

    Attributes
    ----------
    line : places joined by straight pieces
    arc : part of a circle, in the plane
    curve : places on a smooth curve
    closed : whether the end meets the begin
    limb : number by which `pulses` switch it on; -1: none
    section, material, spacing : of this rod, in place of those of the file
    across : direction of its thickness at its begin, in space
    twist : degrees by which its section turns to its end, in space
    """

    remedy = "give one of line, arc and curve"
    among = frozenset(("line", "arc", "curve"))

    line: Places | None = None
    arc: Annotated[ArcEntry | None, AfterValidator(_of_plane)] = None
    curve: Places | None = None
    closed: bool = False
    limb: Annotated[int, Field(ge=PASSIVE, lt=LIMBS)] = PASSIVE
    section: SectionEntry | None = None
    material: MaterialEntry | None = None
    spacing: Positive | None = None
    across: Annotated[Point | None, OfSpace] = None
    twist: Annotated[Coordinate, OfSpace] = 0.0


class RodHingeEntry(Entry):
    """Where rods turn freely: in space about a ball joint, or about an axis.

    Attributes
    ----------
    spring : of each rod against the first about the axis, N m/rad
    turns : in the plane, rows of time, s, and angle at which the spring rests, degrees
    friction : likewise in space, the moment that turning takes, N m
    at : place
    axis : direction, in space; without it a ball joint
    """

    at: Place
    axis: Axis | None = None
    spring: FromZero = 0.0
    friction: Annotated[FromZero, OfSpace] = 0.0
    turns: Turns | None = None

    @model_validator(mode="after")
    def _some(self, info: ValidationInfo) -> Self:
        in_space = _dimension(info) == 3
        if self.turns is not None and (in_space or not self.spring):
            raise ValueError("has `turns`, which need a `spring` and `dimension: 2`")
        if in_space and self.axis is None and (self.spring or self.friction):
            what = "a spring" if self.spring else "friction"
            raise ValueError(f"has {what} but no `axis`: give both")
        return self


def _place_or_entry(value: Any) -> str:
    return ENTRY if isinstance(value, dict | RodHingeEntry) else PLACE


Hinge = Annotated[
    Annotated[Place, Tag(PLACE)] | Annotated[RodHingeEntry, Tag(ENTRY)],
    Discriminator(_place_or_entry),
]


class DrivenEntry(Entry):
    """What turns and moves by tables.

    Attributes
    ----------
    turns : rows of time, s, and angle to the left, degrees; in space by the right hand
        about `axis`
    moves : rows of time, s, and way along x and y, and z in space
    axis : direction about which it turns, in space
    """

    turns: Turns | None = None
    moves: Moves | None = None
    axis: Axis | None = None


class ClampEntry(DrivenEntry):
    """An end held in place, and in direction with a stiffness in N m/rad.

    Attributes
    ----------
    at : place of the end
    stiffness : of the spring that holds its direction, N m/rad; rigid without it
    """

    at: Place
    stiffness: Positive | None = None


class RigidSphereEntry(Entry):
    """A sphere.

    Attributes
    ----------
    centre : place
    radius : in `unit`
    """

    centre: Place
    radius: Positive


class RigidBarEntry(Entry):
    """A round bar, its ends round.

    Attributes
    ----------
    begin, end : places of the ends of its axis
    radius : in `unit`
    """

    begin: Place
    end: Place
    radius: Positive


class RigidPlateEntry(Entry):
    """A box along x, y and z, and its size along them.

    Attributes
    ----------
    centre : place
    size : along x, y and z
    """

    centre: Place
    size: Annotated[tuple[Positive, Positive, Positive], numbers(3)]


class RigidEntry(DrivenEntry, OneOf):
    """What rods in space touch; it turns about a point, by default its middle.

    Attributes
    ----------
    sphere : an obstacle that is a sphere
    bar : one that is a round bar
    plate : one that is a box
    about : point about which it turns, by default its middle
    """

    remedy = "give one of sphere, bar and plate"
    among = frozenset(("sphere", "bar", "plate"))

    sphere: RigidSphereEntry | None = None
    bar: RigidBarEntry | None = None
    plate: RigidPlateEntry | None = None
    about: Place | None = None

    @model_validator(mode="after")
    def _turns(self) -> Self:
        if self.about is not None and self.turns is None:
            raise ValueError("has `about` but no `turns`: give both")
        return self


PAIR, ROWS = "[pair]", "[rows]"  # in brackets: no part of the place in a message
Tapering = Annotated[list[Point], Field(min_length=2)]


class MassEntry(Entry):
    """A point mass, kg.

    Attributes
    ----------
    at : place
    mass : kg
    """

    at: Place
    mass: Positive


class TimedEntry(Entry):
    """What acts for a time, s.

    Attributes
    ----------
    start : when it begins, s
    duration : how long it acts, s; to the end without it
    """

    start: Coordinate = 0.0
    duration: FromZero | None = None

    @property
    def acts(self) -> tuple[float, float]:
        """When it begins, and for how long it acts, s."""
        return self.start, np.inf if self.duration is None else self.duration


class LoadEntry(TimedEntry):
    """A force in N on each node named, for a time in s.

    Attributes
    ----------
    at : places
    force : on each of them, N
    """

    at: Annotated[list[Place], Field(min_length=1)]
    force: Place

    @property
    def timed(self) -> bool:
        """Whether it does not act all the time."""
        return bool(self.start) or self.duration is not None


class DistributedEntry(TimedEntry):
    """N/m along a rod for a time in s; along and across it turn with it.

    Attributes
    ----------
    rod : number of the rod, from 0
    force : N/m, in a fixed direction
    along, across : N/m, turning with the rod
    """

    rod: Annotated[int, Field(ge=0)]
    force: Place | None = None
    along: Coordinate = 0.0
    across: Coordinate = 0.0

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not {"force", "along", "across"} & self.model_fields_set:
            raise ValueError("has no load: give force, along or across")
        return self


class FollowerEntry(TimedEntry):
    """A force in N and a moment in N m on an end, turning with it, for a time.

    The force is out of the rod and to the left of that, where the moment turns it to.

    Attributes
    ----------
    at : place of the end
    along : N, out of the rod
    across : N, to the left of that; in space along `across`
    moment : N m
    """

    at: Place
    along: Coordinate = 0.0
    across: Coordinate = 0.0
    moment: Coordinate = 0.0

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not (self.along or self.across or self.moment):
            raise ValueError("has no load: give along, across or moment")
        return self


class VelocityEntry(Entry):
    """Of all nodes of a rod at the start, m/s; what is held stays.

    Attributes
    ----------
    rod : number of the rod, from 0
    velocity : of all its nodes, m/s
    """

    rod: Annotated[int, Field(ge=0)]
    velocity: Place


class FluidEntry(Entry):
    """Drag of resistive-force theory, N s/m^2 along and across a rod.

    Attributes
    ----------
    along, across : drag of a length at a velocity, N s/m^2
    """

    along: FromZero
    across: FromZero


class WaveEntry(Entry):
    """amplitude sin(2 pi (x + start) / wavelength).

    Attributes
    ----------
    amplitude, wavelength : in `unit`
    start : shift of the wave along x
    """

    amplitude: Positive
    wavelength: Positive
    start: Coordinate = 0.0


class HeightsEntry(Entry):
    """Heights z over a grid, a row for each x, in space; level beyond it.

    Attributes
    ----------
    x, y : lines of the grid, rising
    z : heights, a row for each x
    """

    x: list[Coordinate]
    y: list[Coordinate]
    z: list[list[Coordinate]]


class GroundEntry(Entry):
    """A plane through (0, height) that rises by `angle` degrees towards +x; or else.

    Attributes
    ----------
    height : of a plane at x = 0
    angle : degrees by which it rises towards +x
    wave : a sine in place of the plane
    points : a smooth curve through places, from left to right
    heights : a grid of heights, in space
    """

    height: Coordinate = 0.0
    angle: Coordinate = 0.0
    wave: WaveEntry | None = None
    points: Annotated[list[Pair], Field(min_length=2)] | None = None
    heights: Annotated[HeightsEntry | None, OfSpace] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        plane = bool({"height", "angle"} & self.model_fields_set)
        others = self.wave, self.points, self.heights
        if plane + sum(one is not None for one in others) > 1:
            raise ValueError(
                "has two grounds: keep either height and angle, wave, points or heights"
            )
        return self


def _pair_or_rows(value: Any) -> str:
    rows = isinstance(value, list | tuple) and any(isinstance(v, list) for v in value)
    return ROWS if rows else PAIR


class TendonEntry(Entry):
    """A cable within a rod, and its tension in N.

    Attributes
    ----------
    rod : number of the rod, from 0
    tension : N
    offset : distances from the axis along `across` and sideways, or rows of arc length
        and both
    begin, end : arc lengths between which it runs
    start : when its tension begins, s
    rise : how long its tension takes to rise, s
    friction : coefficient along the tendon
    """

    rod: Annotated[int, Field(ge=0)]
    tension: FromZero
    offset: Annotated[
        Annotated[Pair, Tag(PAIR)] | Annotated[Tapering, Tag(ROWS)],
        Discriminator(_pair_or_rows),
    ]
    begin: FromZero = 0.0
    end: Positive | None = None
    start: FromZero = 0.0
    rise: FromZero = 0.0
    friction: FromZero = 0.0


class NaturalEntry(Entry):
    """How the shape at rest of a rod in space changes in time, evenly along it.

    Attributes
    ----------
    bend : rows of time, s, and degrees by which its end turns towards `across` and
        square to it
    twist : rows of time, s, and degrees from end to end, by the right hand along it
    rod : number of the rod, from 0
    """

    rod: Annotated[int, Field(ge=0)]
    bend: Annotated[list[Point], Field(min_length=1)] | None = None
    twist: Turns | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.bend is None and self.twist is None:
            raise ValueError("has no change: give bend or twist")
        return self


class PulseEntry(Entry):
    """A limb switched on at a time, s.

    Attributes
    ----------
    limb : number of the limb
    time : when it is switched on, s
    """

    limb: Annotated[int, Field(ge=0)]
    time: FromZero


def _name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]\w*", value):
        raise ValueError(
            f"is {value!r}: begin with a letter, and use only letters and digits"
        )
    return value


Name = Annotated[str, AfterValidator(_name)]


class RodFile(Entry):
    """The content of a rod file.

    Attributes
    ----------
    unit : of all lengths
    dimension : 2, in the plane, or 3: places have x, y, z
    section : of all rods without one of their own
    material : of all rods without one of their own
    spacing : distance of nodes
    rods : each along a line, an arc or a curve
    hinges : where rods turn freely
    pins : places that are held
    clamps : ends that are held in direction too
    masses : at places
    load : a force on places
    distributed_loads : forces along rods
    follower_forces : on ends, turning with them
    velocities : of rods at the start
    fluid : drag on all rods
    ground : what the rods rest on
    gravity : m/s^2
    pulses : when limbs are switched on
    tendons : cables within rods, in space
    bodies : rigid obstacles, in space
    natural : rest shapes that change in time, in space
    markers : places whose path is recorded, by name
    duration : of the run, s
    name, description, source : notes, which change nothing
    """

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
    velocities: Rows[VelocityEntry]
    fluid: FluidEntry | None = None
    ground: GroundEntry | None = None
    gravity: Place | None = None
    pulses: Rows[PulseEntry]
    tendons: Annotated[Rows[TendonEntry], OfSpace]
    bodies: Annotated[Rows[RigidEntry], OfSpace]
    natural: Annotated[Rows[NaturalEntry], OfSpace]
    markers: dict[Name, Place] = Field(default_factory=dict)
    duration: Positive = 1.0
    name: Any = None
    description: Any = None
    source: Any = None

    @property
    def turning(self) -> list[RodHingeEntry]:
        """All hinges, also those of which only the place is given."""
        return [
            h if isinstance(h, RodHingeEntry) else RodHingeEntry.model_construct(at=h)
            for h in self.hinges
        ]
