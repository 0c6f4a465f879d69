"""Nodes, bars, hinges and triangles of a pattern: what the solvers work on.

Stiffness is that of `sim.origami.model.sheet_material`. Creases are without width
(`concentrated_mesh`: panels share their corners, one hinge a crease), or have one
(`compliant_mesh`: panels narrowed, three nodes and ten bars between them).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sim.core.arrays import Bools, Floats, Ints, cross
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.pattern import CreasePattern, panel_edges, polygon_area


@dataclass(frozen=True, eq=False)
class BarHingeMesh:
    """A bar-and-hinge model.

    Attributes
    ----------
    rest : (n, 3) m, unstrained node positions
    bar, bar_length, bar_stiffness : (b, 2), (b,) m, (b,) N
    bar_of_panel : (b,) whether a bar stretches a panel rather than a crease
    hinge, hinge_stiffness : (h, 4), (h,) N m
    hinge_crease : (h,) number of the edge that a hinge folds, -1 inside a panel
    hinge_share : (h,) part of the crease's fold that this hinge makes
    corner, corner_panel : (p,) the nodes at panel corners, panel by panel
    centre : (q,) the node in the middle of each panel
    triangle, triangle_panel : (t, 3), (t,) those of panels, then those of creases,
        which count on as panels of their own
    tag : (n, 2) vertices of the pattern that a node stems from, -1 for none; centres
        have a number of their own
    """

    pattern: CreasePattern
    rest: Floats
    bar: Ints
    bar_length: Floats
    bar_stiffness: Floats
    bar_of_panel: Bools
    hinge: Ints
    hinge_stiffness: Floats
    hinge_crease: Ints
    hinge_share: Floats
    corner: Ints
    corner_panel: Ints
    centre: Ints
    triangle: Ints
    triangle_panel: Ints
    tag: Ints

    def corner_node(self, panel: int, vertex: int) -> int:
        """Node at a corner of a panel, by the vertex of the pattern."""
        own = self.corner[self.corner_panel == panel]
        return int(own[list(self.pattern.panels[panel]).index(vertex)])

    def adjusted(self, rest: Floats | Sequence[Sequence[float]]) -> "BarHingeMesh":
        """The same model with its nodes moved by hand; stiffness stays as it is.

        The examples of [ZF19] repair their corners in this way after meshing.
        """
        rest = np.array(rest, dtype=np.float64)
        if rest.shape != self.rest.shape:
            raise ValueError(
                f"{len(rest)} node positions are given for {len(self.rest)} nodes: "
                "give x, y and z of each node of the mesh"
            )
        return replace(self, rest=rest)


Nodes = tuple[int, ...]


@dataclass(eq=False)
class MeshBuilder:
    """A mesh while it is put together.

    Attributes
    ----------
    bars : nodes, length (m), stiffness (N), whether it is of a panel
    hinges : nodes, stiffness (N m), crease, share of its fold
    triangles : nodes, panel
    """

    pattern: CreasePattern
    rest: list[Floats] = field(default_factory=list)
    tag: list[tuple[int, int]] = field(default_factory=list)
    bars: list[tuple[Nodes, float, float, bool]] = field(default_factory=list)
    hinges: list[tuple[Nodes, float, int, float]] = field(default_factory=list)
    triangles: list[tuple[Nodes, int]] = field(default_factory=list)

    def add_node(self, position: Floats, first: int, second: int = -1) -> int:
        """Number of a new node with these tags."""
        self.rest.append(np.asarray(position, dtype=np.float64))
        self.tag.append((first, second))
        return len(self.rest) - 1

    def add_bar(self, i: int, j: int, length: float, EA: float, *, panel: bool) -> None:
        """A bar between two nodes, the lower number first."""
        self.bars.append(((min(i, j), max(i, j)), length, EA, panel))

    def add_hinge(
        self,
        nodes: tuple[int, int, int, int],
        stiffness: float,
        *,
        normal: Floats,
        crease: int = -1,
        share: float = 0.0,
    ) -> None:
        """A hinge whose angle grows above pi as the wings rise along `normal`."""
        i, j, k, wing = nodes
        ij, jk = self.rest[j] - self.rest[i], self.rest[k] - self.rest[j]
        if cross(ij, jk) @ normal > 0:
            i, wing = wing, i
        self.hinges.append(((i, j, k, wing), stiffness, crease, share))

    def length(self, i: int, j: int) -> float:
        """Distance of two nodes, m."""
        return float(np.linalg.norm(self.rest[i] - self.rest[j]))

    def normal(self, panel: int) -> Floats:
        """Area vector of a panel."""
        return polygon_area(self.pattern.vertices[list(self.pattern.panels[panel])])

    def mesh(self, corner: Ints, corner_panel: Ints, centre: Ints) -> BarHingeMesh:
        """The finished model."""
        bar, length, EA, of_panel = map(np.array, zip(*self.bars, strict=True))
        hinge, moment, crease, share = map(np.array, zip(*self.hinges, strict=True))
        triangle, panel = map(np.array, zip(*self.triangles, strict=True))
        return BarHingeMesh(
            self.pattern, np.array(self.rest), bar, length, EA, of_panel, hinge, moment,
            crease, share, corner, corner_panel, centre, triangle, panel,
            np.array(self.tag),
        )  # fmt: skip


def fan_lengths(corners: Floats) -> tuple[float, float]:
    """Area (m^2) of a panel and the total length (m) of its rim and its spokes."""
    rim = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1).sum()
    spokes = np.linalg.norm(corners - corners.mean(axis=0), axis=1).sum()
    return float(np.linalg.norm(polygon_area(corners))), float(rim + spokes)


DIAGONAL_RATE = 4.0  # bending stiffness of a crease's diagonals, of its lines


def concentrated_mesh(pattern: CreasePattern, material: SheetMaterial) -> BarHingeMesh:
    """Bars, hinges and triangles with the pattern's vertices as nodes.

    A bar on a crease has the stiffness of both panels' rims.
    """
    parts = MeshBuilder(pattern)
    thickness = material.thicknesses(len(pattern.panels))
    for vertex, position in enumerate(pattern.vertices):
        parts.add_node(position, pattern.tag(vertex))
    rim = _rim_stiffness(parts, material, list(thickness))
    for (i, j), EA in rim.items():
        parts.add_bar(i, j, parts.length(i, j), EA, panel=True)
    centre = [
        parts.add_node(pattern.vertices[list(panel)].mean(axis=0), len(parts.rest))
        for panel in pattern.panels
    ]
    for crease in pattern.creases:
        first, second = pattern.edge_panels[crease]
        i, j = pattern.edges[crease]
        parts.add_hinge(
            (centre[first], int(i), int(j), centre[second]),
            material.whole_crease(parts.length(i, j)),
            normal=parts.normal(first),
            crease=int(crease),
            share=1.0,
        )
    for edge in pattern.joints:
        first, second = pattern.edge_panels[edge]
        i, j = (int(v) for v in pattern.edges[edge])
        t = float(min(thickness[first], thickness[second]))
        parts.add_hinge(
            (centre[first], i, j, centre[second]),
            material.panel_hinge(t, parts.length(i, j)),
            normal=parts.normal(first),
        )
    for number, panel in enumerate(pattern.panels):
        t = float(thickness[number])
        add_fan(parts, material, number, t, list(panel), centre[number])
    corner = np.array([v for panel in pattern.panels for v in panel], dtype=np.int64)
    return parts.mesh(corner, corner_panels(pattern), np.array(centre, dtype=np.int64))


def corner_panels(pattern: CreasePattern) -> Ints:
    """The panel of each corner, panel by panel."""
    numbers = np.arange(len(pattern.panels))
    return np.repeat(numbers, [len(panel) for panel in pattern.panels])


def _rim_stiffness(
    parts: MeshBuilder, material: SheetMaterial, thickness: list[float]
) -> dict[tuple[int, int], float]:
    """EA of each edge, N: the sum over its panels."""
    rim: dict[tuple[int, int], float] = {}
    for panel, t in zip(parts.pattern.panels, thickness, strict=True):
        area, length = fan_lengths(parts.pattern.vertices[list(panel)])
        for a, b in panel_edges(panel):
            edge = (min(a, b), max(a, b))
            rim[edge] = rim.get(edge, 0.0) + material.panel_bar(t, area, length)
    return rim


def add_fan(
    parts: MeshBuilder,
    material: SheetMaterial,
    panel: int,
    thickness: float,
    corner: list[int],
    centre: int,
) -> None:
    """Spokes, the hinges on them, and the triangles of one panel."""
    area, total = fan_lengths(np.array([parts.rest[c] for c in corner]))
    EA = material.panel_bar(thickness, area, total)
    normal = parts.normal(panel)
    for m, node in enumerate(corner):
        before, after = corner[m - 1], corner[(m + 1) % len(corner)]
        length = parts.length(node, centre)
        parts.add_bar(node, centre, length, EA, panel=True)
        stiffness = material.panel_hinge(thickness, length)
        nodes = (before, node, centre, after)
        parts.add_hinge(nodes, stiffness, normal=normal)
        parts.triangles.append(((node, after, centre), panel))


RIM_SHARE, CENTRE_SHARE = 0.25, 0.5  # of the fold, at each rim and along the middle
COLLINEAR = 1e-9  # sine below which two edges at a corner are one line


def compliant_mesh(pattern: CreasePattern, material: SheetMaterial) -> BarHingeMesh:
    """Bars, hinges and triangles of panels with creases of finite width between them.

    Lengths and areas that set the stiffness of panel rims, and of the hinges on them,
    are those of the pattern before its panels are narrowed, as in [ZF19].
    """
    if len(pattern.joints):
        raise ValueError(
            f"lines across non-convex panels ({len(pattern.joints)}) have no width: "
            "set `compliant: false` (creases as single hinges)"
        )
    parts = MeshBuilder(pattern)
    thickness = material.thicknesses(len(pattern.panels))
    corners: list[dict[int, int]] = []
    for number, panel in enumerate(pattern.panels):
        places = narrowed_corners(pattern, number, material.crease_width)
        nodes = {
            v: parts.add_node(x, pattern.tag(v))
            for v, x in zip(panel, places, strict=True)
        }
        corners.append(nodes)
    for panel, nodes, t in zip(pattern.panels, corners, thickness, strict=True):
        area, total = fan_lengths(pattern.vertices[list(panel)])
        EA = material.panel_bar(float(t), area, total)
        for a, b in panel_edges(panel):
            length = float(np.linalg.norm(pattern.vertices[a] - pattern.vertices[b]))
            parts.add_bar(nodes[a], nodes[b], length, EA, panel=True)
    middles = [
        _add_crease_nodes(parts, corners, int(crease)) for crease in pattern.creases
    ]
    first_centre = len(parts.rest)
    for number, nodes in enumerate(corners):
        x = np.mean([parts.rest[c] for c in nodes.values()], axis=0)
        parts.add_node(x, len(pattern.vertices) + number)
    for crease, ends in zip(pattern.creases, middles, strict=True):
        _add_crease(parts, material, corners, int(crease), ends, first_centre)
    for number, nodes in enumerate(corners):
        t, middle = float(thickness[number]), first_centre + number
        add_fan(parts, material, number, t, list(nodes.values()), middle)
    for number, crease in enumerate(pattern.creases):
        own = len(pattern.panels) + number
        _add_crease_triangles(parts, corners, int(crease), middles[number], own)
    centre = first_centre + np.arange(len(pattern.panels))
    panel_of = corner_panels(pattern)
    return parts.mesh(np.arange(len(panel_of)), panel_of, centre)


def narrowed_corners(pattern: CreasePattern, number: int, width: float) -> Floats:
    """Corners (m, 3) of a panel, its creased edges moved in by half a crease width.

    With creases on both sides of a corner the move is the sum of half a width along
    each edge, as in [ZF19]; that is exact for right angles.
    """
    panel = pattern.panels[number]
    out = pattern.vertices[list(panel)].copy()
    for m, v in enumerate(panel):
        before, after = panel[m - 1], panel[(m + 1) % len(panel)]
        to_next = _unit(pattern.vertices[after] - pattern.vertices[v])
        to_last = _unit(pattern.vertices[before] - pattern.vertices[v])
        sine = float(np.linalg.norm(np.cross(to_next, to_last)))
        if sine < COLLINEAR:
            continue
        next_creased = (min(v, after), max(v, after)) in pattern.creased
        last_creased = (min(v, before), max(v, before)) in pattern.creased
        if next_creased and last_creased:
            out[m] += 0.5 * width * (to_next + to_last)
        elif next_creased:
            out[m] += 0.5 * width / sine * to_last
        elif last_creased:
            out[m] += 0.5 * width / sine * to_next
    return out


def fold_weights(mesh: BarHingeMesh) -> Floats:
    """(h,) by which the angles of its hinges add up to the fold of a crease.

    The middle of a crease with a width is two lines, which turn together.
    """
    middle = mesh.hinge_share == CENTRE_SHARE
    return np.where(middle, 0.5, (mesh.hinge_share > 0).astype(np.float64))


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.linalg.norm(v))


def _facing(
    parts: MeshBuilder, corners: Sequence[dict[int, int]], crease: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Nodes at both ends of a crease in its first panel, and those facing them."""
    first, second = parts.pattern.edge_panels[crease]
    a, b = (int(v) for v in parts.pattern.edges[crease])
    if corners[first][a] > corners[first][b]:
        a, b = b, a
    return (corners[first][a], corners[first][b]), (
        corners[second][a],
        corners[second][b],
    )


def _add_crease_nodes(
    parts: MeshBuilder, corners: Sequence[dict[int, int]], crease: int
) -> tuple[int, int, int]:
    """Nodes in the middle of a crease's ends, and in its centre."""
    (a, b), (c, d) = _facing(parts, corners, crease)
    x = parts.rest
    start, end = parts.tag[a][0], parts.tag[b][0]
    one = parts.add_node(0.5 * (x[a] + x[c]), start)
    two = parts.add_node(0.5 * (x[b] + x[d]), end)
    middle = parts.add_node(0.25 * (x[a] + x[b] + x[c] + x[d]), start, end)
    return one, two, middle


def _add_crease(
    parts: MeshBuilder,
    material: SheetMaterial,
    corners: Sequence[dict[int, int]],
    crease: int,
    ends: tuple[int, int, int],
    first_centre: int,
) -> None:
    """Ten bars and eight hinges of one crease."""
    one, two, middle = ends
    near, far = _facing(parts, corners, crease)
    u, v = parts.pattern.edges[crease]
    span = float(np.linalg.norm(parts.pattern.vertices[u] - parts.pattern.vertices[v]))
    inner = parts.length(*near)
    across, slanted = material.crease_across(inner), material.crease_diagonal(inner)
    normal = parts.normal(parts.pattern.edge_panels[crease][0])

    def bar(i: int, j: int, EA: float) -> None:
        parts.add_bar(i, j, parts.length(i, j), EA, panel=False)

    def hinge(i: int, j: int, k: int, m: int, stiffness: float, share: float) -> None:
        parts.add_hinge(
            (i, j, k, m), stiffness, normal=normal, crease=crease, share=share
        )

    for side, (a, b) in enumerate((near, far)):
        bar(a, one, across)
        bar(a, middle, slanted)
        bar(b, middle, slanted)
        bar(b, two, across)
        if side == 0:
            bar(one, middle, slanted)
            bar(two, middle, slanted)
    for (a, b), panel in zip(
        (near, far), parts.pattern.edge_panels[crease], strict=True
    ):
        hinge(middle, a, b, first_centre + panel, material.crease_line(span), RIM_SHARE)
        for corner, other, end in ((a, b, one), (b, a, two)):
            k = material.crease_line(parts.length(corner, middle))
            hinge(other, corner, middle, end, DIAGONAL_RATE * k, 0.0)
    for end, a, c in ((one, near[0], far[0]), (two, near[1], far[1])):
        k = material.crease_line(parts.length(end, middle))
        hinge(a, middle, end, c, k, CENTRE_SHARE)


def _add_crease_triangles(
    parts: MeshBuilder,
    corners: Sequence[dict[int, int]],
    crease: int,
    ends: tuple[int, int, int],
    panel: int,
) -> None:
    """Six triangles around the middle of a crease, turned as its first panel is."""
    one, two, middle = ends
    (a, b), (c, d) = _facing(parts, corners, crease)
    ring = [a, one, c, d, two, b]
    around = list(corners[parts.pattern.edge_panels[crease][0]].values())
    if around[(around.index(a) + 1) % len(around)] != b:
        ring.reverse()
    after = [*ring[1:], ring[0]]
    ends_of_sides = zip(ring, after, strict=True)
    parts.triangles += [((middle, p, q), panel) for p, q in ends_of_sides]
