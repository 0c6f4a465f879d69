"""Nodes at one place that nothing ties together: most often one node, written twice."""

import numpy as np
from scipy.spatial import KDTree

from sim.morph.structure.constraints import NODES, ConstraintKind
from sim.morph.structure.structure import Structure

SAME = 1e-9  # of the structure's size


def same_places(structure: Structure) -> list[tuple[int, int]]:
    """Pairs of nodes at one place that no row, and no joint, has in common."""
    r, table = structure.r0, structure.constraints
    size = float(np.ptp(r, axis=0).max())
    pairs = {(int(a), int(b)) for a, b in KDTree(r).query_pairs(SAME * size)}
    if not pairs:
        return []
    tied: dict[str, set[int]] = {}
    for i, kind in enumerate(table.kind):
        name = table.owners[i] if table.owners and table.owners[i] else f"row {i}"
        used = 1 if kind == ConstraintKind.FIX else NODES[kind]
        tied.setdefault(name, set()).update(table.nodes[i, :used].tolist())
    together = list(tied.values())
    return sorted(p for p in pairs if not any(set(p) <= nodes for nodes in together))


def told_same_places(structure: Structure) -> str:
    """The same as one line with the remedy; empty where there are none."""
    found = same_places(structure)
    if not found:
        return ""
    more = f" and {len(found) - 1} more pairs" if len(found) > 1 else ""
    return (
        f"nodes {found[0][0]} and {found[0][1]}{more} are at one place and nothing "
        "ties them: name one of them everywhere, or join them by spherical or coin"
    )
