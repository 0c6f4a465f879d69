"""What of a rod feels touch, besides its nodes on the ground.

Two polygons that do not cross can begin to do so only where a node of one passes an
edge of the other, so contact of rods with rods is contact of nodes with edges. It is
kept at a distance: the thickness of the rod, or where that is taken as zero, a skin.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.limits import refuse_negative, refuse_unless_positive
from sim.rod.contact.ground import Ground, gaps
from sim.rod.rod.rod import Rod

SKIN = 4.0  # over the gap that a step may leave, where rods have no thickness
ALONG = 2.0  # thicknesses, within which a rod does not touch itself along its axis
FLAT = 4.0  # gaps that a step may leave, below whose sagitta an arc counts as flat
POINTS = 17  # of an edge, at which its start is compared with the ground


@dataclass(frozen=True)
class PlaneTouching:
    """Edges feel the ground; rods feel rods and themselves, by the same friction.

    ground, rods : whether edges feel the ground, and nodes the edges of rods
    arcs : whether the ground feels no edges, but arcs through a node and its neighbours
        (`sim.rod.stepping.arcs`), on which a smooth rod rolls without an impact
    thickness : m, the least distance of two axes; 0 is a skin of 4 `gap`
    gap : of the shortest edge, by which a contact may be open or deep after a step;
        it also holds for nodes on the ground

    An edge touches the ground at one point, its lowest. Friction acts at the axes.
    """

    ground: bool = True
    rods: bool = True
    arcs: bool = False
    thickness: float = 0.0
    gap: float = 1e-4

    def __post_init__(self) -> None:
        refuse_negative(self, "thickness", of="touching")
        refuse_unless_positive(self, "gap", of="touching")

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
    first, own : (n + 1,), (k,) the edges beside each node, which it does not feel
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
    touching: PlaneTouching | None, rod: Rod, ground: Ground | None
) -> TouchSetting:
    """What the loop reads; a level ground touches no edge before a node."""
    if touching is None:
        empty = np.zeros(0, dtype=np.int64)
        return TouchSetting(False, False, False, 0.0, 0.0, *4 * (empty,))
    curved = ground is not None and (
        ground.relief.amplitude != 0.0 or len(ground.relief.knots) > 1
    )
    first, own = _beside(rod, ALONG * touching.thickness)
    arcs = touching.ground and touching.arcs and ground is not None
    edges = touching.ground and curved and not arcs
    flat = FLAT * touching.gap * float(rod.rest_length.min())
    before, after = _neighbours(rod)
    return TouchSetting(
        edges, touching.rods, arcs, touching.distance(rod), flat, before, after,
        first, own,
    )  # fmt: skip


def _neighbours(rod: Rod) -> tuple[Ints, Ints]:
    """Of each node those beside it; -1 at ends, and where more than two edges meet."""
    n = len(rod.nodes)
    before, after = np.full(n, -1), np.full(n, -1)
    i, j, k = rod.bends.T
    single = np.bincount(rod.edges.ravel(), minlength=n)[j] == 2
    before[j[single]], after[j[single]] = i[single], k[single]
    return before, after


def _beside(rod: Rod, reach: float) -> tuple[Ints, Ints]:
    """Of each node the edges that begin within `reach` (m) along the rod."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import dijkstra

    n, (i, j) = len(rod.nodes), rod.edges.T
    graph = coo_array((rod.rest_length, (i, j)), shape=(n, n)).tocsr()
    beside = []
    for node in range(n):
        way = dijkstra(graph, directed=False, indices=[node], limit=reach)[0]
        beside.append(np.flatnonzero(np.minimum(way[i], way[j]) <= reach))
    first = np.concatenate([[0], np.cumsum([len(own) for own in beside])])
    return first.astype(np.int64), np.concatenate(beside).astype(np.int64)


def refuse_start_inside(
    touching: PlaneTouching, rod: Rod, ground: Ground | None
) -> None:
    """A rod may not start inside itself, nor an edge in the ground."""
    touch = touch_of(touching, rod, ground)
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
    if touch.arcs and ground is not None:
        for k in range(len(rod.nodes)):
            deep = -arc_gap(touch, rod.nodes, k, ground)
            if deep > touching.gap * float(rod.rest_length.min()):
                raise ValueError(
                    f"touching: the arc of node {k} starts {deep:.3g} m below the "
                    "ground: lift the rod"
                )
    if touch.ground and ground is not None:
        for k in range(len(a)):
            deep = -edge_gap(rod.edges[k : k + 1], rod.nodes, ground)
            if deep > touching.gap * float(rod.rest_length.min()):
                raise ValueError(
                    f"touching: edge {k} starts {deep:.3g} m below the ground: lift it"
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


def lowest_arc(touching: PlaneTouching, rod: Rod, ground: Ground) -> float:
    """The least gap above the ground of all arcs of a rod, m."""
    touch = touch_of(touching, rod, ground)
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
