"""Parts side by side on the beds of a printer."""

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """What a piece takes on the bed, mm, and how many of it there are."""

    name: str
    copies: int
    width: float
    depth: float


class Place(NamedTuple):
    """Where one copy of a piece lies: its corner, mm, on which bed."""

    name: str
    bed: int
    x: float
    y: float


def laid_out(
    boxes: Sequence[Box], bed: tuple[float, float], clearance: float
) -> list[Place]:
    """Rows of pieces, the deepest first; a full bed is followed by another.

    Parameters
    ----------
    bed : its width and depth, mm
    clearance : between two pieces, mm
    """
    for name, _, width, depth in boxes:
        if width > bed[0] or depth > bed[1]:
            raise ValueError(
                f"{name} takes {width:.0f} x {depth:.0f} mm, the bed has "
                f"{bed[0]:g} x {bed[1]:g}: enlarge bed_mm or lower scale_mm"
                + (", or leave it out with target: false" * (name == "target"))
            )
    copies = [box for box in boxes for _ in range(box.copies)]
    places, number, x, y, row = [], 0, 0.0, 0.0, 0.0
    for name, _, width, depth in sorted(copies, key=lambda box: -box.depth):
        if x + width > bed[0]:
            x, y, row = 0.0, y + row + clearance, 0.0
        if y + depth > bed[1]:
            number, x, y, row = number + 1, 0.0, 0.0, 0.0
        places.append(Place(name, number, x, y))
        x, row = x + width + clearance, max(row, depth)
    return places
