"""The faces with which a body is drawn."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats

FLAT = 1e-3  # of its largest extent: a body no thicker is flat


def body_faces(r: Floats, body: Sequence[int]) -> list[list[int]]:
    """Nodes of polygons around a body: one if it is flat, else its hull's triangles.

    A flat body has its nodes in order around the middle, however they are listed.
    """
    nodes = np.array(body)
    away = r[nodes] - r[nodes].mean(axis=0)
    _, extent, axes = np.linalg.svd(away)
    if len(nodes) == 3 or extent[2] < FLAT * extent[0]:
        angle = np.arctan2(away @ axes[1], away @ axes[0])
        return [nodes[np.argsort(angle, kind="stable")].tolist()]
    from scipy.spatial import ConvexHull  # slow to import

    return [nodes[corners].tolist() for corners in ConvexHull(r[nodes]).simplices]
