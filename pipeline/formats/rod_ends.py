"""Rods of a file that miss each other, or lie on each other where they are joined."""

from collections.abc import Collection, Sequence
from itertools import combinations, pairwise

import numpy as np

from sim.arrays import Floats

LIES = 1e-3  # rad between two rods at a point, below which one lies on the other


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


def refuse_overlap(
    rods: Sequence[Sequence[int]],
    points: Floats,
    unit: str,
    hinges: Collection[int],
) -> None:
    """Refuse rods that lie on each other from the point on at which they are joined.

    Parameters
    ----------
    rods, points, unit : as of `refuse_apart`
    hinges : nodes at which rods turn freely

    Raises
    ------
    ValueError
        with both rods and the place
    """
    leaving: dict[int, list[tuple[int, Floats]]] = {}
    for k, chain in enumerate(rods):
        for a, b in pairwise(chain):
            leaving.setdefault(a, []).append((k, points[b] - points[a]))
            leaving.setdefault(b, []).append((k, points[a] - points[b]))
    for node in leaving.keys() - hinges:
        for (one, u), (other, v) in combinations(leaving[node], 2):
            if abs(u[0] * v[1] - u[1] * v[0]) < LIES * (u @ v):
                x, y = points[node]
                raise ValueError(
                    f"rods[{one}] and rods[{other}] lie on each other from ({x:.6g}, "
                    f"{y:.6g}) {unit} on: turn one of them (an arc by its `end`), or "
                    "list the point under hinges"
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
