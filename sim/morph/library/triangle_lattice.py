"""A flat lattice of equilateral triangles, its rows alternately long and short."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.limits import is_count, is_positive


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
        raise ValueError(f"{rows} rows of {columns} nodes: give 1 or more of 2 or more")
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
