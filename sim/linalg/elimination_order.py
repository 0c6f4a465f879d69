"""In which order to eliminate, and where the factor then has entries.

Both are found before any value is known; `sim.linalg.sparse` asks for one after the
other. The places come from the elimination tree (Liu, SIAM J. Matrix Anal. Appl. 11,
1990): its columns are ordered so that those of a front are neighbours, those with the
same places are joined to supernodes, and each front gets its rows. Small supernodes are
amalgamated with their parent, at the price of some zeros in L (relaxed supernodes:
Ashcraft and Grimes, ACM TOMS 15, 1989).

The order is nested dissection (George, SIAM J. Numer. Anal. 10, 1973): a separator of
few unknowns divides the graph in two halves of similar size; the separator is
eliminated last, the halves are ordered in the same way. The separator is taken from a
level structure rooted at a pseudo-peripheral unknown (George and Liu, Computer Solution
of Large Sparse Positive Definite Systems, 1981, ch. 8). Pieces of at most 64 unknowns
are ordered by minimum degree, their adjacency held in the bits of one integer; as in
Amestoy, Davis and Duff, SIAM J. Matrix Anal. Appl. 17 (1996), what lies outside counts
approximately.

Indistinguishable unknowns, with the same neighbours (the three coordinates of a node),
are ordered as one supervariable; its first unknown is the principal one.

A graph is given by rows: the neighbours of unknown i, itself among them, ascending,
are `neighbours[start[i]:start[i + 1]]`.
"""

from itertools import pairwise

import numpy as np

from sim.core.arrays import Ints
from sim.core.numba_kernels import kernel

AMALGAMATE_UP_TO = 8  # columns of a supernode that is amalgamated at any price
ZEROS_ALLOWED = 0.2  # share of zeros that amalgamation may bring into larger ones
LEAF = 64  # bits of an integer


def nested_dissection(start: Ints, neighbours: Ints) -> Ints:
    """(n,) the unknowns in the order of their elimination."""
    first: dict[bytes, int] = {}
    places = pairwise(start.tolist())
    rows = (neighbours[low:high].tobytes() for low, high in places)
    owners = [first.setdefault(row, i) for i, row in enumerate(rows)]
    supervariable = np.array(owners, dtype=np.int64)
    principal = np.array(list(first.values()), dtype=np.int64)
    order = _dissect(*_graph_of(start, neighbours, principal))
    rank = np.empty(len(supervariable), dtype=np.int64)
    rank[principal[order]] = np.arange(len(order))
    return np.argsort(rank[supervariable], kind="stable").astype(np.int64)


def _graph_of(start: Ints, neighbours: Ints, principal: Ints) -> tuple[Ints, Ints]:
    """The graph of the principal unknowns alone, without themselves."""
    place = np.full(len(start) - 1, -1)
    place[principal] = np.arange(len(principal))
    one, other = np.repeat(place, np.diff(start)), place[neighbours]
    kept = (one >= 0) & (other >= 0) & (one != other)
    short_start = np.searchsorted(one[kept], np.arange(len(principal) + 1))
    return short_start.astype(np.int64), other[kept]


@kernel
def level_structure(
    start: Ints, neighbours: Ints, piece: Ints, root: int, level: Ints, queue: Ints
) -> int:
    """The level structure of root's piece: each unknown's distance from root.

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
def _separator_level(level: Ints, queue: Ints, size: int) -> int:
    """The smallest level that as separator leaves a third of `size` on either side.

    If there is none, the level at the middle; -1 if that is the first or last level.
    """
    last = level[queue[size - 1]]
    chosen, least_width = -1, size
    a = 0
    for depth in range(last + 1):
        b = a
        while b < size and level[queue[b]] == depth:
            b += 1
        if 3 * a >= size and 3 * (size - b) >= size and b - a < least_width:
            chosen, least_width = depth, b - a
        if chosen < 0 and a <= size // 2 < b and 0 < depth < last:
            chosen, least_width = depth, b - a
        a = b
    return chosen


@kernel
def _minimum_degree(
    start: Ints, neighbours: Ints, piece: Ints, members: Ints, local: Ints
) -> Ints:
    """At most 64 members ordered by the number of their neighbours, fill included.

    Neighbours outside, all eliminated later, count with the degree they add.
    """
    size = len(members)
    one = np.uint64(1)
    adjacent = np.zeros(size, dtype=np.uint64)
    outside = np.zeros(size, dtype=np.int64)
    for k in range(size):
        local[members[k]] = k
    for k in range(size):
        i = members[k]
        for p in range(start[i], start[i + 1]):
            j = neighbours[p]
            if piece[j] == piece[i]:
                adjacent[k] |= one << np.uint64(local[j])
            else:
                outside[k] += 1
    alive = np.ones(size, dtype=np.bool_)
    order = np.empty(size, dtype=np.int64)
    for step in range(size):
        chosen, least_degree = -1, 1 << 60
        for k in range(size):
            if alive[k]:
                degree = outside[k]
                bits = adjacent[k]
                while bits:
                    bits &= bits - one
                    degree += 1
                if degree < least_degree:
                    chosen, least_degree = k, degree
        alive[chosen] = False
        order[step] = members[chosen]
        mask = adjacent[chosen]
        for k in range(size):
            if alive[k] and (mask >> np.uint64(k)) & one:
                adjacent[k] = (adjacent[k] | mask) & ~(one << np.uint64(k))
                adjacent[k] &= ~(one << np.uint64(chosen))
                outside[k] = max(outside[k], outside[chosen])
    return order


@kernel
def _separate(
    start: Ints,
    neighbours: Ints,
    piece: Ints,
    level: Ints,
    reached: Ints,
    chosen: int,
    side: Ints,
) -> None:
    """Mark the reached unknowns: 0 before, 1 behind, 2 in the separator."""
    for q in range(len(reached)):
        i = reached[q]
        if level[i] != chosen:
            side[i] = 0 if level[i] < chosen else 1
            continue
        side[i] = 0
        for p in range(start[i], start[i + 1]):
            j = neighbours[p]
            if piece[j] == piece[i] and level[j] == chosen + 1:
                side[i] = 2
                break


@kernel
def _arrange(members: Ints, side: Ints) -> tuple[int, int]:
    """Sort members by side, in place; returns how many are on sides 0 and 1."""
    former, size, filled = members.copy(), np.zeros(3, dtype=np.int64), 0
    for wanted in range(3):
        for i in former:
            if side[i] == wanted:
                members[filled] = i
                filled += 1
                size[wanted] += 1
    return size[0], size[1]


@kernel
def _dissect(start: Ints, neighbours: Ints) -> Ints:
    """Nested dissection of a graph whose rows do not hold the unknown itself."""
    n = len(start) - 1
    order = np.arange(n)
    piece = np.zeros(n, dtype=np.int64)
    level = np.full(n, -1)
    queue, local = np.empty((2, n), dtype=np.int64)
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
                ordered = _minimum_degree(start, neighbours, piece, members, local)
                for q in range(len(members)):
                    members[q] = ordered[q]
            continue
        root = members[0]
        reached = 0
        for _ in range(3):  # towards a far end
            for q in range(len(members)):
                level[members[q]] = -1
            reached = level_structure(start, neighbours, piece, root, level, queue)
            root = queue[reached - 1]
        if reached < len(members):  # not connected: no separator
            for q in range(len(members)):
                side[members[q]] = 0 if level[members[q]] >= 0 else 1
        else:
            chosen = _separator_level(level, queue, reached)
            if chosen < 0:  # nearly everything touches everything
                continue
            _separate(start, neighbours, piece, level, queue[:reached], chosen, side)
        before, behind = _arrange(members, side)
        for q in range(before + behind, len(members)):
            piece[members[q]] = 0  # eliminated after its neighbours
        stack.append((low, low + before))
        stack.append((low + before, low + before + behind))
    return order


@kernel
def stack_size(updates: Ints, children: Ints) -> int:
    """Most numbers that the stack of update matrices holds at one time.

    Parameters
    ----------
    updates : (s,) rows of the update matrix of each front
    children : (s,) how many update matrices are added to each front
    """
    waiting = np.empty(len(updates) + 1, dtype=np.int64)
    most = total = count = 0
    for s in range(len(updates)):
        for _ in range(children[s]):
            count -= 1
            total -= waiting[count]
        waiting[count] = updates[s] ** 2
        total += waiting[count]
        count += 1
        most = max(most, total)
    return most


@kernel
def elimination_tree(start: Ints, row: Ints) -> tuple[Ints, Ints]:
    """Parents in the elimination tree, and the entries in each column of L."""
    n = len(start) - 1
    parent = np.full(n, -1)
    count = np.zeros(n, dtype=np.int64)
    seen = np.full(n, -1)
    for k in range(n):
        seen[k] = k
        for p in range(start[k], start[k + 1]):
            i = row[p]
            while seen[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                count[i] += 1
                seen[i] = k
                i = parent[i]
    return parent, count


@kernel
def postorder(parent: Ints) -> Ints:
    """(n,) nodes of a forest, each after its children."""
    n = len(parent)
    child, sibling = np.full(n, -1), np.full(n, -1)
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            sibling[i] = child[parent[i]]
            child[parent[i]] = i
    order = np.empty(n, dtype=np.int64)
    stack = np.empty(n, dtype=np.int64)
    filled = 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        stack[0] = root
        top = 0
        while top >= 0:
            i = stack[top]
            if child[i] >= 0:
                top += 1
                stack[top] = child[i]
                child[i] = sibling[child[i]]
            else:
                order[filled] = i
                filled += 1
                top -= 1
    return order


@kernel
def supernodes(parent: Ints, count: Ints) -> Ints:
    """(s + 1,) first columns of the supernodes.

    Column k joins column k + 1 if that is its parent in the elimination tree and has
    the same rows in L (fundamental supernodes); or nearly the same, or it is small.
    """
    n = len(parent)
    first = np.empty(n + 1, dtype=np.int64)
    fronts = 0
    zeros = 0
    begin = 0
    for k in range(n):
        width = k - begin + 1
        last = k + 1 == n or parent[k] != k + 1
        if not last:
            more = (count[k + 1] + 1 - count[k]) * width
            rows = width + 1 + count[k + 1]
            join = more == 0 or width < AMALGAMATE_UP_TO
            join = join or zeros + more <= ZEROS_ALLOWED * rows * (width + 1)
            if join:
                zeros += more
                continue
        first[fronts] = begin
        fronts += 1
        begin, zeros = k + 1, 0
    first[fronts] = n
    return first[: fronts + 1].copy()


@kernel
def front_sizes(first: Ints, parent: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Rows of each front, and its parent, which takes its update matrix; -1: none."""
    fronts = len(first) - 1
    owner = np.empty(first[-1], dtype=np.int64)
    sizes = np.empty(fronts, dtype=np.int64)
    above = np.full(fronts, -1)
    for s in range(fronts):
        for k in range(first[s], first[s + 1]):
            owner[k] = s
        sizes[s] = first[s + 1] - first[s] + count[first[s + 1] - 1]
    for s in range(fronts):
        up = parent[first[s + 1] - 1]
        if up >= 0:
            above[s] = owner[up]
    return sizes, above


@kernel
def front_rows(
    start: Ints, row: Ints, first: Ints, above: Ints, front_start: Ints
) -> Ints:
    """(q,) rows of every front, ascending: its columns, then its update matrix's."""
    fronts = len(first) - 1
    rows = np.empty(front_start[-1], dtype=np.int64)
    filled = front_start[:-1].copy()
    seen = np.full(first[-1], -1)
    head, after = np.full(fronts, -1), np.full(fronts, -1)
    for s in range(fronts):
        for k in range(first[s], first[s + 1]):
            rows[filled[s]] = k
            filled[s] += 1
            seen[k] = s
        for k in range(first[s], first[s + 1]):
            for p in range(start[k], start[k + 1]):
                if seen[row[p]] != s:
                    seen[row[p]] = s
                    rows[filled[s]] = row[p]
                    filled[s] += 1
        child = head[s]
        while child >= 0:
            for p in range(front_start[child], front_start[child + 1]):
                k = rows[p]
                if k >= first[s] and seen[k] != s:
                    seen[k] = s
                    rows[filled[s]] = k
                    filled[s] += 1
            child = after[child]
        rows[front_start[s] : front_start[s + 1]].sort()
        if above[s] >= 0:
            after[s] = head[above[s]]
            head[above[s]] = s
    return rows
