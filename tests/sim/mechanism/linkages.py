"""Planar linkages at configurations where their paths cross."""

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
)
from sim.mechanism.structure import Structure


def planar(r: Floats, links: list[tuple[int, int]], fixed: list[int]) -> Structure:
    """Links in the plane z = 0, with fixed nodes."""
    r = np.column_stack([r, np.zeros(len(r))]) if np.shape(r)[1] == 2 else r
    rows = [dist(r, a, b) for a, b in links]
    rows += [Constraint(ConstraintKind.FIX, (i, 2), 0.0) for i in range(len(r))]
    rows += [
        Constraint(ConstraintKind.FIX, (i, axis), float(r[i, axis]))
        for i in fixed
        for axis in range(2)
    ]
    bodies = (tuple(fixed), *links) if len(fixed) == 2 else tuple(links)
    return Structure(r, ConstraintTable.of(rows), np.arange(len(r)), bodies)


def four_bar(corners: Floats) -> Structure:
    """Nodes 0 and 1 are fixed, 1-2, 2-3 and 3-0 are links."""
    return planar(np.asarray(corners, float), [(1, 2), (2, 3), (3, 0)], [0, 1])
