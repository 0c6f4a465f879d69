"""Supports that hold a sheet by its largest panel, and strain nothing."""

from itertools import combinations

import numpy as np

from sim.origami.pattern.pattern import CreasePattern, polygon_area

Row = tuple[int, int, int, int]


def largest_panel(pattern: CreasePattern) -> int:
    """Its number; of equally large panels the first."""
    normals = [polygon_area(pattern.vertices[list(p)]) for p in pattern.panels]
    areas = np.linalg.norm(normals, axis=1)
    return int(np.argmax(np.round(areas / areas.max(), 9)))  # not by rounding


def largest_panel_held(pattern: CreasePattern) -> list[Row]:
    """Six supports at three corners of the largest panel, rows (vertex, x, y, z).

    The first is held in x, y and z, the second along the panel across the line to the
    first and out of the panel, the third out of the panel: the panel cannot move, and
    its corners are free to come closer to each other. They are those that span the
    largest triangle.
    """
    panel = pattern.panels[largest_panel(pattern)]
    normal = polygon_area(pattern.vertices[list(panel)])
    size = float(np.linalg.norm(normal))

    def spanned(corners: tuple[int, ...]) -> float:
        a, b, c = pattern.vertices[list(corners)]
        return round(float(np.linalg.norm(np.cross(b - a, c - a))) / size, 9)

    a, b, c = max(combinations(panel, 3), key=spanned)
    out = int(np.argmax(np.abs(normal)))
    along = np.abs(pattern.vertices[b] - pattern.vertices[a])
    along[out] = np.inf
    across = int(np.argmin(along))
    second = [int(axis in (out, across)) for axis in range(3)]
    third = [int(axis == out) for axis in range(3)]
    return [
        (a, 1, 1, 1),
        (b, second[0], second[1], second[2]),
        (c, third[0], third[1], third[2]),
    ]
