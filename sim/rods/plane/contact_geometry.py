"""Contact of edges in the plane: which there is, and its distances.

Besides its nodes on the ground, edges of a rod may feel the ground and rods. Two
polygons that do not cross can begin to do so only where a node of one passes an edge of
the other, so contact of rods with rods is contact of nodes with edges. It acts at a
distance: the thickness of the rod, or where that is taken as zero, a skin.

In a step, `node_to_edge` and `edge_to_ground` find when and where they meet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.core.options import Checked, NotNegative, Positive
from sim.rods.plane.ground import Ground, Relief, gap, gaps
from sim.rods.plane.rod import Rod

SKIN = 4.0  # over the gap that a step may leave, where rods have no thickness
ALONG = 2.0  # thicknesses, within which a rod does not touch itself along its axis
FLAT = 4.0  # gaps that a step may leave, below whose sagitta an arc counts as flat
POINTS = 17  # of an edge, at which its start is compared with the ground


@dataclass(frozen=True)
class EdgeContact(Checked):
    """Edges feel the ground; rods feel rods and themselves, by the same friction.

    ground, rods : whether edges feel the ground, and nodes the edges of rods
    arcs : whether the ground feels no edges, but arcs through a node and its neighbours
        (`sim.rods.plane.edge_contact`), on which a smooth rod rolls without an impact
    thickness : m, the least distance of two axes; 0 is a skin of 4 `gap`
    gap : of the shortest edge, by which a contact may be open or deep after a step;
        it also holds for nodes on the ground

    An edge touches the ground at one point, its lowest. Friction acts at the axes.
    """

    of = "edge contact"
    ground: bool = True
    rods: bool = True
    arcs: bool = False
    thickness: NotNegative = 0.0
    gap: Positive = 1e-4

    def distance(self, rod: Rod) -> float:
        """The least distance of two axes, m."""
        return max(self.thickness, SKIN * self.gap * float(rod.rest_length.min()))


class EdgeContacts(NamedTuple):
    """What the compiled loop reads of it.

    ground, rods : whether edges feel the ground, and nodes edges
    arcs : whether the ground feels arcs
    distance : m
    flat : m, of the middle of two neighbours above a node, below which an arc is flat
    before, after : (n,) neighbours of each node with which it spans an arc, or -1
    first, own : (n + 1,), (k,) the edges near each node, which it does not feel
    """

    ground: bool
    rods: bool
    arcs: bool
    distance: float
    flat: float
    before: Ints
    after: Ints
    first: Ints
    own: Ints


def edge_contacts(
    model: EdgeContact | None, rod: Rod, ground: Ground | None
) -> EdgeContacts:
    """What the loop reads; a level ground touches no edge before a node."""
    if model is None:
        empty = np.zeros(0, dtype=np.int64)
        return EdgeContacts(False, False, False, 0.0, 0.0, *4 * (empty,))
    curved = ground is not None and (
        ground.relief.amplitude != 0.0 or len(ground.relief.knots) > 1
    )
    first, own = _edges_near(rod, ALONG * model.thickness)
    arcs = model.ground and model.arcs and ground is not None
    edges = model.ground and curved and not arcs
    flat = FLAT * model.gap * float(rod.rest_length.min())
    before, after = _neighbours(rod, arcs=arcs)
    return EdgeContacts(
        edges, model.rods, arcs, model.distance(rod), flat, before, after,
        first, own,
    )  # fmt: skip


def _neighbours(rod: Rod, *, arcs: bool) -> tuple[Ints, Ints]:
    """The neighbours of each node; -1 at ends, and where more than two edges meet."""
    n = len(rod.nodes)
    before, after = np.full(n, -1), np.full(n, -1)
    if not arcs:
        return before, after
    i, j, k = rod.bends.T
    single = np.bincount(rod.edges.ravel(), minlength=n)[j] == 2
    before[j[single]], after[j[single]] = i[single], k[single]
    return before, after


def _edges_near(rod: Rod, reach: float) -> tuple[Ints, Ints]:
    """Of each node the edges that begin within `reach` (m) along the rod."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import dijkstra

    n, (i, j) = len(rod.nodes), rod.edges.T
    graph = coo_array((rod.rest_length, (i, j)), shape=(n, n)).tocsr()
    near = []
    for node in range(n):
        way = dijkstra(graph, directed=False, indices=[node], limit=reach)[0]
        near.append(np.flatnonzero(np.minimum(way[i], way[j]) <= reach))
    first = np.concatenate([[0], np.cumsum([len(own) for own in near])])
    return first.astype(np.int64), np.concatenate(near).astype(np.int64)


def refuse_start_inside(model: EdgeContact, rod: Rod, ground: Ground | None) -> None:
    """A rod may not start inside itself, nor an edge in the ground."""
    touch = edge_contacts(model, rod, ground)
    a, b = rod.nodes[rod.edges[:, 0]], rod.nodes[rod.edges[:, 1]]
    for node in range(len(rod.nodes)) if touch.rods else ():
        away = from_segments(rod.nodes[node], a, b)[0]
        away[touch.own[touch.first[node] : touch.first[node + 1]]] = np.inf
        k = int(np.argmin(away))
        if away[k] < (1.0 - 1e-9) * touch.distance:
            raise ValueError(
                f"edge contact: node {node} starts {away[k]:.3g} m from edge {k}, "
                f"closer than {touch.distance:.3g} m: move them apart or make the rod "
                "thinner"
            )
    above: list[tuple[str, float]] = []
    if ground is not None and touch.arcs:
        arcs = (arc_gap(touch, rod.nodes, k, ground) for k in range(len(rod.nodes)))
        above = [(f"the arc of node {k}", low) for k, low in enumerate(arcs)]
    if ground is not None and touch.ground:
        edges = (edge_gap(edge[None], rod.nodes, ground) for edge in rod.edges)
        above = [(f"edge {k}", low) for k, low in enumerate(edges)]
    for name, low in above:
        if -low > model.gap * float(rod.rest_length.min()):
            raise ValueError(
                f"edge contact: {name} starts {-low:.3g} m below the ground: lift "
                "the rod"
            )


def from_segments(
    at: Floats | Sequence[float], a: Floats, b: Floats
) -> tuple[Floats, Floats]:
    """(m,) how far a place is from lines from a to b (m, 2 or 3), and where on them."""
    way = b - a
    square = np.linalg.norm(way, axis=1) ** 2
    share = np.clip(((at - a) * way).sum(axis=1) / square, 0.0, 1.0)
    return np.linalg.norm(a + share[:, None] * way - at, axis=1), share


def arc_gap(touch: EdgeContacts, x: Floats, node: int, ground: Ground) -> float:
    """The least gap above the ground at 17 points of the arc of a node, m."""
    j, k = touch.before[node], touch.after[node]
    if j < 0:
        return float(gaps(ground, x[node : node + 1]).min())
    low, high = (
        (-0.5 if touch.before[j] >= 0 else -1.0),
        (0.5 if touch.before[k] >= 0 else 1.0),
    )
    s = np.linspace(low, high, POINTS)[:, None]
    along, bent = 0.5 * (x[k] - x[j]), 0.5 * (x[j] + x[k]) - x[node]
    return float(gaps(ground, x[node] + s * along + s * s * bent).min())


def lowest_arc(model: EdgeContact, rod: Rod, ground: Ground) -> float:
    """The least gap above the ground of all arcs of a rod, m."""
    touch = edge_contacts(model, rod, ground)
    nodes = range(len(rod.nodes))
    return min(arc_gap(touch, rod.nodes, node, ground) for node in nodes)


def edge_gap(edges: Ints, x: Floats, ground: Ground) -> float:
    """The least gap above the ground at 17 points of each of the edges (m, 2), m."""
    s = np.linspace(0.0, 1.0, POINTS)[:, None, None]
    points = (1.0 - s) * x[edges[:, 0]] + s * x[edges[:, 1]]
    return float(gaps(ground, points.reshape(-1, 2)).min())


def crossings(edges: Ints, x: Floats) -> int:
    """How many pairs of the edges (m, 2) cross that have no node in common."""
    return int(_count_crossings(np.ascontiguousarray(edges), np.ascontiguousarray(x)))


@kernel
def _count_crossings(edges: Ints, x: Floats) -> int:
    count = 0
    for e in range(len(edges)):
        for f in range(e):
            if not share_a_node(edges, e, f) and edges_cross(x, edges[e], edges[f]):
                count += 1
    return count


@kernel
def share_a_node(edges: Ints, e: int, f: int) -> bool:
    """Whether two edges have a node in common."""
    one, other = edges[e], edges[f]
    return bool(
        one[0] == other[0]
        or one[0] == other[1]
        or one[1] == other[0]
        or one[1] == other[1]
    )


@kernel
def edges_cross(x: Floats, one: Ints, other: Ints) -> bool:
    """Whether two edges have a point between their ends in common."""
    a, b, p, q = one[0], one[1], other[0], other[1]
    dx, dy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1]
    fx, fy = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1]
    rx, ry = x[p, 0] - x[a, 0], x[p, 1] - x[a, 1]
    under = dx * fy - dy * fx
    if under == 0.0:
        return False
    s, t = (rx * fy - ry * fx) / under, (rx * dy - ry * dx) / under
    return bool(0.0 < s < 1.0 and 0.0 < t < 1.0)


SAMPLES = 16  # of an edge above the ground
GOLDEN = 0.6180339887498949
NARROWED = 30  # times
INSIDE = 1e-3  # of an edge, from its ends, beyond which its nodes touch the ground
CLOSE = 0.1  # of its length, nearer than which the lowest point is looked for
NEVER = 2.0  # a time after the step, in steps


@kernel
def crossing(x0: Floats, x1: Floats, i: int, j: int, k: int) -> float:
    """When node i crosses edge (j, k) between x0 and x1, as a fraction of the step.

    On straight paths; NEVER if it does not.
    """
    rx, ry = x0[i, 0] - x0[j, 0], x0[i, 1] - x0[j, 1]
    ex, ey = x0[k, 0] - x0[j, 0], x0[k, 1] - x0[j, 1]
    px, py = x1[i, 0] - x1[j, 0] - rx, x1[i, 1] - x1[j, 1] - ry
    qx, qy = x1[k, 0] - x1[j, 0] - ex, x1[k, 1] - x1[j, 1] - ey
    c = ex * ry - ey * rx
    b = ex * py - ey * px + qx * ry - qy * rx
    a = qx * py - qy * px
    found = NEVER
    for sign in (-1.0, 1.0):
        t = _root(a, b, c, sign)
        if 0.0 < t <= 1.0 and t < found:
            fx, fy = ex + t * qx, ey + t * qy
            along = fx * (rx + t * px) + fy * (ry + t * py)
            if 0.0 <= along <= fx * fx + fy * fy:
                found = t
    return found


@kernel
def _root(a: float, b: float, c: float, sign: float) -> float:
    """A root of a t^2 + b t + c, without cancellation; NEVER if there is none."""
    under = b * b - 4.0 * a * c
    if under < 0.0:
        return NEVER
    q = -0.5 * (b + (1.0 if b >= 0.0 else -1.0) * np.sqrt(under))
    if sign < 0.0:
        return q / a if a != 0.0 else NEVER
    return c / q if q != 0.0 else NEVER


@kernel
def node_to_edge(
    x0: Floats, x1: Floats, i: int, j: int, k: int, distance: float
) -> tuple[float, float, float, float]:
    """Gap of node i above edge (j, k) at x1, the place on the edge, and the normal.

    The normal points to the side on which the node was at x0; the gap is less than
    -distance once it has crossed. The place runs from 0 at j to 1 at k.
    """
    ex, ey = x1[k, 0] - x1[j, 0], x1[k, 1] - x1[j, 1]
    dx, dy = x1[i, 0] - x1[j, 0], x1[i, 1] - x1[j, 1]
    s = min(max((dx * ex + dy * ey) / (ex * ex + ey * ey), 0.0), 1.0)
    dx, dy = dx - s * ex, dy - s * ey
    away = np.sqrt(dx * dx + dy * dy)
    side = -1.0 if crossing(x0, x1, i, j, k) <= 1.0 else 1.0
    if away == 0.0:
        away, dx, dy, side = 1e-300, 0.0, 0.0, 1.0
    return side * away - distance, s, side * dx / away, side * dy / away


@kernel
def point_gap(relief: Relief, x: Floats, j: int, k: int, s: float) -> float:
    """How far the ground is from where an edge is at s."""
    px, py = x[j, 0] + s * (x[k, 0] - x[j, 0]), x[j, 1] + s * (x[k, 1] - x[j, 1])
    return gap(relief, px, py)


@kernel
def edge_to_ground(relief: Relief, x: Floats, j: int, k: int) -> tuple[float, float]:
    """The gap of edge (j, k) where it is nearest to the ground between its ends.

    The least of the minima along the edge, and its place from 0 at j to 1; if there is
    none, that of the lower end.
    """
    wide = 1.0 / SAMPLES
    span, high = x[k, 0] - x[j, 0], x[k, 1] - x[j, 1]
    close = CLOSE * np.sqrt(span * span + high * high)
    first, last = gap(relief, x[j, 0], x[j, 1]), gap(relief, x[k, 0], x[k, 1])
    least, best = np.inf, 0.0
    before, here = np.inf, first
    for m in range(SAMPLES + 1):
        after = np.inf
        if m < SAMPLES:
            after = point_gap(relief, x, j, k, (m + 1) * wide)
        if here <= before and here <= after and here < close:
            low, s = lowest_near(relief, x, j, k, m * wide)
            if low < least and INSIDE < s < 1.0 - INSIDE:
                least, best = low, s
        before, here = here, after
    for knot in relief.knots:
        if span != 0.0 and 0.0 < (knot - x[j, 0]) / span < 1.0:
            low, s = lowest_near(relief, x, j, k, (knot - x[j, 0]) / span)
            if low < least and INSIDE < s < 1.0 - INSIDE:
                least, best = low, s
    if least == np.inf:
        return (first, 0.0) if first <= last else (last, 1.0)
    return least, best


@kernel
def lowest_near(
    relief: Relief, x: Floats, j: int, k: int, s: float
) -> tuple[float, float]:
    """The least gap within a sample of the place s of an edge, by golden section."""
    a, b = max(s - 1.0 / SAMPLES, 0.0), min(s + 1.0 / SAMPLES, 1.0)
    p, q = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    low_p, low_q = point_gap(relief, x, j, k, p), point_gap(relief, x, j, k, q)
    for _ in range(NARROWED):
        if low_p < low_q:
            b, q, low_q = q, p, low_p
            p = b - GOLDEN * (b - a)
            low_p = point_gap(relief, x, j, k, p)
        else:
            a, p, low_p = p, q, low_q
            q = a + GOLDEN * (b - a)
            low_q = point_gap(relief, x, j, k, q)
    return (low_p, p) if low_p < low_q else (low_q, q)
