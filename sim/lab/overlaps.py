"""Pieces that would be at one place."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sim.arrays import Floats
from sim.contact.distance import edge_edge_distance
from sim.lab.pieces import Assembly, PlacedRod
from sim.lab.sizes import Sizes

TOUCH_MM = 1e-6


def overlaps(made: Assembly, nodes: Floats, sizes: Sizes) -> Iterator[str]:
    """Say of every two pieces that overlap at `nodes` (n, 3) which and by how much.

    Sleeves on one ball overlap where the angle between their rods is less than the sum
    of the half angles that they take of it; all else is balls and round bars.
    """
    balls = np.unique(made.balls).tolist()
    yield from _balls(nodes, balls, sizes)
    for placed in made.rods:
        yield from _ball_and_rod(made, nodes, balls, placed, sizes)
    for one, other in combinations(made.rods, 2):
        if one.piece != other.piece:
            yield from _two_rods(made, nodes, (one, other), sizes)


def _balls(nodes: Floats, balls: list[int], sizes: Sizes) -> Iterator[str]:
    for i, j in combinations(balls, 2):
        clearance = (
            float(np.linalg.norm(nodes[j] - nodes[i])) - 2.0 * sizes.ball_radius_mm
        )
        if clearance < -TOUCH_MM:
            yield f"the balls of nodes {i} and {j} overlap by {-clearance:.2f} mm"


def _ball_and_rod(
    made: Assembly, nodes: Floats, balls: list[int], placed: PlacedRod, sizes: Sizes
) -> Iterator[str]:
    a, b = nodes[list(placed.nodes)]
    own = set(made.balls[list(placed.nodes)].tolist())
    for node in balls:
        if node in own or made.owner[node] == placed.piece:
            continue
        t = float(np.clip((nodes[node] - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0))
        away = float(np.linalg.norm(nodes[node] - a - t * (b - a)))
        clearance = away - sizes.ball_radius_mm - sizes.rod_radius_mm
        if clearance < -TOUCH_MM:
            yield (
                f"the ball of node {node} and {_called(placed)} overlap by "
                f"{-clearance:.2f} mm"
            )


def _two_rods(
    made: Assembly, nodes: Floats, pair: tuple[PlacedRod, PlacedRod], sizes: Sizes
) -> Iterator[str]:
    ends = [made.balls[list(placed.nodes)].tolist() for placed in pair]
    names = f"{_called(pair[0])} and {_called(pair[1])}"
    shared = set(ends[0]) & set(ends[1])
    for node in shared:
        ways = []
        taken = 0.0
        for placed, own in zip(pair, ends, strict=True):
            end = own.index(node)
            other = nodes[placed.nodes[1 - end]] - nodes[node]
            ways.append(other / np.linalg.norm(other))
            taken += np.arctan2(sizes.clamp_radius_mm, placed.rod.inside(end, sizes))
        angle = float(np.arccos(np.clip(ways[0] @ ways[1], -1.0, 1.0)))
        if angle < taken - 1e-9:
            yield (
                f"the clamps of {names} overlap on the ball of node {node}: "
                f"{np.rad2deg(angle):.0f} degrees apart, they take "
                f"{np.rad2deg(taken):.0f}"
            )
    if shared:
        return
    x = np.concatenate([nodes[list(placed.nodes)] for placed in pair])
    clearance = edge_edge_distance(x) - 2.0 * sizes.rod_radius_mm
    if clearance < -TOUCH_MM:
        yield f"{names} overlap by {-clearance:.2f} mm"


def _called(placed: PlacedRod) -> str:
    i, j = placed.nodes
    return f"{placed.piece} (rod {i}-{j})" if "body" in placed.piece else placed.piece
