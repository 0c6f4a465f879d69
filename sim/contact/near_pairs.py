"""What may touch, and which pairs are near, found once until the nodes have moved.

A `ContactSurface` has nodes against triangles and edges against edges, and which pairs
are left out.

Every pair whose boxes come within a given distance is found, by a sweep along one axis
(sweep and prune: Cohen, Lin, Manocha and Ponamgi, ACM I3D 1995).

Records that compiled loops read are named tuples, because numba takes those as they
are; like the frozen dataclasses elsewhere they are never changed.
"""

from typing import NamedTuple

import numpy as np

from sim.contact.distance import pair_distance
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel


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
    mollifier_scale : (k,) scale of `contact_energy.mollifier` for edges, m^4
    """

    faces: int
    row: Ints
    node: Ints
    activation: Floats
    min_distance: Floats
    weight: Floats
    mollifier_scale: Floats


def only(pairs: ContactPairs, chosen: Ints) -> ContactPairs:
    """Those with the numbers `chosen`, ascending."""
    faces = int(np.searchsorted(chosen, pairs.faces))
    return ContactPairs._make([faces, *(part[chosen] for part in pairs[1:])])


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


PARALLEL_EDGES = 1e-3  # sin^2 of the angle below which the mollifier of two edges acts


@kernel
def boxes(nodes: Ints, x: Floats, margin: float) -> Floats:
    """(m, 6) lowest and highest coordinates of each row of `nodes`."""
    out = np.empty((len(nodes), 6))
    for i in range(len(nodes)):
        for c in range(3):
            low = high = x[nodes[i, 0], c]
            for a in range(1, nodes.shape[1]):
                low = min(low, x[nodes[i, a], c])
                high = max(high, x[nodes[i, a], c])
            out[i, c], out[i, c + 3] = low - margin, high + margin
    return out


@kernel
def _hits(a: Floats, b: Floats, hit: Bools) -> None:
    """Which boxes, the columns of b (6, m), overlap the box a (6,): no branches."""
    a0, a1, a2, a3, a4, a5 = a[0], a[1], a[2], a[3], a[4], a[5]
    for j in range(b.shape[1]):
        x = (a0 <= b[3, j]) & (b[0, j] <= a3)
        y = (a1 <= b[4, j]) & (b[1, j] <= a4)
        z = (a2 <= b[5, j]) & (b[2, j] <= a5)
        hit[j] = x & y & z


@kernel
def _sweep_axis(b: Floats) -> int:
    """The axis along which boxes (m, 6) lie farthest apart for their size."""
    best, most = 0, -1.0
    for c in range(3):
        widest, low, high = 1e-300, b[0, c], b[0, c]
        for i in range(len(b)):
            widest = max(widest, b[i, c + 3] - b[i, c])
            low, high = min(low, b[i, c]), max(high, b[i, c])
        apart = (high - low) / widest
        if apart > most:
            best, most = c, apart
    return best


@kernel
def overlaps(a: Floats, b: Floats, same: bool) -> Ints:
    """(k, 2) rows of overlapping boxes in ascending order; i < j where a and b are one.

    The boxes b are sorted along one axis, so that each of a is tested against those
    alone that may reach it there.
    """
    found, count = np.empty(64, dtype=np.int64), 0
    if len(a) == 0 or len(b) == 0:
        return np.empty((0, 2), dtype=np.int64)
    axis, many = _sweep_axis(b), len(b)
    order = np.argsort(b[:, axis].copy())
    columns, hit = np.empty((6, many)), np.empty(many, dtype=np.bool_)
    for c in range(6):
        for j in range(many):
            columns[c, j] = b[order[j], c]
    reach = columns[axis + 3].copy()  # how far a box and all before it go
    for j in range(1, many):
        reach[j] = max(reach[j], reach[j - 1])
    for i in range(len(a)):
        first = _count_below(reach, a[i, axis])
        end = _count_below(columns[axis], np.nextafter(a[i, axis + 3], np.inf))
        near = max(end - first, 0)
        _hits(a[i], columns[:, first : first + near], hit)
        if count + near > len(found):
            larger = np.empty(2 * (count + near), dtype=np.int64)
            for m in range(count):
                larger[m] = found[m]
            found = larger
        for m in range(near):
            j = order[first + m]
            if hit[m] and (not same or j > i):
                found[count] = i * many + j
                count += 1
    found = found[:count]
    found.sort()
    rows = np.empty((count, 2), dtype=np.int64)
    for m in range(count):
        rows[m, 0], rows[m, 1] = found[m] // many, found[m] % many
    return rows


@kernel
def _count_below(ascending: Floats, limit: float) -> int:
    """How many of ascending numbers are below a limit."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < limit:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _activation_at_rest(
    surface: ContactSurface, activation: float, distance_at_rest: float
) -> tuple[float, float]:
    """d0 and thickness of a pair, no more than half of the distance it has at rest.

    Parts that are closer than d0 in the flat sheet (rims on both sides of a crease)
    would push each other for no reason of contact.
    """
    full = activation + surface.thickness
    if distance_at_rest >= 2.0 * full:
        return activation, surface.thickness
    share = 0.5 * distance_at_rest / full
    return activation * share, surface.thickness * share


@kernel
def _length_product(x: Floats) -> float:
    """|u|^2 |v|^2 of the edges u and v, (4, 3) their ends."""
    u, v = 0.0, 0.0
    for c in range(3):
        u += (x[1, c] - x[0, c]) ** 2
        v += (x[3, c] - x[2, c]) ** 2
    return u * v


@kernel
def find_pairs(surface: ContactSurface, x: Floats, within: float) -> ContactPairs:
    """All pairs whose boxes are within `within`, those left out by rule removed.

    Parameters
    ----------
    x : (n, 3) m
    within : m; as long as no node moves more than s, every pair closer than
        within - 2 s is among them
    """
    point, triangle, parts = surface.point, surface.triangle, surface.edge
    panel, panels, tag = surface.triangle_panel, surface.point_panel, surface.tag
    face = overlaps(
        boxes(point.reshape(-1, 1), x, 0.0), boxes(triangle, x, within), False
    )
    half = boxes(parts, x, 0.5 * within)
    edge = overlaps(half, half, True)
    row = np.empty((len(face) + len(edge), 2), dtype=np.int64)
    weight, count = np.ones(len(row)), 0
    for c in range(len(face)):  # arrays, not the record: it is copied at each call
        p, t = face[c, 0], face[c, 1]
        times = face_weight(tag, panels[p], point[p], triangle[t], panel[t])
        if times > 0.0:
            row[count, 0], row[count, 1], weight[count] = p, t, times
            count += 1
    faces = count
    for c in range(len(edge)):
        if not edge_left_out(tag, parts, edge[c, 0], edge[c, 1]):
            row[count, 0], row[count, 1], weight[count] = edge[c, 0], edge[c, 1], 1.0
            count += 1
    return _described(surface, faces, row[:count].copy(), weight[:count].copy())


@kernel
def _described(
    surface: ContactSurface, faces: int, row: Ints, weight: Floats
) -> ContactPairs:
    """The pairs with their nodes, activation distances and mollifiers."""
    k = len(row)
    node, mollifier_scale = np.empty((k, 4), dtype=np.int64), np.zeros(k)
    d0, min_distance, y = np.empty(k), np.empty(k), np.empty((4, 3))
    for c in range(k):
        i, j = row[c, 0], row[c, 1]
        if c < faces:
            first, activation = 1, surface.point_activation[i]
            node[c, 0] = surface.point[i]
            for a in range(3):
                node[c, a + 1] = surface.triangle[j, a]
        else:
            first, activation = 2, surface.edge_activation
            for a in range(2):
                node[c, a], node[c, a + 2] = surface.edge[i, a], surface.edge[j, a]
        rest = np.inf
        if surface.limited or c >= faces:
            gather(node[c], surface.rest, y)
        if c >= faces:
            mollifier_scale[c] = PARALLEL_EDGES * _length_product(y)
        if surface.limited and not apart(
            y, first, 2.0 * (activation + surface.thickness)
        ):
            rest = pair_distance(y, first)
        d0[c], min_distance[c] = _activation_at_rest(surface, activation, rest)
    return ContactPairs(faces, row, node, d0, min_distance, weight, mollifier_scale)
