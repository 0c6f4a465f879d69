"""Nodes where given changes of edges put them, as far as supports let them."""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats
from sim.linear.sparse import Factor, analyse, factorise
from sim.rod.space.space_rod import SpaceRod

TIE = 1e-9  # of a node to where it would go, in edges as long as the rod


@dataclass(frozen=True, eq=False)
class EdgeFit:
    """Moves of nodes that fit given changes of edges best, by least squares.

    Attributes
    ----------
    rod : whose edges weigh by 1 / length
    factors : by axis, of the nodes that are free along it
    """

    rod: SpaceRod
    factors: tuple[Factor, ...]

    @classmethod
    def of(cls, rod: SpaceRod) -> "EdgeFit":
        return cls(rod, tuple(_laplacian(rod, ~rod.held[:, a]) for a in range(3)))

    def placed(self, bent: Floats, move: Floats) -> Floats:
        """(n, 3) moves.

        Parameters
        ----------
        bent : (m, 3) change of each edge
        move : (n, 3) where nodes go if the edges leave that open
        """
        edges, weight = self.rod.edges, 1.0 / self.rod.rest_length[:, None]
        own = move[edges[:, 1]] - move[edges[:, 0]]
        pull = np.zeros_like(move)
        np.add.at(pull, edges[:, 1], weight * (bent - own))
        np.add.at(pull, edges[:, 0], -weight * (bent - own))
        found = move.copy()
        for a, factor in enumerate(self.factors):
            free = ~self.rod.held[:, a]
            found[free, a] += factor.solve(pull[free, a])
        return found


def _laplacian(rod: SpaceRod, free: Bools) -> Factor:
    """Of the graph of edges, with a slight tie of every node to where it is."""
    n = int(free.sum())
    number = np.where(free, np.cumsum(free) - 1, -1)
    weight = 1.0 / rod.rest_length
    i, j = number[rod.edges].T
    own = np.arange(n)
    rows = np.concatenate([i, j, i, own])
    cols = np.concatenate([i, j, j, own])
    tie = np.full(n, TIE / rod.length)
    values = np.concatenate([weight, weight, -weight, tie])
    kept = (rows >= 0) & (cols >= 0)
    return factorise(analyse(n, rows[kept], cols[kept]), values[kept])
