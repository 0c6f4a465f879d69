"""In which order to eliminate, and where the factor then has entries.

Both are found before any value is known; `sim.linalg.sparse_ldl` asks for one after the
other. The places come from the elimination tree (Liu, SIAM J. Matrix Anal. Appl. 11,
1990): its columns are ordered so that those of a front are neighbours, those with the
same places are joined to supernodes, and each front gets its rows. Small supernodes are
amalgamated with their parent, at the price of some zeros in L (relaxed supernodes:
Ashcraft and Grimes, ACM TOMS 15, 1989).

The order is that of multiple minimum degree (Liu, ACM TOMS 11, 1985), as SuperLU makes
it. Indistinguishable unknowns, with the same neighbours (the three coordinates of a
node), are ordered as one supervariable; its first unknown is the principal one.
"""

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.linalg import splu

from sim.core.arrays import Ints
from sim.core.numba_kernels import kernel

AMALGAMATE_UP_TO = 8  # columns of a supernode that is amalgamated at any price
ZEROS_ALLOWED = 0.2  # share of zeros that amalgamation may bring into larger ones


def minimum_degree(n: int, rows: Ints, cols: Ints) -> Ints:
    """(n,) the unknowns of a graph in the order of their elimination.

    Parameters
    ----------
    rows, cols : (e,) pairs of neighbours, either way round
    """
    own = np.arange(n)
    i, j = np.concatenate([rows, cols, own]), np.concatenate([cols, rows, own])
    graph = coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsc()
    graph.sum_duplicates()
    first: dict[bytes, int] = {}
    columns = pairwise(graph.indptr.tolist())
    seen = (graph.indices[low:high].tobytes() for low, high in columns)
    group = np.array([first.setdefault(one, len(first)) for one in seen], dtype=int)
    if len(first) < 2:
        return own
    principal = np.unique(group, return_index=True)[1]
    short = graph[:, principal][principal]
    short.data[:] = -1.0
    short.setdiag(1.0 + len(principal))  # no pivot vanishes
    lu = splu(
        short, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip
    return np.argsort(lu.perm_c[group], kind="stable").astype(np.int64)


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
