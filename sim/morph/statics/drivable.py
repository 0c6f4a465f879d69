"""What a structure itself lets be driven: its joints, its sliders, its ranges.

    angle    between two bodies that share a node; where no node can leave the plane
             that all are in, about its normal, and else without a sign
    hinge    between two bodies that share two nodes
    length   of a pair that slides on a line, or keeps between two lengths

Nodes that are held where they are form a body too, the ground. The length of a rigid
link is none of these: it does not change, whatever moves.
"""

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.equations.system import state
from sim.morph.mobility.mobility import allowed_motions
from sim.morph.statics.driving import Coordinates
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure

FLAT = 1e-9  # height over a plane, relative to the extent, that is rounding


def drivable(structure: Structure) -> Coordinates:
    """The coordinates that the structure leaves to be driven; there may be none."""
    normal, r = _fixed_plane(structure), structure.r0
    corners: dict[tuple[int, ...], None] = {}
    hinges: list[tuple[int, ...]] = []
    for first, second in combinations(_bodies(structure), 2):
        shared = sorted(set(first) & set(second))
        one, other = (sorted(set(body) - set(shared)) for body in (first, second))
        if not (one and other):
            continue
        if len(shared) == 1:
            count = 1 if normal is not None else 2
            for a, c in product(one[:count], other[:count]):
                if (c, shared[0], a) not in corners:
                    corners[a, shared[0], c] = None
        elif len(shared) == 2 and normal is None:
            i, k = (_farthest(r, shared, wing) for wing in (one, other))
            if i is not None and k is not None:
                hinges.append((i, *shared, k))
    return Coordinates.of(list(_lengths(structure)), list(corners), hinges, normal)


def _bodies(structure: Structure) -> list[tuple[int, ...]]:
    """Bodies, with the nodes that are held along all three axes as the first.

    Nodes that are joined at one place count as one of them.
    """
    table = structure.constraints
    one = np.arange(len(structure.r0))
    for a, b in _pairs(table.nodes, table.kind, "COIN"):
        one[one == one[b]] = one[a]
    fixed = table.nodes[table.kind == ConstraintKind.FIX, :2]
    nodes, axes = np.unique(np.unique(fixed, axis=0)[:, 0], return_counts=True)
    ground = tuple(nodes[axes == 3].tolist())
    own = [body for body in structure.bodies if not set(body) <= set(ground)]
    bodies = [ground, *own] if len(ground) > 1 else own
    return [tuple(one[list(body)].tolist()) for body in bodies]


def _lengths(structure: Structure) -> Iterator[tuple[int, int]]:
    """Pairs on a line and pairs in a range, unless something keeps them rigid."""
    table, ranges = structure.constraints, structure.ranges.table
    rigid = {frozenset(p) for body in structure.bodies for p in combinations(body, 2)}
    rigid |= {frozenset(p) for p in _pairs(table.nodes, table.kind, "DIST")}
    sliding = _pairs(table.nodes, table.kind, "PAR")
    for a, b in sliding + _pairs(ranges.nodes, ranges.kind, "DIST"):
        if frozenset((a, b)) not in rigid:
            rigid.add(frozenset((a, b)))
            yield a, b


def _pairs(nodes: Ints, kind: Ints, name: str) -> list[tuple[int, int]]:
    """The first two nodes of the rows of a kind."""
    ends = nodes[kind == ConstraintKind[name], :2].tolist()
    return [(a, b) for a, b in ends]


def _fixed_plane(structure: Structure) -> Floats | None:
    """(3,) normal of the plane that all nodes are in and none can leave, if any."""
    r = structure.r0 - structure.r0.mean(axis=0)
    _, sizes, axes = np.linalg.svd(r)
    if len(sizes) == 3 and sizes[2] > FLAT * sizes[0]:
        return None
    normal: Floats = axes[2] * np.sign(axes[2][np.argmax(np.abs(axes[2]))])
    motions = allowed_motions(structure, state(structure)).reshape(-1, 3)
    return None if np.abs(motions @ normal).max(initial=0.0) > FLAT else normal


def _farthest(r: Floats, axis: list[int], nodes: list[int]) -> int | None:
    """The node farthest from the line through two, None if all are on it."""
    along = r[axis[1]] - r[axis[0]]
    away = np.linalg.norm(np.cross(r[nodes] - r[axis[0]], along), axis=1)
    return nodes[int(away.argmax())] if away.max() > FLAT * (along @ along) else None
