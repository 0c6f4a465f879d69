"""Contact of edges in the plane: which there is, and its distances.

Besides its nodes on the ground, edges of a rod may feel the ground and rods. Two
polygons that do not cross can begin to do so only where a node of one passes an edge of
the other, so contact of rods with rods is contact of nodes with edges. It acts at a
distance: the thickness of the rod, or where that is taken as zero, a skin.

In a step, `node_to_edge` and `edge_to_ground` find when and where they meet.
"""

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
class PlaneTouching(Checked):
    """Edges feel the ground; rods feel rods and themselves, by the same friction.

    ground, rods : whether edges feel the ground, and nodes the edges of rods
    arcs : whether the ground feels no edges, but arcs through a node and its neighbours
        (`sim.rods.plane.edge_contact`), on which a smooth rod rolls without an impact
    thickness : m, the least distance of two axes; 0 is a skin of 4 `gap`
    gap : of the shortest edge, by which a contact may be open or deep after a step;
        it also holds for nodes on the ground

    An edge touches the ground at one point, its lowest. Friction acts at the axes.
    """

    of = "touching"
    ground: bool = True
    rods: bool = True
    arcs: bool = False
    thickness: NotNegative = 0.0
    gap: Positive = 1e-4

    def distance(self, rod: Rod) -> float:
        """The least distance of two axes, m."""
        return max(self.thickness, SKIN * self.gap * float(rod.rest_length.min()))


class TouchSetting(NamedTuple):
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


def touch_of(
    model: PlaneTouching | None, rod: Rod, ground: Ground | None
) -> TouchSetting:
    """What the loop reads; a level ground touches no edge before a node."""
    if model is None:
        empty = np.zeros(0, dtype=np.int64)
        return TouchSetting(False, False, False, 0.0, 0.0, *4 * (empty,))
    curved = ground is not None and (
        ground.relief.amplitude != 0.0 or len(ground.relief.knots) > 1
    )
    first, own = _edges_near(rod, ALONG * model.thickness)
    arcs = model.ground and model.arcs and ground is not None
    edges = model.ground and curved and not arcs
    flat = FLAT * model.gap * float(rod.rest_length.min())
    before, after = _neighbours(rod)
    return TouchSetting(
        edges, model.rods, arcs, model.distance(rod), flat, before, after,
        first, own,
    )  # fmt: skip


def _neighbours(rod: Rod) -> tuple[Ints, Ints]:
    """The neighbours of each node; -1 at ends, and where more than two edges meet."""
    n = len(rod.nodes)
    before, after = np.full(n, -1), np.full(n, -1)
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


def refuse_start_inside(model: PlaneTouching, rod: Rod, ground: Ground | None) -> None:
    """A rod may not start inside itself, nor an edge in the ground."""
    touch = touch_of(model, rod, ground)
    a, b = rod.nodes[rod.edges[:, 0]], rod.nodes[rod.edges[:, 1]]
    for node in range(len(rod.nodes)) if touch.rods else ():
        away = _distances(rod.nodes[node], a, b)
        away[touch.own[touch.first[node] : touch.first[node + 1]]] = np.inf
        k = int(np.argmin(away))
        if away[k] < (1.0 - 1e-9) * touch.distance:
            raise ValueError(
                f"touching: node {node} starts {away[k]:.3g} m from edge {k}, closer "
                f"than {touch.distance:.3g} m: move them apart or make the rod thinner"
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
                f"touching: {name} starts {-low:.3g} m below the ground: lift the rod"
            )


def arc_gap(touch: TouchSetting, x: Floats, node: int, ground: Ground) -> float:
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


def lowest_arc(model: PlaneTouching, rod: Rod, ground: Ground) -> float:
    """The least gap above the ground of all arcs of a rod, m."""
    touch = touch_of(model, rod, ground)
    nodes = range(len(rod.nodes))
    return min(arc_gap(touch, rod.nodes, node, ground) for node in nodes)


def edge_gap(edges: Ints, x: Floats, ground: Ground) -> float:
    """The least gap above the ground at 17 points of each of the edges (m, 2), m."""
    s = np.linspace(0.0, 1.0, POINTS)[:, None, None]
    points = (1.0 - s) * x[edges[:, 0]] + s * x[edges[:, 1]]
    return float(gaps(ground, points.reshape(-1, 2)).min())


def crossings(edges: Ints, x: Floats) -> int:
    """How many pairs of the edges (m, 2) cross that have no node in common."""
    a, b = x[edges[:, 0]], x[edges[:, 1]]
    e, count = b - a, 0
    for k, ends in enumerate(edges[:-1]):
        apart = ~(edges[k + 1 :, :, None] == ends).any(axis=(1, 2))
        d, f, r = e[k], e[k + 1 :][apart], a[k + 1 :][apart] - a[k]
        under = d[0] * f[:, 1] - d[1] * f[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (r[:, 0] * f[:, 1] - r[:, 1] * f[:, 0]) / under
            t = (r[:, 0] * d[1] - r[:, 1] * d[0]) / under
        count += int(np.sum((np.abs(s - 0.5) < 0.5) & (np.abs(t - 0.5) < 0.5)))
    return count


def _distances(point: Floats, a: Floats, b: Floats) -> Floats:
    """(m,) of a point from the edges from a to b (m, 2)."""
    e, d = b - a, point - a
    s = np.clip(np.sum(e * d, axis=1) / np.sum(e * e, axis=1), 0.0, 1.0)
    return np.asarray(np.linalg.norm(d - s[:, None] * e, axis=1))


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
