"""Small structures with bodies and ranges."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sim.contact.bodies_that_may_meet import Solids
from sim.core.arrays import Floats
from sim.mechanism.constraints import Constraint, ConstraintKind, ConstraintTable
from sim.mechanism.ranges import Ranges
from sim.mechanism.structure import Structure
from tests.sim.mechanism.mechanisms import structure

Sized = Sequence[tuple[float, ...]]


def solids(balls: Sized = (), capsules: Sized = (), panels: Sized = ()) -> Solids:
    """Bodies from rows of nodes and a size."""
    parts = []
    for rows, width in ((balls, 1), (capsules, 2), (panels, 3)):
        table = np.array(rows, dtype=np.float64).reshape(-1, width + 1)
        parts += [table[:, :-1].astype(np.int64), table[:, -1]]
    return Solids(*parts)


def ranges(*rows: tuple[ConstraintKind, tuple[int, ...], float, float]) -> Ranges:
    """Ranges from rows of kind, nodes, least and most."""
    table = ConstraintTable.of([Constraint(kind, nodes) for kind, nodes, _, _ in rows])
    bounds = np.array([row[2:] for row in rows], dtype=np.float64).reshape(-1, 2)
    return Ranges(table, bounds[:, 0].copy(), bounds[:, 1].copy())


def limited(
    r: Floats,
    rows: list[Constraint],
    bodies: Solids | None = None,
    bounds: Ranges | None = None,
) -> Structure:
    """A structure of nodes r (n, 3) that all lead."""
    made = structure(np.asarray(r, dtype=np.float64), rows)
    return replace(made, solids=bodies or Solids(), ranges=bounds or ranges())
