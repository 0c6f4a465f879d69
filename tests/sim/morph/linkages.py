"""Planar linkages at configurations where their paths cross."""

import numpy as np

from sim.arrays import Floats
from sim.morph.library.linkages import FourBar
from sim.morph.structure.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
)
from sim.morph.structure.structure import Structure


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


def dead_centres(bar: FourBar) -> tuple[float, float]:
    """Angles of the crank at which it is in line with the coupler, rad.

    There AC is the sum or the difference of the two, and the rocker's angle has a
    turning point: it cannot drive.
    """
    out = []
    for AC, back in (
        (bar.coupler + bar.crank, 0.0),
        (bar.coupler - bar.crank, np.pi),
    ):
        cosine = (bar.ground**2 + AC**2 - bar.rocker**2) / (2 * bar.ground * AC)
        out.append((np.arccos(cosine) + back) % (2.0 * np.pi))
    return out[0], out[1]
