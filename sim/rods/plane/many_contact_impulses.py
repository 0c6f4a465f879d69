"""The contact problem of a step with many contacts, at a cost linear in them.

`contact_problem` has a column of the inverse for each contact, best for a few. With the
states of all contacts given, eq. (3) is as well a matrix with rows for them (as the
modified mass of [Hu20], eqs. (4) and (5), has): the impulse p of each is an unknown,

    A dv - S^T p = -r
    G dv + C p = -push - G v        of what is closed; p_t = -+ mu p_n where it slides

in blocks of 2 x 2: G of velocities (weights and tangents at the end of the step), S of
impulses (weights and tangents halfway), C a little softness of contacts of edges.

The matrix is not symmetric, and L U takes the place of L D L^T. Its blocks are placed
anew, nodes by their distance from one of them over edges and contacts (Cuthill and
McKee, Proc. 24th ACM Conf. 1969), reversed. A contact follows the last of its nodes, so
that its pivot, G A^-1 S^T of what is eliminated before, is positive where the matrix is
symmetric. States are changed until all conditions hold, as in `contact_impulses`.
"""

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.linalg.elimination_order import elimination_tree, front_rows, level_structure
from sim.rods.plane.contact_impulses import (
    OPEN,
    SLIP_POSITIVE,
    STICK,
    change_states,
    largest_velocity,
    residual,
)
from sim.rods.plane.edge_contact import COMPLIANCE, COMPLIANCE_FACTORS
from sim.rods.plane.state import ContactSystem, Run, Work

MANY = 64  # contacts from which on rows are changed
ALL_AT_ONCE = 12  # rounds in which every contact may change its state
ONE_BY_ONE = 200  # then rounds in which the first of them does
ROUNDING = 1e-11  # of the largest velocity
UNPLACED = -1


@kernel
def solve_many(run: Run, crowd: bool | None, count: int) -> float:
    """Fill work.z with dv, in the order of the columns, and the impulses.

    work.matrix is A, work.r the residual. Returns that of the contact problem, m/s.
    Where `crowd` is None, nothing of this is compiled: contacts are never many.
    """
    if crowd is None:
        return np.inf
    method, work = run.method, run.work
    measure_compliance(run, count)
    if not place_blocks(run, count):
        work.memo.full = 1
        return np.inf
    left = np.inf
    for multiple in COMPLIANCE_FACTORS:
        left = find_states(run, count, COMPLIANCE * multiple)
        if left <= method.complementarity:
            break
    return left


@kernel
def find_states(run: Run, count: int, soft: float) -> float:
    """Look for the states of contacts whose edges give way by this share."""
    model, work = run.model, run.work
    system, space, mu = work.system, work.space, model.mu
    blocks = len(work.r) + count
    state, p, u = work.state[:count], work.p[: 2 * count], space.u[: 2 * count]
    for turn in range(ALL_AT_ONCE + ONE_BY_ONE):
        fill_system(run, count, soft)
        factorise_rows(system, blocks)
        solve_rows(system, blocks)
        read_solution(run, count, soft)
        small = ROUNDING * largest_velocity(space.own, u, p)
        left = residual(space.own, u, mu, p)
        first = turn >= ALL_AT_ONCE
        if change_states(space.own, u, mu, state, p, small, first) == 0:
            return left
    return np.inf


@kernel
def measure_compliance(run: Run, count: int) -> None:
    """The diagonal of G A^-1 G^T, 1/kg, by columns of L^-1 along their paths."""
    pattern, factor, work = run.model.pattern, run.state.factor, run.work
    y, at = work.system.y, work.system.at
    for c in range(count):
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        at[:] = UNPLACED
        for a in range(work.node_count[c]):
            j, weight = pattern.place[work.acts_on[c, a]], work.weight[c, a]
            at[a], v = j, y[j]
            v[0], v[1] = v[0] - weight * ty, v[1] + weight * tx
            v[2], v[3] = v[2] + weight * tx, v[3] + weight * ty
        across, along = 0.0, 0.0
        j = first_column(at)
        while j != UNPLACED:
            d, v = factor.diagonal[j], y[j]
            across += d[0] * v[0] * v[0] + 2.0 * d[1] * v[0] * v[1] + d[2] * v[1] * v[1]
            along += d[0] * v[2] * v[2] + 2.0 * d[1] * v[2] * v[3] + d[2] * v[3] * v[3]
            leave_column(run, j)
            j = first_column(at)
        work.space.own[2 * c], work.space.own[2 * c + 1] = across, along


@kernel
def first_column(at: Ints) -> int:
    """The first of the columns at which the paths of a contact's nodes are."""
    first = UNPLACED
    for j in at:
        if j != UNPLACED and (first == UNPLACED or j < first):
            first = j
    return first


@kernel
def leave_column(run: Run, j: int) -> None:
    """Eliminate column j of y, and follow the paths that are there to the next."""
    pattern, factor, system = run.model.pattern, run.state.factor, run.work.system
    v, begin, end = system.y[j], pattern.start[j], pattern.start[j + 1]
    for p in range(begin, end):
        m, w = factor.lower[p], system.y[pattern.row[p]]
        w[0], w[1] = w[0] - m[0] * v[0] - m[1] * v[1], w[1] - m[2] * v[0] - m[3] * v[1]
        w[2], w[3] = w[2] - m[0] * v[2] - m[1] * v[3], w[3] - m[2] * v[2] - m[3] * v[3]
    v[:] = 0.0
    for a in range(len(system.at)):
        if system.at[a] == j:
            system.at[a] = pattern.row[begin] if end > begin else UNPLACED


@kernel
def place_blocks(run: Run, count: int) -> bool:
    """Places of nodes and contacts, and the blocks of L; False without room for them.

    Nodes are placed as if those of a contact were joined, and each contact after the
    last of its nodes.
    """
    work = run.work
    system, place, n = work.system, work.system.place, len(work.r)
    k = n + count
    pairs = coupled(run, count, False)
    first, second = pairs[:, 0].copy(), pairs[:, 1].copy()
    start, row = lists(
        n, np.concatenate((first, second)), np.concatenate((second, first))
    )
    key = np.zeros(k, dtype=np.int64)
    for rank, i in enumerate(by_distance(start, row)):
        key[i] = 2 * (n - 1 - rank)
    for c in range(count):
        for a in range(work.node_count[c]):
            key[n + c] = max(key[n + c], key[work.acts_on[c, a]] + 1)
    for rank, i in enumerate(lists(2 * n, key, np.arange(k))[1]):
        place[i] = rank
    pairs = coupled(run, count, True)
    first, second = place[pairs[:, 0]], place[pairs[:, 1]]
    low, high = np.minimum(first, second), np.maximum(first, second)
    start, row = lists(k, high, low)
    parent, size = elimination_tree(start, row)
    begin = np.zeros(k + 1, dtype=np.int64)
    for j in range(k):
        begin[j + 1] = begin[j] + size[j] + 1
    if begin[k] - k > len(system.row):
        return False
    start, row = lists(k, low, high)
    rows = front_rows(start, row, np.arange(k + 1), parent, begin)
    for j in range(k + 1):
        system.start[j] = begin[j] - j
    for j in range(k):
        for q in range(begin[j] + 1, begin[j + 1]):
            system.row[q - j - 1] = rows[q]
    return True


@kernel
def by_distance(start: Ints, row: Ints) -> Ints:
    """(n,) nodes of each piece of a graph by their distance from one of its ends."""
    n, found = len(start) - 1, 0
    queue, piece, level = np.empty(n, np.int64), np.zeros(n, np.int64), np.full(n, -1)
    for i in range(n):
        if level[i] >= 0:
            continue
        part, root = queue[found:], i
        size = level_structure(start, row, piece, root, level, part)
        for _ in range(2):  # to one end of what hangs together, and to the other
            root = part[size - 1]
            for q in range(size):
                level[part[q]] = -1
            size = level_structure(start, row, piece, root, level, part)
        found += size
    return queue


@kernel
def coupled(run: Run, count: int, contacts: bool) -> Ints:
    """(m, 2) blocks that elements and contacts couple: contact c is the block n + c.

    contacts : whether they are blocks; else the nodes of each are coupled
    """
    model, work = run.model, run.work
    edge, bend, n = model.element.edge, model.element.bend, len(work.r)
    found = np.empty((len(edge) + len(bend) + 3 * count, 2), dtype=np.int64)
    filled = len(edge)
    for e in range(filled):
        found[e, 0], found[e, 1] = edge[e, 0], edge[e, 1]
    for b in range(len(bend)):
        found[filled, 0], found[filled, 1] = bend[b, 0], bend[b, 2]
        filled += 1
    for c in range(count):
        nodes = work.node_count[c]
        for a in range(nodes):
            found[filled, 0] = work.acts_on[c, a]
            found[filled, 1] = n + c if contacts else work.acts_on[c, (a + 1) % nodes]
            filled += 1
    return found[:filled]


@kernel
def lists(n: int, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """start (n + 1,), row (m,): the second of all pairs by their first."""
    start, row = np.zeros(n + 1, dtype=np.int64), np.empty_like(second)
    for i in first:
        start[i + 1] += 1
    start = np.cumsum(start)
    filled = start.copy()
    for q in range(len(first)):
        row[filled[first[q]]] = second[q]
        filled[first[q]] += 1
    return start, row


@kernel
def fill_system(run: Run, count: int, soft: float) -> None:
    """The rows and right-hand side for the present states of the contacts."""
    model, work = run.model, run.work
    system, pattern, matrix, n = work.system, model.pattern, work.matrix, len(work.r)
    stored = system.start[n + count]
    system.below[:stored], system.above[:stored] = 0.0, 0.0
    for i in range(n):
        d, at = matrix.diagonal[pattern.place[i]], system.place[i]
        fill_block(system.diagonal[at], d[0], d[1], d[1], d[2])
        system.z[at, 0], system.z[at, 1] = -work.r[i, 0], -work.r[i, 1]
    for j in range(n):
        for q in range(pattern.start[j], pattern.start[j + 1]):
            m, a, b = matrix.lower[q], system.node[j], system.node[pattern.row[q]]
            if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0 or m[3] != 0.0:
                fill_block(block_at(system, b, a), m[0], m[1], m[2], m[3])
                fill_block(block_at(system, a, b), m[0], m[2], m[1], m[3])
    for c in range(count):
        fill_contact(run, c, softness_of(work, c, soft))


@kernel
def softness_of(work: Work, c: int, soft: float) -> float:
    """Of a contact, as a share of what its own impulse moves it."""
    return soft if work.edge[c] >= 0 else 0.0


@kernel
def fill_contact(run: Run, c: int, soft: float) -> None:
    """The two rows and columns of contact c; where it is open they say p = 0."""
    model, work = run.model, run.work
    system, space, state = work.system, work.space, work.state[c]
    own = len(work.r) + c
    full, z = system.diagonal[system.place[own]], system.z[system.place[own]]
    fill_block(full, 1.0, 0.0, 0.0, 1.0)
    z[:] = 0.0
    if state == OPEN:
        return
    full[0] = soft * space.own[2 * c]
    if state == STICK:
        full[3] = soft * space.own[2 * c + 1]
    else:
        full[2] = model.mu if state == SLIP_POSITIVE else -model.mu
    tx, ty = work.frame[c, 0], work.frame[c, 1]
    mx, my = work.middle[c, 0], work.middle[c, 1]
    z[0] = -work.closing[c]
    for a in range(work.node_count[c]):
        i, weight, push = work.acts_on[c, a], work.weight[c, a], work.push_weight[c, a]
        vx, vy = work.v[i, 0], work.v[i, 1]
        row = block_at(system, own, i)
        row[0], row[1] = -weight * ty, weight * tx
        z[0] -= weight * (tx * vy - ty * vx)
        if state == STICK:
            row[2], row[3] = weight * tx, weight * ty
            z[1] -= weight * (tx * vx + ty * vy)
        sx, sy = push * mx, push * my
        fill_block(block_at(system, i, own), sy, -sx, -sx, -sy)


@kernel
def block_at(system: ContactSystem, row: int, column: int) -> Floats:
    """(4,) the block of two of the nodes and contacts, off the diagonal."""
    a, b = system.place[row], system.place[column]
    low, high = min(a, b), max(a, b)
    begin, end = system.start[low], system.start[low + 1]
    while end - begin > 1:
        half = (begin + end) // 2
        if system.row[half] > high:
            end = half
        else:
            begin = half
    blocks = system.below if a > b else system.above
    block: Floats = blocks[begin]
    return block


@kernel
def fill_block(block: Floats, xx: float, xy: float, yx: float, yy: float) -> None:
    """block <- (xx xy; yx yy)."""
    block[0], block[1], block[2], block[3] = xx, xy, yx, yy


@kernel
def less_product(block: Floats, a: Floats, b: Floats) -> None:
    """block <- block - a b."""
    block[0] -= a[0] * b[0] + a[1] * b[2]
    block[1] -= a[0] * b[1] + a[1] * b[3]
    block[2] -= a[2] * b[0] + a[3] * b[2]
    block[3] -= a[2] * b[1] + a[3] * b[3]


@kernel
def factorise_rows(system: ContactSystem, blocks: int) -> None:
    """Overwrite the matrix by L, U and the inverses of its diagonal blocks."""
    diagonal, below, above = system.diagonal, system.below, system.above
    start, row = system.start, system.row
    for j in range(blocks):
        d = diagonal[j]
        xx, xy, yx, yy = d[0], d[1], d[2], d[3]
        f = 1.0 / (xx * yy - xy * yx)
        xx, xy, yx, yy = f * yy, -f * xy, -f * yx, f * xx
        d[0], d[1], d[2], d[3] = xx, xy, yx, yy
        begin, end = start[j], start[j + 1]
        for p in range(begin, end):
            a, b, c, e = below[p, 0], below[p, 1], below[p, 2], below[p, 3]
            below[p, 0], below[p, 1] = a * xx + b * yx, a * xy + b * yy
            below[p, 2], below[p, 3] = c * xx + e * yx, c * xy + e * yy
        for p in range(begin, end):
            less_product(diagonal[row[p]], below[p], above[p])
            t = start[row[p]]
            for q in range(p + 1, end):
                while row[t] != row[q]:
                    t += 1
                less_product(below[t], below[q], above[p])
                less_product(above[t], below[p], above[q])


@kernel
def solve_rows(system: ContactSystem, blocks: int) -> None:
    """z <- that of the system."""
    start, z = system.start, system.z
    for j in range(blocks):
        for p in range(start[j], start[j + 1]):
            i, m = system.row[p], system.below[p]
            z[i, 0] -= m[0] * z[j, 0] + m[1] * z[j, 1]
            z[i, 1] -= m[2] * z[j, 0] + m[3] * z[j, 1]
    for j in range(blocks - 1, -1, -1):
        x, y = z[j, 0], z[j, 1]
        for p in range(start[j], start[j + 1]):
            i, m = system.row[p], system.above[p]
            x -= m[0] * z[i, 0] + m[1] * z[i, 1]
            y -= m[2] * z[i, 0] + m[3] * z[i, 1]
        d = system.diagonal[j]
        z[j, 0], z[j, 1] = d[0] * x + d[1] * y, d[2] * x + d[3] * y


@kernel
def read_solution(run: Run, count: int, soft: float) -> None:
    """dv in the order of the columns, impulses, and velocities of the contacts."""
    model, work = run.model, run.work
    system, pattern, n = work.system, model.pattern, len(work.r)
    space, work.impulse[:] = work.space, 0.0
    for i in range(n):
        z, dv = system.z[system.place[i]], work.z[pattern.place[i]]
        dv[0], dv[1] = z[0], z[1]
    for c in range(count):
        p_n, p_t = system.z[system.place[n + c]]
        mx, my, k = work.middle[c, 0], work.middle[c, 1], 2 * c
        tx, ty, ux, uy = work.frame[c, 0], work.frame[c, 1], 0.0, 0.0
        for a in range(work.node_count[c]):
            i, weight = work.acts_on[c, a], work.weight[c, a]
            dv, impulse = work.z[pattern.place[i]], work.impulse[i]
            push = work.push_weight[c, a]
            impulse[0] += push * (mx * p_t - my * p_n)
            impulse[1] += push * (mx * p_n + my * p_t)
            ux += weight * (work.v[i, 0] + dv[0])
            uy += weight * (work.v[i, 1] + dv[1])
        own = softness_of(work, c, soft)
        work.p[k], work.p[k + 1] = p_n, p_t
        apart, slid = own * space.own[k] * p_n, own * space.own[k + 1] * p_t
        space.u[k] = tx * uy - ty * ux + work.closing[c] + apart
        space.u[k + 1] = tx * ux + ty * uy + slid
