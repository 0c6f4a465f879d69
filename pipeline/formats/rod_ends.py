"""Rods of a file that miss each other, or fold back where they are joined."""

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from sim.arrays import Floats

BACK = 10.0  # degrees between two rods at a point, below which one folds back


def refuse_apart(rods: Sequence[Sequence[int]], points: Floats, unit: str) -> None:
    """Refuse rods of the plane that are not all joined, by the nearest end.

    Parameters
    ----------
    rods : the nodes of each, from end to end
    points : (n, 2) places of nodes in `unit`

    Raises
    ------
    ValueError
        with the end, the rod that is nearest of those it is not joined to, and how far
    """
    piece = _pieces(rods)
    apart = [
        (float(distance.min()), -a, b, chain[int(distance.argmin())])
        for a, own in enumerate(rods)
        for b, chain in enumerate(rods)
        if piece[a] != piece[b]
        for end in (own[0], own[-1])
        for distance in [np.linalg.norm(points[list(chain)] - points[end], axis=1)]
    ]
    if not apart:
        return
    distance, minus_a, b, node = min(apart)
    what = "that" if node in (rods[b][0], rods[b][-1]) else "a node"
    raise ValueError(
        f"the end of rods[{-minus_a}] is {distance:.2g} {unit} from {what} of "
        f"rods[{b}]: use the same point, in the line or curve of both"
    )


def refuse_folded(
    rods: Sequence[Sequence[int]],
    points: Floats,
    unit: str,
    hinges: Collection[int],
) -> None:
    """Refuse a rod that goes back along that which it is joined to, by the place.

    A bend of 180 degrees has no curvature, and near it no step converges (`BACK`, of
    edges, as an arc leaves its tangent by half of what an edge turns).

    Parameters
    ----------
    rods, points, unit : as of `refuse_apart`
    hinges : nodes at which rods turn freely

    Raises
    ------
    ValueError
        with both rods, the place and the angle between them
    """
    leaving: dict[int, list[tuple[int, int]]] = {}
    for k, chain in enumerate(rods):
        for a, b in pairwise(chain):
            leaving.setdefault(a, []).append((k, b))
            leaving.setdefault(b, []).append((k, a))
    for node, ways in leaving.items():
        if len(ways) != 2 or node in hinges:
            continue
        u, v = (points[b] - points[node] for _, b in ways)
        angle = np.degrees(np.arctan2(abs(u[0] * v[1] - u[1] * v[0]), u @ v))
        if angle < BACK and u.any() and v.any():
            x, y = points[node]
            one, other = ways[0][0], ways[1][0]
            raise ValueError(
                f"rods[{one}] and rods[{other}] leave ({x:.6g}, {y:.6g}) {unit} in the "
                f"same direction ({angle:.2g} degrees apart): turn one of them (an arc "
                "by its `end`), or list the point under hinges"
            )


def _pieces(rods: Sequence[Sequence[int]]) -> list[int]:
    """The lowest rod of the piece that each rod is part of."""
    pieces: list[tuple[set[int], set[int]]] = []
    for k, nodes in enumerate(rods):
        own, members = set(nodes), {k}
        joined = [p for p in pieces if p[0] & own]
        pieces = [p for p in pieces if not p[0] & own]
        pieces.append(
            (own.union(*(p[0] for p in joined)), members.union(*(p[1] for p in joined)))
        )
    of = {k: min(members) for _, members in pieces for k in members}
    return [of[k] for k in range(len(rods))]
