"""What rods of a rod file are made of, how they are drawn, and where they turn."""

from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from pipeline.config.models import Coordinate, Entry, Point, Positive
from pipeline.formats.rod_numbers import Axis, FromZero, Place, Places
from sim.rod.rod.rod import PASSIVE

SOFTEST = 100.0  # Pa, below any gel: a modulus in MPa or GPa
PLACE, ENTRY = "[place]", "[entry]"
LIGHTEST = 10.0  # kg/m^3, below any foam: a density in g/cm^3
LIMBS = 1000  # at most: a number beyond is a slip


class RectangularEntry(Entry):
    """Thickness in the plane of motion, width out of it."""

    thickness: Positive
    width: Positive


class RoundEntry(Entry):
    """A round rod, or a tube with a bore."""

    diameter: Positive
    bore: Coordinate = 0.0


class TapeEntry(RectangularEntry):
    """A flat tape: it bends as a beam does, free to curve across."""

    camber: Coordinate = 0.0

    @model_validator(mode="after")
    def _is_flat(self) -> Self:
        if self.camber != 0.0:
            raise ValueError(
                f"is a tape with a camber of {self.camber:g}: one curved across "
                "flattens where it folds, which sections here do not; a flat one has 0"
            )
        return self


class SectionEntry(Entry):
    """One of them."""

    rectangular: RectangularEntry | None = None
    round: RoundEntry | None = None
    tape: TapeEntry | None = None

    @property
    def flat(self) -> RectangularEntry | None:
        """A section with a thickness and a width."""
        return self.rectangular or self.tape

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.flat, self.round)) != 1 or (
            self.rectangular and self.tape
        ):
            raise ValueError("says no section or two: give rectangular, round or tape")
        return self


class MaterialEntry(Entry):
    """Young's modulus in Pa, density in kg/m^3; Poisson's ratio counts in space."""

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
                    f"says {name} {value:g}, in {unit}, less than {least:g}: write "
                    f"{value * factor:g} if it is in {other}"
                )
        return self


class ArcEntry(Entry):
    """Angles in degrees from the x axis; 180 to 0 is the upper half, to the right."""

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


class RodEntry(Entry):
    """A rod along one of three kinds of curve."""

    line: Places | None = None
    arc: ArcEntry | None = None
    curve: Places | None = None
    closed: bool = False
    limb: Annotated[int, Field(ge=PASSIVE, lt=LIMBS)] = PASSIVE
    section: SectionEntry | None = None
    material: MaterialEntry | None = None
    spacing: Positive | None = None
    across: Point | None = None
    twist: Coordinate = 0.0

    @model_validator(mode="after")
    def _one(self) -> Self:
        said = [n for n in ("line", "arc", "curve") if getattr(self, n) is not None]
        if len(said) != 1:
            raise ValueError(
                f"is drawn as {' and '.join(said) or 'nothing'}: give one of line, arc "
                "and curve"
            )
        return self


class RodHingeEntry(Entry):
    """Where rods turn freely: in space as about a ball, or about an axis.

    spring : of each rod against the first about the axis, N m/rad
    friction : likewise, the moment that turning takes, N m
    """

    at: Place
    axis: Axis | None = None
    spring: FromZero = 0.0
    friction: FromZero = 0.0

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.axis is None and (self.spring or self.friction):
            what = "a spring" if self.spring else "friction"
            raise ValueError(f"has {what} about no axis: give an axis")
        return self


def _place_or_entry(value: Any) -> str:
    return ENTRY if isinstance(value, dict | RodHingeEntry) else PLACE


Hinge = Annotated[
    Annotated[Place, Tag(PLACE)] | Annotated[RodHingeEntry, Tag(ENTRY)],
    Discriminator(_place_or_entry),
]
