"""Creases with a width: panels drawn in, three nodes and ten bars between them."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats
from sim.origami.model.concentrated import add_fan, corner_panels
from sim.origami.model.material import DIAGONAL_RATE, SheetMaterial
from sim.origami.model.mesh import BarHingeMesh, MeshBuilder, fan_lengths
from sim.origami.pattern.pattern import CreasePattern, panel_edges

RIM_SHARE, CENTRE_SHARE = 0.25, 0.5  # of the fold, at each rim and along the middle
COLLINEAR = 1e-9  # sine below which two edges at a corner are one line


def compliant_mesh(pattern: CreasePattern, material: SheetMaterial) -> BarHingeMesh:
    """Bars, hinges and triangles of panels with creases of finite width between them.

    Lengths and areas that set the stiffness of panel rims, and of the hinges on them,
    are those of the pattern before its panels are drawn in, as in [ZF19].
    """
    if len(pattern.joints):
        raise ValueError(
            f"{len(pattern.joints)} lines divide panels that are not convex, and have "
            "no width: give `compliant: false`, creases that are single hinges"
        )
    parts = MeshBuilder(pattern)
    thickness = material.thicknesses(len(pattern.panels))
    corners: list[dict[int, int]] = []
    for number, panel in enumerate(pattern.panels):
        drawn = drawn_in(pattern, number, material.crease_width)
        nodes = {
            v: parts.add_node(x, pattern.tag(v))
            for v, x in zip(panel, drawn, strict=True)
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
    return parts.mesh(np.arange(first_corner(pattern)), corner_panels(pattern), centre)


def first_corner(pattern: CreasePattern) -> int:
    """How many panel corners there are; their nodes come first."""
    return sum(len(panel) for panel in pattern.panels)


def drawn_in(pattern: CreasePattern, number: int, width: float) -> Floats:
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
    parts.triangle += [(middle, p, q) for p, q in zip(ring, after, strict=True)]
    parts.triangle_panel += [panel] * 6
