"""The matrix of a Newton step: the Hessian of an augmented Lagrangian.

    K = W + sum_i y_i Hess c_i + mu I + sum_i rho_i grad c_i grad c_i^T

W is the curvature of the objective, y the Lagrange multipliers of the constraints (the
forces that they carry; the paper's multipliers lambda belong to z), mu a shift. With
mu = 0 K is the Hessian of

    f(z) + y.c(z) + 1/2 sum_i rho_i c_i(z)^2     where c(z) = 0,

of which Nocedal and Wright, Numerical Optimization (2006), sect. 17.3, show that with
large enough rho it is positive definite just where the Hessian of the Lagrangian is so
along the constraints: the inertia of K tells a minimum, dependent rows do no harm, and
y needs no unknown of its own.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.kernels import kernel
from sim.linear.sparse import Factor, factorise
from sim.morph.equations.hessian import HessianBlocks, HessianPattern, entries_of
from sim.morph.equations.jacobian import JacobianLayout
from sim.morph.equations.rows import add_second_derivatives
from sim.morph.equations.system import ConstraintSystem

NO_BLOCKS = np.empty((0, 3, 3))


class HessianTerms(NamedTuple):
    """What K is made of.

    Attributes
    ----------
    W : (n, 3, 3) curvature of the distance to the goals
    y : (m,) forces of the constraints
    rho : (m,) weights of the constraints
    mu : shift
    blocks : (b, 3, 3) of K to begin with, or none
    """

    W: Floats
    y: Floats
    rho: Floats
    mu: float
    blocks: Floats = NO_BLOCKS


def factorise_newton(
    system: ConstraintSystem,
    pattern: HessianPattern,
    B: Floats,
    z: Floats,
    terms: HessianTerms,
    *,
    definite: bool = False,
) -> Factor:
    """L D L^T of K, as far as it is positive definite if nothing else is of use.

    Parameters
    ----------
    B : (blocks, 3) blocks of the Jacobian at `z` (n + k, 3)
    """
    values = assemble(system.layout, pattern.blocks, B, z, terms)
    return factorise(pattern.factor, values, drop=0.0, definite=definite)


def dense(pattern: HessianPattern, values: Floats) -> Floats:
    """All of K from the entries of its lower triangle."""
    row, col = entries_of(pattern.blocks)
    size = 3 * len(pattern.blocks.diagonal)
    K = np.zeros((size, size))
    K[row, col] = values
    K[col, row] = values
    return K


@kernel
def assemble(
    layout: JacobianLayout,
    blocks: HessianBlocks,
    B: Floats,
    z: Floats,
    terms: HessianTerms,
) -> Floats:
    """The entries of the lower triangle of K."""
    n = layout.n
    K = np.zeros((len(blocks.upper), 3, 3))
    if len(terms.blocks):
        K += terms.blocks
    _outer_products(blocks.outer, B, layout.block_row, terms.rho, K)
    if np.any(terms.y):
        add_second_derivatives(layout, blocks.curved, z, terms.y, K)
    for j in range(len(blocks.diagonal)):
        block = K[blocks.diagonal[j]]
        if j < n:
            block += terms.W[j]
        for i in range(3):
            block[i, i] = block[i, i] + terms.mu if j < n or i == 0 else 1.0
    flat, values = K.reshape(-1), np.empty(len(blocks.entries))
    for e in range(len(values)):
        values[e] = flat[blocks.entries[e]]
    return values


@kernel
def _outer_products(
    outer: Ints, B: Floats, block_row: Ints, rho: Floats, K: Floats
) -> None:
    """Add rho_i grad c_i grad c_i^T."""
    for t in range(len(outer)):
        p, q = outer[t, 0], outer[t, 1]
        block = K[outer[t, 2]]
        weight = rho[block_row[p]]
        for i in range(3):
            left = weight * B[p, i]
            for j in range(3):
                block[i, j] += left * B[q, j]
