"""The contact problem of a step with many contacts of edges, at a cost linear in them.

A contact of an edge acts on three nodes, so it changes no row of its own as in
`sim.rod.stepping.many_contacts`. With the states of all contacts given, eq. (3) and the
step are one system instead, of the nodes' dv and the contacts' impulses p,

    A dv - S^T p = -r
    G dv + C p = -push - G v        of what is closed; p_t = -+ mu p_n where it slides

in blocks of 2 x 2: G of velocities (levers and tangents at the end of the step), S of
impulses (shares and tangents halfway), C the softness of `contacts.solve_coulomb`.
Nodes are ordered as distances from one of them over edges and contacts tell (Cuthill
and McKee, Proc. 24th ACM Conf. 1969), reversed; a contact follows the last of its
nodes, so that its pivot, G A^-1 S^T of what is eliminated before, is positive where the
matrix is symmetric. L and U are kept from the first block of each row, and column, on
(George and Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981,
ch. 4): for rods that lie on each other as many blocks a node, however long they are.
"""

import numpy as np

from sim.kernels import inlined, kernel
from sim.rod.contact.coulomb import FORTH, OPEN, STICK
from sim.rod.contact.touching import TouchSetting
from sim.rod.energy.blocks import BlockMatrix, BlockPattern
from sim.rod.stepping.many_contacts import (
    ALL_AT_ONCE,
    ONE_BY_ONE,
    ROUNDING,
    less_product,
    times,
    wanted,
)
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.touch_system import TouchSystem
from sim.rod.stepping.touches import SOFTER, SOFTNESS
from sim.rod.stepping.workspace import Work

UNPLACED = -1


@inlined
def solve_many_touches(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting,
    factor: BlockMatrix,
    work: Work,
    count: int,
) -> float:
    """Fill work.z with dv, in the order of the columns, and the impulses.

    work.matrix is A, `factor` its factor, work.r the residual. Returns the residual of
    the contact problem, m/s.
    """
    measure_softness(setting.pattern, factor, work, count)
    if not place_blocks(setting, touch, work, count):
        work.memo.full = 1
        return np.inf
    left = np.inf
    for multiple in SOFTER:
        left = with_softness(setting, work, count, SOFTNESS * multiple)
        if left <= scheme.complementarity:
            break
    return left


@kernel
def with_softness(setting: Setting, work: Work, count: int, soft: float) -> float:
    """Look for the states of contacts whose edges give way by this share."""
    space = work.envelope
    for turn in range(ALL_AT_ONCE + ONE_BY_ONE):
        fill_envelope(setting, work, count, soft)
        eliminate(space, len(work.r) + count)
        changes, left = states_asked_for(
            setting, work, count, soft, turn >= ALL_AT_ONCE
        )
        if changes == 0:
            spread_impulses(setting, work, count)
            return left
    return np.inf


@kernel
def measure_softness(
    pattern: BlockPattern, factor: BlockMatrix, work: Work, count: int
) -> None:
    """The diagonal of G A^-1 G^T, 1/kg, by columns of L^-1 along their paths."""
    space = work.envelope
    for c in range(count):
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        space.at[:] = UNPLACED
        for a in range(work.arms[c]):
            j, lever = pattern.place[work.arm[c, a]], work.lever[c, a]
            space.at[a], v = j, space.y[j]
            v[0], v[1] = v[0] - lever * ty, v[1] + lever * tx
            v[2], v[3] = v[2] + lever * tx, v[3] + lever * ty
        normal, along = 0.0, 0.0
        j = first_column(space)
        while j != UNPLACED:
            d, v = factor.diagonal[j], space.y[j]
            normal += d[0] * v[0] * v[0] + 2.0 * d[1] * v[0] * v[1] + d[2] * v[1] * v[1]
            along += d[0] * v[2] * v[2] + 2.0 * d[1] * v[2] * v[3] + d[2] * v[3] * v[3]
            leave_column(pattern, factor, space, j)
            j = first_column(space)
        space.W[c, 0], space.W[c, 1] = normal, along


@kernel
def first_column(space: TouchSystem) -> int:
    """The first of the columns at which the paths of a contact's nodes are."""
    first = UNPLACED
    for j in space.at:
        if j != UNPLACED and (first == UNPLACED or j < first):
            first = j
    return first


@kernel
def leave_column(
    pattern: BlockPattern, factor: BlockMatrix, space: TouchSystem, j: int
) -> None:
    """Eliminate column j of y, and follow the paths that are there to the next."""
    v, begin, end = space.y[j], pattern.start[j], pattern.start[j + 1]
    for p in range(begin, end):
        m, w = factor.lower[p], space.y[pattern.row[p]]
        w[0], w[1] = w[0] - m[0] * v[0] - m[1] * v[1], w[1] - m[2] * v[0] - m[3] * v[1]
        w[2], w[3] = w[2] - m[0] * v[2] - m[1] * v[3], w[3] - m[2] * v[2] - m[3] * v[3]
    v[:] = 0.0
    for a in range(len(space.at)):
        if space.at[a] == j:
            space.at[a] = pattern.row[begin] if end > begin else UNPLACED


@kernel
def place_blocks(setting: Setting, touch: TouchSetting, work: Work, count: int) -> bool:
    """Places of nodes and contacts in the envelope; False where it has no room."""
    space, n = work.envelope, len(work.r)
    chain_arms(work, count)
    space.rank[: n + count] = UNPLACED
    found = 0
    for i in range(n):
        if space.rank[i] == UNPLACED:
            far = i
            for _ in range(2):  # to one end of what hangs together, and to the other
                end = spread_from(setting, touch, work, far, found)
                far = space.queue[end - 1]
                for m in range(found, end):
                    space.rank[space.queue[m]] = UNPLACED
            found = spread_from(setting, touch, work, far, found)
    place_contacts(work)
    return open_rows(setting.pattern, work, count)


@kernel
def chain_arms(work: Work, count: int) -> None:
    """Of each node the contacts that act on it, as a chain."""
    space = work.envelope
    arms = space.next.shape[1]
    space.head[:] = UNPLACED
    for c in range(count):
        for a in range(work.arms[c]):
            i = work.arm[c, a]
            space.next[c, a] = space.head[i]
            space.head[i] = arms * c + a


@kernel
def spread_from(
    setting: Setting, touch: TouchSetting, work: Work, root: int, found: int
) -> int:
    """List nodes by their distance from a root after those found; how many are then."""
    space, edge = work.envelope, setting.element.edge
    rank, queue, arms = space.rank, space.queue, work.envelope.next.shape[1]
    queue[found], rank[root] = root, found
    at, end = found, found + 1
    while at < end:
        i = queue[at]
        at += 1
        for m in range(touch.first[i], touch.first[i + 1]):
            one, other = edge[touch.own[m], 0], edge[touch.own[m], 1]
            if i in (one, other):
                j = one + other - i
                if rank[j] == UNPLACED:
                    rank[j], queue[end] = end, j
                    end += 1
        link = space.head[i]
        while link != UNPLACED:
            c = link // arms
            for a in range(work.arms[c]):
                j = work.arm[c, a]
                if rank[j] == UNPLACED:
                    rank[j], queue[end] = end, j
                    end += 1
            link = space.next[c, link - arms * c]
    return end


@kernel
def place_contacts(work: Work) -> None:
    """Let each contact follow the last of its nodes, in their reversed order."""
    space, n = work.envelope, len(work.r)
    arms, filled = space.next.shape[1], 0
    for m in range(n - 1, -1, -1):
        i = space.queue[m]
        space.rank[i] = filled
        filled += 1
        link = space.head[i]
        while link != UNPLACED:
            c, missing = link // arms, 0
            for a in range(work.arms[c]):
                missing += space.seen[work.arm[c, a]] == 0 and work.arm[c, a] != i
            if missing == 0 and space.rank[n + c] == UNPLACED:
                space.rank[n + c] = filled
                filled += 1
            link = space.next[c, link - arms * c]
        space.seen[i] = 1
    space.seen[:] = 0


@kernel
def open_rows(pattern: BlockPattern, work: Work, count: int) -> bool:
    """Where the blocks of each row begin; False where there is no room for them."""
    space, n = work.envelope, len(work.r)
    rank, first, matrix = space.rank, space.first, work.matrix
    for i in range(n):
        space.queue[pattern.place[i]] = rank[i]
    for p in range(n + count):
        first[p] = p
    for j in range(n):
        for p in range(pattern.start[j], pattern.start[j + 1]):
            m = matrix.lower[p]
            if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0 or m[3] != 0.0:
                a, b = space.queue[j], space.queue[pattern.row[p]]
                first[max(a, b)] = min(first[max(a, b)], a, b)
    for c in range(count):
        p = rank[n + c]
        for a in range(work.arms[c]):
            first[p] = min(first[p], rank[work.arm[c, a]])
    filled = 0
    for p in range(n + count):
        space.begin[p] = filled
        filled += p - first[p]
    space.begin[n + count] = filled
    return filled <= len(space.below)


@kernel
def fill_envelope(setting: Setting, work: Work, count: int, soft: float) -> None:
    """The system for the present states of the contacts."""
    space, pattern, n = work.envelope, setting.pattern, len(work.r)
    rank, queue = space.rank, space.queue
    filled = space.begin[n + count]
    space.below[:filled] = 0.0
    space.above[:filled] = 0.0
    for i in range(n):
        space.z[rank[i], 0], space.z[rank[i], 1] = -work.r[i, 0], -work.r[i, 1]
    for j in range(n):
        d, full = work.matrix.diagonal[j], space.diagonal[queue[j]]
        full[0], full[1], full[2], full[3] = d[0], d[1], d[1], d[2]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            m, a, b = work.matrix.lower[p], queue[j], queue[pattern.row[p]]
            if m[0] != 0.0 or m[1] != 0.0 or m[2] != 0.0 or m[3] != 0.0:
                slot = space.begin[max(a, b)] + min(a, b) - space.first[max(a, b)]
                one = space.below[slot] if b > a else space.above[slot]
                other = space.above[slot] if b > a else space.below[slot]
                one[0], one[1], one[2], one[3] = m[0], m[1], m[2], m[3]
                other[0], other[1], other[2], other[3] = m[0], m[2], m[1], m[3]
    for c in range(count):
        fill_contact(setting, work, c, softness_of(work, c, soft))


@kernel
def softness_of(work: Work, c: int, soft: float) -> float:
    """Of a contact, as a share of what its own impulse moves it."""
    return soft if work.edge[c] >= 0 else 0.0


@kernel
def fill_contact(setting: Setting, work: Work, c: int, soft: float) -> None:
    """The two rows and columns of contact c."""
    space, state = work.envelope, work.state[c]
    p = space.rank[len(work.r) + c]
    full, z = space.diagonal[p], space.z[p]
    full[0], full[1], full[2], full[3] = 1.0, 0.0, 0.0, 1.0
    z[0], z[1] = 0.0, 0.0
    if state == OPEN:
        return
    full[0] = soft * space.W[c, 0]
    if state == STICK:
        full[3] = soft * space.W[c, 1]
    else:
        full[2] = setting.mu if state == FORTH else -setting.mu
    tx, ty = work.frame[c, 0], work.frame[c, 1]
    mx, my = work.middle[c, 0], work.middle[c, 1]
    z[0] = -work.push[c]
    for a in range(work.arms[c]):
        i, lever, share = work.arm[c, a], work.lever[c, a], work.share[c, a]
        slot = space.begin[p] + space.rank[i] - space.first[p]
        row, column = space.below[slot], space.above[slot]
        row[0], row[1] = row[0] - lever * ty, row[1] + lever * tx
        z[0] -= lever * (tx * work.v[i, 1] - ty * work.v[i, 0])
        if state == STICK:
            row[2], row[3] = row[2] + lever * tx, row[3] + lever * ty
            z[1] -= lever * (tx * work.v[i, 0] + ty * work.v[i, 1])
        column[0], column[1] = column[0] + share * my, column[1] - share * mx
        column[2], column[3] = column[2] - share * mx, column[3] - share * my


@kernel
def eliminate(space: TouchSystem, size: int) -> None:
    """Overwrite the blocks by L, U and the inverses of its diagonal; solve for z."""
    below, above, diagonal, z = space.below, space.above, space.diagonal, space.z
    for p in range(size):
        low, at = space.first[p], space.begin[p] - space.first[p]
        d = diagonal[p]
        for q in range(low, p):
            other = space.begin[q] - space.first[q]
            L, U = below[at + q], above[at + q]
            for r in range(max(low, space.first[q]), q):
                less_product(L, below[at + r], above[other + r])
                less_product(U, below[other + r], above[at + r])
            e = diagonal[q]
            times(L, e[0], e[1], e[2], e[3], space.block)
            L[0], L[1] = space.block[0], space.block[1]
            L[2], L[3] = space.block[2], space.block[3]
            less_product(d, L, U)
            z[p, 0] -= L[0] * z[q, 0] + L[1] * z[q, 1]
            z[p, 1] -= L[2] * z[q, 0] + L[3] * z[q, 1]
        xx, xy, yx, yy = d[0], d[1], d[2], d[3]
        f = 1.0 / (xx * yy - xy * yx)
        d[0], d[1], d[2], d[3] = f * yy, -f * xy, -f * yx, f * xx
    for p in range(size - 1, -1, -1):
        d, x, y = diagonal[p], z[p, 0], z[p, 1]
        x, y = d[0] * x + d[1] * y, d[2] * x + d[3] * y
        z[p, 0], z[p, 1] = x, y
        at = space.begin[p] - space.first[p]
        for q in range(space.first[p], p):
            U = above[at + q]
            z[q, 0] -= U[0] * x + U[1] * y
            z[q, 1] -= U[2] * x + U[3] * y


@kernel
def states_asked_for(
    setting: Setting, work: Work, count: int, soft: float, first: bool
) -> tuple[int, float]:
    """Impulses, and the states that they and the velocities ask for.

    Returns how many contacts changed, one at most if `first`, and the residual of
    `coulomb.residual`, m/s.
    """
    space, n, scale = work.envelope, len(work.r), 1e-300
    for c in range(count):
        p = space.rank[n + c]
        work.p[2 * c], work.p[2 * c + 1] = space.z[p, 0], space.z[p, 1]
        own = softness_of(work, c, soft)
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        ux, uy = 0.0, 0.0
        for a in range(work.arms[c]):
            i, lever = work.arm[c, a], work.lever[c, a]
            ux += lever * (work.v[i, 0] + space.z[space.rank[i], 0])
            uy += lever * (work.v[i, 1] + space.z[space.rank[i], 1])
        p_n, p_t = space.W[c, 0] * space.z[p, 0], space.W[c, 1] * space.z[p, 1]
        space.u[c, 0] = tx * uy - ty * ux + work.push[c] + own * p_n
        space.u[c, 1] = tx * ux + ty * uy + own * p_t
        scale = max(scale, abs(ux), abs(uy), abs(p_n), abs(p_t))
    changes, worst, mu = 0, 0.0, setting.mu
    for c in range(count):
        W_n, W_t = space.W[c, 0], space.W[c, 1]
        p_n, p_t = W_n * work.p[2 * c], W_t * work.p[2 * c + 1]
        u_n, u_t = space.u[c, 0], space.u[c, 1]
        most = mu * W_t * max(work.p[2 * c], 0.0)
        r_n = p_n - max(0.0, p_n - u_n)
        r_t = p_t - min(max(p_t - u_t, -most), most)
        worst = max(worst, abs(r_n), abs(r_t))
        ratio = mu * W_t / W_n
        found = wanted(work.state[c], u_n, u_t, p_n, p_t, ratio, ROUNDING * scale)
        if found != work.state[c] and not (first and changes > 0):
            work.state[c] = found
            changes += 1
    return changes, worst


@kernel
def spread_impulses(setting: Setting, work: Work, count: int) -> None:
    """Impulses by coordinates, and dv in the order of the columns."""
    space, place = work.envelope, setting.pattern.place
    work.impulse[:] = 0.0
    for i in range(len(place)):
        j, p = place[i], space.rank[i]
        work.z[j, 0], work.z[j, 1] = space.z[p, 0], space.z[p, 1]
    for c in range(count):
        tx, ty = work.middle[c, 0], work.middle[c, 1]
        p_n, p_t = work.p[2 * c], work.p[2 * c + 1]
        px, py = -ty * p_n + tx * p_t, tx * p_n + ty * p_t
        for a in range(work.arms[c]):
            i, share = work.arm[c, a], work.share[c, a]
            work.impulse[i, 0] += share * px
            work.impulse[i, 1] += share * py
