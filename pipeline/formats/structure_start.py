"""What the initial nodes of a file say against its rows, before anything is solved."""

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure

CLOSED = 0.1  # largest misfit that is closed, of the length, else in units of L
ROUNDING = 1e-6  # misfit that nobody meant
LIKELIER = 0.1  # a squared length's misfit as a length, over that as a square


def check_start(structure: Structure) -> None:
    """Refuse nodes that are far from what a row says, or lengths where squares stand.

    A misfit of a tenth at most is closed when the structure is solved.
    """
    if not len(structure.constraints) or not np.ptp(structure.r0, axis=0).any():
        return
    system = system_of(structure)
    linear = linearise(system, state(structure))
    _check_squares(structure, linear.c)
    misfit = np.abs(linear.c / system.scale)
    table = structure.constraints
    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    rows = table.first_row[links]
    squares = table.constant[links]
    apart = np.sqrt(np.maximum(linear.c[rows] + squares, 0.0))
    misfit[rows] = np.abs(apart / np.sqrt(squares) - 1.0)
    worst = int(np.argmax(misfit))
    if not misfit[worst] > CLOSED:
        return
    found = np.flatnonzero(rows == worst)
    if len(found):
        raise ValueError(
            _long_or_short(structure, int(links[found[0]]), apart[found[0]])
        )
    value, constant = _value_and_constant(structure, worst, linear.c)
    raise ValueError(
        f"the start and its constraints contradict: {table.name_of_row(worst)} "
        f"should be {constant:.4g} and is {value:.4g} at the start: move its nodes, or "
        "write joints, whose constants are those of the nodes"
    )


def _check_squares(structure: Structure, c: Floats) -> None:
    """Refuse lengths where the squares of lengths are asked for."""
    table = structure.constraints
    links: Ints = np.flatnonzero(table.kind == ConstraintKind.DIST).astype(np.int64)
    given = table.constant[links]
    square = c[table.first_row[links]] + given
    off = np.abs(given - square) > ROUNDING * square
    if not off.any():
        return
    apart = np.sqrt(square[off])
    as_length, as_square = np.abs(given[off] - apart), np.abs(given[off] - square[off])
    if (as_length <= LIKELIER * as_square).all():
        i = int(links[off][0])
        raise ValueError(
            f"{table.name(i)} holds {given[off][0]:.6g} for nodes {apart[0]:.6g} "
            f"apart, as do {int(off.sum())} rows in all: dist holds squared "
            f"lengths, here {square[off][0]:.6g}; write links, which hold lengths"
        )


def _long_or_short(structure: Structure, i: int, apart: float) -> str:
    """What is wrong with a link."""
    table = structure.constraints
    square = float(table.constant[i])
    said = f"the start and its constraints contradict: {table.name(i)} "
    if table.owners and table.owners[i]:
        return (
            f"{said}has the length {np.sqrt(square):.4g} for nodes {apart:.4g} apart: "
            "move its nodes, or leave out the length"
        )
    return (
        f"{said}holds {square:.4g} for nodes {apart:.4g} apart: dist holds squared "
        f"lengths, here {apart**2:.4g}; write links, or move its nodes"
    )


def _value_and_constant(
    structure: Structure, row: int, c: Floats
) -> tuple[float, float]:
    """What a row that is no link is at the start, and what it should be."""
    table = structure.constraints
    i = int(np.searchsorted(table.first_row, row, side="right")) - 1
    if table.kind[i] in (ConstraintKind.PAR, ConstraintKind.COIN):
        own = c[table.first_row[i] : table.first_row[i + 1]]
        return float(np.linalg.norm(own)), 0.0
    constant = float(table.constant[i])
    return float(c[row]) + constant, constant
