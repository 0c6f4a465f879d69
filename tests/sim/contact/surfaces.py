"""Small surfaces that several tests fold, drop and push."""

import numpy as np

from sim.contact.near_pairs import ContactSurface
from sim.core.arrays import Floats, Ints


def surface_of(
    triangle: Ints,
    rest: Floats,
    *,
    reach: float,
    edge: Ints | None = None,
    tag: Ints | None = None,
    limited: bool = False,
    thickness: float = 0.0,
) -> ContactSurface:
    """All nodes against all triangles, and the given edges against each other."""
    n = len(rest)
    edges = np.empty((0, 2), dtype=np.int64) if edge is None else edge
    tags = np.full((n, 2), -1) if tag is None else tag
    return ContactSurface(
        point=np.arange(n),
        point_panel=np.empty((n, 0), dtype=np.int64),
        point_activation=np.full(n, reach),
        triangle=triangle,
        triangle_panel=np.arange(len(triangle)),
        edge=edges,
        edge_activation=reach,
        tag=tags,
        rest=rest,
        limited=limited,
        thickness=thickness,
    )


def edges_of(triangle: Ints) -> Ints:
    """Each edge of the triangles once."""
    sides = np.concatenate(
        [triangle[:, [0, 1]], triangle[:, [1, 2]], triangle[:, [2, 0]]]
    )
    return np.unique(np.sort(sides, axis=1), axis=0)


def scattered_triangles(
    rng: np.random.Generator, count: int, size: float
) -> tuple[Floats, Ints]:
    """Triangles of about `size` thrown into the unit cube."""
    middle = rng.random((count, 1, 3))
    x = (middle + size * (rng.random((count, 3, 3)) - 0.5)).reshape(-1, 3)
    return x, np.arange(3 * count).reshape(count, 3)
