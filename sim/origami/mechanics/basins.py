"""Minima of an energy on a grid, and the lowest pass from each to a deeper one.

Points are added from the lowest on and joined with their neighbours; where two pools
meet, the shallower one ends, at the height of its pass (watershed by immersion).
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from sim.arrays import Floats


@dataclass(frozen=True)
class Basin:
    """A minimum of the grid.

    Attributes
    ----------
    at : its place in the grid
    energy, climb : its own; what it takes to a deeper minimum, inf from the deepest
    inside : whether it lies off the rim of the grid, beyond which it may go on
    """

    at: tuple[int, ...]
    energy: float
    climb: float
    inside: bool


def basins(energy: Floats) -> list[Basin]:
    """The minima of a grid of any dimension, by energy; corners count as neighbours."""
    owner: dict[tuple[int, ...], tuple[int, ...]] = {}
    climb: dict[tuple[int, ...], float] = {}

    def root(at: tuple[int, ...]) -> tuple[int, ...]:
        while owner[at] != at:
            owner[at] = owner[owner[at]]
            at = owner[at]
        return at

    order = np.stack(
        np.unravel_index(np.argsort(energy, axis=None, kind="stable"), energy.shape),
        axis=1,
    )
    steps = [d for d in product((-1, 0, 1), repeat=energy.ndim) if any(d)]
    for row in order.tolist():
        at = tuple(row)
        near = [tuple(a + b for a, b in zip(at, d, strict=True)) for d in steps]
        pools = sorted({root(p) for p in near if p in owner}, key=lambda p: energy[p])
        owner[at] = pools[0] if pools else at
        if not pools:
            climb[at] = np.inf
        for shallow in pools[1:]:
            climb[shallow] = float(energy[at] - energy[shallow])
            owner[shallow] = pools[0]
    return [
        Basin(
            at,
            float(energy[at]),
            up,
            all(0 < i < n - 1 for i, n in zip(at, energy.shape, strict=True)),
        )
        for at, up in climb.items()
    ]
