"""Structures in another unit of length.

A multiplier lambda is a pure number, and lengths are not: how much a change of one
counts beside a change of the other depends on the unit. In metres a part of a few
millimetres would seem at rest as soon as lambda is, and rows would seem to depend on
others. Where there are multipliers, Newton steps and ranks are therefore taken in a
unit close to L of eq. (13) of [dJ23]: a power of two, so that scaling to and fro rounds
nothing.
"""

from dataclasses import replace

import numpy as np

from sim.morph.structure.constraints import DEGREE
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.once import once_per_owner


def own_unit(structure: Structure) -> float:
    """The power of two closest to L; 1 without multipliers, or if L vanishes."""
    L = characteristic_length(structure.r0)
    if structure.constraints.multipliers == 0 or L == 0.0:
        return 1.0
    return float(2.0 ** np.round(np.log2(L)))


def in_own_unit(structure: Structure) -> Structure:
    """The same structure in its own unit."""
    unit = own_unit(structure)
    return structure if unit == 1.0 else rescaled(structure, unit)


@once_per_owner
def rescaled(structure: Structure, unit: float) -> Structure:
    """The same structure with its lengths in `unit`."""
    table, goals = structure.constraints, structure.goals
    constant = table.constant / unit ** DEGREE[table.kind].astype(np.float64)
    return replace(
        structure,
        r0=structure.r0 / unit,
        constraints=replace(table, constant=constant),
        goals=None if goals is None else goals / unit,
        solids=structure.solids.scaled(1.0 / unit),
        ranges=structure.ranges.scaled(1.0 / unit),
    )
