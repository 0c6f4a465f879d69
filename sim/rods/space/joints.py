"""Rods in space that are joined: rigidly, by ball joints, or by hinges about an axis.

A rigid joint turns as one body. Of each rod that begins there a short piece of its
first edge, a stub, belongs to that body: stubs are held to each other by bends that are
stiffer than half an edge by `STIFF`, and the bend at the other end of a stub stands for
the stub and half of what is left of the edge. A stub whose section is turned far
against that of the first one there turns in parts, since a bend is measured in the mean
of both frames. At a hinge rods have stubs too, each alone: what a hinge carries across
its axis bends their half edges. Rods that only have a node in common have a ball
joint: none feels how another turns.

`clamped_end` holds the end of a rod in direction too, `turned_section` builds sections
twisted.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.rods.plane.builders import CORNER
from sim.rods.space.frames import edge_tangents
from sim.rods.space.rod import SpaceRod, clamped, strains_at_rest, together

STUB = 0.5  # of the edge at a joint
STIFF = 300.0  # of the stiffest half edge: how stubs are held to each other
FAR = np.radians(100.0)  # largest twist at a bend of stubs
ACROSS = 1e-6  # cosine of two rods that stand across each other, but for rounding

Place = Sequence[tuple[int, int]]  # a rod and its node, one each


class Stub(NamedTuple):
    """The end of a rod at a rigid joint.

    Attributes
    ----------
    twist : rad, of its section against that of the first rod there, about the way out
    """

    twist: float = 0.0

    @property
    def parts(self) -> int:
        """Edges that it is made of."""
        return max(1, int(np.ceil(abs(self.twist) / FAR)))

    def directors(self, d: Floats, out: Floats) -> Floats:
        """(parts, 3) d1 from the joint outwards.

        Parameters
        ----------
        d, out : (3,) of the rod's end, and the way out along it
        """
        angle = -self.twist * np.linspace(1.0, 0.0, self.parts + 1)[1:, None]
        return np.asarray(np.cos(angle) * d + np.sin(angle) * np.cross(out, d))


class HingeAxis(NamedTuple):
    """What rods at a joint turn about.

    Attributes
    ----------
    along : three numbers, of any length
    spring : N m/rad, of each against the first
    friction : N m, of each against the first
    """

    along: Sequence[float]
    spring: float = 0.0
    friction: float = 0.0


Stubs = tuple[Stub | None, Stub | None]  # where a rod begins and where it ends


def twist_between(first: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> float:
    """Of the section of one rod against another's at a joint, rad.

    Parameters
    ----------
    first, other : unit vectors along the way out, and d1 of a rod that goes so
    """
    (u, d), (out, own) = first, other
    way = 1.0 if u @ out > ACROSS else -1.0
    u, d = way * u, way * d
    carried = d - (d @ out) / (1.0 + u @ out) * (u + out)
    return float(np.arctan2(np.cross(carried, own) @ out, carried @ own))


def with_stubs(
    points: Floats, directors: Floats, at: Stubs
) -> tuple[Floats, Floats]:  # fmt: skip
    """Nodes (n, 3) and directors (n - 1, 3) of a chain with stubs at its ends."""
    nodes, frames = [points[1:-1]], [directors]
    for k, (stub, a, b, edge) in enumerate(
        zip(at, (0, -1), (1, -2), (0, -1), strict=True)
    ):
        if stub is None:
            continue
        share = STUB * np.linspace(0.0, 1.0, stub.parts + 1)[1:, None]
        way = points[b] - points[a]
        more = points[a] + share * way
        out = way / np.linalg.norm(way)
        own = stub.directors(directors[edge], out)
        nodes = [more, *nodes] if k == 0 else [*nodes, more[::-1]]
        frames = [own, *frames] if k == 0 else [*frames, own[::-1]]
    found = np.concatenate([points[:1], *nodes, points[-1:]])
    if len(found) > 2:
        return found, np.concatenate(frames)
    middle = 0.5 * (found[:1] + found[1:])
    return np.concatenate([found[:1], middle, found[1:]]), np.tile(directors, (2, 1))


def holding(rods: Sequence[SpaceRod]) -> float:
    """How stiff stubs of these rods are held to each other, N m."""
    stiffest = [
        float((np.column_stack([r.bending, r.twisting]) / r.voronoi[:, None]).max())
        for r in rods
    ]
    return STIFF * max(stiffest)


def settled(rod: SpaceRod, directors: Floats, at: Stubs, held: float) -> SpaceRod:
    """A chain with stubs, at rest with these directors (m, 3).

    Parameters
    ----------
    held : N m, see `holding`
    """
    voronoi = rod.voronoi.copy()
    bending, twisting = rod.bending.copy(), rod.twisting.copy()
    for stub, way in zip(at, (1, -1), strict=True):
        if stub is None:
            continue
        length, n = rod.rest_length[::way], stub.parts
        voronoi[::way][n - 1] = length[:n].sum() + 0.5 * length[n]
        within = slice(0, n - 1)
        stiff = held * voronoi[::way][within]
        bending[::way][within] = stiff[:, None]
        twisting[::way][within] = stiff
    made = replace(
        rod, directors=directors, voronoi=voronoi, bending=bending, twisting=twisting
    )
    return replace(made, curvature=strains_at_rest(made))


def joined(
    rods: Sequence[SpaceRod], places: Sequence[Place], rigid: Sequence[bool],
    held: float, axes: Sequence[HingeAxis | None] = (),
) -> tuple[SpaceRod, list[int]]:  # fmt: skip
    """Rods as one, and the node of each place at which some of them are joined.

    Parameters
    ----------
    places : nodes of rods that become one node
    rigid : (places,) whether the rods there have stubs, which are held to each other
    held : N m, see `holding`
    axes : (places,) about which rods turn there; without one, and not rigid, they have
        a ball joint
    """
    whole = together(*rods)
    before = np.cumsum([0, *(len(rod.nodes) for rod in rods)])
    own = [[int(before[k]) + node for k, node in place] for place in places]
    of = np.arange(len(whole.nodes))
    for nodes in own:
        of[nodes] = nodes[0]
    first, number = np.unique(of, return_inverse=True)
    fixed = np.zeros((len(first), 3), dtype=np.bool_)
    np.logical_or.at(fixed, number, whole.held)
    made = replace(
        whole,
        nodes=whole.nodes[first],
        edges=number[whole.edges],
        mass=np.bincount(number, whole.mass).astype(np.float64),
        held=fixed,
    )
    at = [int(number[nodes[0]]) for nodes in own]
    for node, is_rigid in zip(at, rigid, strict=True):
        made = _held_together(made, node, held) if is_rigid else made
    for node, axis in zip(at, axes, strict=False):
        made = made if axis is None else _hinged(made, node, axis, held)
    return made, at


def edges_at(rod: SpaceRod, node: int) -> list[int]:
    """The edges at a node."""
    return [int(e) for e in np.flatnonzero((rod.edges == node).any(axis=1))]


def _held_together(rod: SpaceRod, node: int, held: float) -> SpaceRod:
    """The rod with its stubs at a node held to each other."""
    around, m, old = edges_at(rod, node), len(rod.edges), len(rod.bends)
    out = rod.edges[around, 0] == node
    away = np.where(out, 1.0, -1.0)[:, None] * edge_tangents(
        rod.nodes, rod.edges[around]
    )
    outwards = np.where(out, around, m + np.array(around))
    inwards = (outwards + m) % (2 * m)
    more = [
        (outwards[0] if away[0] @ away[k] > ACROSS else inwards[0], outwards[k])
        for k in range(1, len(around))
    ]
    length = np.full(len(more), float(rod.rest_length[around].mean()))
    longer = replace(
        rod,
        bends=np.vstack([rod.bends, more]),
        voronoi=np.append(rod.voronoi, length),
        bending=np.vstack([rod.bending, np.tile(held * length[:, None], (1, 2))]),
        twisting=np.append(rod.twisting, held * length),
        curvature=np.vstack([rod.curvature, np.zeros((len(more), 3))]),
    )
    natural = np.vstack([rod.curvature, strains_at_rest(longer)[old:]])
    return replace(longer, curvature=natural)


def _hinged(rod: SpaceRod, node: int, axis: HingeAxis, held: float) -> SpaceRod:
    """The rod whose edges at a node turn about an axis, each against the first."""
    first, *others = edges_at(rod, node)
    a = np.asarray(axis.along, dtype=np.float64)
    if not 0.0 < np.linalg.norm(a) < np.inf:
        raise ValueError(f"hinge: axis is {a}: give a non-zero vector")
    a = a / np.linalg.norm(a)
    p = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    p /= np.linalg.norm(p)
    own, t = np.stack([a, p, np.cross(a, p)]), edge_tangents(rod.nodes, rod.edges)
    frames = np.stack([t, rod.directors, np.cross(t, rod.directors)], axis=1)
    pairs = np.array([[first, other] for other in others], dtype=np.int64)
    stiff = np.tile([held, held, axis.spring], (len(others), 1))
    return replace(
        rod,
        hinges=np.vstack([rod.hinges, pairs]),
        axes=np.concatenate([rod.axes, own @ np.swapaxes(frames[pairs], 2, 3)]),
        hinge_stiffness=np.vstack([rod.hinge_stiffness, stiff]),
        hinge_friction=np.append(rod.hinge_friction, [axis.friction] * len(others)),
    )


TURNED = 45.0  # degrees, most of a section from one edge to the next


def turned_section(rod: SpaceRod, turn: float) -> SpaceRod:
    """A chain whose section is turned evenly about it from its first edge to its last.

    It is free of stress so: the twist is natural.

    Parameters
    ----------
    turn : rad, by the right hand along the rod

    Raises
    ------
    ValueError
        where it turns so far from edge to edge that bends, which are measured in the
        mean of both frames, would be softer by more than a seventh
    """
    t = edge_tangents(rod.nodes, rod.edges)
    middle = np.cumsum(rod.rest_length) - 0.5 * rod.rest_length
    share = (middle - middle[0]) / (middle[-1] - middle[0])
    apart = abs(np.degrees(turn)) * float(np.diff(share).max())
    if not apart <= TURNED * (1.0 + 1e-9):
        raise ValueError(
            f"twist turns the section by {apart:.4g} degrees between edges, above the "
            f"limit of {TURNED:g}: choose a smaller spacing, or a smaller twist"
        )
    c, s = np.cos(turn * share)[:, None], np.sin(turn * share)[:, None]
    directors = c * rod.directors + s * np.cross(t, rod.directors)
    made = replace(rod, directors=directors)
    return replace(made, curvature=strains_at_rest(made))


def clamped_end(rod: SpaceRod, end: int, *, stiffness: float = np.inf) -> SpaceRod:
    """The rod with an end held in place, direction and turn.

    A held edge goes on beyond the end, as long as the one there, bent as the rod is
    over half an edge of it unless that is a corner. The bend between them
    stands for half an edge of rod, and for the spring of the clamp behind it, which
    gives in both directions of bending.

    Parameters
    ----------
    end : a node of one edge
    stiffness : of the spring, N m/rad
    """
    around = np.flatnonzero((rod.edges == end).any(axis=1))
    if len(around) != 1:
        raise ValueError(
            f"a clamp needs a free end, but {len(around)} edges meet at node {end}: "
            "clamp a free end"
        )
    e, n, m = int(around[0]), len(rod.nodes), len(rod.edges)
    last = bool(rod.edges[e, 1] == end)
    bend = int(np.flatnonzero((rod.bends % m == e).any(axis=1))[0])
    half, way, d = 0.5 * float(rod.rest_length[e]), *_beyond(rod, e, bend, last)
    behind = rod.nodes[end] + (2.0 * half if last else -2.0 * half) * way
    soft = half / (half / rod.bending[bend] + 1.0 / stiffness)
    edge = [end, n] if last else [n, end]
    pair = [e, m] if last else [m, e]

    def more(values: Floats, value: object) -> Floats:
        return np.concatenate([values, np.array([value], dtype=values.dtype)])

    longer = replace(
        rod,
        nodes=more(rod.nodes, behind),
        directors=more(rod.directors, d),
        edges=np.vstack([rod.edges, edge]),
        bends=np.vstack([np.where(rod.bends < m, rod.bends, rod.bends + 1), pair]),
        rest_length=more(rod.rest_length, rod.rest_length[e]),
        voronoi=more(rod.voronoi, half),
        stretching=more(rod.stretching, rod.stretching[e]),
        bending=more(rod.bending, soft),
        twisting=more(rod.twisting, rod.twisting[bend]),
        curvature=more(rod.curvature, np.zeros(3)),
        mass=more(rod.mass, rod.mass[end]),
        inertia=more(rod.inertia, rod.inertia[e]),
        held=np.vstack([rod.held, [False] * 3]),
        held_frames=np.append(rod.held_frames, False),
    )
    curvature = np.vstack([rod.curvature, strains_at_rest(longer)[-1:]])
    return clamped(replace(longer, curvature=curvature), m)


def _beyond(rod: SpaceRod, e: int, bend: int, last: bool) -> tuple[Floats, Floats]:
    """(3,) the tangent and d1 of what goes on beyond the last edge, or the first."""
    t, d = edge_tangents(rod.nodes, rod.edges)[e], rod.directors[e]
    about = rod.curvature[bend, 0] * d + rod.curvature[bend, 1] * np.cross(t, d)
    turned = np.linalg.norm(about) * rod.voronoi[bend]
    if turned > np.radians(CORNER) or (rod.bends[bend] >= len(rod.edges)).any():
        return t, d
    half = 0.25 * rod.rest_length[e] * (about if last else -about)
    way = t + 2.0 / (1.0 + half @ half) * np.cross(half, t + np.cross(half, t))
    return way, d - (d @ way) / (1.0 + t @ way) * (t + way)
