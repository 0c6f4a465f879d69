"""What rays from a scanner meet on a part; who casts them is not said here."""

from dataclasses import dataclass
from typing import Protocol

from sim.arrays import Bools, Floats, Ints

NOTHING, BAR = -2, -1


@dataclass(frozen=True, eq=False)
class Hits:
    """The first surface along each ray."""

    distance: Floats  # (r,) inf where there is nothing
    solid: Ints  # (r,) number of the ball, BAR or NOTHING
    normal: Floats  # (r, 3) outward unit normal of the surface


class Scene(Protocol):
    """A part into which rays can be cast."""

    def cast(self, origin: Floats, directions: Floats) -> Hits:
        """The first surface along rays from `origin` (3,), unit `directions` (r, 3)."""
        ...

    def lit(self, points: Floats, lamp: Floats) -> Bools:
        """Whether each of `points` (r, 3) is seen from `lamp` (3,)."""
        ...
