"""Where the entries of the Jacobian J are, and what it multiplies; [dJ23], eq. (8).

J is sparse. Each row of J is a few blocks of three numbers, one for each node that the
row touches. The layout says where they are; `sim.mechanism.constraints` has the
formulas that fill them. A multiplier lambda is the first entry of a three-vector, so
that nodes and multipliers are the rows of one state z (n + k, 3):

    z[:n] = r,   z[n + l] = (lambda_l, 0, 0).
"""

from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel


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


def pairs_in_runs(start: Ints) -> tuple[Ints, Ints]:
    """Every pair p >= q of things in one run; those of run i begin at start[i]."""
    first, own = np.repeat(start[:-1], np.diff(start)), np.arange(start[-1])
    count = own - first + 1
    p = np.repeat(own, count)
    return p, np.arange(len(p)) - np.repeat(np.cumsum(count) - count, count) + first[p]
