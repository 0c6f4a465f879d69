"""Bodies on a rectangular grid joined by links, after Fig. 2b and 2c of [dJ23].

The paper shows these structures in pictures only; sizes are our own.
"""

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.limits import is_count, is_positive
from sim.morph.structure.constraints import Constraint, ConstraintTable, dist
from sim.morph.structure.joints import plane_point, rigid
from sim.morph.structure.structure import Structure


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
        raise ValueError(f"a grid of {counts} bodies: give at least 1 each way")
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
