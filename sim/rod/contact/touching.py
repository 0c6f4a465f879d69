"""What of a rod feels touch, besides its nodes on the ground.

Two polygons that do not cross can begin to do so only where a node of one passes an
edge of the other, so contact of rods with rods is contact of nodes with edges. It is
kept at a distance: the thickness of the rod, or where that is taken as zero, a skin.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from sim.arrays import Floats, Ints
from sim.limits import refuse_negative, refuse_unless_positive
from sim.rod.contact.ground import Ground, gaps
from sim.rod.rod.rod import Rod

SKIN = 4.0  # over the gap that a step may leave, where rods have no thickness
ALONG = 2.0  # thicknesses, within which a rod does not touch itself along its axis
POINTS = 17  # of an edge, at which its start is compared with the ground


@dataclass(frozen=True)
class PlaneTouching:
    """Edges feel the ground; rods feel rods and themselves, by the same friction.

    ground, rods : whether edges feel the ground, and nodes the edges of rods
    thickness : m, the least distance of two axes; 0 is a skin of 4 `gap`
    gap : of the shortest edge, by which a contact may be open or deep after a step;
        it also holds for nodes on the ground

    An edge touches the ground at one point, its lowest. Friction acts at the axes.
    """

    ground: bool = True
    rods: bool = True
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
    distance : m
    first, own : (n + 1,), (k,) the edges beside each node, which it does not feel
    """

    ground: bool
    rods: bool
    distance: float
    first: Ints
    own: Ints


def touch_of(
    touching: PlaneTouching | None, rod: Rod, ground: Ground | None
) -> TouchSetting:
    """What the loop reads; a level ground touches no edge before a node."""
    if touching is None:
        empty = np.zeros(0, dtype=np.int64)
        return TouchSetting(False, False, 0.0, empty, empty)
    curved = ground is not None and (
        ground.relief.amplitude != 0.0 or len(ground.relief.knots) > 1
    )
    first, own = _beside(rod, ALONG * touching.thickness)
    edges = touching.ground and curved
    return TouchSetting(edges, touching.rods, touching.distance(rod), first, own)


def _beside(rod: Rod, reach: float) -> tuple[Ints, Ints]:
    """Of each node the edges that begin within `reach` (m) along the rod."""
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
    if touch.ground and ground is not None:
        for k in range(len(a)):
            deep = -edge_gap(rod.edges[k : k + 1], rod.nodes, ground)
            if deep > touching.gap * float(rod.rest_length.min()):
                raise ValueError(
                    f"touching: edge {k} starts {deep:.3g} m below the ground: lift it"
                )


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
