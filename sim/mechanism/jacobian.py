"""Residuals of the constraints, their Jacobian J and second derivatives; [dJ23].

Eq. (4) is the residuals c(z), eq. (8) their Jacobian J. A multiplier lambda is also
the first entry of a three-vector, so that nodes and multipliers are the rows of
one state z (n + k, 3):

    z[:n] = r,   z[n + l] = (lambda_l, 0, 0).

One small function a kind: it returns its residual, and adds the gradients for its nodes
a, b, p, q, s, t to the blocks `B[at[0]]`, `B[at[1]]`, ... in the order of `TOUCHES`.
Another adds y Hess c to the blocks of K in the order of `CURVED`, if c is not linear.

J is sparse. Each row of J is a few blocks of three numbers, one for each node that the
row touches. The layout says where they are; the functions of the kinds say what they
are.
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.mechanism.constraints import ConstraintKind


class JacobianLayout(NamedTuple):
    """Which numbers of a state each row takes, and where its gradients go.

    Attributes
    ----------
    n : nodes; the multipliers come after them
    kind, nodes, constant, first_row : the constraints, as in `constraints.Table`
    first_block : (q + 1,) where the entries of each constraint in `place` begin
    place : which block of J each gradient is added to
    block_row, block_node : (blocks,) the row and the node of each block
    pairs : (p, 2) pairs of blocks whose products make J J^T
    scale : (m,) what a residual is divided by
    """

    n: int
    kind: Ints
    nodes: Ints
    constant: Floats
    first_row: Ints
    first_block: Ints
    place: Ints
    block_row: Ints
    block_node: Ints
    pairs: Ints
    scale: Floats


@kernel
def largest(layout: JacobianLayout, c: Floats) -> float:
    """The largest residual, dimensionless; nan if one is."""
    most = 0.0
    for i in range(len(c)):
        size: float = abs(c[i]) / layout.scale[i]
        if np.isnan(size):
            return size
        most = max(most, size)
    return most


@kernel
def times(layout: JacobianLayout, B: Floats, dz: Floats, out: Floats) -> None:
    """out (m,) = J dz."""
    out[:] = 0.0
    for p in range(len(B)):
        v = dz[layout.block_node[p]]
        out[layout.block_row[p]] += B[p, 0] * v[0] + B[p, 1] * v[1] + B[p, 2] * v[2]


@kernel
def add_transpose_times(
    layout: JacobianLayout, B: Floats, y: Floats, factor: float, out: Floats
) -> None:
    """out (n + k, 3) += factor J^T y."""
    for p in range(len(B)):
        weight = factor * y[layout.block_row[p]]
        for i in range(3):
            out[layout.block_node[p], i] += weight * B[p, i]


@kernel
def products(pairs: Ints, B: Floats, out: Floats) -> None:
    """out (p,) = the product of each pair of blocks; summed they are J J^T."""
    for p in range(len(pairs)):
        a, b = B[pairs[p, 0]], B[pairs[p, 1]]
        out[p] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def pairs_of_blocks(start: Ints, blocks: Ints) -> Ints:
    """(p, 2) every pair of blocks that share a node, each with itself first.

    The blocks of node j are `blocks[start[j]:start[j + 1]]`.
    """
    count = 0
    for j in range(len(start) - 1):
        size = start[j + 1] - start[j]
        count += size * (size + 1) // 2
    pairs = np.empty((count, 2), dtype=np.int64)
    filled = 0
    for j in range(len(start) - 1):
        for a in range(start[j], start[j + 1]):
            for b in range(start[j], a + 1):
                pairs[filled, 0], pairs[filled, 1] = blocks[a], blocks[b]
                filled += 1
    return pairs


DIST, DOT, TRIPLE, PAR, COIN, FIX = map(int, ConstraintKind)
LAMBDA = 6  # stands for the multiplier among the nodes a, b, p, q, s, t = 0 ... 5
TOUCHES = (  # what each row of a kind has gradients for
    (0, 1),
    (0, 1, 2, 3),
    (0, 1, 2, 3, 4, 5),
    (0, 1, 2, 3, LAMBDA),
    (0, 1),
    (0,),
)
D_AND_U = ((0, 2), (0, 3), (1, 2), (1, 3))
CURVED = (  # pairs that the second derivatives of a kind couple
    ((0, 0), (1, 0), (1, 1)),
    D_AND_U,
    (*D_AND_U, (2, 4), (2, 5), (3, 4), (3, 5), (4, 0), (4, 1), (5, 0), (5, 1)),
    ((2, LAMBDA), (3, LAMBDA)) * 3,
    (),
    (),
)


class CurvedBlocks(NamedTuple):
    """Where the second derivatives of the constraints go.

    Attributes
    ----------
    first : (q + 1,) where the pairs of each constraint begin
    slot : the block of K of each pair (x, y) of `CURVED`
    turn : 1 where it is stored as written, -1 transposed, 0 where x and y are one node
    """

    first: Ints
    slot: Ints
    turn: Ints


@kernel
def _dot3(a: Floats, b: Floats) -> float:
    value: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return value


@kernel
def _dist(z: Floats, nodes: Ints, at: Ints, B: Floats) -> float:
    """d.d: gradient +2d on b, -2d on a."""
    value = 0.0
    for i in range(3):
        d = z[nodes[1], i] - z[nodes[0], i]
        value += d * d
        B[at[0], i] -= 2.0 * d
        B[at[1], i] += 2.0 * d
    return value


@kernel
def _dot(z: Floats, nodes: Ints, at: Ints, B: Floats) -> float:
    """d.u: gradient +u on b, -u on a, +d on q, -d on p."""
    value = 0.0
    for i in range(3):
        d = z[nodes[1], i] - z[nodes[0], i]
        u = z[nodes[3], i] - z[nodes[2], i]
        value += d * u
        B[at[0], i] -= u
        B[at[1], i] += u
        B[at[2], i] -= d
        B[at[3], i] += d
    return value


@kernel
def _triple(z: Floats, nodes: Ints, at: Ints, B: Floats) -> float:
    """d.(u x v): gradient u x v on d, v x d on u, d x u on v."""
    value = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        dj, dk = z[nodes[1], j] - z[nodes[0], j], z[nodes[1], k] - z[nodes[0], k]
        uj, uk = z[nodes[3], j] - z[nodes[2], j], z[nodes[3], k] - z[nodes[2], k]
        vj, vk = z[nodes[5], j] - z[nodes[4], j], z[nodes[5], k] - z[nodes[4], k]
        value += (z[nodes[1], i] - z[nodes[0], i]) * (uj * vk - uk * vj)
        B[at[0], i] -= uj * vk - uk * vj
        B[at[1], i] += uj * vk - uk * vj
        B[at[2], i] -= vj * dk - vk * dj
        B[at[3], i] += vj * dk - vk * dj
        B[at[4], i] -= dj * uk - dk * uj
        B[at[5], i] += dj * uk - dk * uj
    return value


@kernel
def _par(z: Floats, nodes: Ints, lam: float, at: Ints, c: Floats, B: Floats) -> None:
    """d - lambda u: three rows; gradient -u on lambda."""
    for i in range(3):
        d = z[nodes[1], i] - z[nodes[0], i]
        u = z[nodes[3], i] - z[nodes[2], i]
        c[i] = d - lam * u
        B[at[5 * i], i] -= 1.0
        B[at[5 * i + 1], i] += 1.0
        B[at[5 * i + 2], i] += lam
        B[at[5 * i + 3], i] -= lam
        B[at[5 * i + 4], 0] -= u


@kernel
def _par_without_lambda(z: Floats, nodes: Ints, at: Ints, c: Floats, B: Floats) -> None:
    """N.d with N two unit vectors normal to u; lambda = d.u / u.u drops out.

    Two rows that say the same of the nodes as the three with lambda; the third row
    stays zero.
    """
    d = z[nodes[1]] - z[nodes[0]]
    u = z[nodes[3]] - z[nodes[2]]
    lam = _dot3(d, u) / _dot3(u, u)
    u /= np.sqrt(_dot3(u, u))
    axis = np.argmin(np.abs(u))
    first = -u[axis] * u
    first[axis] += 1.0
    first /= np.sqrt(_dot3(first, first))
    c[:] = 0.0
    for row in range(2):
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            N = first[i] if row == 0 else u[j] * first[k] - u[k] * first[j]
            c[row] += N * d[i]
            B[at[5 * row], i] -= N
            B[at[5 * row + 1], i] += N
            B[at[5 * row + 2], i] += lam * N
            B[at[5 * row + 3], i] -= lam * N


@kernel
def evaluate(
    layout: JacobianLayout, z: Floats, eliminate: bool, c: Floats, B: Floats
) -> None:
    """Residuals c (m,) and Jacobian blocks B (blocks, 3) of all constraints.

    Parameters
    ----------
    z : (n + k, 3) state
    eliminate : write the par rows without lambda
    """
    kind, nodes, constant = layout.kind, layout.nodes, layout.constant
    first_row, first_block = layout.first_row, layout.first_block
    B[:] = 0.0
    lam = layout.n
    for e in range(len(kind)):
        at = layout.place[first_block[e] : first_block[e + 1]]
        rows = c[first_row[e] : first_row[e + 1]]
        if kind[e] == DIST:
            rows[0] = _dist(z, nodes[e], at, B) - constant[e]
        elif kind[e] == DOT:
            rows[0] = _dot(z, nodes[e], at, B) - constant[e]
        elif kind[e] == TRIPLE:
            rows[0] = _triple(z, nodes[e], at, B) - constant[e]
        elif kind[e] == PAR:
            if eliminate:
                _par_without_lambda(z, nodes[e], at, rows, B)
            else:
                _par(z, nodes[e], z[lam, 0], at, rows, B)
            lam += 1
        elif kind[e] == COIN:
            for i in range(3):
                rows[i] = z[nodes[e, 1], i] - z[nodes[e, 0], i]
                B[at[2 * i], i] -= 1.0
                B[at[2 * i + 1], i] += 1.0
        else:
            rows[0] = z[nodes[e, 0], nodes[e, 1]] - constant[e]
            B[at[0], nodes[e, 1]] += 1.0


@kernel
def _add(block: Floats, turn: int, i: int, j: int, v: float) -> None:
    """Add v at (i, j) of a block, or where symmetry puts it."""
    if turn >= 0:
        block[i, j] += v
    if turn <= 0:
        block[j, i] += v


@kernel
def _bend_dist(y: float, slot: Ints, turn: Ints, K: Floats) -> None:
    """2 I on the ends, -2 I between them."""
    for t in range(3):
        v = 2.0 * y * (0.5 if t != 1 else -1.0)
        for i in range(3):
            _add(K[slot[t]], turn[t], i, i, v)


@kernel
def _bend_dot(y: float, slot: Ints, turn: Ints, K: Floats) -> None:
    """I between d and u."""
    for t in range(4):
        sign = 1.0 if t // 2 == t % 2 else -1.0
        for i in range(3):
            _add(K[slot[t]], turn[t], i, i, sign * y)


@kernel
def _bend_triple(
    z: Floats, nodes: Ints, y: float, slot: Ints, turn: Ints, K: Floats
) -> None:
    """-[w] between each two of d, u, v, w the third: a.(b x c) = -a^T [c] b."""
    for v in range(3):
        third = (v + 2) % 3
        tail, head = nodes[2 * third], nodes[2 * third + 1]
        for t in range(4):
            sign = y * (1.0 if t // 2 == t % 2 else -1.0)
            s = 4 * v + t
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                value = sign * (z[head, k] - z[tail, k])
                _add(K[slot[s]], turn[s], i, j, value)
                _add(K[slot[s]], turn[s], j, i, -value)


@kernel
def _bend_par(y: Floats, slot: Ints, turn: Ints, K: Floats) -> None:
    """-1 between lambda and u, a row each."""
    for i in range(3):
        _add(K[slot[2 * i]], turn[2 * i], i, 0, y[i])
        _add(K[slot[2 * i + 1]], turn[2 * i + 1], i, 0, -y[i])


@kernel
def add_second_derivatives(
    layout: JacobianLayout, curved: CurvedBlocks, z: Floats, y: Floats, K: Floats
) -> None:
    """Add y_i Hess c_i of every row to the blocks of K."""
    kind, nodes = layout.kind, layout.nodes
    for e in range(len(kind)):
        row = layout.first_row[e]
        slot = curved.slot[curved.first[e] : curved.first[e + 1]]
        turn = curved.turn[curved.first[e] : curved.first[e + 1]]
        if kind[e] == DIST:
            _bend_dist(y[row], slot, turn, K)
        elif kind[e] == DOT:
            _bend_dot(y[row], slot, turn, K)
        elif kind[e] == TRIPLE:
            _bend_triple(z, nodes[e], y[row], slot, turn, K)
        elif kind[e] == PAR:
            _bend_par(y[row : row + 3], slot, turn, K)
