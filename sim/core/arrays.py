"""Names of the array types that the solvers exchange, and what arrays share."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def cross(a: Floats, b: Floats) -> Floats:
    """Cross products of the last axes; of a pair in a fifth of `numpy.cross`'s time."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    first = y * w - z * v
    out = np.empty((*first.shape, 3))
    out[..., 0], out[..., 1], out[..., 2] = first, z * u - x * w, x * v - y * u
    return out


def connected(pairs: Ints, count: int) -> tuple[int, Ints]:
    """How many parts pairs (p, 2) join `count` things to, and the part of each."""
    from scipy.sparse import coo_array  # slow to import, and most need none
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(count, count))
    parts, label = connected_components(graph, directed=False)
    return int(parts), label.astype(np.int64)


def body_pairs(bodies: Iterable[Sequence[int]]) -> Ints:
    """(p, 2) nodes of one body, each pair once, the lower number first."""
    pairs = {(min(p), max(p)) for body in bodies for p in combinations(body, 2)}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def among(pairs: Ints, others: Ints) -> Bools:
    """(q,) which rows of pairs (q, 2) are rows of others (p, 2), either way round."""
    known = {frozenset(pair) for pair in others.tolist()}
    found = [frozenset(pair) in known for pair in pairs.tolist()]
    return np.array(found, dtype=np.bool_)


def triangle_sides(triangles: Ints) -> tuple[Ints, Ints]:
    """(q, 2) sides of triangles (t, 3), each once, and of how many each is one (q,)."""
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    sides, count = np.unique(np.sort(ends, axis=1), axis=0, return_counts=True)
    return sides, count


def refuse_first(bad: Bools | np.bool_, message: Callable[[int], str]) -> None:
    """Refuse an array that has a bad row, with what `message` says of the first."""
    rows = np.flatnonzero(bad)
    if len(rows):
        raise ValueError(message(int(rows[0])))
