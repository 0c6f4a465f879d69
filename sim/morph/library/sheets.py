"""A sheet of triangular bodies joined by links, after Fig. 3 of [dJ23].

The paper shows its sheet in a picture only; this one is our own. The triangles sit at
the corners of a honeycomb, each points a corner at each neighbour, and a link with a
spherical joint at either end spans the gap.
"""

from itertools import combinations

import numpy as np

from sim.arrays import Floats, Ints
from sim.choice import Choice
from sim.limits import is_count, is_positive
from sim.morph.structure.constraints import ConstraintTable
from sim.morph.structure.structure import Structure


class Leading(Choice):
    """Which nodes of a sheet are drawn to the target."""

    ALL = "all"
    RIM = "rim"  # those of triangles with a corner that has no link
    TIPS = "tips"  # corners without a link


def triangle_sheet(
    rows: int,
    columns: int,
    *,
    side: float = 1.0,
    link: float = 1.0,
    variation: float = 0.0,
    seed: int = 0,
    leading: Leading | str = Leading.ALL,
) -> Structure:
    """Triangles on a honeycomb of rows x columns hexagons, in the plane z = 0.

    Parameters
    ----------
    side, link : length of the triangles' sides and of the links, the case's unit
    variation : relative half range of the sides. Above zero no two triangles, and no
        two sides of one triangle, are alike, so that a scan can tell them apart
    seed : which triangle receives which sides
    leading : which nodes are drawn to a target
    """
    _check(rows, columns, side, link, variation)
    sites, pairs = _honeycomb(rows, columns)
    step = link + 2.0 * side / np.sqrt(3.0)
    directions, corner_pairs = _corner_pairs(sites, pairs)
    corners = _triangles(len(sites), side, variation, seed)
    corners = _turned(corners, directions)
    r = (step * sites[:, None] + corners).reshape(-1, 2)
    r0 = np.column_stack([r - r.mean(axis=0), np.zeros(len(r))])
    sides = np.arange(len(r)).reshape(-1, 3)
    ends = np.concatenate([sides[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), corner_pairs])
    bodies = (*map(tuple, sides.tolist()), *map(tuple, corner_pairs.tolist()))
    lead = _leading(len(sites), corner_pairs, Leading(leading))
    return Structure(r0, ConstraintTable.links(r0, ends), lead, bodies)


def _check(rows: int, columns: int, side: float, link: float, variation: float) -> None:
    if not (is_count(rows) and is_count(columns)):
        raise ValueError(
            f"a sheet of {rows} rows and {columns} columns: give at least 1 of each"
        )
    if not (is_positive(side) and is_positive(link)):
        raise ValueError(f"side {side} and link {link} of a sheet must be positive")
    if not 0.0 <= variation <= 0.3:
        raise ValueError(
            f"variation {variation} of a sheet must be between 0 and 0.3, or the "
            "triangles become flat"
        )


def _honeycomb(rows: int, columns: int) -> tuple[Floats, Ints]:
    """Corners (s, 2) of hexagons of side 1, and pairs (p, 2) of neighbours."""
    i, j = np.divmod(np.arange(rows * columns), columns)
    centre = np.column_stack([np.sqrt(3.0) * (j + 0.5 * i), 1.5 * i])
    angle = np.pi / 6.0 + np.pi / 3.0 * np.arange(6)
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    corners = (centre[:, None] + around).reshape(-1, 2)
    unit = np.array([np.sqrt(0.75), 0.5])
    grid = np.round(corners / unit).astype(np.int64)
    keys, index = np.unique(grid, axis=0, return_inverse=True)
    ring = index.reshape(-1, 6)
    edges = np.sort(np.stack([ring, np.roll(ring, -1, axis=1)], -1).reshape(-1, 2))
    return keys * unit, np.unique(edges, axis=0)


def _corner_pairs(sites: Floats, pairs: Ints) -> tuple[Floats, Ints]:
    """Angle (s,) of each site's corner 0, and the nodes (p, 2) of each link."""
    d = sites[pairs[:, 1]] - sites[pairs[:, 0]]
    angle = np.arctan2(d[:, 1], d[:, 0])
    first = np.zeros(len(sites))
    first[pairs[:, 1]] = angle + np.pi
    first[pairs[:, 0]] = angle
    turn = 2.0 * np.pi / 3.0
    a = np.round((angle - first[pairs[:, 0]]) / turn).astype(np.int64) % 3
    b = np.round((angle + np.pi - first[pairs[:, 1]]) / turn).astype(np.int64) % 3
    return first, np.column_stack([3 * pairs[:, 0] + a, 3 * pairs[:, 1] + b])


def _triangles(count: int, side: float, variation: float, seed: int) -> Floats:
    """(count, 3, 2) corners about their centroids, corner i at about i * 120 degrees.

    The sides are three different values of a ladder that is just long enough.
    """
    lengths = np.ones((count, 3))
    if variation > 0.0:
        steps = 3
        while steps * (steps - 1) * (steps - 2) // 6 < count:
            steps += 1
        ladder = np.linspace(1.0 - variation, 1.0 + variation, steps)
        triples = ladder[np.array(list(combinations(range(steps), 3)))]
        lengths = np.random.default_rng(seed).permutation(triples)[:count]
    a, b, c = side * lengths.T  # sides 0-1, 1-2, 2-0
    x = (a**2 + c**2 - b**2) / (2.0 * a)
    zero = np.zeros(count)
    corners = np.stack(
        [np.stack([zero, zero], -1), np.stack([a, zero], -1),
         np.stack([x, np.sqrt(c**2 - x**2)], -1)], axis=1,
    )  # fmt: skip
    corners -= corners.mean(axis=1, keepdims=True)
    return corners


def _turned(corners: Floats, first: Floats) -> Floats:
    """Turn each triangle so that its corners point closest to their directions."""
    wanted = first[:, None] + 2.0 * np.pi / 3.0 * np.arange(3)
    shape = corners[..., 0] + 1j * corners[..., 1]
    turn = np.sum(np.exp(1j * wanted) * shape.conj(), axis=1)
    turned = shape * (turn / np.abs(turn))[:, None]
    return np.stack([turned.real, turned.imag], axis=-1)


def _leading(sites: int, corner_pairs: Ints, leading: Leading) -> Ints:
    free = np.ones((sites, 3), dtype=np.bool_)
    free.reshape(-1)[corner_pairs.ravel()] = False
    chosen = {
        Leading.ALL: np.ones_like(free),
        Leading.RIM: np.repeat(free.any(axis=1, keepdims=True), 3, axis=1),
        Leading.TIPS: free,
    }[leading]
    return np.flatnonzero(chosen).astype(np.int64)
