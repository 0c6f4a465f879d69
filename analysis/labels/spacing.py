"""Lengths that a scan can distinguish, as close to the nominal ones as possible.

A scan identifies links by their lengths and triangles by their sides, so lengths that
could be taken for each other shall differ by a spacing s.

Links: sum (l' - l)^2 is least under |l'_i - l'_j| >= s. In the order of the nominal
lengths this is isotonic regression of l_i - i s (Barlow and others, Statistical
Inference under Order Restrictions, 1972), solved exactly by pooling neighbours. The
largest change is at most twice the least possible one.

Triangles: the three sides of one differ by s, and of two triangles with ascending sides
at least one. Those that differ already stay as they are. Triangles that are too much
alike get different points of a lattice of pitch s. Which gets which is an assignment
problem; the 8-norm of the changes is least, and with it nearly the largest change. For
sets of two and three it was at most 0.3 s above the least possible one.
A link and a triangle, or two triangles, may share a length: their shapes differ.

`spaced` gives a structure such lengths.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import isotonic_regression, linear_sum_assignment
from scipy.spatial.distance import cdist

from sim.core.arrays import Bools, Floats, Ints, connected
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.design import links_of
from sim.mechanism.mobility import dense_rows, mobility
from sim.mechanism.structure import Structure

HELD = 1e9  # weight of a length that cannot change
NORM = 8  # of the changes of triangles: nearly the largest of them
ENOUGH = 1.0 - 1e-9  # of the spacing, for rounding


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
    """(t, 3) sides of triangles that a scan can tell apart, close to `sides` (t, 3).

    Triangles that are too much alike, and those that they would then be like, are put
    on one lattice; all others have their own sides spaced, if need be.
    """
    order = np.argsort(sides, axis=1, kind="stable")
    nominal = np.take_along_axis(sides, order, axis=1)
    free = np.zeros(3, dtype=np.bool_)
    alone = np.array([spaced_lengths(own, spacing, free) for own in nominal])
    made, alike = alone.copy(), np.zeros((len(sides),) * 2, dtype=np.bool_)
    for _ in sides:  # each time, groups grow together
        close = np.triu(cdist(made, made, "chebyshev") < ENOUGH * spacing, 1)
        if not close.any():
            break
        alike |= close
        group = connected(np.argwhere(alike), len(sides))[1]
        for number in np.unique(group[alike.any(axis=0)]).tolist():
            own = group == number
            made[own] = _on_lattice(nominal[own], alone[own], spacing)
    return np.take_along_axis(made, np.argsort(order, axis=1), axis=1)


def _on_lattice(nominal: Floats, near: Floats, spacing: float) -> Floats:
    """(t, 3) points of a lattice, each another, closest to `nominal` (t, 3), ascending.

    Two points of a lattice of this pitch differ by the spacing in some side. Of eight
    lattices, at the middle of `near` or half a pitch from it, the best one is taken.
    """
    tried = []
    for half in product((0.0, 0.5), repeat=3):
        origin = near.mean(axis=0) + spacing * np.array(half)
        base = np.unique(np.rint((near - origin) / spacing), axis=0)
        points, reach = np.empty((0, 3)), 0
        while len(points) < len(near):
            reach += 1
            steps = np.array(list(product(range(-reach, reach + 1), repeat=3)))
            cells = np.unique((base[:, None] + steps).reshape(-1, 3), axis=0)
            points = origin + spacing * cells
            points = points[np.diff(points, axis=1).min(axis=1) >= ENOUGH * spacing]
        cost = cdist(nominal / spacing, points / spacing, "minkowski", p=NORM) ** NORM
        chosen = linear_sum_assignment(cost)
        tried.append((float(cost[chosen].sum()), points[chosen[1]]))
    return min(tried, key=lambda pair: pair[0])[1]


LARGEST = 3000  # rows whose dependence is taken from a dense matrix


@dataclass(frozen=True, eq=False)
class Spaced:
    """What spacing did.

    Attributes
    ----------
    changed : lengths that changed
    largest_mm : change
    held : links that closed loops with redundant rows keep as they are
    shared : pairs of other lengths that differ less, in bodies of different shapes
    """

    structure: Structure
    changed: int
    largest_mm: float
    held: tuple[str, ...]
    shared: tuple[str, ...]


def spaced(structure: Structure, scale_mm: float, spacing_mm: float) -> Spaced:
    """Change the lengths of links between bodies, and the sides of triangles."""
    table, spacing = structure.constraints, spacing_mm / scale_mm
    length = np.sqrt(np.where(table.kind == ConstraintKind.DIST, table.constant, 0.0))
    made, held = length.copy(), dependent(structure)
    links = np.empty(0, dtype=np.int64)
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
    rows = np.concatenate([links[~held[links]], triangles.ravel()])
    rows = rows[np.argsort(made[rows], kind="stable")]
    near = np.flatnonzero(np.diff(made[rows]) < ENOUGH * spacing)
    pairs = zip(rows[near].tolist(), rows[near + 1].tolist(), strict=True)
    return Spaced(
        replace(structure, constraints=replace(table, constant=constant)),
        int(np.count_nonzero(change > 1e-9)),
        float(change.max(initial=0.0)),
        names,
        tuple(f"{table.name(i)} and {table.name(j)}" for i, j in pairs),
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
    J = dense_rows(linearise(system, state(structure)))
    u, s, _ = np.linalg.svd(J / system.scale[:, None])
    rank = int((s > 1e-9 * s[0]).sum())
    taking_part = np.abs(u[:, rank:]).max(axis=1, initial=0.0) > 1e-8
    rows = np.flatnonzero(taking_part)
    owner = np.searchsorted(table.first_row, rows, side="right") - 1
    found[owner] = True
    return np.asarray(found & (table.kind == ConstraintKind.DIST))
