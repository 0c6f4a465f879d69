"""Linking number, twist and writhe of a closed rod, in turns.

    linking number = twist / 2 pi + writhe            (Calugareanu, Fuller, White)

The frames of a closed rod go around with the twist at its bends; its centre line, as it
coils, takes up the rest. The sum changes only where a rod passes through itself, by 2
each time. The writhe of a polygon is the sum over pairs of edges of the area of the
sphere from which they are seen to cross, over 2 pi (Klenin and Langowski, Biopolymers
54, 2000), as two triangles (van Oosterom and Strackee, IEEE Trans. Biomed. Eng. 30,
1983), so that what is flat has none.
"""

import numpy as np

from sim.arrays import Floats
from sim.rod.space.frames import FULL, SpaceState

TINY = 1e-300  # m


def writhe(x: Floats) -> float:
    """Of the closed polygon through nodes (n, 3), in their order, in turns."""
    i, j = np.triu_indices(len(x), 2)
    a, b, c, d = x[i], x[(i + 1) % len(x)], x[j], x[(j + 1) % len(x)]
    corners = [_unit(way) for way in (c - a, d - a, d - b, c - b)]
    seen = _area(*corners[:3]) + _area(corners[0], *corners[2:])
    return -float(np.sum(seen)) / FULL


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), TINY))


def _area(a: Floats, b: Floats, c: Floats) -> Floats:
    """(k,) of spherical triangles with unit vectors (k, 3) as corners, signed."""
    triple = np.sum(np.cross(a, b) * c, axis=1)
    cosines = np.sum(a * b, axis=1) + np.sum(b * c, axis=1) + np.sum(c * a, axis=1)
    return np.asarray(2.0 * np.arctan2(triple, 1.0 + cosines))


def linking_number(state: SpaceState) -> float:
    """Of a closed rod whose nodes are in its order, in turns: a whole number."""
    return writhe(state.x) + float(state.twist.sum()) / FULL
