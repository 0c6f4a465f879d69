"""A structure with lengths that a scan can tell apart."""

from dataclasses import dataclass, replace

import numpy as np

from analysis.labels.spacing import spaced_lengths, spaced_triangles
from sim.arrays import Bools, Ints
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.mobility.mobility import mobility
from sim.morph.morphing.design import links_of
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure

LARGEST = 3000  # rows whose dependence is taken from a dense matrix


@dataclass(frozen=True, eq=False)
class Spaced:
    """What spacing did.

    Attributes
    ----------
    changed : lengths that changed
    largest_mm : change
    held : links that closed loops with redundant rows keep as drawn
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
            f"the structure has {system.m} rows, some of them redundant: lengths are "
            f"spaced in structures of {LARGEST} rows at most"
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
    links: Bools = found & (table.kind == ConstraintKind.DIST)
    return links
