"""Which rows of a body say what the others of its nodes do not say yet.

To first order at the initial nodes: what is known of the motion of a group of nodes is
kept as orthonormal rows, and a constraint says more where its gradient is not among
them ([dJ23], Methods, Mobility).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.structure.constraints import ROWS, Constraint, ConstraintTable
from sim.morph.structure.measures import rigid_motions
from sim.morph.structure.structure import Structure

ALWAYS = -1  # group of a row that is taken in any case
NEW = 1e-7  # share of a row at right angles to others from which it says more

Gradient = tuple[Ints, Floats]  # nodes (p,) and rows (q, p, 3) of a constraint


def gradients_of(r: Floats, rows: Sequence[Constraint]) -> list[Gradient]:
    """Of each constraint, without its multiplier."""
    made = Structure(r, ConstraintTable.of(rows), np.arange(len(r)))
    system = system_of(made)
    linear = linearise(system, state(made), eliminate=True)
    first = made.constraints.first_row
    order = np.argsort(system.block_row, kind="stable")
    bounds = np.searchsorted(system.block_row[order], first)
    found = []
    for i, row in enumerate(rows):
        chosen = order[bounds[i] : bounds[i + 1]]
        chosen = chosen[system.block_node[chosen] < len(r)]
        place = np.unique(system.block_node[chosen])
        slopes = np.zeros((ROWS[row.kind], len(place), 3))
        at = np.searchsorted(place, system.block_node[chosen])
        np.add.at(slopes, (system.block_row[chosen] - first[i], at), linear.B[chosen])
        found.append((place, slopes))
    return found


@dataclass(eq=False)
class Spans:
    """What is known of the motion of each group's nodes, as orthonormal rows."""

    r: Floats
    groups: list[tuple[Ints, list[Ints]]]
    _group: int = ALWAYS
    _basis: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def says_more(
        self,
        group: int,
        place: Ints,
        slopes: Floats,
        known: dict[int, list[int]],
        gradients: list[Gradient],
    ) -> bool:
        """Whether a constraint raises the rank; what it says is known from then on."""
        if group != self._group:
            self._group = group
            self._basis = self._begin(known, gradients)
        return self._add(spread(self.groups[group][0], place, slopes))

    def _begin(self, known: dict[int, list[int]], gradients: list[Gradient]) -> Floats:
        """Rows of the group's own nodes, and what it shares with rigid bodies."""
        nodes, common = self.groups[self._group]
        self._basis = np.empty((0, 3 * len(nodes)))
        for shared in common:
            motions = rigid_motions(self.r[shared])
            left = np.linalg.svd(motions, full_matrices=True)[0]
            rows = left[:, motions.shape[1] :].T.reshape(-1, len(shared), 3)
            self._add(spread(nodes, shared, rows))
        within = {i for node in nodes.tolist() for i in known[node]}
        for i in sorted(within):
            place, slopes = gradients[i]
            if np.isin(place, nodes).all():
                self._add(spread(nodes, place, slopes))
        return self._basis

    def _add(self, rows: Floats) -> bool:
        """Whether rows (q, p) say more than the basis, which they join."""
        more = False
        for row in rows:
            size = float(np.linalg.norm(row))
            if size == 0.0:
                continue
            rest = row / size
            for _ in range(2):  # once more, for what rounding left
                rest = rest - self._basis.T @ (self._basis @ rest)
            left = float(np.linalg.norm(rest))
            if left > NEW:
                self._basis = np.vstack([self._basis, rest / left])
                more = True
        return more


def spread(nodes: Ints, place: Ints, slopes: Floats) -> Floats:
    """(q, 3p) rows over all nodes of a group, which are sorted."""
    rows = np.zeros((len(slopes), len(nodes), 3))
    rows[:, np.searchsorted(nodes, place)] = slopes
    return rows.reshape(len(slopes), -1)
