"""In which order to eliminate the unknowns of a sparse symmetric matrix.

Nested dissection: a separator of few unknowns divides the graph in two halves of
similar size; the separator is eliminated last, the halves are ordered in the same
way. The separator is taken from the levels of a breadth-first search that starts at
a far end of the graph. Pieces of at most 64 unknowns are ordered by minimum degree,
their neighbourhoods held in the bits of one integer.

Unknowns with the same neighbours (the three coordinates of a node) are ordered as one.

A graph is given by rows: the neighbours of unknown i, itself among them, ascending,
are `neighbours[start[i]:start[i + 1]]`.
"""

import numpy as np

from sim.arrays import Ints
from sim.kernels import kernel

LEAF = 64  # bits of an integer


def nested_dissection(start: Ints, neighbours: Ints) -> Ints:
    """(n,) the unknowns in the order of their elimination."""
    twin = _twins(start, neighbours)
    leaders = np.flatnonzero(twin == np.arange(len(twin)))
    short_start, short_neighbours = _quotient(start, neighbours, twin, leaders)
    order = _dissect(short_start, short_neighbours)
    rank = np.empty(len(twin), dtype=np.int64)
    rank[leaders[order]] = np.arange(len(order))
    return np.argsort(rank[twin], kind="stable").astype(np.int64)


@kernel
def _twins(start: Ints, neighbours: Ints) -> Ints:
    """(n,) the first unknown that has the same neighbours as each unknown."""
    n = len(start) - 1
    twin = np.arange(n)
    for i in range(n):
        if twin[i] != i:
            continue
        size = start[i + 1] - start[i]
        for p in range(start[i], start[i + 1]):
            j = neighbours[p]
            if j <= i or twin[j] != j or start[j + 1] - start[j] != size:
                continue
            same = True
            for k in range(size):
                if neighbours[start[i] + k] != neighbours[start[j] + k]:
                    same = False
                    break
            if same:
                twin[j] = i
    return twin


@kernel
def _quotient(
    start: Ints, neighbours: Ints, twin: Ints, leaders: Ints
) -> tuple[Ints, Ints]:
    """The graph of the leaders alone, without the unknowns themselves."""
    place = np.full(len(twin), -1)
    for k in range(len(leaders)):
        place[leaders[k]] = k
    short_start = np.zeros(len(leaders) + 1, dtype=np.int64)
    short = np.empty(len(neighbours), dtype=np.int64)
    filled = 0
    for k in range(len(leaders)):
        i = leaders[k]
        for p in range(start[i], start[i + 1]):
            j = place[neighbours[p]]
            if j >= 0 and j != k:
                short[filled] = j
                filled += 1
        short_start[k + 1] = filled
    return short_start, short[:filled]


@kernel
def _levels(
    start: Ints, neighbours: Ints, piece: Ints, root: int, level: Ints, queue: Ints
) -> int:
    """Number the unknowns of root's piece by their distance from root.

    `queue` receives them in the order of their distance; returns how many they are.
    """
    name = piece[root]
    queue[0] = root
    level[root] = 0
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for p in range(start[i], start[i + 1]):
            j = neighbours[p]
            if piece[j] == name and level[j] < 0:
                level[j] = level[i] + 1
                queue[tail] = j
                tail += 1
    return tail


@kernel
def _best_level(level: Ints, queue: Ints, size: int) -> int:
    """The smallest level that leaves at least a third of `size` on either side.

    If there is none, the level at the middle; -1 if that is the first or last level.
    """
    last = level[queue[size - 1]]
    best, best_width = -1, size
    a = 0
    for depth in range(last + 1):
        b = a
        while b < size and level[queue[b]] == depth:
            b += 1
        if 3 * a >= size and 3 * (size - b) >= size and b - a < best_width:
            best, best_width = depth, b - a
        if best < 0 and a <= size // 2 < b and 0 < depth < last:
            best, best_width = depth, b - a
        a = b
    return best


@kernel
def _minimum_degree(
    start: Ints, neighbours: Ints, piece: Ints, members: Ints, local: Ints
) -> Ints:
    """At most 64 members ordered by the number of their neighbours, fill included.

    Neighbours outside, all eliminated later, count with the degree they add.
    """
    size = len(members)
    one = np.uint64(1)
    near = np.zeros(size, dtype=np.uint64)
    outside = np.zeros(size, dtype=np.int64)
    for k in range(size):
        local[members[k]] = k
    for k in range(size):
        i = members[k]
        for p in range(start[i], start[i + 1]):
            j = neighbours[p]
            if piece[j] == piece[i]:
                near[k] |= one << np.uint64(local[j])
            else:
                outside[k] += 1
    alive = np.ones(size, dtype=np.bool_)
    order = np.empty(size, dtype=np.int64)
    for step in range(size):
        best, best_degree = -1, 1 << 60
        for k in range(size):
            if alive[k]:
                degree = outside[k]
                bits = near[k]
                while bits:
                    bits &= bits - one
                    degree += 1
                if degree < best_degree:
                    best, best_degree = k, degree
        alive[best] = False
        order[step] = members[best]
        mask = near[best]
        for k in range(size):
            if alive[k] and (mask >> np.uint64(k)) & one:
                near[k] = (near[k] | mask) & ~(one << np.uint64(k))
                near[k] &= ~(one << np.uint64(best))
                outside[k] = max(outside[k], outside[best])
    return order


@kernel
def _split(
    start: Ints,
    neighbours: Ints,
    piece: Ints,
    level: Ints,
    reached: Ints,
    best: int,
    side: Ints,
) -> None:
    """Mark the reached unknowns: 0 before, 1 behind, 2 in the separator."""
    for q in range(len(reached)):
        i = reached[q]
        if level[i] != best:
            side[i] = 0 if level[i] < best else 1
            continue
        side[i] = 0
        for p in range(start[i], start[i + 1]):
            j = neighbours[p]
            if piece[j] == piece[i] and level[j] == best + 1:
                side[i] = 2
                break


@kernel
def _arrange(members: Ints, side: Ints, buffer: Ints) -> tuple[int, int]:
    """Sort members by side, in place; returns how many are on sides 0 and 1."""
    filled = 0
    counts = np.zeros(3, dtype=np.int64)
    for wanted in range(3):
        for q in range(len(members)):
            if side[members[q]] == wanted:
                buffer[filled] = members[q]
                filled += 1
                counts[wanted] += 1
    members[:] = buffer[: len(members)]
    return counts[0], counts[1]


@kernel
def _dissect(start: Ints, neighbours: Ints) -> Ints:
    """Nested dissection of a graph whose rows do not hold the unknown itself."""
    n = len(start) - 1
    order = np.arange(n)
    piece = np.zeros(n, dtype=np.int64)
    level = np.full(n, -1)
    queue, local, buffer = np.empty((3, n), dtype=np.int64)
    side = np.zeros(n, dtype=np.int64)
    stack = [(0, n)]
    names = 0
    while len(stack) > 0:
        low, high = stack.pop()
        members = order[low:high]
        names += 1
        for q in range(len(members)):
            piece[members[q]] = names
        if high - low <= LEAF:
            if high - low > 2:
                members[:] = _minimum_degree(start, neighbours, piece, members, local)
            continue
        root = members[0]
        reached = 0
        for _ in range(3):  # towards a far end
            for q in range(len(members)):
                level[members[q]] = -1
            reached = _levels(start, neighbours, piece, root, level, queue)
            root = queue[reached - 1]
        if reached < len(members):  # not connected: no separator
            for q in range(len(members)):
                side[members[q]] = 0 if level[members[q]] >= 0 else 1
        else:
            best = _best_level(level, queue, reached)
            if best < 0:  # nearly everything touches everything
                continue
            _split(start, neighbours, piece, level, queue[:reached], best, side)
        before, behind = _arrange(members, side, buffer)
        for q in range(before + behind, len(members)):
            piece[members[q]] = 0  # eliminated after its neighbours
        stack.append((low, low + before))
        stack.append((low + before, low + before + behind))
    return order
