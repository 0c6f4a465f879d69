"""Places of joints as what may change of a structure.

A node that is made at another place x of its bodies changes the constants k = h(x) of
all rows that it is in, lengths and cosines alike, and of its supports. So what a place
is worth follows from what constants are worth (`sim.morph.morphing.reactions`) by the
chain rule, with the Jacobian of the rows where the structure is made:

    dE^2/dx = J(x)^T dE^2/dk.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.equations.system import LinearConstraints, linearise, state, system_of
from sim.morph.structure.constraints import WITHOUT_CONSTANT
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class Places:
    """Nodes (p,) that may be made elsewhere; three numbers each, displacement / L."""

    node: Ints
    name: ClassVar[str] = "places"

    @property
    def count(self) -> int:
        return 3 * len(self.node)

    def changed(self, structure: Structure, change: Floats) -> Structure:
        """The structure made with its nodes elsewhere, drawn where they were.

        Raises
        ------
        ValueError
            for a node whose place rows without a constant tie to others.
        """
        self._refuse_tied(structure)
        return structure.with_constants(
            constants_where_made(structure, self.made(structure, change))
        )

    def slope(self, structure: Structure, change: Floats, worth: Floats) -> Floats:
        """(3p,) as in `sim.morph.morphing.design`."""
        in_places = slope_in_places(structure, self.made(structure, change), worth)
        flat: Floats = (
            characteristic_length(structure.r0) * in_places[self.node].ravel()
        )
        return flat

    def made(self, structure: Structure, change: Floats) -> Floats:
        """(n, 3) nodes where the structure is made."""
        r = structure.r0.copy()
        r[self.node] += characteristic_length(r) * change.reshape(-1, 3)
        return r

    def _refuse_tied(self, structure: Structure) -> None:
        table = structure.constraints
        tying = np.isin(table.kind, WITHOUT_CONSTANT)
        tied = np.intersect1d(self.node, table.nodes[tying])
        if len(tied):
            raise ValueError(
                f"the place of node {tied[0]} is tied to others: choose nodes that are "
                "in no par and coin row"
            )


def constants_where_made(structure: Structure, made: Floats) -> Floats:
    """(q,) constants of the rows if the nodes are made at `made` (n, 3)."""
    table, r0 = structure.constraints, structure.r0
    apart = _rows(structure, made).c - _rows(structure, r0).c
    own = apart[table.first_row[:-1]]
    own[np.isin(table.kind, WITHOUT_CONSTANT)] = 0.0
    constants: Floats = table.constant + own
    return constants


def slope_in_places(structure: Structure, made: Floats, worth: Floats) -> Floats:
    """(n, 3) what made places are worth where constants of rows are worth `worth`."""
    return _rows(structure, made).transpose_times(worth)[: len(made)]


def _rows(structure: Structure, made: Floats) -> LinearConstraints:
    """The rows where the structure is made."""
    z = state(structure)
    z[: len(made)] = made
    return linearise(system_of(structure), z)
