"""Bodies in one plane that distances alone hold: a motion too many to first order."""

from itertools import combinations

import numpy as np

from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure

FLAT = 1e-9  # volume over the cube of the longest side


def flat_by_distances(structure: Structure) -> list[tuple[int, ...]]:
    """Sets of four nodes in one plane, all linked, that no other row holds flat.

    Out of the plane their distances do not change to first order ([dJ23], Methods,
    Body-node): each such set adds a motion that leads nowhere.
    """
    table, r = structure.constraints, structure.r0
    linked: dict[int, set[int]] = {}
    for a, b in table.nodes[table.kind == ConstraintKind.DIST, :2].tolist():
        linked.setdefault(a, set()).add(b)
        linked.setdefault(b, set()).add(a)
    held = [
        frozenset(nodes) for nodes in table.nodes[table.kind == ConstraintKind.TRIPLE]
    ]
    found: list[tuple[int, ...]] = []
    for a, near in linked.items():
        for b, c, d in combinations(sorted(n for n in near if n > a), 3):
            if c in linked[b] and d in linked[b] and d in linked[c]:
                sides = r[[b, c, d]] - r[a]
                longest = float(np.abs(sides).max())
                flat = abs(np.linalg.det(sides)) <= FLAT * longest**3
                if flat and not any(one <= {a, b, c, d} for one in held):
                    found.append((a, b, c, d))
    return found
