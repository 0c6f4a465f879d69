"""Parts side by side on the beds of a printer."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.printed.pieces import Piece


class Place(NamedTuple):
    """Where one copy of a piece lies: its corner, mm, on which bed."""

    piece: Piece
    bed: int
    x: float
    y: float


def laid_out(
    pieces: Sequence[Piece], bed: tuple[float, float], gap: float
) -> list[Place]:
    """Rows of pieces, the deepest first; a full bed is followed by another.

    Parameters
    ----------
    bed : its width and depth, mm
    gap : between two pieces, mm
    """
    for piece in pieces:
        width, depth = piece.extent[:2]
        if width > bed[0] or depth > bed[1]:
            raise ValueError(
                f"{piece.name} takes {width:.0f} x {depth:.0f} mm, the bed has "
                f"{bed[0]:g} x {bed[1]:g}: enlarge bed_mm or lower scale_mm"
                + (", or leave it out with target: false" * (piece.name == "target"))
            )
    copies = [piece for piece in pieces for _ in range(piece.count)]
    places, number, x, y, row = [], 0, 0.0, 0.0, 0.0
    for piece in sorted(copies, key=lambda p: -p.extent[1]):
        width, depth = piece.extent[:2]
        if x + width > bed[0]:
            x, y, row = 0.0, y + row + gap, 0.0
        if y + depth > bed[1]:
            number, x, y, row = number + 1, 0.0, 0.0, 0.0
        places.append(Place(piece, number, x, y))
        x, row = x + width + gap, max(row, depth)
    return places
