"""Open lattices of lines on a surface, to be drawn and printed as a target."""

from collections.abc import Callable, Sequence

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.targets.protocol import Wireframe

FINE = 4  # edges between two crossings


def lattice(
    surface: Callable[[Floats, Floats], Floats],
    u: tuple[float, float],
    v: tuple[float, float],
    cells: tuple[int, int],
) -> Wireframe:
    """Lines of constant u and of constant v on a surface.

    Parameters
    ----------
    surface : (p,), (p,) -> (p, 3)
    u, v : ranges of the two coordinates
    cells : how many spaces there are between the lines of constant u, and v
    """
    us = np.linspace(*u, cells[0] * FINE + 1)
    vs = np.linspace(*v, cells[1] * FINE + 1)
    lines = [surface(us, np.full_like(us, c)) for c in vs[::FINE]]
    lines += [surface(np.full_like(vs, c), vs) for c in us[::FINE]]
    return polylines(lines)


def polylines(lines: Sequence[Floats]) -> Wireframe:
    """Join the points of each line; points at the same place become one vertex."""
    points = np.concatenate(lines)
    sizes = [len(line) for line in lines]
    ends = np.cumsum(sizes)
    edges = np.concatenate(
        [
            np.column_stack([np.arange(e - s, e - 1), np.arange(e - s + 1, e)])
            for s, e in zip(sizes, ends, strict=True)
        ]
    )
    size = float(np.ptp(points, axis=0).max())
    keys = np.round(points / (1e-9 * size)).astype(np.int64)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    joined: Ints = np.unique(np.sort(index.ravel()[edges], axis=1), axis=0)
    return Wireframe(points[first], joined[joined[:, 0] != joined[:, 1]])


def cells(length: float, spacing: float) -> int:
    """How many spaces of about `spacing` a line of `length` has, at least one."""
    return max(1, round(length / spacing))
