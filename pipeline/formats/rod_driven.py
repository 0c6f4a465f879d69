"""What a rod file holds in place or moves by tables: clamps and rigid bodies."""

from typing import Annotated, Self

from pydantic import model_validator

from pipeline.config.models import Entry, Positive, numbers
from pipeline.formats.rod_numbers import Axis, Moves, Place, Turns


class DrivenEntry(Entry):
    """What turns and moves by tables.

    turns : rows of time, s, and angle to the left, degrees; in space by the right hand
        about `axis`
    moves : rows of time, s, and way along x and y, and z in space
    """

    turns: Turns | None = None
    moves: Moves | None = None
    axis: Axis | None = None


class ClampEntry(DrivenEntry):
    """An end held in place, and in direction with a stiffness in N m/rad."""

    at: Place
    stiffness: Positive | None = None


class RigidSphereEntry(Entry):
    """A ball."""

    centre: Place
    radius: Positive


class RigidBarEntry(Entry):
    """A round bar, its ends round."""

    begin: Place
    end: Place
    radius: Positive


class RigidPlateEntry(Entry):
    """A box along x, y and z, and its size along them."""

    centre: Place
    size: Annotated[tuple[Positive, Positive, Positive], numbers(3)]


class RigidEntry(DrivenEntry):
    """What rods in space touch; it turns about a point, its middle if none is told."""

    sphere: RigidSphereEntry | None = None
    bar: RigidBarEntry | None = None
    plate: RigidPlateEntry | None = None
    about: Place | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.sphere, self.bar, self.plate)) != 1:
            raise ValueError("give a sphere, a bar or a plate, one each")
        if self.about is not None and self.turns is None:
            raise ValueError("says about what it turns, but no turns: give both")
        return self
