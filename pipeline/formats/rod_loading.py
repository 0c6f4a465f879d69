"""What acts on the rods of a rod file: loads, a fluid, a ground, cables and limbs."""

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from pipeline.config.models import Coordinate, Entry, Point, Positive
from pipeline.formats.rod_numbers import FromZero, Pair, Place, Places, Turns

PAIR, ROWS = "[pair]", "[rows]"  # in brackets: no part of a place that is told
Tapering = Annotated[list[Point], Field(min_length=2)]


class MassEntry(Entry):
    """A point mass, kg."""

    at: Place
    mass: Positive


class LoadEntry(Entry):
    """A force in N on each node named, for a time in s."""

    at: Annotated[list[Place], Field(min_length=1)]
    force: Place
    start: Coordinate = 0.0
    duration: Coordinate | None = None

    @property
    def timed(self) -> bool:
        """Whether it does not act all the time."""
        return bool(self.start) or self.duration is not None


class DistributedEntry(Entry):
    """N/m along a rod for a time in s; along and across it turn with it."""

    rod: Annotated[int, Field(ge=0)]
    force: Place | None = None
    along: Coordinate = 0.0
    across: Coordinate = 0.0
    start: Coordinate = 0.0
    duration: FromZero | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not {"force", "along", "across"} & self.model_fields_set:
            raise ValueError("says no load: give force, along or across")
        return self


class FollowerEntry(Entry):
    """A force in N on an end, out of the rod and to the left of that, for a time."""

    at: Place
    along: Coordinate
    across: Coordinate = 0.0
    start: Coordinate = 0.0
    duration: FromZero | None = None


class FluidEntry(Entry):
    """Drag of resistive-force theory, N s/m^2 along and across a rod."""

    along: FromZero
    across: FromZero


class WaveEntry(Entry):
    """amplitude sin(2 pi (x + start) / wavelength)."""

    amplitude: Positive
    wavelength: Positive
    start: Coordinate = 0.0


class HeightsEntry(Entry):
    """Heights z over a grid, a row for each x, in space; level beyond it."""

    x: list[Coordinate]
    y: list[Coordinate]
    z: list[list[Coordinate]]


class GroundEntry(Entry):
    """A plane through (0, height) that rises by `angle` degrees towards +x; or else."""

    height: Coordinate = 0.0
    angle: Coordinate = 0.0
    wave: WaveEntry | None = None
    points: Places | None = None
    heights: HeightsEntry | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        plane = bool({"height", "angle"} & self.model_fields_set)
        others = self.wave, self.points, self.heights
        if plane + sum(one is not None for one in others) > 1:
            raise ValueError(
                "says two grounds: give height and angle, wave, points, or heights"
            )
        return self


def _pair_or_rows(value: Any) -> str:
    rows = isinstance(value, list | tuple) and any(isinstance(v, list) for v in value)
    return ROWS if rows else PAIR


class TendonEntry(Entry):
    """A cable within a rod, pulled to a tension in N."""

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

    bend : rows of time, s, and degrees by which its end turns towards `across` and
        beside it
    twist : rows of time, s, and degrees from end to end, by the right hand along it
    """

    rod: Annotated[int, Field(ge=0)]
    bend: Annotated[list[Point], Field(min_length=1)] | None = None
    twist: Turns | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.bend is None and self.twist is None:
            raise ValueError("says no change: give bend or twist")
        return self


class PulseEntry(Entry):
    """A limb switched on at a time, s."""

    limb: Annotated[int, Field(ge=0)]
    time: FromZero
