"""Tendons of rods in space from a rod file."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pipeline.formats.rod_loading import TendonEntry
from pipeline.formats.rod_pieces import RodPiece
from sim.arrays import Floats, Ints
from sim.rod.space.joining import Stubs
from sim.rod.space.space_rod import SpaceRod
from sim.rod.space.tendons import Tendon


class Way(NamedTuple):
    """Where a tendon runs in a piece.

    Attributes
    ----------
    edges : (k,) of the piece
    share : (k,) places on them, from 0 at the tail to 1
    at : (k,) arc lengths of these places, m
    """

    edges: Ints
    share: Floats
    at: Floats


class TendonRoom(NamedTuple):
    """Where a tendon may run in a section, m.

    Attributes
    ----------
    across, beside : half of what it is wide along d1 and d2
    round : whether it is a circle
    """

    across: float
    beside: float
    round: bool = False

    def holds(self, a: float, b: float) -> bool:
        """Whether it is within."""
        if self.round:
            return bool(np.hypot(a, b) < self.across)
        return abs(a) < self.across and abs(b) < self.beside

    def told(self, metre: float) -> str:
        """What it may be at most, in the unit of the file."""
        a, b = self.across / metre, self.beside / metre
        if self.round:
            return f"less than {a:g} from it"
        return f"less than +-{a:g} along `across`, +-{b:g} beside it"


def tendon_of(
    entry: TendonEntry, metre: float, pieces: Sequence[RodPiece],
    rods: Sequence[SpaceRod], stubs: Sequence[Stubs],
    room_of: Callable[[int], TendonRoom],
) -> Tendon:  # fmt: skip
    """A tendon of the file, with edges counted through all rods.

    Parameters
    ----------
    metre : the unit of the file, m
    pieces, rods, stubs : of all rods, in which edges that clamps hold come last
    room_of : in the section of a rod of the file

    Raises
    ------
    ValueError
        where it leaves its rod, its section, or the piece between two joints
    """
    k, begin, end = _piece_of(entry, metre, pieces)
    turned = [0 if stub is None else stub.parts - 1 for stub in stubs[k]]
    way = _way(pieces[k], rods[k], (begin, end), turned)
    s = way.at + pieces[k].start
    offset, room = _offsets(entry, metre, s), room_of(entry.rod)
    for at, (a, b) in zip(s / metre, offset, strict=True):
        if not room.holds(a, b):
            raise ValueError(
                f"at {at:g} of its length it is {a / metre:g} and {b / metre:g} off "
                f"the axis, outside the section: route it {room.told(metre)}"
            )
    before = sum(len(rod.edges) for rod in rods[:k])
    edges = way.edges + before
    return Tendon(entry.tension, edges, way.share, offset, entry.friction)


def _piece_of(
    entry: TendonEntry, metre: float, pieces: Sequence[RodPiece]
) -> tuple[int, float, float]:
    """The piece that a tendon runs in, and from where to where in it, m."""
    own = [k for k, piece in enumerate(pieces) if piece.rod == entry.rod]
    if not own:
        raise ValueError(f"there is no rods[{entry.rod}]: rods are counted from 0")
    ends = [pieces[k].start + pieces[k].length for k in own]
    begin, slack = metre * entry.begin, 1e-9 * ends[-1]
    end = ends[-1] if entry.end is None else metre * entry.end
    if not begin < end <= ends[-1] + slack:
        raise ValueError(
            f"it goes from {entry.begin:g} to {end / metre:g} of its rod, which is "
            f"{ends[-1] / metre:g} long: begin before its end, within the rod"
        )
    k, last = next(
        (k, last) for k, last in zip(own, ends, strict=True) if last > begin + slack
    )
    if end > last + slack:
        raise ValueError(
            f"it goes from {entry.begin:g} to {end / metre:g} of rods[{entry.rod}], "
            f"which is joined to others at {last / metre:g}: end it there"
        )
    return k, begin - pieces[k].start, min(end, last) - pieces[k].start


def _way(
    piece: RodPiece, rod: SpaceRod, ends: tuple[float, float], turned: Sequence[int]
) -> Way:
    """From one arc length of a piece to another, m.

    It is told in the middles of edges and at its ends; where it ends at a clamp, at the
    end of the edge that is held behind it. Parts of stubs whose frames are turned
    against the rod's are as long as the share of the next one that lies beyond its end.

    Parameters
    ----------
    turned : such parts at the beginning and at the end
    """
    (begin, end), last = ends, piece.edges_of(rod)
    length = rod.rest_length[:last]
    after = np.cumsum(length)
    before, slack = after - length, 1e-9 * float(after[-1])
    inside = begin + slack, end - slack
    first, final = np.searchsorted(after, inside).tolist()
    first, final = max(first, turned[0]), min(final, last - 1 - turned[1])
    edges = list(range(first, final + 1))
    at = (before + 0.5 * length)[first : final + 1].tolist()
    head = _held_behind(rod, last, 0) if begin < slack else -1
    tail = _held_behind(rod, last, last) if end > after[-1] - slack else -1
    share = [0.5] * len(edges)
    if head < 0:
        at[0], share[0] = begin, (begin - before[first]) / length[first]
    else:
        edges, at, share = [head, *edges], [0.0, *at], [1.0, *share]
    if tail < 0:
        at[-1], share[-1] = end, (end - before[final]) / length[final]
    else:
        edges, at, share = [*edges, tail], [*at, float(after[-1])], [*share, 0.0]
    return Way(np.array(edges), np.array(share), np.array(at))


def _held_behind(rod: SpaceRod, last: int, node: int) -> int:
    """The edge that a clamp holds behind an end, -1 where there is none."""
    found = [e for e in range(last, len(rod.edges)) if node in rod.edges[e]]
    return found[0] if found else -1


def _offsets(entry: TendonEntry, metre: float, s: Floats) -> Floats:
    """(k, 2) m, along d1 and d2 at arc lengths s of its rod."""
    table = np.array(entry.offset, dtype=np.float64) * metre
    if table.ndim == 1:
        return np.tile(table, (len(s), 1))
    if not (np.diff(table[:, 0]) > 0.0).all():
        raise ValueError("arc lengths of its offsets do not rise: order its rows")
    return np.column_stack([np.interp(s, table[:, 0], table[:, k]) for k in (1, 2)])
