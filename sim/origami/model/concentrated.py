"""Creases without width: panels that share their corners, one hinge a crease."""

import numpy as np

from sim.arrays import Ints
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh, MeshBuilder, fan_lengths
from sim.origami.pattern.pattern import CreasePattern, panel_edges


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
        parts.triangle.append((node, after, centre))
        parts.triangle_panel.append(panel)
