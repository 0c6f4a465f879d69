"""What may touch, and which pairs are near, found once until the nodes have moved.

A `ContactSurface` has nodes against triangles and edges against edges, and which pairs
are left out.

Every pair whose boxes come within a given distance is found. Small surfaces test all
boxes against all; large ones sort boxes into the cells of a grid first (spatial
hashing), which costs in proportion to the number of boxes. Both give the same pairs in
the same order.

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


GRID_FROM = 400  # boxes; below this, testing all against all is faster
FEW = 64  # numbers up to which plain insertion sorts faster
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
def _overlap(a: Floats, i: int, b: Floats, j: int) -> bool:
    return bool(
        a[i, 0] <= b[j, 3]
        and b[j, 0] <= a[i, 3]
        and a[i, 1] <= b[j, 4]
        and b[j, 1] <= a[i, 4]
        and a[i, 2] <= b[j, 5]
        and b[j, 2] <= a[i, 5]
    )


@kernel
def _extended(found: Ints, count: int, i: int, near: Ints) -> Ints:
    """`found` with (i, j) from place `count` on for all j of `near`; larger if full."""
    if count + len(near) > len(found):
        larger = np.empty((2 * (count + len(near)), 2), dtype=np.int64)
        for k in range(count):
            larger[k, 0], larger[k, 1] = found[k, 0], found[k, 1]
        found = larger
    for k in range(len(near)):
        found[count + k, 0], found[count + k, 1] = i, near[k]
    return found


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
def overlaps_by_scan(a: Floats, b: Floats, same: bool) -> Ints:
    """(k, 2) rows of overlapping boxes, all tested; i < j where a and b are one.

    Counted first and written afterwards: an array that grows in the innermost loop
    made it ten times as slow.
    """
    hit = np.empty((len(a), len(b)), dtype=np.bool_)
    columns, count = np.empty((6, len(b))), 0
    for j in range(len(b)):
        for c in range(6):
            columns[c, j] = b[j, c]
    for i in range(len(a)):
        _hits(a[i], columns, hit[i])
        for j in range(i + 1 if same else 0, len(b)):
            count += hit[i, j]
    found, k = np.empty((count, 2), dtype=np.int64), 0
    for i in range(len(a)):
        for j in range(i + 1 if same else 0, len(b)):
            if hit[i, j]:
                found[k, 0], found[k, 1] = i, j
                k += 1
    return found


@kernel
def _stretch(boxes: Floats, low: Floats, high: Floats) -> None:
    """Move the corners of a box outwards until it holds all of `boxes`."""
    for i in range(len(boxes)):
        for c in range(3):
            low[c] = min(low[c], boxes[i, c])
            high[c] = max(high[c], boxes[i, c + 3])


@kernel
def _grid(a: Floats, b: Floats) -> tuple[Floats, Floats, Ints]:
    """Corner, inverse cell size and cell counts of a grid over all boxes of `b`."""
    low, high, size = np.full(3, np.inf), np.full(3, -np.inf), np.zeros(3)
    shape = np.empty(3, dtype=np.int64)
    _stretch(a, low, high)
    _stretch(b, low, high)
    for c in range(3):
        for j in range(len(b)):
            size[c] += b[j, c + 3] - b[j, c]
        size[c] = max(size[c] / len(b), (high[c] - low[c]) / 1e6, 1e-300)
    while True:
        for c in range(3):
            shape[c] = int((high[c] - low[c]) / size[c]) + 1
        if shape[0] * shape[1] * shape[2] <= 4 * len(b) + 8:
            return low, 1.0 / size, shape
        size *= 1.3


@kernel
def _cell(low: Floats, inverse: Floats, shape: Ints, value: float, c: int) -> int:
    return int(min(max(int((value - low[c]) * inverse[c]), 0), shape[c] - 1))


@kernel
def _cells(
    low: Floats, inverse: Floats, shape: Ints, box: Floats
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The first cell that a box touches along each axis, and the one after the last."""
    x = _cell(low, inverse, shape, box[0], 0), _cell(low, inverse, shape, box[3], 0) + 1
    y = _cell(low, inverse, shape, box[1], 1), _cell(low, inverse, shape, box[4], 1) + 1
    z = _cell(low, inverse, shape, box[2], 2), _cell(low, inverse, shape, box[5], 2) + 1
    return (x[0], y[0], z[0]), (x[1], y[1], z[1])


@kernel
def _fill_cells(
    b: Floats, low: Floats, inverse: Floats, shape: Ints
) -> tuple[Ints, Ints]:
    """Boxes by cell: those of cell k are member[start[k]:start[k + 1]]."""
    start = np.zeros(shape[0] * shape[1] * shape[2] + 1, dtype=np.int64)
    member = np.empty(0, dtype=np.int64)
    for fill in range(2):
        if fill == 1:
            for k in range(1, len(start)):
                start[k] += start[k - 1]
            member = np.empty(start[-1], dtype=np.int64)
        for j in range(len(b) - 1, -1, -1):
            first, end = _cells(low, inverse, shape, b[j])
            for cx in range(first[0], end[0]):
                for cy in range(first[1], end[1]):
                    for cz in range(first[2], end[2]):
                        k = (cx * shape[1] + cy) * shape[2] + cz
                        if fill == 0:
                            start[k] += 1
                        else:
                            start[k] -= 1
                            member[start[k]] = j
    return start, member


@kernel
def _sort(numbers: Ints) -> None:
    """Ascending, by Shell's method; they are few and nearly in order, mostly."""
    stride = 1
    while FEW * stride < len(numbers):
        stride = 3 * stride + 1
    while stride > 0:
        for k in range(stride, len(numbers)):
            j, place = numbers[k], k
            while place >= stride and numbers[place - stride] > j:
                numbers[place] = numbers[place - stride]
                place -= stride
            numbers[place] = j
        stride //= 3


@kernel
def overlaps_by_grid(a: Floats, b: Floats, same: bool) -> Ints:
    """The pairs of `overlaps_by_scan`, found among boxes of the same cells."""
    found, count = np.empty((64, 2), dtype=np.int64), 0
    if len(a) == 0 or len(b) == 0:
        return found[:0]
    low, inverse, shape = _grid(a, b)
    start, member = _fill_cells(b, low, inverse, shape)
    seen, near = np.full(len(b), -1), np.empty(len(b), dtype=np.int64)
    for i in range(len(a)):
        hits = 0
        first, end = _cells(low, inverse, shape, a[i])
        for cx in range(first[0], end[0]):
            for cy in range(first[1], end[1]):
                for cz in range(first[2], end[2]):
                    k = (cx * shape[1] + cy) * shape[2] + cz
                    for m in range(start[k], start[k + 1]):
                        j = member[m]
                        if seen[j] == i or (same and j <= i):
                            continue
                        seen[j] = i
                        if _overlap(a, i, b, j):
                            near[hits] = j
                            hits += 1
        _sort(near[:hits])
        found = _extended(found, count, i, near[:hits])
        count += hits
    return found[:count]


@kernel
def overlaps(a: Floats, b: Floats, same: bool) -> Ints:
    """(k, 2) rows of overlapping boxes in ascending order."""
    if max(len(a), len(b)) < GRID_FROM:
        return overlaps_by_scan(a, b, same)
    return overlaps_by_grid(a, b, same)


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
