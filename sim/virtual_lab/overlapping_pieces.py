"""Printed pieces that would be at one place, and the sizes that part them."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sim.contact.distance import edge_edge_distance
from sim.core.arrays import Floats
from sim.virtual_lab.lab_settings import Sizes
from sim.virtual_lab.printed_pieces import (
    FINEST_MM,
    Assembly,
    PlacedRod,
    distance_to_segment,
)

TOUCH_MM = 1e-6


class Overlap(NamedTuple):
    """Two pieces at one place, and the largest value of a size that parts them."""

    text: str
    size: str
    most_mm: float


def remedy(found: Sequence[Overlap], sizes: Sizes) -> str:
    """Which sizes part all that overlap, or how far to move nodes if none do."""
    most = {o.size: min(p.most_mm for p in found if p.size == o.size) for o in found}
    if min(most.values()) < FINEST_MM:
        ball, rod = sizes.ball_radius_mm, sizes.rod_radius_mm
        return (
            "no radius helps where a rod passes through a sphere or a rod; not "
            "printable in one layer: move nodes, as in z, until its axis is "
            f"{ball + rod:g} mm from the sphere, {2.0 * rod:g} mm from a rod's axis"
        )
    if most.get("clamp_radius_mm", np.inf) < sizes.rod_radius_mm:
        most["rod_radius_mm"] = min(most.values())
    lower = (f"{k} to {np.floor(100 * v + 1e-7) / 100:g}" for k, v in most.items())
    farther = ", or enlarge scale_mm" * ("clamp_radius_mm" not in most)
    return f"lower {', '.join(lower)} (--parts FILE){farther}"


def overlaps(made: Assembly, nodes: Floats, sizes: Sizes) -> Iterator[Overlap]:
    """Every two pieces that overlap at `nodes` (n, 3), and by how much.

    Sleeves on one sphere overlap where the angle between their rods is less than the
    sum of their half angles; all else is spheres and round bars.
    """
    spheres = np.unique(made.spheres).tolist()
    yield from _spheres(nodes, spheres, sizes)
    for placed in made.rods:
        yield from _sphere_and_rod(made, nodes, spheres, placed, sizes)
    for one, other in combinations(made.rods, 2):
        if one.piece != other.piece:
            yield from _two_rods(made, nodes, (one, other), sizes)


def _spheres(nodes: Floats, spheres: list[int], sizes: Sizes) -> Iterator[Overlap]:
    for i, j in combinations(spheres, 2):
        away = float(np.linalg.norm(nodes[j] - nodes[i]))
        clearance = away - 2.0 * sizes.ball_radius_mm
        if clearance < -TOUCH_MM:
            text = f"the spheres of nodes {i} and {j} overlap by {-clearance:.2f} mm"
            yield Overlap(text, "ball_radius_mm", 0.5 * away)


def _sphere_and_rod(
    made: Assembly, nodes: Floats, spheres: list[int], placed: PlacedRod, sizes: Sizes
) -> Iterator[Overlap]:
    own = set(made.spheres[list(placed.nodes)].tolist())
    for node in spheres:
        if node in own or made.owner[node] == placed.piece:
            continue
        away = distance_to_segment(nodes[[node, *placed.nodes]])
        room = away - sizes.ball_radius_mm
        less = sizes.rod_radius_mm - room
        if less > TOUCH_MM:
            text = f"the sphere of node {node} and {_called(placed)} overlap by "
            text += f"{less:.2f} mm"
            if room < FINEST_MM:
                text = f"{_called(placed)} passes through the sphere of node {node}"
            yield Overlap(text, "rod_radius_mm", room)


def _two_rods(
    made: Assembly, nodes: Floats, pair: tuple[PlacedRod, PlacedRod], sizes: Sizes
) -> Iterator[Overlap]:
    ends = [made.spheres[list(placed.nodes)].tolist() for placed in pair]
    names = f"{_called(pair[0])} and {_called(pair[1])}"
    shared = set(ends[0]) & set(ends[1])
    for node in shared:
        ways = []
        taken, seat = 0.0, sizes.seat_mm
        for placed, own in zip(pair, ends, strict=True):
            end = own.index(node)
            other = nodes[placed.nodes[1 - end]] - nodes[node]
            ways.append(other / np.linalg.norm(other))
            inside = placed.rod.inside(end, sizes)
            taken += np.arctan2(sizes.clamp_radius_mm, inside)
            seat = min(seat, np.hypot(sizes.clamp_radius_mm, inside))
        angle = float(np.arccos(np.clip(ways[0] @ ways[1], -1.0, 1.0)))
        if angle < taken - 1e-9:
            text = (
                f"the clamps of {names} overlap on the sphere of node {node}: "
                f"{np.rad2deg(angle):.0f} degrees apart, "
                f"{np.rad2deg(taken):.0f} needed"
            )
            yield Overlap(text, "clamp_radius_mm", seat * np.sin(0.5 * angle))
    if shared:
        return
    x = np.concatenate([nodes[list(placed.nodes)] for placed in pair])
    away = edge_edge_distance(x)
    clearance = away - 2.0 * sizes.rod_radius_mm
    if clearance < -TOUCH_MM:
        text = f"{names} overlap by {-clearance:.2f} mm"
        yield Overlap(text, "rod_radius_mm", 0.5 * away)


def _called(placed: PlacedRod) -> str:
    i, j = placed.nodes
    return f"{placed.piece} (rod {i}-{j})" if "body" in placed.piece else placed.piece
