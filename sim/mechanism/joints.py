"""Links, bodies and joints: [dJ23], Fig. 4 and Fig. 6.

A joint is a short list of elementary constraints; constants are taken from the initial
nodes `r` (n, 3). A body is known by three of its nodes that are not on one line, a line
by two. The count in each first line is what remains of the twelve degrees of freedom of
two bodies, or the six of one.

How far a joint may go: `sim.mechanism.ranges`.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    coin,
    dist,
    dot,
    par,
    triple,
)

Plane = tuple[int, int, int]
Line = tuple[int, int]


def link(r: Floats, a: int, b: int) -> list[Constraint]:
    """Fig. 4b, five left: two nodes at a constant distance."""
    return [dist(r, a, b)]


def body(r: Floats, nodes: Plane) -> list[Constraint]:
    """Fig. 4c, six left: three nodes in a rigid triangle."""
    a, b, c = nodes
    check_plane(r, nodes)
    return [dist(r, a, b), dist(r, b, c), dist(r, c, a)]


def body_node(r: Floats, nodes: Plane, extra: int) -> list[Constraint]:
    """Fig. 4d, six left: one more node, by its projections on two sides and the normal.

    Three distances would do the same, but not for a node in the plane of the body,
    where they lose a rank.
    """
    a, b, c = nodes
    return [
        dot(r, a, extra, a, b),
        dot(r, a, extra, b, c),
        triple(r, (a, extra, a, b, b, c)),
    ]


def rigid(r: Floats, nodes: tuple[int, ...]) -> list[Constraint]:
    """Fig. 4c, d, six left: a body of three nodes or more, its base first."""
    a, b, c, *others = nodes
    rows = body(r, (a, b, c))
    for extra in others:
        rows += body_node(r, (a, b, c), extra)
    return rows


def plane_point(r: Floats, plane: Plane, point: int) -> list[Constraint]:
    """Fig. 4e, eleven left: a node stays at its height over a plane of a body."""
    a, b, c = plane
    return [triple(r, (a, point, a, b, b, c))]


def line_point(line: Line, point: int) -> list[Constraint]:
    """Fig. 4f, ten left: a node stays on a line; adds a multiplier."""
    a, b = line
    return [par(a, point, a, b)]


def prismatic(r: Floats, plane: Plane, line: Plane) -> list[Constraint]:
    """Fig. 4g, seven left: slides along the line through two nodes, does not turn.

    Parameters
    ----------
    plane : nodes a, b, c of the guide; the slide is along a to b
    line : nodes p, q, s of the slider; p and q are on the line a to b
    """
    a, b, _ = plane
    p, q, s = line
    return [
        *line_point((a, b), p),
        *line_point((a, b), q),
        *parallel_plane_line(r, plane, (p, s)),
    ]


def parallel_plane_line(r: Floats, plane: Plane, line: Line) -> list[Constraint]:
    """Fig. 4h, eleven left: a line keeps its slope against a plane."""
    a, b, c = plane
    return [triple(r, (*line, a, b, b, c))]


def parallel_planes(r: Floats, plane: Plane, other: Plane) -> list[Constraint]:
    """Fig. 4i, ten left: two planes stay parallel, at any distance.

    "Parallel plane" has two readings in the paper; this one leaves the most motions.
    """
    p, q, s = other
    return [
        *parallel_plane_line(r, plane, (p, q)),
        *parallel_plane_line(r, plane, (q, s)),
    ]


def planar_contact(r: Floats, plane: Plane, other: Plane) -> list[Constraint]:
    """Fig. 4i in the other reading, nine left: a body slides on a plane."""
    return [row for point in other for row in plane_point(r, plane, point)]


def cylindrical(line: Line, other: Line) -> list[Constraint]:
    """Fig. 4j, eight left: two lines stay on one another; slides and turns."""
    p, q = other
    return [*line_point(line, p), *line_point(line, q)]


def spherical(a: int, b: int) -> list[Constraint]:
    """Fig. 4k, nine left: two nodes at one place. Sharing one node does the same."""
    return [coin(a, b)]


def universal(r: Floats, axis: Line, other: Line) -> list[Constraint]:
    """Fig. 4l, eight left: two axes meet at their first nodes and keep their angle."""
    return [coin(axis[0], other[0]), dot(r, *axis, *other)]


def hinge(axis: Line, other: Line) -> list[Constraint]:
    """Fig. 4m, seven left: two axes on one another with their first nodes together.

    Two coincidences would do the same with one row too many.
    """
    return [coin(axis[0], other[0]), *line_point(axis, other[1])]


def fixed(r: Floats, plane: Plane, other: Plane) -> list[Constraint]:
    """Six left: two bodies become one; their first nodes must be at one place.

    Six rows and none too many: three hold the place, two the direction of the other
    body's first side, one the turn about it. They are projections on the sides and the
    normal of the plane, those that are most sensitive.
    """
    a, b, c = plane
    p, q, s = other
    check_plane(r, plane)
    side = [(a, b), (b, c)]
    axes = np.array([r[b] - r[a], r[c] - r[b], np.cross(r[b] - r[a], r[c] - r[b])])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)

    def projection(i: int, head: int) -> Constraint:
        if i < 2:
            return dot(r, p, head, *side[i])
        return triple(r, (p, head, a, b, b, c))

    d, e = r[q] - r[p], r[s] - r[p]
    across = [d @ np.cross(axes[i - 2], axes[i - 1]) for i in range(3)]
    left_out = int(np.argmax(np.abs(across)))
    turn = int(np.argmax(np.abs(axes @ np.cross(d, e))))
    held = [projection(i, q) for i in range(3) if i != left_out]
    return [coin(a, p), *held, projection(turn, s)]


def limited(
    r: Floats, a: int, b: int, *, least: float, most: float, extra: int
) -> tuple[Floats, list[Constraint]]:
    """Keep the distance of a and b between two limits by one additional node.

    [dJ23], Discussion: a limited range needs no inequality if a node is added. It is
    the elbow of two links from a to b, of lengths (most + least)/2 and
    (most - least)/2, which can neither stretch nor fold further.

    Returns
    -------
    place : (3,) where the additional node `extra` begins
    rows : the two links
    """
    d = r[b] - r[a]
    distance = float(np.linalg.norm(d))
    if not 0.0 <= least < distance < most:
        raise ValueError(
            f"nodes {a} and {b} are {distance:g} apart, outside the limits {least:g} "
            f"to {most:g}: change the limits, or move a node"
        )
    upper, lower = 0.5 * (most + least), 0.5 * (most - least)
    along = (distance**2 + upper**2 - lower**2) / (2.0 * distance)
    side = np.cross(d, np.eye(3)[np.argmin(np.abs(d))])
    side *= np.sqrt(max(upper**2 - along**2, 0.0)) / np.linalg.norm(side)
    place: Floats = r[a] + along / distance * d + side
    return place, [
        Constraint(ConstraintKind.DIST, (a, extra), upper**2),
        Constraint(ConstraintKind.DIST, (b, extra), lower**2),
    ]


class JointLimits(NamedTuple):
    """The limits of a joint that `limited` made, by its name."""

    name: str
    nodes: Line
    least: float
    most: float

    def reached(self, r: Floats, share: float) -> str:
        """Which limit the nodes r (n, 3) are at, within a share of the range, or ""."""
        near = share * (self.most - self.least)
        distance = float(np.linalg.norm(np.subtract(*r[list(self.nodes)])))
        if distance <= self.least + near:
            return f"lower limit of {self.least:.6g}"
        return f"upper limit of {self.most:.6g}" if distance >= self.most - near else ""


def limits_of(table: ConstraintTable) -> list[JointLimits]:
    """Those of a table whose rows name their joints."""
    found = []
    for name in dict.fromkeys(o for o in table.owners if o.startswith("limited ")):
        one, other = (i for i, owner in enumerate(table.owners) if owner == name)
        long, short = np.sqrt(table.constant[[one, other]]).tolist()
        nodes = int(table.nodes[one, 0]), int(table.nodes[other, 0])
        found.append(JointLimits(name, nodes, long - short, long + short))
    return found


def check_plane(r: Floats, nodes: Plane) -> None:
    """Three nodes make a plane unless they are on one line."""
    a, b, c = (r[i] for i in nodes)
    d, e = b - a, c - a
    area = float(np.linalg.norm(np.cross(d, e)))
    if area <= 1e-9 * max(float(d @ d), float(e @ e)):
        raise ValueError(
            f"nodes {nodes[0]}, {nodes[1]} and {nodes[2]} are on one line: name three "
            "nodes that span a plane"
        )
