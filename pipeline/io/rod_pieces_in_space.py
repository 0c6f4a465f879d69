"""Rods of a file in space: pieces, natural curvature and tendons."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from pipeline.io.rod_entries import NaturalEntry, TendonEntry
from sim.core.arrays import Bools, Floats, Ints
from sim.rods.plane.builders import NEAR, SAME, shown
from sim.rods.plane.contact_geometry import from_segments
from sim.rods.prescribed_motion import refuse_table
from sim.rods.space.joints import HingeAxis, Stub, Stubs, twist_between
from sim.rods.space.rod import SpaceRod
from sim.rods.space.tendons import Tendon

SpaceHinge = tuple[list[float], HingeAxis | None]  # where rods turn, m, and about what


class RodPiece(NamedTuple):
    """A part of a rod between joints.

    Attributes
    ----------
    rod : of the file, from 0
    points, directors : (n, 3) m, (n - 1, 3) d1 of its edges
    start : arc length of the rod at which it begins, m
    joints : at its beginning and its end, -1 where it is free
    """

    rod: int
    points: Floats
    directors: Floats
    start: float
    joints: tuple[int, int]

    @property
    def length(self) -> float:
        """At rest, m."""
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())

    def edges_of(self, rod: SpaceRod) -> int:
        """How many edges of the rod made of it are its own, no clamp's."""
        held = int(rod.held_frames.sum())
        return len(rod.edges) - held

    def way_out(self, end: int) -> tuple[Floats, Floats]:
        """Unit vector along the piece from its beginning (0) or end (1), and its d1."""
        a, b, edge = ((0, 1, 0), (-1, -2, -1))[end]
        way = self.points[b] - self.points[a]
        d = self.directors[edge]
        return way / np.linalg.norm(way), d if end == 0 else -d


@dataclass(eq=False)
class SpaceJoint:
    """Where ends of pieces meet.

    Attributes
    ----------
    at : (3,) m
    turns : whether they turn freely there; else they are joined rigidly
    axis : about which; None: a ball joint
    ends : pieces, and 0 or 1 for their beginning or end
    """

    at: Floats
    turns: bool
    axis: HingeAxis | None = None
    ends: list[tuple[int, int]] = field(default_factory=list)

    def stubs(self, pieces: Sequence[RodPiece]) -> dict[tuple[int, int], Stub]:
        """Of each end, none at a ball joint."""
        if self.turns:
            return {end: Stub() for end in self.ends if self.axis is not None}
        ways = {end: pieces[end[0]].way_out(end[1]) for end in self.ends}
        first = ways[self.ends[0]]
        twists = {e: twist_between(first, way) for e, way in ways.items()}
        twists[self.ends[0]] = 0.0
        return {end: Stub(twist) for end, twist in twists.items()}


def joints_of(
    rods: Sequence[SpaceRod], closed: Sequence[bool], hinges: Sequence[SpaceHinge]
) -> tuple[list[SpaceJoint], list[dict[int, int]]]:
    """Joints of whole rods, and of each rod the joints by its nodes.

    Parameters
    ----------
    closed : (rods,)
    hinges : places, m, where rods turn freely, and about which axis if not a ball joint

    Raises
    ------
    ValueError
        where a hinge is named at which nothing can turn, or rods lie on each other
    """
    points = np.concatenate([rod.nodes for rod in rods])
    whose = np.repeat(np.arange(len(rods)), [len(rod.nodes) for rod in rods])
    size = float(np.ptp(points, axis=0).max())
    pairs = KDTree(points).query_pairs(SAME * size, output_type="ndarray")
    n = len(points)
    same = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    group = connected_components(same, directed=False)[1].astype(np.int64)
    shared = np.bincount(group)[group] > 1
    turning: dict[int, HingeAxis | None] = {}
    at = _turning(rods, closed, [at for at, _ in hinges], points, shared)
    for k, (_, axis) in zip(at, hinges, strict=True):
        if turning.setdefault(int(group[k]), axis) != axis:
            raise ValueError(
                f"hinges: two hinges are at {shown(points[k])} m: remove one"
            )
    chosen = shared | np.isin(group, list(turning))
    names = {g: j for j, g in enumerate(dict.fromkeys(group[chosen].tolist()))}
    joints = [
        SpaceJoint(points[int(np.argmax(group == g))], g in turning, turning.get(g))
        for g in names
    ]
    first = np.concatenate([[0], np.cumsum(np.bincount(whose))])
    _refuse_twice(rods, group, first, points)
    by_node: list[dict[int, int]] = [{} for _ in rods]
    for k in np.flatnonzero(chosen).tolist():
        by_node[whose[k]][k - int(first[whose[k]])] = names[int(group[k])]
    return joints, by_node


def refuse_missed(
    rods: Sequence[SpaceRod], closed: Sequence[bool], joints: Sequence[Collection[int]],
    half: Sequence[float],
) -> None:  # fmt: skip
    """Refuse an end that is within another rod and not joined to it.

    Parameters
    ----------
    joints : of each rod, its nodes at joints
    half : thickness of each rod, halved, m
    """
    for k, rod in enumerate(rods):
        ends = [] if closed[k] else [0, len(rod.nodes) - 1]
        for end in set(ends) - set(joints[k]):
            for j, other in enumerate(rods):
                a, b = (other.nodes[other.edges[:, side]] for side in (0, 1))
                far = from_segments(rod.nodes[end], a, b)[0].min()
                if j != k and far < half[k] + half[j]:
                    raise ValueError(
                        f"the end of rods[{k}] at {shown(rod.nodes[end])} m is "
                        f"{far:.2g} m from the axis of rods[{j}]: to join them give "
                        "both rods the same point, otherwise move the end away"
                    )


def _refuse_twice(
    rods: Sequence[SpaceRod], group: Ints, first: Ints, points: Floats
) -> None:
    """Refuse two edges between the same two places."""
    known: dict[tuple[int, ...], int] = {}
    for k, rod in enumerate(rods):
        for edge in (rod.edges + first[k]).tolist():
            ends = tuple(sorted(group[edge].tolist()))
            if ends in known:
                raise ValueError(
                    f"rods[{k}] lies on rods[{known[ends]}] from "
                    f"{shown(points[edge[0]])} m to {shown(points[edge[1]])} m: "
                    "leave one out, or move them apart"
                )
            known[ends] = k


def _turning(
    rods: Sequence[SpaceRod], closed: Sequence[bool], places: Sequence[list[float]],
    points: Floats, shared: Bools,
) -> list[int]:  # fmt: skip
    """The points at which hinges are."""
    ends, n = set(), 0
    for rod, ring in zip(rods, closed, strict=True):
        ends |= set() if ring else {n, n + len(rod.nodes) - 1}
        n += len(rod.nodes)
    longest = max(float(rod.rest_length.max()) for rod in rods)
    found = []
    for at in places:
        apart = np.linalg.norm(points - at, axis=1)
        k = int(np.argmin(apart))
        place = f"{shown(at)} m"
        if apart[k] > NEAR * longest:
            raise ValueError(f"hinges: no rod has a node at {place}: move the hinge")
        if k in ends and not shared[k]:
            raise ValueError(
                f"hinges: only one rod ends at {place}, but a hinge joins two: pin it, "
                "or start another rod there"
            )
        found.append(k)
    return found


def pieces_of(
    number: int, rod: SpaceRod, closed: bool, joints: dict[int, int]
) -> list[RodPiece]:
    """A rod cut at its joints.

    Parameters
    ----------
    joints : by node
    """
    points, directors, m = rod.nodes, rod.directors, len(rod.edges)
    along = np.concatenate([[0.0], np.cumsum(rod.rest_length)])
    at = sorted(joints)
    if closed:
        points = np.concatenate([np.roll(points, -at[0], axis=0), points[at[:1]]])
        directors = np.roll(directors, -at[0], axis=0)
        cuts = [(k, joints[k]) for k in at] + [(at[0] + m, joints[at[0]])]
        cuts = [(k - at[0], j) for k, j in cuts]
        along = np.concatenate([[0.0], np.cumsum(np.roll(rod.rest_length, -at[0]))])
    else:
        inner = [(k, joints[k]) for k in at if 0 < k < m]
        cuts = [(0, joints.get(0, -1)), *inner, (m, joints.get(m, -1))]
    return [
        RodPiece(number, points[a : b + 1], directors[a:b], float(along[a]), (i, j))
        for (a, i), (b, j) in pairwise(cuts)
    ]


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
        where no rod has a number, or a table does not begin with the shape at rest
    """
    many = 1 + max(piece.rod for piece in pieces)
    for k, entry in enumerate(entries):
        if entry.rod >= many:
            raise ValueError(
                f"natural[{k}]: rods[{entry.rod}] does not exist: rods are counted "
                "from 0"
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
        for own, ((t, towards, aside), (s, about)) in zip(share, tables, strict=True):
            turned = [
                -np.interp(time, t, aside),
                np.interp(time, t, towards),
                np.interp(time, s, about),
            ]
            found += own[:, None] * np.radians(turned)
        return found

    return natural


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
    across, aside : half of what it is wide along d1 and d2
    round : whether it is a circle
    """

    across: float
    aside: float
    round: bool = False

    def holds(self, a: float, b: float) -> bool:
        """Whether it is within."""
        if self.round:
            return bool(np.hypot(a, b) < self.across)
        return abs(a) < self.across and abs(b) < self.aside

    def limits(self, metre: float) -> str:
        """What it may be at most, in the unit of the file."""
        a, b = self.across / metre, self.aside / metre
        if self.round:
            return f"less than {a:g} from the axis"
        return f"within +-{a:g} along `across` and +-{b:g} normal to `across`"


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
                f"at arc length {at:g} the tendon is {a / metre:g} and {b / metre:g} "
                f"off the axis, outside the section: route it {room.limits(metre)}"
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
        raise ValueError(f"rods[{entry.rod}] does not exist: rods are counted from 0")
    ends = [pieces[k].start + pieces[k].length for k in own]
    begin, slack = metre * entry.begin, 1e-9 * ends[-1]
    end = ends[-1] if entry.end is None else metre * entry.end
    if not begin < end <= ends[-1] + slack:
        raise ValueError(
            f"the range {entry.begin:g} to {end / metre:g} does not fit its rod of "
            f"length {ends[-1] / metre:g}: give `begin` < `end`, both on the rod"
        )
    k, last = next(
        (k, last) for k, last in zip(own, ends, strict=True) if last > begin + slack
    )
    if end > last + slack:
        raise ValueError(
            f"the range {entry.begin:g} to {end / metre:g} of rods[{entry.rod}] passes "
            f"the joint at {last / metre:g}: end it there"
        )
    return k, begin - pieces[k].start, min(end, last) - pieces[k].start


def _way(
    piece: RodPiece, rod: SpaceRod, ends: tuple[float, float], turned: Sequence[int]
) -> Way:
    """From one arc length of a piece to another, m.

    Its places are the middles of edges and its ends; where it ends at a clamp, the
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
        raise ValueError("arc lengths in `offset` must increase: sort its rows")
    return np.column_stack([np.interp(s, table[:, 0], table[:, k]) for k in (1, 2)])
