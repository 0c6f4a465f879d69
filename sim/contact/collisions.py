"""How far nodes may move before anything touches, and what has passed through.

No step jumps through a panel: conservative advancement, as the additive continuous
collision detection of Li, Kaufman and Jiang, ACM TOG 40 (2021). While a pair moves
along straight lines, its distance falls no faster than l = max |move of the one| +
max |move of the other| (the common part of all four moves taken out first). From a
distance d the pair may therefore advance by the fraction (d - min_distance) / l of its
move without contact; repeat from there until the clearance d - min_distance has shrunk
to a tenth of what it was, or the whole move is made (`largest_step`).

A surface passes through itself where its edges pierce its triangles (`crossings`).
"""

import numpy as np

from sim.contact.distance import pair_distance
from sim.contact.near_pairs import ContactPairs, boxes, gather, overlaps
from sim.core.arrays import Bools, Floats, Ints, cross
from sim.core.numba_kernels import kernel

KEEP = 0.1  # of the clearance that a pair has before the step; advancing ends there


@kernel
def _fastest(move: Floats, first: int) -> float:
    """Bound on the closing speed; the mean move is taken out of `move` (4, 3)."""
    for c in range(3):
        mean = 0.25 * (move[0, c] + move[1, c] + move[2, c] + move[3, c])
        for i in range(4):
            move[i, c] -= mean
    one, other = 0.0, 0.0
    for i in range(4):
        square = move[i, 0] ** 2 + move[i, 1] ** 2 + move[i, 2] ** 2
        if i < first:
            one = max(one, square)
        else:
            other = max(other, square)
    return float(np.sqrt(one) + np.sqrt(other))


@kernel
def pair_step(
    x: Floats, move: Floats, first: int, min_distance: float, longest: float
) -> float:
    """Largest safe fraction of `move`, at most `longest`.

    Parameters
    ----------
    x, move : (4, 3) positions and moves; both are overwritten
    first : 1 for a point and a triangle, 2 for two edges
    min_distance : distance that must remain, m
    """
    speed = _fastest(move, first)
    if speed == 0.0:
        return longest
    d = pair_distance(x, first)
    keep = KEEP * (d - min_distance)
    done = 0.0
    while True:
        advance = 0.9 * (d - min_distance) / speed
        if done + advance >= longest:
            return longest
        for i in range(4):
            for c in range(3):
                x[i, c] += advance * move[i, c]
        d = pair_distance(x, first)
        done += advance
        if d - min_distance <= keep:
            return done


@kernel
def largest_step(pairs: ContactPairs, x: Floats, move: Floats, longest: float) -> float:
    """Largest fraction of `move` (n, 3), at most `longest`, along which nothing meets.

    `pairs` must hold every pair that could meet on the way.
    """
    y, v = np.empty((4, 3)), np.empty((4, 3))
    node, faces, least, step = pairs.node, pairs.faces, pairs.min_distance, longest
    for k in range(len(node)):
        gather(node[k], x, y)
        gather(node[k], move, v)
        step = pair_step(y, v, 1 if k < faces else 2, least[k], step)
    return step


def _volumes(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """(k,) six times the signed volumes of tetrahedra with corners (k, 3)."""
    return np.asarray(((b - a) * cross(c - a, d - a)).sum(axis=-1))


def pierces(p: Floats, q: Floats, a: Floats, b: Floats, c: Floats) -> Bools:
    """(k,) whether edges p-q pass through the inside of triangles a-b-c."""
    above, below = _volumes(a, b, c, p), _volumes(a, b, c, q)
    sides = np.array([_volumes(p, q, *ends) for ends in ((a, b), (b, c), (c, a))])
    inside = (sides > 0.0).all(axis=0) | (sides < 0.0).all(axis=0)
    return np.asarray((above * below < 0.0) & inside)


def crossings(edge: Ints, triangle: Ints, tag: Ints, x: Floats) -> Ints:
    """(k, 2) rows of edges and the triangles they pierce, joined ones left out.

    Parameters
    ----------
    edge, triangle : (e, 2), (t, 3) nodes
    tag : (n, 2) vertices of the pattern that nodes stem from
    x : (n, 3) m
    """
    found = overlaps(boxes(edge, x, 0.0), boxes(triangle, x, 0.0), False)
    one, other = edge[found[:, 0]], triangle[found[:, 1]]
    joined = (one[:, :, None] == other[:, None, :]).any(axis=(1, 2))
    a, b = tag[one].reshape(-1, 4, 1), tag[other].reshape(-1, 1, 6)
    joined |= ((a == b) & (a >= 0)).any(axis=(1, 2))
    ends = (*x[one].transpose(1, 0, 2), *x[other].transpose(1, 0, 2))
    return np.asarray(found[~joined & pierces(*ends)])
