"""The contact problem of a step with many contacts, at a cost linear in them.

`sim.rod.stepping.contacts` has a column of the inverse for each contact, which is best
for a few. With the states of all contacts given, eq. (3) is as well a change of rows
of A dv = -r + p (the modified mass of [Hu20], eqs. (4) and (5)):

    take off    the row as it is
    stick       dv = -push n - v
    slide       n . dv = -push - n . v,     d . (A dv + r) = 0

with d across the impulse n +- mu t. So the matrix keeps its blocks, but not its
symmetry, and L U takes the place of L D L^T. The impulses are what is left of the rows
as they were, and states are changed until all conditions hold, as in
`sim.rod.contact.coulomb`.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import inlined, kernel
from sim.rod.contact.coulomb import BACK, FORTH, OPEN, STICK
from sim.rod.energy.blocks import BlockPattern
from sim.rod.energy.stiffness import multiply
from sim.rod.stepping.setting import Setting
from sim.rod.stepping.workspace import Work

MANY = 64  # contacts from which on the rows are changed
ALL_AT_ONCE = 12  # rounds in which every contact may change its state
ONE_BY_ONE = 200  # then rounds in which the first of them does
ROUNDING = 1e-11  # of the largest velocity


@inlined
def solve_many(setting: Setting, work: Work, count: int) -> float:
    """Fill work.z with dv, in the order of the columns, and the impulses.

    work.matrix is A, work.r the residual. Returns that of the contact problem, m/s.
    """
    work.impulse[:] = 0.0
    for turn in range(ALL_AT_ONCE + ONE_BY_ONE):
        set_rows(setting, work, count)
        factorise_rows(setting.pattern, work.diagonal, work.below, work.above)
        solve_rows(setting.pattern, work.diagonal, work.below, work.above, work.z)
        multiply(setting.pattern, work.matrix, work.z, work.product)
        changes, left = new_states(setting, work, count, turn >= ALL_AT_ONCE)
        if changes == 0:
            return left
    return np.inf


@kernel
def set_rows(setting: Setting, work: Work, count: int) -> None:
    """The rows and right-hand side for the present states of the contacts."""
    place, pattern = setting.pattern.place, setting.pattern
    work.row[:] = 0.0
    work.row[:, 0], work.row[:, 3] = 1.0, 1.0
    for i in range(len(place)):
        work.z[place[i], 0], work.z[place[i], 1] = -work.r[i, 0], -work.r[i, 1]
    for c in range(count):
        if work.state[c] != OPEN:
            i = work.who[c]
            row = work.row[place[i]]
            row[0], row[1], row[2], row[3] = 0.0, 0.0, 0.0, 0.0
            if work.state[c] != STICK:
                ratio = -setting.mu if work.state[c] == FORTH else setting.mu
                mx, my = work.middle[c, 0], work.middle[c, 1]
                row[2], row[3] = mx + ratio * my, my - ratio * mx
    for j in range(len(place)):
        d, row, full = work.matrix.diagonal[j], work.row[j], work.diagonal[j]
        times(row, d[0], d[1], d[1], d[2], full)
        for p in range(pattern.start[j], pattern.start[j + 1]):
            m = work.matrix.lower[p]
            times(work.row[pattern.row[p]], m[0], m[1], m[2], m[3], work.below[p])
            times(row, m[0], m[2], m[1], m[3], work.above[p])
        zx, zy = work.z[j, 0], work.z[j, 1]
        work.z[j, 0] = row[0] * zx + row[1] * zy
        work.z[j, 1] = row[2] * zx + row[3] * zy
    for c in range(count):
        if work.state[c] != OPEN:
            _hold(work, c, place[work.who[c]])


@kernel
def _hold(work: Work, c: int, j: int) -> None:
    """Let contact c, of column j, keep its normal velocity; both where it sticks."""
    vx, vy = work.v[work.who[c], 0], work.v[work.who[c], 1]
    tx, ty = work.frame[c, 0], work.frame[c, 1]
    full = work.diagonal[j]
    full[0], full[1] = -ty, tx
    work.z[j, 0] = -work.push[c] + ty * vx - tx * vy
    if work.state[c] == STICK:
        full[2], full[3] = tx, ty
        work.z[j, 1] = -tx * vx - ty * vy


@kernel
def times(
    row: Floats, xx: float, xy: float, yx: float, yy: float, product: Floats
) -> None:
    """product <- row times (xx xy; yx yy)."""
    product[0], product[1] = row[0] * xx + row[1] * yx, row[0] * xy + row[1] * yy
    product[2], product[3] = row[2] * xx + row[3] * yx, row[2] * xy + row[3] * yy


@kernel
def less_product(block: Floats, a: Floats, b: Floats) -> None:
    """block <- block - a b."""
    block[0] -= a[0] * b[0] + a[1] * b[2]
    block[1] -= a[0] * b[1] + a[1] * b[3]
    block[2] -= a[2] * b[0] + a[3] * b[2]
    block[3] -= a[2] * b[1] + a[3] * b[3]


@kernel
def factorise_rows(
    pattern: BlockPattern, diagonal: Floats, below: Floats, above: Floats
) -> None:
    """Overwrite a matrix in blocks by L, U and the inverses of its diagonal blocks.

    Parameters
    ----------
    diagonal : (n, 4); below, above : (l, 4) blocks (row, j) and (j, row) by columns j
    """
    u = 0
    for j in range(len(diagonal)):
        xx, xy, yx, yy = diagonal[j, 0], diagonal[j, 1], diagonal[j, 2], diagonal[j, 3]
        f = 1.0 / (xx * yy - xy * yx)
        xx, xy, yx, yy = f * yy, -f * xy, -f * yx, f * xx
        d = diagonal[j]
        d[0], d[1], d[2], d[3] = xx, xy, yx, yy
        begin, end = pattern.start[j], pattern.start[j + 1]
        for p in range(begin, end):
            a, b, c, e = below[p, 0], below[p, 1], below[p, 2], below[p, 3]
            below[p, 0], below[p, 1] = a * xx + b * yx, a * xy + b * yy
            below[p, 2], below[p, 3] = c * xx + e * yx, c * xy + e * yy
        for p in range(begin, end):
            less_product(diagonal[pattern.row[p]], below[p], above[p])
            for q in range(p + 1, end):
                t = pattern.update[u]
                u += 1
                less_product(below[t], below[q], above[p])
                less_product(above[t], below[p], above[q])


@kernel
def solve_rows(
    pattern: BlockPattern, diagonal: Floats, below: Floats, above: Floats, z: Floats
) -> None:
    """z <- A^-1 z, with z (n, 2) in the order of the columns."""
    for j in range(len(z)):
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i, m = pattern.row[p], below[p]
            z[i, 0] -= m[0] * z[j, 0] + m[1] * z[j, 1]
            z[i, 1] -= m[2] * z[j, 0] + m[3] * z[j, 1]
    for j in range(len(z) - 1, -1, -1):
        x, y = z[j, 0], z[j, 1]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i, m = pattern.row[p], above[p]
            x -= m[0] * z[i, 0] + m[1] * z[i, 1]
            y -= m[2] * z[i, 0] + m[3] * z[i, 1]
        d = diagonal[j]
        z[j, 0], z[j, 1] = d[0] * x + d[1] * y, d[2] * x + d[3] * y


@kernel
def new_states(
    setting: Setting, work: Work, count: int, first: bool
) -> tuple[int, float]:
    """Impulses, and the states that they and the velocities ask for.

    Returns how many contacts changed, one at most if `first`, and the residual of
    `coulomb.residual`, m/s, with the inverse of the diagonal of A for W.
    """
    place, scale = setting.pattern.place, 1e-300
    for c in range(count):
        i = work.who[c]
        j = place[i]
        px, py = work.product[j, 0] + work.r[i, 0], work.product[j, 1] + work.r[i, 1]
        if work.state[c] == OPEN:
            px, py = 0.0, 0.0
        mx, my = work.middle[c, 0], work.middle[c, 1]
        work.impulse[i, 0], work.impulse[i, 1] = px, py
        work.p[2 * c], work.p[2 * c + 1] = -my * px + mx * py, mx * px + my * py
        soft = softness(work, j)
        scale = max(scale, abs(work.v[i, 0]), abs(work.v[i, 1]), soft * abs(py))
    changes, worst = 0, 0.0
    for c in range(count):
        i = work.who[c]
        j = place[i]
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        vx, vy = work.v[i, 0] + work.z[j, 0], work.v[i, 1] + work.z[j, 1]
        u_n, u_t = -ty * vx + tx * vy + work.push[c], tx * vx + ty * vy
        soft = softness(work, j)
        p_n, p_t = soft * work.p[2 * c], soft * work.p[2 * c + 1]
        r_n = p_n - max(0.0, p_n - u_n)
        most = setting.mu * max(p_n, 0.0)
        r_t = p_t - min(max(p_t - u_t, -most), most)
        worst = max(worst, abs(r_n), abs(r_t))
        found = wanted(work.state[c], u_n, u_t, p_n, p_t, setting.mu, ROUNDING * scale)
        if found != work.state[c] and not (first and changes > 0):
            work.state[c] = found
            changes += 1
    return changes, worst


@kernel
def softness(work: Work, j: int) -> float:
    """Of a contact of column j, 1/kg: what makes velocities of impulses."""
    d = work.matrix.diagonal[j]
    return float(1.0 / max(d[0], d[2]))


@kernel
def wanted(
    state: int, u_n: float, u_t: float, p_n: float, p_t: float, mu: float, small: float
) -> int:
    """The state that velocity and impulse (in m/s) ask for; rounding changes none."""
    if state == OPEN:
        return STICK if u_n < -small else OPEN
    if p_n < -small:
        return OPEN
    if state == STICK:
        if abs(p_t) - mu * p_n > small:
            return BACK if p_t > 0.0 else FORTH
        return STICK
    wrong = -u_t if state == FORTH else u_t
    return STICK if mu > 0.0 and wrong > small else state
