"""Ends of rods in space that are held in direction too, and sections built twisted."""

from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.rod.space.frames import start, turning
from sim.rod.space.space_rod import SpaceRod, clamped, edge_tangents

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
    state = start(rod.nodes, directors, rod.edges, rod.bends)
    natural = turning(state, rod.edges, rod.bends) / rod.voronoi[:, None]
    return replace(rod, directors=directors, curvature=natural)


def clamped_end(rod: SpaceRod, end: int, *, stiffness: float = np.inf) -> SpaceRod:
    """The rod with an end held in place, direction and turn.

    A held edge goes on beyond the end, as long as the one there. The bend between them
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
    behind = 2.0 * rod.nodes[end] - rod.nodes[int(rod.edges[e].sum()) - end]
    half = 0.5 * float(rod.rest_length[e])
    soft = half / (half / rod.bending[bend] + 1.0 / stiffness)
    edge = [end, n] if last else [n, end]
    pair = [e, m] if last else [m, e]

    def more(values: Floats, value: object) -> Floats:
        return np.concatenate([values, np.array([value], dtype=values.dtype)])

    longer = replace(
        rod,
        nodes=more(rod.nodes, behind),
        directors=more(rod.directors, rod.directors[e]),
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
    return clamped(longer, m)
