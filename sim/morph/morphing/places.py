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
        table, nothing = structure.constraints, np.zeros_like(change)
        apart = self._made(structure, change).c - self._made(structure, nothing).c
        return structure.with_constants(table.constant + apart[table.first_row[:-1]])

    def slope(self, structure: Structure, change: Floats, worth: Floats) -> Floats:
        """(3p,) as in `sim.morph.morphing.design`."""
        made = self._made(structure, change)
        L = characteristic_length(structure.r0)
        flat: Floats = L * made.transpose_times(worth)[self.node].ravel()
        return flat

    def _made(self, structure: Structure, change: Floats) -> LinearConstraints:
        """The rows where the structure is made."""
        z, L = state(structure), characteristic_length(structure.r0)
        z[self.node] += L * change.reshape(-1, 3)
        return linearise(system_of(structure), z)

    def _refuse_tied(self, structure: Structure) -> None:
        table = structure.constraints
        tying = np.isin(table.kind, WITHOUT_CONSTANT)
        tied = np.intersect1d(self.node, table.nodes[tying])
        if len(tied):
            raise ValueError(
                f"the place of node {tied[0]} is tied to others: choose nodes that are "
                "in no par and coin row"
            )
