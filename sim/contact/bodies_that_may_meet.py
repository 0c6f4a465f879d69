"""Bodies with volume between nodes, spheres, capsules and panels, and what may meet.

Pairs are parts of bodies that may meet. A capsule is an edge, a panel a triangle with
its three sides; both have a radius, half the thickness for a panel, and round ends. A
pair is

    a node and a triangle       any node of a body against a panel; against a capsule,
                                whose last two corners are one node; a sphere against a
                                sphere, with three corners at one node
    two edges                   of capsules, or sides of panels

and must stay its radii apart. Parts that share a node never meet, nor do spheres at the
ends of one link: those overlap as they are joined. Nodes that are held at one place
are one node here.

The distance d of two edges of length l at an angle t bends by d / (l t)^2, within less
than their clearance where t is small, and no step sees so far. So their mollifier acts
from the larger an angle the more d, there the sum of their radii, is of l.

Distances alone do not tell an edge that goes through the middle of a panel. What never
touches on its way never comes to that, so it is only looked for where a way begins.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sim.contact.collisions import crossings
from sim.contact.near_pairs import PARALLEL_EDGES, ContactPairs, boxes, overlaps
from sim.core.arrays import Floats, Ints, refuse_first
from sim.core.options import is_positive, refuse_missing

ACTIVATION = 0.3  # where two parts begin to feel each other, over their clearance
PARALLEL = 0.1  # sin^2 of two edges' angle below which they are mollified, over d / l
TOUCH = 1e-9  # share of a reach by which a start may be nearer, for rounding


def _none(columns: int) -> Ints:
    return np.empty((0, columns), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Solids:
    """Bodies that cannot pass through each other.

    Attributes
    ----------
    sphere, sphere_radius : (b, 1) nodes and (b,) radii
    capsule, capsule_radius : (c, 2) ends and (c,) radii
    panel, panel_thickness : (p, 3) corners and (p,) thicknesses, rounded at the rim
    """

    sphere: Ints = field(default_factory=lambda: _none(1))
    sphere_radius: Floats = field(default_factory=lambda: np.empty(0))
    capsule: Ints = field(default_factory=lambda: _none(2))
    capsule_radius: Floats = field(default_factory=lambda: np.empty(0))
    panel: Ints = field(default_factory=lambda: _none(3))
    panel_thickness: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.sphere) + len(self.capsule) + len(self.panel)

    @property
    def kinds(self) -> tuple[tuple[str, Ints, str, Floats], ...]:
        """Each kind's name with its nodes, and its size's name with its sizes."""
        return (
            ("sphere", self.sphere, "radius", self.sphere_radius),
            ("capsule", self.capsule, "radius", self.capsule_radius),
            ("triangle", self.panel, "thickness", self.panel_thickness),
        )

    def check(self, r0: Floats) -> None:
        """Refuse bodies that the nodes r0 (n, 3) do not make."""
        for kind, nodes, size_name, sizes in self.kinds:
            _check_kind(kind, nodes, len(r0))
            for one, size in zip(nodes, sizes, strict=True):
                if not is_positive(float(size)):
                    raise ValueError(
                        f"the {described(kind, one)} has the {size_name} {size:g}: it "
                        "must be positive and finite"
                    )
        corners = r0[self.panel]
        sides = corners - np.roll(corners, 1, axis=1)
        area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
        refuse_first(
            area <= 1e-9 * np.square(sides).sum(axis=(1, 2)),
            lambda i: (
                f"the {described('triangle', self.panel[i])} has no area: move a node"
            ),
        )

    def scaled(self, factor: float) -> "Solids":
        """The same in another unit of length."""
        return replace(
            self,
            sphere_radius=factor * self.sphere_radius,
            capsule_radius=factor * self.capsule_radius,
            panel_thickness=factor * self.panel_thickness,
        )

    def with_spheres(self, n: int, radius: float) -> "Solids":
        """The same with a sphere at each of the n nodes that has none."""
        free = np.setdiff1d(np.arange(n), self.sphere)
        return replace(
            self,
            sphere=np.concatenate([self.sphere[:, 0], free]).reshape(-1, 1),
            sphere_radius=np.append(self.sphere_radius, np.full(len(free), radius)),
        )


def described(kind: str, nodes: Ints) -> str:
    """What a person calls a body, such as `capsule of nodes 3 and 4`."""
    *first, last = map(str, nodes.tolist())
    if not first:
        return f"{kind} of node {last}"
    return f"{kind} of nodes {', '.join(first)} and {last}"


def _check_kind(kind: str, nodes: Ints, n: int) -> None:
    for one in nodes:
        name = f"the {described(kind, one)} refers to node {{}}, which does not exist"
        refuse_missing(name, one.tolist(), n)
    ordered = np.sort(nodes, axis=1)
    refuse_first(
        (np.diff(ordered, axis=1) == 0).any(axis=1),
        lambda i: f"the {described(kind, nodes[i])} names a node twice: name each once",
    )
    _, index, count = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    refuse_first(
        count > 1,
        lambda i: f"the {described(kind, nodes[index[i]])} is listed twice: remove one",
    )


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
        largest: dict[tuple[int, ...], tuple[float, str]] = {}
        for nodes, radius, name in bodies:
            key = tuple(nodes.tolist())
            if key not in largest or radius > largest[key][0]:
                largest[key] = radius, name
        return cls(
            np.array(list(largest), dtype=np.int64).reshape(-1, width),
            np.array([radius for radius, _ in largest.values()]),
            tuple(name for _, name in largest.values()),
        )

    def boxes(self, r: Floats, margin: float) -> Floats:
        """(p, 6) around each part with what it feels, and `margin`."""
        around = boxes(self.node, r, margin)
        around[:, :3] -= (1.0 + ACTIVATION) * self.radius[:, None]
        around[:, 3:] += (1.0 + ACTIVATION) * self.radius[:, None]
        return around


@dataclass(frozen=True, eq=False)
class CollisionGeometry:
    """All that can meet.

    Attributes
    ----------
    spheres, points, faces, edges : points and faces without the spheres' own pairs
    apart : ascending keys of pairs of nodes that one link holds apart
    squares : (e,) of the lengths of the edges at the start
    """

    spheres: CollisionPrimitives
    points: CollisionPrimitives
    faces: CollisionPrimitives
    edges: CollisionPrimitives
    apart: Ints
    squares: Floats

    @classmethod
    def of(
        cls, solids: Solids, same: Ints, links: Ints, r0: Floats
    ) -> "CollisionGeometry":
        """Of bodies at r0 (n, 3).

        Parameters
        ----------
        same : (n,) the node that each node is one with
        links : (l, 2) nodes that are held apart
        """
        spheres, points, faces, edges = _parts_of(solids, same)
        u = r0[edges.node[:, 1]] - r0[edges.node[:, 0]]
        apart = np.unique(pair_keys(same[links], len(r0)))
        return cls(spheres, points, faces, edges, apart, np.square(u).sum(axis=1))

    @property
    def shortest(self) -> float:
        """The smallest clearance from which two parts may begin to feel each other."""
        parts = (self.spheres, self.points, self.faces, self.edges)
        radii = np.concatenate([part.radius for part in parts])
        return 2.0 * ACTIVATION * float(radii.min(initial=np.inf))

    def near(self, r: Floats, margin: float = 0.0, reach: float = 0.0) -> ContactPairs:
        """The pairs that feel each other at r (n, 3), or come so close.

        margin : they may move by, each of the two
        reach : clearance from which they feel each other, if ACTIVATION gives less
        """
        margin += 0.5 * reach
        sphere = self._spheres(r, margin)
        face = self._faces(r, margin)
        edge = self._edges(r, margin)
        faces = len(sphere[0]) + len(face[0])
        node = np.concatenate([sphere[0], face[0], edge[0]])
        min_distance = np.concatenate([sphere[1], face[1], edge[1]])
        min_distance *= 1.0 - TOUCH
        row = np.concatenate([sphere[2], face[2], edge[2]])
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
            return self.spheres.body[i], self.spheres.body[j]
        return self.points.body[i], self.faces.body[j]

    def _spheres(self, r: Floats, margin: float) -> tuple[Ints, Floats, Ints]:
        around = self.spheres.boxes(r, margin)
        row = overlaps(around, around, True)
        ends = self.spheres.node[:, 0][row]
        row = row[~np.isin(pair_keys(ends, len(r)), self.apart)]
        a, b = self.spheres.node[:, 0][row].T
        min_distance: Floats = self.spheres.radius[row].sum(axis=1)
        return np.column_stack([a, b, b, b]), min_distance, row

    def _faces(self, r: Floats, margin: float) -> tuple[Ints, Floats, Ints]:
        one, other = self.points.boxes(r, margin), self.faces.boxes(r, margin)
        row = overlaps(one, other, False)
        p, f = self.points.node[row[:, 0]], self.faces.node[row[:, 1]]
        separate = ~(p == f).any(axis=1)
        min_distance = self.points.radius[row[:, 0]] + self.faces.radius[row[:, 1]]
        return np.column_stack([p, f])[separate], min_distance[separate], row[separate]

    def _edges(self, r: Floats, margin: float) -> tuple[Ints, Floats, Ints]:
        around = self.edges.boxes(r, margin)
        row = overlaps(around, around, True)
        a, b = self.edges.node[row[:, 0]], self.edges.node[row[:, 1]]
        separate = ~(a[:, :, None] == b[:, None, :]).any(axis=(1, 2))
        min_distance: Floats = self.edges.radius[row].sum(axis=1)
        return np.column_stack([a, b])[separate], min_distance[separate], row[separate]


def _parts_of(
    solids: Solids, same: Ints
) -> tuple[
    CollisionPrimitives, CollisionPrimitives, CollisionPrimitives, CollisionPrimitives
]:
    """Spheres, points, faces and edges of bodies; same : (n,) the node each is."""
    spheres: list[tuple[Ints, float, str]] = []
    points: list[tuple[Ints, float, str]] = []
    faces: list[tuple[Ints, float, str]] = []
    edges: list[tuple[Ints, float, str]] = []
    for kind, bodies, _, sizes in solids.kinds:
        for own, size in zip(bodies, sizes.tolist(), strict=True):
            name, nodes = described(kind, own), same[own]
            radius = 0.5 * size if kind == "triangle" else size
            points += [(nodes[[i]], radius, name) for i in range(len(nodes))]
            if len(nodes) == 1:
                spheres.append((nodes, radius, name))
                continue
            faces.append((nodes[[0, 1, -1]], radius, name))
            ring = [(0, 1), (1, 2), (0, 2)] if len(nodes) == 3 else [(0, 1)]
            edges += [(np.sort(nodes[list(s)]), radius, name) for s in ring]
    return (
        CollisionPrimitives.of(1, spheres),
        CollisionPrimitives.of(1, points),
        CollisionPrimitives.of(3, faces),
        CollisionPrimitives.of(2, edges),
    )


def pair_keys(ends: Ints, n: int) -> Ints:
    """A number for each pair of nodes (p, 2), whatever their order."""
    return np.asarray(ends.min(axis=1) * n + ends.max(axis=1))
