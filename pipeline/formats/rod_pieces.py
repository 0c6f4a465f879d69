"""Rods of a file in space, cut into pieces where they are joined."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from sim.arrays import Bools, Floats, Ints
from sim.rod.rod.draft import NEAR, SAME
from sim.rod.space.joining import HingeAxis, Stub, twist_between
from sim.rod.space.space_rod import SpaceRod

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
    axis : about which; None: about a ball
    ends : pieces, and 0 or 1 for their beginning or end
    """

    at: Floats
    turns: bool
    axis: HingeAxis | None = None
    ends: list[tuple[int, int]] = field(default_factory=list)

    def stubs(self, pieces: Sequence[RodPiece]) -> dict[tuple[int, int], Stub]:
        """Of each end, none at a ball."""
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
    hinges : places, m, where rods turn freely, and about which axis if not a ball

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
                f"hinges: there are two at {shown(points[k])} m: leave one out"
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
                far = _from_axis(rod.nodes[end], other)
                if j != k and far < half[k] + half[j]:
                    raise ValueError(
                        f"the end of rods[{k}] at {shown(rod.nodes[end])} m is "
                        f"{far:.2g} m from the axis of rods[{j}]: to join them use the "
                        "same point, in the line or curve of both, else move it away"
                    )


def _from_axis(at: Floats, rod: SpaceRod) -> float:
    """Of a point, m."""
    a, b = (rod.nodes[rod.edges[:, side]] for side in (0, 1))
    way = b - a
    share = np.clip(np.sum((at - a) * way, axis=1) / np.sum(way**2, axis=1), 0.0, 1.0)
    return float(np.linalg.norm(a + share[:, None] * way - at, axis=1).min())


def shown(at: Floats | Sequence[float]) -> str:
    """A place, to be read."""
    return f"({', '.join(f'{value:g}' for value in at)})"


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
            raise ValueError(f"hinges: there is no node at {place}: name one of a rod")
        if k in ends and not shared[k]:
            raise ValueError(
                f"hinges: one rod ends at {place}, with nothing that turns against it: "
                "pin it, or let another begin there"
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
