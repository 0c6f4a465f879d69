"""The cells of (S, size) that a search through an envelope knows; its checkpoints."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.arrays import Floats


class ShapeCells:
    """The cells of (S, size), each with the first configuration found in it."""

    def __init__(self, cell: float) -> None:
        self.cell = cell
        self.place: dict[tuple[int, int], int] = {}
        self.states: list[Floats] = []
        self.left: list[int] = []  # walks that started there

    def add(self, S: float, size: float, z: Floats) -> None:
        place = int(np.floor(S / self.cell)), int(np.floor(size / self.cell))
        if place not in self.place:
            self.place[place] = len(self.states)
            self.states.append(z)
            self.left.append(0)

    def choose(self, rng: np.random.Generator) -> Floats:
        """A configuration of a cell with few departures and few neighbours."""
        around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        alone = [
            sum((i + a, j + b) not in self.place for a, b in around)
            for i, j in self.place
        ]
        weight = (0.25 + np.array(alone)) / (1.0 + np.array(self.left)) ** 2
        k = int(rng.choice(len(weight), p=weight / weight.sum()))
        self.left[k] += 1
        return self.states[k]


class Begun(NamedTuple):
    """The beginning of a walk, from which a continued search goes on.

    Cells and history only grow: those that were known then are the first of them.

    Attributes
    ----------
    sample, walks : how many there were
    left : walks that had started in each cell
    """

    sample: int
    walks: int
    left: list[int]
    found: ShapeCells
    history: list[tuple[float, ...]]

    def arrays(self, made: int) -> dict[str, NDArray[Any]]:
        """What `EnvelopeSearch.resume` goes on from, with `made` samples since then."""
        known = len(self.left)
        places = np.array(list(self.found.place)[:known], dtype=np.int64)
        return {
            "place": places.reshape(-1, 2),
            "states": np.array(self.found.states[:known]),
            "left": np.array(self.left, dtype=np.int64),
            "history": np.array(self.history[: self.sample]).reshape(-1, 4),
            "counts": np.array([self.sample, self.walks, made]),
        }
