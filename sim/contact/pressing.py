"""Which pairs push each other in a step, how hard, and where: what friction asks."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.contact.barrier import mollifier
from sim.contact.distance import pair_weights
from sim.contact.potential import cross_square, pair_barrier, pair_energy
from sim.contact.surface import ContactPairs
from sim.kernels import inner, kernel


class Pressing(NamedTuple):
    """Pairs that push each other at the start of a step or at its end.

    Attributes
    ----------
    pair : (c,) their numbers
    push, stiffness : (c, 2) N, and (c,) N/m at the end: minus the slope, and the
        curvature, of the potential in the distance
    weights, normal : (c, 2, 4) and (c, 2, 3), at the start and at the end: the closest
        points are sums of weights times nodes, the normal is along their difference
    """

    pair: Ints
    push: Floats
    stiffness: Floats
    weights: Floats
    normal: Floats


@inner
def _pressed(
    pairs: ContactPairs, k: int, ke: float, x: Floats, y: Floats
) -> tuple[float, float]:
    """Push (N) and stiffness (N/m) of pair k, whose nodes are put into y (4, 3)."""
    energy, d = pair_energy(pairs, k, ke, x, y)
    if energy == 0.0:
        return 0.0, 0.0
    scale = ke * pairs.weight[k]
    if k >= pairs.faces:
        scale *= mollifier(cross_square(y), pairs.mollifier_scale[k])[0]
    _, slope, curvature = pair_barrier(pairs, k, d, scale)
    return -slope, curvature


@inner
def _described(
    y: Floats, first: int, slot: int, weights: Floats, normal: Floats
) -> None:
    """Fill weights and normal of one end of a step."""
    w, dw = np.empty(4), np.empty((2, 4))
    pair_weights(y, first, w, dw)
    square = 0.0
    for c in range(3):
        n = 0.0
        for a in range(4):
            n += w[a] * y[a, c]
        normal[slot, c] = n
        square += n * n
    for c in range(3):
        normal[slot, c] /= np.sqrt(square)
    for a in range(4):
        weights[slot, a] = w[a]


@kernel
def pressing_pairs(
    pairs: ContactPairs, ke: float, before: Floats, after: Floats
) -> Pressing:
    """Of nodes that go from `before` to `after` (n, 3), m; both without overlaps."""
    k = len(pairs.node)
    found = Pressing(
        np.empty(k, dtype=np.int64), np.empty((k, 2)), np.empty(k),
        np.empty((k, 2, 4)), np.empty((k, 2, 3)),
    )  # fmt: skip
    y, z, count = np.empty((4, 3)), np.empty((4, 3)), 0
    for i in range(k):
        start, _ = _pressed(pairs, i, ke, before, y)
        end, stiffness = _pressed(pairs, i, ke, after, z)
        if start == 0.0 and end == 0.0:
            continue
        first = 1 if i < pairs.faces else 2
        _described(y, first, 0, found.weights[count], found.normal[count])
        _described(z, first, 1, found.weights[count], found.normal[count])
        found.pair[count], found.stiffness[count] = i, stiffness
        found.push[count, 0], found.push[count, 1] = start, end
        count += 1
    return Pressing(
        found.pair[:count].copy(), found.push[:count].copy(),
        found.stiffness[:count].copy(), found.weights[:count].copy(),
        found.normal[:count].copy(),
    )  # fmt: skip
