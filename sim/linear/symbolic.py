"""Where the factor of a sparse matrix has entries, found before any value is known.

The places come from the elimination tree (Liu, SIAM J. Matrix Anal. Appl. 11, 1990):
its columns are ordered so that those of a front are neighbours, those with the same
places are joined to supernodes, and each front gets its rows. Small supernodes are
amalgamated with their parent, at the price of some zeros in L (relaxed supernodes:
Ashcraft and Grimes, ACM TOMS 15, 1989). Subtrees with enough to do are the branches
that threads share. `sim.linear.sparse` asks for one after the other.
"""

import numpy as np

from sim.arrays import Ints
from sim.kernels import kernel

AMALGAMATE_UP_TO = 8  # columns of a supernode that is amalgamated at any price
MOST_SPLITS = 64  # of the largest branch at its root
LARGEST_BRANCH, SMALLEST_BRANCH = 0.3, 0.02  # of the work, of what threads share
SHARED = 100_000_000  # multiplications from which they do
ZEROS_ALLOWED = 0.2  # share of zeros that amalgamation may bring into larger ones


def shared_branches(
    sizes: Ints, widths: Ints, above: Ints, children: Ints
) -> tuple[Ints, int]:
    """`Fronts.branches` and the room for them: subtrees of less than a third each."""
    fronts = len(sizes)
    work, count = widths * sizes**2, np.ones(fronts, dtype=np.int64)
    _gather(above, work, count)
    roots = [int(s) for s in np.flatnonzero(above < 0)]
    total = int(work[roots].sum())
    for _ in range(MOST_SPLITS if total > SHARED else 0):
        s = max(roots, key=work.__getitem__)
        below = np.flatnonzero(above == s).tolist()
        if work[s] <= LARGEST_BRANCH * work[roots].sum() or not below:
            break
        roots.remove(s)
        roots += below
    least = SMALLEST_BRANCH * total if total > SHARED else np.inf
    told = [s for s in sorted(roots) if work[s] > least]
    cuts = [(s + 1 - int(count[s]), s + 1) for s in told] + [(0, fronts)]
    found, room = np.empty((len(cuts), 4), dtype=np.int64), 0
    for i, (low, high) in enumerate(cuts):
        widest = int(sizes[low:high].max(initial=0)) ** 2
        found[i] = low, high, room, room + widest
        others = found[: i if i == len(told) else 0]
        room += widest + _stack_size(sizes - widths, children, low, high, others)
    return found, room


@kernel
def _gather(above: Ints, work: Ints, count: Ints) -> None:
    """Add to each front what its subtree has."""
    for s in range(len(above)):
        if above[s] >= 0:
            work[above[s]] += work[s]
            count[above[s]] += count[s]


@kernel
def _stack_size(
    updates: Ints, children: Ints, low: int, high: int, others: Ints
) -> int:
    """Most numbers that a stack of update matrices holds at one time.

    Parameters
    ----------
    others : branches that are left out, whose update matrices wait elsewhere
    """
    waiting = np.empty(high - low + 1, dtype=np.int64)
    most = total = count = passed = 0
    s = low
    while s < high:
        if passed < len(others) and others[passed, 0] == s:
            waiting[count] = 0
            s = others[passed, 1]
            passed += 1
        else:
            for _ in range(children[s]):
                count -= 1
                total -= waiting[count]
            waiting[count] = updates[s] ** 2
            s += 1
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
