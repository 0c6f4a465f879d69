"""Sheets of triangles that share their sides, which are hinges; and soft links.

A sheet with b nodes on its rim bends in b - 3 ways as long as its sides are rigid.
"""

from dataclasses import replace

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.limits import is_count, is_positive
from sim.morph.statics.elastic import Elastic
from sim.morph.structure.constraints import ConstraintKind, ConstraintTable
from sim.morph.structure.structure import Structure


def hinged_sheet(rows: int, columns: int, *, side: float = 1.0) -> Structure:
    """Rows of equilateral triangles in the plane z = 0, about the origin.

    Parameters
    ----------
    rows, columns : strips of triangles, and sides along each
    side : length, the case's unit
    """
    if not (is_count(rows) and is_count(columns)):
        raise ValueError(
            f"a sheet of {rows} rows and {columns} columns: give at least 1 of each"
        )
    if not is_positive(side):
        raise ValueError(f"side {side} of a sheet must be positive")
    j, i = np.divmod(np.arange((rows + 1) * (columns + 1)), columns + 1)
    x, y = i + 0.5 * (j % 2), np.sqrt(0.75) * j
    r0 = side * np.column_stack([x - x.mean(), y - y.mean(), np.zeros(len(x))])
    bodies: list[tuple[int, int, int]] = []
    for row in range(rows):
        for column in range(columns):
            a = row * (columns + 1) + column
            b, c, d = a + 1, a + columns + 1, a + columns + 2
            halves = ((a, b, c), (b, d, c)) if row % 2 == 0 else ((a, d, c), (a, b, d))
            bodies += halves
    faces = np.array(bodies)
    ends = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    table = ConstraintTable.links(r0, np.unique(ends, axis=0))
    return Structure(r0, table, np.arange(len(r0)), tuple(bodies))


def hinges_between(bodies: tuple[tuple[int, ...], ...]) -> Ints:
    """(h, 4) wing, axis, axis, wing of each two triangles that share a side."""
    beside: dict[tuple[int, int], list[int]] = {}
    found = []
    for body in bodies:
        if len(body) != 3:
            continue
        for turn in range(3):
            a, b, wing = body[turn], body[(turn + 1) % 3], body[(turn + 2) % 3]
            side = (min(a, b), max(a, b))
            for other in beside.setdefault(side, []):
                found.append((other, *side, wing))
            beside[side].append(wing)
    return np.array(found, dtype=np.int64).reshape(-1, 4)


def soft_links(structure: Structure, stiffness: float) -> tuple[Structure, Elastic]:
    """The structure without its links, and these as elastic ones."""
    table = structure.constraints
    links = table.kind == ConstraintKind.DIST
    elastic = Elastic.between(structure.r0, table.nodes[links, :2], stiffness)
    lengths = np.sqrt(table.constant[links])
    kept = replace(structure, constraints=rows_of(table, ~links))
    return kept, replace(elastic, rest_length=lengths)


def rigid_links(structure: Structure, elastic: Elastic) -> tuple[Structure, Elastic]:
    """The structure with the elastic links made rigid, and the hinges that remain."""
    links = replace(
        ConstraintTable.links(structure.r0, elastic.links),
        constant=elastic.rest_length**2,
    )
    joined = structure.constraints.followed_by(links)
    nothing: Floats = np.empty(0)
    hinges = replace(
        elastic,
        links=elastic.links[:0],
        link_stiffness=nothing,
        rest_length=nothing,
    )
    return replace(structure, constraints=joined), hinges


def rows_of(table: ConstraintTable, chosen: Bools) -> ConstraintTable:
    """The chosen constraints (q,) of a table."""
    owners = np.array(table.owners, dtype=np.object_)
    return ConstraintTable(
        table.kind[chosen],
        table.nodes[chosen],
        table.constant[chosen],
        tuple(owners[chosen]) if len(owners) else (),
    )
