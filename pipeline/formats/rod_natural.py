"""Natural curvature and twist in time of rods in space from a rod file."""

from collections.abc import Callable, Sequence

import numpy as np

from pipeline.formats.rod_loading import NaturalEntry
from pipeline.formats.rod_pieces import RodPiece
from sim.arrays import Floats
from sim.rod.space.joining import Stubs
from sim.rod.space.space_rod import SpaceRod
from sim.rod.stepping.turning import refuse_table


def natural_of(
    entries: Sequence[NaturalEntry], pieces: Sequence[RodPiece],
    rods: Sequence[SpaceRod], stubs: Sequence[Stubs], whole: SpaceRod,
) -> Callable[[float], Floats]:  # fmt: skip
    """(b, 3) natural curvature and twist of all bends by time, 1/m.

    What is held at joints keeps its shape: parts of stubs but the last, and what holds
    rods to each other.

    Parameters
    ----------
    pieces, rods, stubs : of all rods, joined in their order to the `whole`

    Raises
    ------
    ValueError
        where a rod is named that is none, or a table does not begin with what is drawn
    """
    many = 1 + max(piece.rod for piece in pieces)
    for k, entry in enumerate(entries):
        if entry.rod >= many:
            raise ValueError(
                f"natural[{k}]: there is no rods[{entry.rod}]: rods are counted from 0"
            )
        for name in ("bend", "twist"):
            rows = np.array(getattr(entry, name) or [(0.0, 0.0)])
            refuse_table(f"natural[{k}].{name}", rows[:, 0], rows[:, 1:], "degrees")
    first, length = np.cumsum([0, *(len(rod.bends) for rod in rods)]), np.zeros(many)
    for piece, rod in zip(pieces, rods, strict=True):
        length[piece.rod] += rod.rest_length[~rod.held_frames].sum()
    share = np.zeros((len(entries), len(whole.bends)))  # 1/m for each rad
    for p, (piece, rod) in enumerate(zip(pieces, rods, strict=True)):
        begin, end = (0 if stub is None else stub.parts - 1 for stub in stubs[p])
        own = piece.edges_of(rod) - 1
        bends = np.arange(len(rod.bends))
        free = (bends >= begin) & ~((bends >= own - end) & (bends < own))
        for k, entry in enumerate(entries):
            if entry.rod == piece.rod:
                share[k, first[p] + bends[free]] = 1.0 / length[piece.rod]
    tables = [
        (np.array(e.bend or [(0.0, 0.0, 0.0)]).T, np.array(e.twist or [(0.0, 0.0)]).T)
        for e in entries
    ]

    def natural(time: float) -> Floats:
        found = whole.curvature.copy()
        for own, ((t, towards, beside), (s, about)) in zip(share, tables, strict=True):
            turned = [
                -np.interp(time, t, beside),
                np.interp(time, t, towards),
                np.interp(time, s, about),
            ]
            found += own[:, None] * np.radians(turned)
        return found

    return natural
