"""Ends of rods in space that are held in direction too, and sections built twisted."""

from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.rod.rod.draft import CORNER
from sim.rod.space.space_rod import SpaceRod, as_drawn, clamped, edge_tangents

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
            f"twist turns the section by {apart:.4g} degrees from edge to edge, where "
            f"{TURNED:g} is the most: choose a smaller spacing, or twist it less"
        )
    c, s = np.cos(turn * share)[:, None], np.sin(turn * share)[:, None]
    directors = c * rod.directors + s * np.cross(t, rod.directors)
    made = replace(rod, directors=directors)
    return replace(made, curvature=as_drawn(made))


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
            f"a clamp holds the end of a rod, but {len(around)} edges meet at node "
            f"{end}: end a rod there, and clamp it once"
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
    curvature = np.vstack([rod.curvature, as_drawn(longer)[-1:]])
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
