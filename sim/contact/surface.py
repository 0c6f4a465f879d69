"""What may touch: nodes against triangles, edges against edges, and which are left out.

Records that compiled loops read are named tuples, because numba takes those as they
are; like the frozen dataclasses elsewhere they are never changed.
"""

from typing import NamedTuple

from sim.arrays import Floats, Ints
from sim.kernels import kernel


class ContactSurface(NamedTuple):
    """The triangles of all panels, and what meets them.

    A pair is left out if both belong to the same panel only, or if a node of the one
    has a tag in common with a node of the other. Tags are the vertices of the crease
    pattern that a node stems from, so that panels do not push where they are joined.

    Attributes
    ----------
    point, point_activation : (p,) nodes, and d0 of each in m
    point_panel : (p, q) the panels that a node belongs to, -1 for none; a pair counts
        once for each that is not the triangle's; with q = 0 every pair counts once
    triangle, triangle_panel : (t, 3), (t,)
    edge : (e, 2) edges that are checked against each other
    edge_activation : d0 of edges, m
    tag : (n, 2) two tags a node, -1 for none
    rest : (n, 3) m, rest positions
    limited : whether d0 shrinks to half the distance that a pair has at rest
    thickness : distance of two midplanes that touch, m; the barrier is in d - thickness
    """

    point: Ints
    point_panel: Ints
    point_activation: Floats
    triangle: Ints
    triangle_panel: Ints
    edge: Ints
    edge_activation: float
    tag: Ints
    rest: Floats
    limited: bool
    thickness: float


class ContactPairs(NamedTuple):
    """Pairs that are close enough to matter for a while.

    Nodes with triangles come first, edges with edges after them, each in ascending
    order.

    Attributes
    ----------
    faces : how many pairs are a node and a triangle
    row : (k, 2) rows of `point` and `triangle`, or of `edge` twice
    node : (k, 4) the node and the corners, or the ends of both edges
    activation, min_distance : (k,) m, d0, and the minimum distance of the barrier:
        the potential is infinite at min_distance, and zero `activation` above it
    weight : (k,) how often a pair counts
    mollifier_scale : (k,) scale of `sim.contact.barrier.mollifier` for edges, m^4
    """

    faces: int
    row: Ints
    node: Ints
    activation: Floats
    min_distance: Floats
    weight: Floats
    mollifier_scale: Floats


@kernel
def share_tag(tag: Ints, i: int, j: int) -> bool:
    """Whether two nodes stem from a common vertex of the pattern."""
    a, b, c, d = tag[i, 0], tag[i, 1], tag[j, 0], tag[j, 1]
    one = (a >= 0) & ((a == c) | (a == d))  # no branches: asked of every candidate
    return bool(one | ((b >= 0) & ((b == c) | (b == d))))


@kernel
def face_weight(
    tag: Ints, panels: Ints, node: int, triangle: Ints, panel: int
) -> float:
    """How often a node and a triangle count; 0 where they are joined.

    Parameters
    ----------
    panels : (q,) of the node; panel : of the triangle; see `ContactSurface`
    """
    for c in range(3):
        if triangle[c] == node or share_tag(tag, node, triangle[c]):
            return 0.0
    weight = 0.0 if len(panels) else 1.0
    for q in range(len(panels)):
        if panels[q] >= 0 and panels[q] != panel:
            weight += 1.0
    return weight


@kernel
def edge_left_out(tag: Ints, edge: Ints, i: int, j: int) -> bool:
    """Whether rows `i` and `j` of `edge` (e, 2) are joined."""
    for a in range(2):
        for b in range(2):
            u, v = edge[i, a], edge[j, b]
            if u == v or share_tag(tag, u, v):
                return True
    return False


@kernel
def gather(nodes: Ints, x: Floats, out: Floats) -> None:
    """Rows of x (n, 3) of these nodes."""
    for a in range(len(nodes)):
        for c in range(3):
            out[a, c] = x[nodes[a], c]


@kernel
def apart(x: Floats, first: int, distance: float) -> bool:
    """Whether the boxes of x[:first] and x[first:4] are more than `distance` apart."""
    for c in range(3):
        low, high = x[0, c], x[0, c]
        for i in range(1, first):
            low, high = min(low, x[i, c]), max(high, x[i, c])
        other_low, other_high = x[first, c], x[first, c]
        for i in range(first + 1, 4):
            other_low, other_high = min(other_low, x[i, c]), max(other_high, x[i, c])
        if low - other_high > distance or other_low - high > distance:
            return True
    return False
