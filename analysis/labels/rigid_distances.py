"""What survives when a mechanism moves: the distances inside its rigid bodies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from sim.core.arrays import Bools, Floats, Ints, body_pairs


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Nodes of a printed mechanism as the simulation predicts them, and its bodies.

    Parameters
    ----------
    nodes_mm : (n, 3) predicted configuration, mm; any state of the mechanism serves
        for the distances inside bodies, the predicted one serves as a hint as well
    bodies : sets of nodes whose mutual distances are constant; a link has two
    """

    nodes_mm: Floats
    bodies: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        n = len(self.nodes_mm)
        for body in self.bodies:
            wrong = [node for node in body if not 0 <= node < n]
            if wrong:
                raise ValueError(
                    f"body {list(body)} names node {wrong[0]}, but the structure has "
                    f"nodes 0 to {n - 1}: correct the structure's bodies"
                )
            if len(set(body)) != len(body) or len(body) < 2:
                raise ValueError(
                    f"body {list(body)} must name two or more different nodes: correct "
                    "the structure's bodies"
                )

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.nodes_mm)

    @cached_property
    def pairs(self) -> Ints:
        """(p, 2) pairs of nodes at a constant distance, each once, first < second."""
        return body_pairs(self.bodies)

    @cached_property
    def pair_body(self) -> Ints:
        """(p,) the first body that each pair belongs to."""
        first: dict[tuple[int, ...], int] = {}
        for k, body in enumerate(self.bodies):
            for ends in combinations(body, 2):
                first.setdefault(tuple(sorted(ends)), k)
        return np.array([first[tuple(pair)] for pair in self.pairs.tolist()], np.int64)

    @cached_property
    def lengths_mm(self) -> Floats:
        """(p,) the distance of each pair, mm."""
        ends = self.nodes_mm[self.pairs]
        return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))

    @cached_property
    def mates(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """For each node the nodes at a constant distance from it, with the distance."""
        mates: list[list[tuple[int, float]]] = [[] for _ in range(self.n)]
        for (i, j), length in zip(self.pairs, self.lengths_mm, strict=True):
            mates[i].append((int(j), float(length)))
            mates[j].append((int(i), float(length)))
        return tuple(tuple(m) for m in mates)

    def triples_of(self, usable: Bools) -> list[tuple[int, int, int]]:
        """Three nodes each to start a search from: of bodies, else of chains of links.

        The two first ones are a rigid pair, and so are the first and the third.

        Parameters
        ----------
        usable : (n,) nodes that may be used
        """
        if any(len(body) >= 3 for body in self.bodies):
            parts = [[j for j in body if usable[j]] for body in self.bodies]
            return [_widest_triple(self.nodes_mm, p) for p in parts if len(p) >= 3]
        chains: list[tuple[int, int, int]] = []
        for node, mates in enumerate(self.mates):
            ends = [j for j, _ in mates if usable[node] and usable[j]]
            chains += [(node, a, b) for a, b in combinations(ends, 2)]
        return chains


def _widest_triple(nodes: Floats, body: Sequence[int]) -> tuple[int, int, int]:
    """The three nodes of a body that span the largest triangle."""
    best, area = tuple(body[:3]), -1.0
    for triple in combinations(body, 3):
        a, b, c = nodes[list(triple)]
        size = float(np.linalg.norm(np.cross(b - a, c - a)))
        if size > area:
            best, area = triple, size
    return best[0], best[1], best[2]


def ordered_from(
    mechanism: Mechanism, known: Sequence[int], missing: Sequence[int]
) -> list[int]:
    """The `missing` nodes in an order in which each has many mates before it."""
    before = set(known)
    left = list(missing)
    count = {j: sum(i in before for i, _ in mechanism.mates[j]) for j in left}
    order = []
    while left:
        node = max(left, key=lambda j: (count[j], -j))
        left.remove(node)
        order.append(node)
        for mate, _ in mechanism.mates[node]:
            if mate in count:
                count[mate] += 1
    return order
