"""Lengths that a scan can distinguish, as close to the nominal ones as possible.

A scan identifies links by their lengths and triangles by their sides, so lengths that
could be taken for each other shall differ by a spacing s.

Links: sum (l' - l)^2 is least under |l'_i - l'_j| >= s. In the order of the nominal
lengths this is isotonic regression of l_i - i s (Barlow and others, Statistical
Inference under Order Restrictions, 1972), solved exactly by pooling neighbours.

Triangles: three sides, s apart, from a ladder of lengths; no two triangles get the
same three. Which gets which is an assignment problem with the squared changes as costs.

`spaced` gives a structure such lengths.
"""

from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np
from scipy.optimize import isotonic_regression, linear_sum_assignment
from scipy.spatial.distance import pdist

from sim.core.arrays import Bools, Floats, Ints
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.design import links_of
from sim.mechanism.mobility import mobility
from sim.mechanism.structure import Structure

HELD = 1e9  # weight of a length that cannot change
MORE = 3  # rungs of a ladder beyond those it needs


def spaced_lengths(lengths: Floats, spacing: float, held: Bools) -> Floats:
    """The closest lengths that differ by `spacing` or more.

    Parameters
    ----------
    lengths : (l,)
    held : (l,) which cannot change; those are not moved, even if they are too close
    """
    order = np.argsort(lengths, kind="stable")
    steps = spacing * np.arange(len(lengths))
    weights = np.where(held[order], HELD, 1.0)
    fitted = isotonic_regression(lengths[order] - steps, weights=weights).x + steps
    made = np.empty_like(lengths)
    made[order] = fitted
    return np.where(held, lengths, made)


def spaced_triangles(sides: Floats, spacing: float) -> Floats:
    """(t, 3) sides of triangles that a scan can tell apart, close to `sides` (t, 3)."""
    if are_distinct(sides, spacing):
        return sides.copy()
    least = 3
    while least * (least - 1) * (least - 2) // 6 < len(sides):
        least += 1
    found = [_on_ladder(sides, spacing, least + more) for more in range(MORE + 1)]
    _, best = min(found, key=lambda pair: pair[0])
    return best


def _on_ladder(sides: Floats, spacing: float, rungs: int) -> tuple[float, Floats]:
    ladder = sides.mean() + spacing * (np.arange(rungs) - 0.5 * (rungs - 1))
    triples = ladder[np.array(list(combinations(range(rungs), 3)))]
    orders: Ints = np.array(list(permutations(range(3))))
    cost = np.square(sides[:, None, None] - triples[:, orders]).sum(axis=-1)
    rows, columns = linear_sum_assignment(cost.min(axis=-1))
    chosen = cost[rows, columns].argmin(axis=-1)
    made = np.take_along_axis(triples[columns], orders[chosen], axis=1)
    return float(np.square(sides - made).sum()), made


def are_distinct(sides: Floats, spacing: float) -> bool:
    """Whether sides differ within each triangle, and sorted sides between any two."""
    ordered, enough = np.sort(sides, axis=1), spacing * (1.0 - 1e-9)
    within = np.diff(ordered, axis=1).min() >= enough
    return bool(within and pdist(ordered, "chebyshev").min(initial=np.inf) >= enough)


LARGEST = 3000  # rows whose dependence is taken from a dense matrix


@dataclass(frozen=True, eq=False)
class Spaced:
    """What spacing did.

    Attributes
    ----------
    changed : lengths that changed
    largest_mm : change
    held : links that closed loops with redundant rows keep as they are
    """

    structure: Structure
    changed: int
    largest_mm: float
    held: tuple[str, ...]


def spaced(structure: Structure, scale_mm: float, spacing_mm: float) -> Spaced:
    """Change the lengths of links between bodies, and the sides of triangles."""
    table, spacing = structure.constraints, spacing_mm / scale_mm
    length = np.sqrt(np.where(table.kind == ConstraintKind.DIST, table.constant, 0.0))
    made, held = length.copy(), dependent(structure)
    if any(len(body) == 2 for body in structure.bodies):
        links = links_of(structure).constraint
        made[links] = spaced_lengths(length[links], spacing, held[links])
    triangles = _triangles(structure)
    triangles = triangles[~held[triangles].any(axis=1)]
    if len(triangles):
        made[triangles] = spaced_triangles(length[triangles], spacing)
    constant = np.where(table.kind == ConstraintKind.DIST, made**2, table.constant)
    change = scale_mm * np.abs(made - length)
    names = tuple(table.name(int(i)) for i in np.flatnonzero(held))
    return Spaced(
        replace(structure, constraints=replace(table, constant=constant)),
        int(np.count_nonzero(change > 1e-9)),
        float(change.max(initial=0.0)),
        names,
    )


def _triangles(structure: Structure) -> Ints:
    """(t, 3) constraints of the sides of bodies of three nodes."""
    table = structure.constraints
    place = {
        frozenset(table.nodes[i, :2].tolist()): i
        for i in np.flatnonzero(table.kind == ConstraintKind.DIST).tolist()
    }
    found = []
    for body in structure.bodies:
        if len(body) == 3:
            a, b, c = body
            sides = [place.get(frozenset(pair)) for pair in ((a, b), (b, c), (c, a))]
            if None not in sides:
                found.append(sides)
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def dependent(structure: Structure) -> Bools:
    """(q,) links whose length other constraints fix, to first order.

    With y J = 0, only changes with y . dc = 0 keep loops closed; lengths that occur in
    such a y stay as they are.
    """
    table = structure.constraints
    found = np.zeros(len(table), dtype=np.bool_)
    if not len(mobility(structure).redundant):
        return found
    system = system_of(structure)
    if system.m > LARGEST:
        raise ValueError(
            f"the structure has {system.m} constraints, some redundant: at most "
            f"{LARGEST} are supported; remove the redundant ones"
        )
    linear = linearise(system, state(structure))
    J = np.zeros((system.m, system.n + system.k, 3))
    J[system.block_row, system.block_node] = linear.B
    dense = J.reshape(system.m, -1) / system.scale[:, None]
    u, s, _ = np.linalg.svd(dense)
    rank = int((s > 1e-9 * s[0]).sum())
    taking_part = np.abs(u[:, rank:]).max(axis=1, initial=0.0) > 1e-8
    rows = np.flatnonzero(taking_part)
    owner = np.searchsorted(table.first_row, rows, side="right") - 1
    found[owner] = True
    return np.asarray(found & (table.kind == ConstraintKind.DIST))
