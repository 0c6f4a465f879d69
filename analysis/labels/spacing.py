"""Lengths that a scan can tell apart, as close to the drawn ones as possible.

A scan tells links by their lengths and triangles by their sides, so lengths that could
be taken for each other shall differ by a spacing s.

Links: sum (l' - l)^2 is least under |l'_i - l'_j| >= s. In the order of the drawn
lengths this is isotonic regression of l_i - i s (Barlow and others, Statistical
Inference under Order Restrictions, 1972), solved exactly by pooling neighbours.

Triangles: three sides, s apart, from a ladder of lengths; no two triangles get the
same three. Which gets which is an assignment problem with the squared changes as costs.
"""

from itertools import combinations, permutations

import numpy as np
from scipy.optimize import isotonic_regression, linear_sum_assignment
from scipy.spatial.distance import pdist

from sim.arrays import Bools, Floats, Ints

HELD = 1e9  # weight of a length that cannot change
MORE = 3  # rungs of a ladder beyond those it needs


def spaced_lengths(lengths: Floats, spacing: float, held: Bools) -> Floats:
    """The closest lengths that differ by `spacing` or more.

    Parameters
    ----------
    lengths : (l,)
    held : (l,) which cannot change; those are not moved, even if they are too close
    """
    order = np.argsort(lengths, kind="stable")
    steps = spacing * np.arange(len(lengths))
    weights = np.where(held[order], HELD, 1.0)
    fitted = isotonic_regression(lengths[order] - steps, weights=weights).x + steps
    made = np.empty_like(lengths)
    made[order] = fitted
    return np.where(held, lengths, made)


def spaced_triangles(sides: Floats, spacing: float) -> Floats:
    """(t, 3) sides of triangles that a scan can tell apart, close to `sides` (t, 3)."""
    if told_apart(sides, spacing):
        return sides.copy()
    least = 3
    while least * (least - 1) * (least - 2) // 6 < len(sides):
        least += 1
    found = [_on_ladder(sides, spacing, least + more) for more in range(MORE + 1)]
    _, best = min(found, key=lambda pair: pair[0])
    return best


def _on_ladder(sides: Floats, spacing: float, rungs: int) -> tuple[float, Floats]:
    ladder = sides.mean() + spacing * (np.arange(rungs) - 0.5 * (rungs - 1))
    triples = ladder[np.array(list(combinations(range(rungs), 3)))]
    orders: Ints = np.array(list(permutations(range(3))))
    cost = np.square(sides[:, None, None] - triples[:, orders]).sum(axis=-1)
    rows, columns = linear_sum_assignment(cost.min(axis=-1))
    chosen = cost[rows, columns].argmin(axis=-1)
    made = np.take_along_axis(triples[columns], orders[chosen], axis=1)
    return float(np.square(sides - made).sum()), made


def told_apart(sides: Floats, spacing: float) -> bool:
    """Whether sides differ within each triangle, and sorted sides between any two."""
    ordered, enough = np.sort(sides, axis=1), spacing * (1.0 - 1e-9)
    within = np.diff(ordered, axis=1).min() >= enough
    return bool(within and pdist(ordered, "chebyshev").min(initial=np.inf) >= enough)
