"""The surface in a volume of grey values: where they pass halfway between materials.

Computed tomography shows two materials as two heaps of grey values. They are told apart
where the variance between them is largest [Otsu, IEEE Trans. Syst. Man Cybern. 9:62
(1979)], and halfway between their medians is the surface. Between neighbouring voxels
on either side of it, it is found by linear interpolation along each axis.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.arrays import Floats

ASKED = 4_000_000  # voxels that tell the materials
BINS = 1024
APART = 4.0  # scatter of a material by which two are apart, at least
SLAB = 16  # slices at a time


@dataclass(frozen=True)
class TwoMaterials:
    """Two materials of a volume."""

    low: float  # grey values: medians
    high: float
    scatter: float  # the larger sd of either

    @property
    def halfway(self) -> float:
        """The grey value of the surface between them."""
        return (self.low + self.high) / 2.0


def materials(values: NDArray[Any]) -> TwoMaterials:
    """The two materials of a volume.

    Raises
    ------
    ValueError
        where the grey values are one heap.
    """
    flat = values.ravel(order="K")
    some = flat[:: 1 + flat.size // ASKED].astype(np.float64)
    some = some[np.isfinite(some)]
    if not len(some) or some.min() == some.max():
        raise ValueError("its voxels all have one grey value")
    many, edges = np.histogram(some, BINS)
    middle = (edges[1:] + edges[:-1]) / 2.0
    below, sums = np.cumsum(many)[:-1], np.cumsum(many * middle)[:-1]
    above = len(some) - below
    mean = sums[-1] + many[-1] * middle[-1]
    between = (mean * below / len(some) - sums) ** 2 / np.maximum(below * above, 1)
    split = edges[1 + int(np.argmax(between))]
    heaps = some[some < split], some[some >= split]
    low, high = (float(np.median(heap)) for heap in heaps)
    scatter = max(
        1.4826 * float(np.median(np.abs(heap - np.median(heap)))) for heap in heaps
    )
    if high - low < APART * scatter:
        raise ValueError(
            f"its grey values are no two heaps: {low:.4g} and {high:.4g} with a "
            f"scatter of {scatter:.2g}"
        )
    return TwoMaterials(low, high, scatter)


def surface_points(values: NDArray[Any], level: float) -> Iterator[Floats]:
    """Where the grey value passes `level` between neighbouring voxels, slab by slab.

    Parameters
    ----------
    values : (a, b, c) grey values of voxels

    Yields
    ------
    (m, 3) places in voxels; the middle of the first voxel is (0, 0, 0)
    """
    if values.flags.f_contiguous and not values.flags.c_contiguous:
        for places in surface_points(values.T, level):
            yield places[:, ::-1]
        return
    for first in range(0, len(values), SLAB):
        slab = values[first : first + SLAB + 1].astype(np.float64)
        own = slab[:SLAB]
        found = [_passed(slab, level, 0), *(_passed(own, level, a) for a in (1, 2))]
        yield np.concatenate(found) + np.array([first, 0, 0])


def _passed(values: Floats, level: float, axis: int) -> Floats:
    """(m, 3) places between neighbours along an axis that both hold numbers."""
    before, after = (
        np.take(values, range(*part), axis)
        for part in ((0, values.shape[axis] - 1), (1, values.shape[axis]))
    )
    passed = (before < level) != (after < level)
    at = np.nonzero(passed & np.isfinite(before) & np.isfinite(after))
    a, b = before[at].astype(np.float64), after[at].astype(np.float64)
    places = np.column_stack(at).astype(np.float64)
    places[:, axis] += (level - a) / (b - a)
    return places
