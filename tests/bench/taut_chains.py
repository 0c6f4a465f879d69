"""Steps to the rest of taut chains, by number of links and span.

Equal links of length 1, each inner node with the same weight, begin as a zigzag.
"""

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.constraints import Constraint, ConstraintKind, ConstraintTable, fix
from sim.mechanism.statics.elastic_parts import Elastic
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.structure import Structure

LINKS = (10, 40, 100, 400)
SPANS = (0.9, 0.975, 0.99, 0.999, 0.9999)  # over the length


def zigzag(links: int, span: float) -> Floats:
    """(links + 1, 3) nodes of a chain of an even number of links."""
    r = np.zeros((links + 1, 3))
    r[:, 0] = span * np.arange(links + 1)
    r[1::2, 2] = -np.sqrt(1.0 - span**2)
    return r


def hanging(r: Floats) -> LoadedStructure:
    """A chain through nodes `r` (n, 3) in the plane y = 0, held at both ends."""
    n = len(r)
    rows = [*fix(r, 0), *fix(r, n - 1)]
    rows += [Constraint(ConstraintKind.FIX, (j, 1), 0.0) for j in range(1, n - 1)]
    rows += [Constraint(ConstraintKind.DIST, (j, j + 1), 1.0) for j in range(n - 1)]
    force = np.zeros((n, 3))
    force[1:-1, 2] = -1.0
    pairs = tuple((j, j + 1) for j in range(n - 1))
    made = Structure(r, ConstraintTable.of(rows), np.arange(n), pairs)
    return LoadedStructure(made, Elastic.none(), force, np.zeros(n))
