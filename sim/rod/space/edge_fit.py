"""Nodes where given changes of edges put them, as far as supports let them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.linear.sparse import Factor, analyse, factorise

TIE = 1e-9  # of a node to where it would go, in edges as long as the rod


@dataclass(frozen=True, eq=False)
class EdgeFit:
    """Moves of nodes that fit given changes of edges best, by least squares.

    Attributes
    ----------
    edges, weight : (m, 2), (m,) nodes of edges, which weigh by 1 / length
    free : (n, 3) coordinates that are not held
    factors : by axis, of the nodes that are free along it
    """

    edges: Ints
    weight: Floats
    free: Bools
    factors: tuple[Factor, ...]

    def placed(self, bent: Floats, move: Floats) -> Floats:
        """(n, 3) moves.

        Parameters
        ----------
        bent : (m, 3) change of each edge
        move : (n, 3) where nodes go if the edges leave that open
        """
        own = move[self.edges[:, 1]] - move[self.edges[:, 0]]
        apart = self.weight[:, None] * (bent - own)
        pull = np.zeros_like(move)
        np.add.at(pull, self.edges[:, 1], apart)
        np.add.at(pull, self.edges[:, 0], -apart)
        found = move.copy()
        for a, factor in enumerate(self.factors):
            free = self.free[:, a]
            found[free, a] += factor.solve(pull[free, a])
        return found


@lru_cache(maxsize=16)
def edge_fit(edges: bytes, held: bytes, rest_length: bytes) -> EdgeFit:
    """One for all rods whose arrays of these names have the same bytes."""
    pairs = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    free = ~np.frombuffer(held, dtype=np.bool_).reshape(-1, 3)
    weight = 1.0 / np.frombuffer(rest_length, dtype=np.float64)
    factors = tuple(_laplacian(pairs, weight, free[:, a]) for a in range(3))
    return EdgeFit(pairs, weight, free, factors)


def _laplacian(edges: Ints, weight: Floats, free: Bools) -> Factor:
    """Of the graph of edges, with a slight tie of every node to where it is."""
    n = int(free.sum())
    number = np.where(free, np.cumsum(free) - 1, -1)
    i, j = number[edges].T
    own = np.arange(n)
    rows = np.concatenate([i, j, i, own])
    cols = np.concatenate([i, j, j, own])
    tie = np.full(n, TIE / float(np.sum(1.0 / weight)))
    values = np.concatenate([weight, weight, -weight, tie])
    kept = (rows >= 0) & (cols >= 0)
    return factorise(analyse(n, rows[kept], cols[kept]), values[kept])
