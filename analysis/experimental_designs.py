"""Experimental designs: which values a study gives to what it varies."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from sim.core.arrays import Floats

Point = dict[str, Any]


class Design(Enum):
    """How the points of a study are laid out."""

    GRID = "grid"
    LIST = "list"
    RANDOM = "random"
    LATIN_HYPERCUBE = "latin_hypercube"
    SOBOL = "sobol"
    ADAPTIVE = "adaptive"  # the points come one by one, from what was found before


@dataclass(frozen=True)
class Range:
    """Values between two ends.

    Parameters
    ----------
    count : how many a grid takes, both ends included
    log : evenly spaced in the logarithm
    integer : rounded to whole numbers
    """

    low: float
    high: float
    count: int = 0
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(
                f"range {self.low} to {self.high} is empty: give low < high"
            )
        if not np.isfinite(float(self.high) - float(self.low)):
            raise ValueError(f"the range from {self.low} to {self.high} must be finite")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range must start above 0, not {self.low}")
        if self.count < 0:
            raise ValueError(f"count must be positive, not {self.count}")

    def at(self, u: Floats) -> list[float | int]:
        """Values at the places `u` in [0, 1], (p,), between the two ends."""
        if self.log:
            values = self.low * (self.high / self.low) ** u
        else:
            values = self.low + (self.high - self.low) * u
        if self.integer:
            return [int(v) for v in np.round(values)]
        return [float(v) for v in values]

    def grid(self) -> list[float | int]:
        """The values of a grid."""
        if self.count < 2:
            raise ValueError(
                f"the range from {self.low} to {self.high} needs a count of 2 or more "
                f"in a grid, not {self.count}"
            )
        return self.at(np.linspace(0.0, 1.0, self.count))


Values = Range | Sequence[Any]


def grid_points(vary: Mapping[str, Values]) -> list[Point]:
    """Every combination, the last name varying fastest."""
    rows = [v.grid() if isinstance(v, Range) else list(v) for v in vary.values()]
    return [dict(zip(vary, row, strict=True)) for row in itertools.product(*rows)]


def _unit_sample(design: Design, dimension: int, samples: int, seed: int) -> Floats:
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    if design is Design.RANDOM:
        return rng.random((samples, dimension))
    if design is Design.LATIN_HYPERCUBE:
        return np.asarray(qmc.LatinHypercube(dimension, rng=rng).random(samples))
    # The first 2^k points of a scrambled sequence contain the first 2^(k-1).
    power = max(samples - 1, 1).bit_length()
    sequence: Floats = qmc.Sobol(dimension, rng=rng).random_base2(power)
    return sequence[:samples]


def sampled_points(
    design: Design, vary: Mapping[str, Values], samples: int, seed: int
) -> list[Point]:
    """A seeded sample; from a list values are taken with equal weight."""
    unit = _unit_sample(design, len(vary), samples, seed)
    columns = []
    for values, u in zip(vary.values(), unit.T, strict=True):
        if isinstance(values, Range):
            columns.append(values.at(u))
        else:
            chosen = np.minimum((u * len(values)).astype(int), len(values) - 1)
            columns.append([values[i] for i in chosen])
    return [dict(zip(vary, row, strict=True)) for row in zip(*columns, strict=True)]
