"""Structures with a name: sheets and lattices, and the pentapod, after [dJ23].

The paper shows its structures in pictures only; dimensions are our own.

The sheet of Fig. 3 is of triangular bodies joined by links. The triangles sit at the
corners of a honeycomb, each points a corner at each neighbour, and a link with a
spherical joint at either end spans the gap.

Those of Fig. 2b and 2c are bodies on a rectangular grid. The triangle lattice is flat,
its rows alternately long and short.

The pentapod of Fig. 2a has six degrees of freedom of the whole, one of shape. A hub
carries five radial lines and an axis. A slider on the axis is linked to an outer node
on each line, so that all outer nodes move in and out together: in a plane, at the
radius sqrt(l^2 - h^2) when the slider is at the height h.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Choice, is_count, is_positive
from sim.mechanism.constraints import Constraint, ConstraintTable, dist
from sim.mechanism.joints import line_point, plane_point, rigid
from sim.mechanism.structure import Structure


class Leading(Choice):
    """Which nodes of a sheet move to the target."""

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
    leading : which nodes move to a target
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
            f"a sheet has {rows} rows and {columns} columns: give at least 1 of each"
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
    directions = first[:, None] + 2.0 * np.pi / 3.0 * np.arange(3)
    shape = corners[..., 0] + 1j * corners[..., 1]
    turn = np.sum(np.exp(1j * directions) * shape.conj(), axis=1)
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


def square_sheet(
    rows: int, columns: int, *, radius: float = 0.5, link: float = 0.4
) -> Structure:
    """Fig. 2b: squares that stand on a corner, hinged in the plane z = 0 by links.

    The plane is that of the first square: plane-point constraints hold one node of
    each link's body after another in it. Corners without a link lead.

    Parameters
    ----------
    radius : from the centre of a square to its corners, the case's unit
    link : length of the links
    """
    directions = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    r0, bodies, links = _grid((columns, rows, 1), directions, radius, link)
    constraints = [row for nodes in bodies for row in rigid(r0, nodes)]
    base = (bodies[0][0], bodies[0][1], bodies[0][2])
    for nodes in bodies[1:]:
        for node in nodes[:3]:  # the fourth is in their plane already
            constraints += plane_point(r0, base, node)
    constraints += [dist(r0, a, b) for a, b in links]
    return _structure(r0, bodies, links, constraints, _free(len(r0), links))


def octahedron_lattice(
    columns: int,
    rows: int,
    layers: int,
    *,
    radius: float = 0.5,
    link: float = 0.4,
) -> Structure:
    """Fig. 2c: octahedra in three dimensions joined by links with spherical joints.

    Corners without a link lead, but not those on the top: the faces at the bottom and
    the sides are what touches.
    """
    half = np.eye(3)
    directions = np.concatenate([half, -half])
    r0, bodies, links = _grid((columns, rows, layers), directions, radius, link)
    constraints = [row for nodes in bodies for row in rigid(r0, nodes)]
    constraints += [dist(r0, a, b) for a, b in links]
    free = _free(len(r0), links)
    free[2::6] = False
    return _structure(r0, bodies, links, constraints, free)


def _grid(
    counts: tuple[int, int, int], directions: Floats, radius: float, link: float
) -> tuple[Floats, list[tuple[int, ...]], list[tuple[int, int]]]:
    """Nodes (n, 3) about the origin, bodies, and links to the next body each way."""
    if not all(is_count(count) for count in counts):
        raise ValueError(f"a grid has {counts} bodies: give at least 1 each way")
    if not (is_positive(radius) and is_positive(link)):
        raise ValueError(f"radius {radius} and link {link} must be positive")
    x, y, z = np.meshgrid(*(np.arange(c) for c in counts), indexing="ij")
    site = np.stack([x, y, z], axis=-1).transpose(2, 1, 0, 3).reshape(-1, 3)
    number = {tuple(s): i for i, s in enumerate(site.tolist())}
    r0 = ((2.0 * radius + link) * site[:, None] + radius * directions).reshape(-1, 3)
    corners = len(directions)
    bodies = [tuple(range(i * corners, (i + 1) * corners)) for i in range(len(site))]
    links = []
    for i, place in enumerate(site.tolist()):
        for corner, direction in enumerate(directions.astype(int).tolist()):
            ahead = tuple(np.add(place, direction).tolist())
            if max(direction) > 0 and ahead in number:
                opposite = directions.tolist().index((-directions[corner]).tolist())
                links.append((i * corners + corner, number[ahead] * corners + opposite))
    return r0 - r0.mean(axis=0), bodies, links


def _free(n: int, links: list[tuple[int, int]]) -> Bools:
    free = np.ones(n, dtype=np.bool_)
    free[np.array(links, dtype=np.int64).ravel()] = False
    return free


def _structure(
    r0: Floats,
    bodies: list[tuple[int, ...]],
    links: list[tuple[int, int]],
    constraints: list[Constraint],
    leading: Bools,
) -> Structure:
    lead: Ints = np.flatnonzero(leading).astype(np.int64)
    return Structure(r0, ConstraintTable.of(constraints), lead, (*bodies, *links))


@dataclass(frozen=True, eq=False)
class TriangleLattice:
    """Nodes row by row, and their links.

    Attributes
    ----------
    r : (n, 3) nodes in the plane z = 0, rows along x
    row : (n,) of each node, from 0 on
    links : (l, 2) nodes, the first in the lower row, or left in the same
    direction : (l,) 0 along a row, 1 leaning right, 2 leaning left
    """

    r: Floats
    row: Ints
    links: Ints
    direction: Ints

    def nodes_of(self, row: int) -> Ints:
        """Nodes of a row from left to right; rows below 0 count from the last."""
        return np.flatnonzero(self.row == row % (int(self.row.max()) + 1))


def triangle_lattice(rows: int, columns: int, spacing: float) -> TriangleLattice:
    """Rows of `columns` nodes, between each two of them a row of one node less."""
    if not (is_count(rows) and is_count(columns) and columns > 1):
        raise ValueError(
            f"rows is {rows} and columns is {columns}: give at least 1 row and 2 nodes "
            "per row"
        )
    if not is_positive(spacing):
        raise ValueError(f"spacing is {spacing}: it must be positive")
    site = [(j, i) for j in range(rows) for i in range(columns - j % 2)]
    row, column = np.array(site).T
    x = column + 0.5 * (row % 2)
    r = spacing * np.stack([x, 0.5 * np.sqrt(3.0) * row, 0.0 * x], axis=1)
    number = {(j, 2 * i + j % 2): node for node, (j, i) in enumerate(site)}
    found = [
        (node, number[j + up, half + right], kind)
        for (j, half), node in number.items()
        for kind, (up, right) in enumerate(((0, 2), (1, 1), (1, -1)))
        if (j + up, half + right) in number
    ]
    table = np.array(found, dtype=np.int64).reshape(-1, 3)
    return TriangleLattice(r, row.astype(np.int64), table[:, :2], table[:, 2])


def pentapod(*, hub: float = 0.5, reach: float = 1.2, height: float = 1.0) -> Structure:
    """Thirteen nodes; the five outer ones lead.

    Parameters
    ----------
    hub : radius of the hub, whose nodes give the radial lines their directions
    reach : initial distance of the outer nodes from the axis
    height : initial height of the slider over the hub
    """
    for name, value in (("hub", hub), ("reach", reach), ("height", height)):
        if not is_positive(value):
            raise ValueError(f"{name} of the pentapod is {value}: it must be positive")
    angle = 2.0 * np.pi / 5.0 * np.arange(5)
    star = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(5)])
    up = np.array([[0.0, 0.0, 1.0]])
    r0 = np.vstack([np.zeros((1, 3)), hub * star, hub * up, height * up, reach * star])
    centre, axis, slider = 0, 6, 7
    ring, outer = range(1, 6), range(8, 13)
    constraints = rigid(r0, (centre, *ring, axis))
    constraints += line_point((centre, axis), slider)
    for inner, node in zip(ring, outer, strict=True):
        constraints += line_point((centre, inner), node)
        constraints.append(dist(r0, slider, node))
    links = [(slider, node) for node in outer]
    bodies = ((centre, *ring, axis), *links)
    return Structure(r0, ConstraintTable.of(constraints), np.array(outer), bodies)
