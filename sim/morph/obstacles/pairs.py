"""Which parts of which bodies may meet, with the distances of `sim.contact`.

A capsule is an edge, a panel a triangle with its three sides; both have a radius, half
the thickness for a panel, and round ends. A pair is

    a node and a triangle       any node of a body against a panel; against a capsule,
                                whose last two corners are one node; a ball against a
                                ball, with three corners at one node
    two edges                   of capsules, or sides of panels

and must stay its radii apart. Parts that share a node never meet, nor do balls at the
ends of one link: those overlap as they are joined. Nodes that `coin` holds at one place
are one node here.

The distance d of two edges of length l at an angle t bends by d / (l t)^2, within less
than their clearance where t is small, and no step sees so far. So their mollifier acts
from the larger an angle the more d, there the sum of their radii, is of l.

Distances alone do not tell an edge that goes through the middle of a panel. What never
touches on its way never comes to that, so it is only looked for where a way begins.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sim.arrays import Floats, Ints
from sim.contact.candidates import PARALLEL_EDGES, boxes, overlaps
from sim.contact.crossing import crossings
from sim.contact.distance import pair_distance
from sim.contact.surface import ContactPairs, gather
from sim.kernels import kernel
from sim.morph.structure.constraints import ConstraintKind, ConstraintTable
from sim.morph.structure.ranges import TOUCH
from sim.morph.structure.solids import Solids, described

ACTIVATION = 0.3  # where two parts begin to feel each other, over their clearance
PARALLEL = 0.1  # sin^2 of two edges' angle below which they are mollified, over d / l


@dataclass(frozen=True, eq=False)
class CollisionPrimitives:
    """Nodes, edges or faces with their radii, and the bodies that they are of.

    Attributes
    ----------
    node : (p, 1), (p, 2) or (p, 3)
    radius : (p,)
    body : (p,) what a person calls the body of each
    """

    node: Ints
    radius: Floats
    body: tuple[str, ...]

    @classmethod
    def of(
        cls, width: int, bodies: list[tuple[Ints, float, str]]
    ) -> "CollisionPrimitives":
        """Each once, with the largest radius that one of its bodies has."""
        kept: dict[tuple[int, ...], tuple[float, str]] = {}
        for nodes, radius, name in bodies:
            key = tuple(nodes.tolist())
            if key not in kept or radius > kept[key][0]:
                kept[key] = radius, name
        return cls(
            np.array(list(kept), dtype=np.int64).reshape(-1, width),
            np.array([radius for radius, _ in kept.values()]),
            tuple(name for _, name in kept.values()),
        )

    def boxes(self, r: Floats, margin: float) -> Floats:
        """(p, 6) around each part with what it feels, and `margin`."""
        around = boxes(self.node, r, margin)
        around[:, :3] -= (1.0 + ACTIVATION) * self.radius[:, None]
        around[:, 3:] += (1.0 + ACTIVATION) * self.radius[:, None]
        return around


@dataclass(frozen=True, eq=False)
class CollisionGeometry:
    """All that can meet in a structure.

    Attributes
    ----------
    balls, points, faces, edges : points and faces without the balls' own pairs
    apart : ascending keys of pairs of nodes that one link holds apart
    squares : (e,) of the lengths of the edges at the start
    """

    balls: CollisionPrimitives
    points: CollisionPrimitives
    faces: CollisionPrimitives
    edges: CollisionPrimitives
    apart: Ints
    squares: Floats

    @classmethod
    def of(
        cls, solids: Solids, table: ConstraintTable, r0: Floats
    ) -> "CollisionGeometry":
        same = one_node_each(table, len(r0))
        links = same[table.nodes[table.kind == ConstraintKind.DIST, :2]]
        balls, points, faces, edges = _parts_of(solids, same)
        u = r0[edges.node[:, 1]] - r0[edges.node[:, 0]]
        apart = np.unique(pair_keys(links, len(r0)))
        return cls(balls, points, faces, edges, apart, np.square(u).sum(axis=1))

    @property
    def shortest(self) -> float:
        """The smallest clearance from which two parts may begin to feel each other."""
        parts = (self.balls, self.points, self.faces, self.edges)
        radii = np.concatenate([part.radius for part in parts])
        return 2.0 * ACTIVATION * float(radii.min(initial=np.inf))

    def near(self, r: Floats, margin: float = 0.0, reach: float = 0.0) -> ContactPairs:
        """The pairs that feel each other at r (n, 3), or come so close.

        margin : they may move by, each of the two
        reach : clearance from which they feel each other, if ACTIVATION gives less
        """
        margin += 0.5 * reach
        ball = self._balls(r, margin)
        face = self._faces(r, margin)
        edge = self._edges(r, margin)
        faces = len(ball[0]) + len(face[0])
        node = np.concatenate([ball[0], face[0], edge[0]])
        min_distance = np.concatenate([ball[1], face[1], edge[1]])
        min_distance *= 1.0 - TOUCH
        row = np.concatenate([ball[2], face[2], edge[2]])
        mollifier_scale = np.zeros(len(node))
        square = self.squares[edge[2]]
        product = square[:, 0] * square[:, 1]
        square_angle = np.maximum(PARALLEL * edge[1] / product**0.25, PARALLEL_EDGES)
        mollifier_scale[faces:] = square_angle * product
        ones = np.ones(len(node))
        return ContactPairs(
            faces,
            row,
            node,
            np.maximum(ACTIVATION * min_distance, reach),
            min_distance,
            ones,
            mollifier_scale,
        )

    def pierced(self, r: Floats) -> list[tuple[str, str]]:
        """The bodies of each edge that goes through a face, and of that face."""
        alone = np.full((len(r), 2), -1)
        found = crossings(self.edges.node, self.faces.node, alone, r.copy())
        return [(self.edges.body[i], self.faces.body[j]) for i, j in found]

    def names(self, pairs: ContactPairs, k: int) -> tuple[str, str]:
        """What a person calls the two bodies of pair k."""
        i, j = pairs.row[k]
        if k >= pairs.faces:
            return self.edges.body[i], self.edges.body[j]
        if pairs.node[k, 1] == pairs.node[k, 3]:
            return self.balls.body[i], self.balls.body[j]
        return self.points.body[i], self.faces.body[j]

    def _balls(self, r: Floats, margin: float) -> tuple[Ints, Floats, Ints]:
        around = self.balls.boxes(r, margin)
        row = overlaps(around, around, True)
        ends = self.balls.node[:, 0][row]
        row = row[~np.isin(pair_keys(ends, len(r)), self.apart)]
        a, b = self.balls.node[:, 0][row].T
        min_distance: Floats = self.balls.radius[row].sum(axis=1)
        return np.column_stack([a, b, b, b]), min_distance, row

    def _faces(self, r: Floats, margin: float) -> tuple[Ints, Floats, Ints]:
        one, other = self.points.boxes(r, margin), self.faces.boxes(r, margin)
        row = overlaps(one, other, False)
        p, f = self.points.node[row[:, 0]], self.faces.node[row[:, 1]]
        kept = ~(p == f).any(axis=1)
        min_distance = self.points.radius[row[:, 0]] + self.faces.radius[row[:, 1]]
        return np.column_stack([p, f])[kept], min_distance[kept], row[kept]

    def _edges(self, r: Floats, margin: float) -> tuple[Ints, Floats, Ints]:
        around = self.edges.boxes(r, margin)
        row = overlaps(around, around, True)
        a, b = self.edges.node[row[:, 0]], self.edges.node[row[:, 1]]
        kept = ~(a[:, :, None] == b[:, None, :]).any(axis=(1, 2))
        min_distance: Floats = self.edges.radius[row].sum(axis=1)
        return np.column_stack([a, b])[kept], min_distance[kept], row[kept]


def one_node_each(table: ConstraintTable, n: int) -> Ints:
    """(n,) of the nodes that `coin` holds at one place, the first."""
    a, b = table.nodes[table.kind == ConstraintKind.COIN, :2].T
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
    _, place = connected_components(graph, directed=False)
    first: Ints = np.unique(place, return_index=True)[1][place]
    return first


def _parts_of(
    solids: Solids, same: Ints
) -> tuple[
    CollisionPrimitives, CollisionPrimitives, CollisionPrimitives, CollisionPrimitives
]:
    """Balls, points, faces and edges of bodies; same : (n,) the node each is."""
    balls: list[tuple[Ints, float, str]] = []
    points: list[tuple[Ints, float, str]] = []
    faces: list[tuple[Ints, float, str]] = []
    edges: list[tuple[Ints, float, str]] = []
    for kind, bodies, _, sizes in solids.kinds:
        for own, size in zip(bodies, sizes.tolist(), strict=True):
            name, nodes = described(kind, own), same[own]
            radius = 0.5 * size if kind == "triangle" else size
            points += [(nodes[[i]], radius, name) for i in range(len(nodes))]
            if len(nodes) == 1:
                balls.append((nodes, radius, name))
                continue
            faces.append((nodes[[0, 1, -1]], radius, name))
            ring = [(0, 1), (1, 2), (0, 2)] if len(nodes) == 3 else [(0, 1)]
            edges += [(np.sort(nodes[list(s)]), radius, name) for s in ring]
    return (
        CollisionPrimitives.of(1, balls),
        CollisionPrimitives.of(1, points),
        CollisionPrimitives.of(3, faces),
        CollisionPrimitives.of(2, edges),
    )


def pair_keys(ends: Ints, n: int) -> Ints:
    """A number for each pair of nodes (p, 2), whatever their order."""
    keys: Ints = ends.min(axis=1) * n + ends.max(axis=1)
    return keys


@kernel
def pair_distances(node: Ints, split: Ints, x: Floats) -> Floats:
    """(k,) distance of the first `split` nodes of each pair from its other nodes."""
    out, y = np.empty(len(node)), np.empty((4, 3))
    for k in range(len(node)):
        gather(node[k], x, y)
        out[k] = pair_distance(y, split[k])
    return out
