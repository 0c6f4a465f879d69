"""Back to the constraints by eq. (12) of [dJ23], keeping a factor while it helps.

The paper takes J^+ anew in every iteration. One factorisation of J J^T costs as much as
several iterations with an old one, so it is renewed only where those are slow.
"""

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.linear.fronts import Fronts, solve_fronts
from sim.linear.sparse import Factor
from sim.morph.equations import jacobian, rows
from sim.morph.equations.jacobian import JacobianLayout
from sim.morph.equations.system import LinearConstraints

FAST = 0.3  # ratio of two residuals above which a factor is renewed
RENEWALS = 4  # of a factor before the way back is given up
LOST = 0.5  # residual that is given up
ITERATIONS = 30  # with one factor
MIXED = 10_000  # rows from which an iteration fewer is worth another way to the end


def retract(
    base: LinearConstraints, normal: Factor, z: Floats, wanted: float, enough: float
) -> tuple[Floats, LinearConstraints] | None:
    """The state on the constraints that eq. (12) finds from z; None if too far away.

    Parameters
    ----------
    base, normal : constraints close to z, and the factor of their J J^T
    wanted : residual to reach
    enough : residual to accept where rounding forbids more
    """
    system, previous = base.system, np.inf
    z = z.copy()
    for renewals in range(RENEWALS + 1):
        c, B = np.empty_like(base.c), np.empty_like(base.B)
        residual = _iterate(
            system.layout, system.normal.fronts, normal.L, normal.pivot, base.B,
            wanted, previous, system.m >= MIXED, z, c, B,
        )  # fmt: skip
        linear = LinearConstraints(system, c, B, residual)
        if residual <= wanted or (
            residual <= enough and not residual < FAST * previous
        ):
            return z, linear
        if renewals == RENEWALS or not residual < LOST:
            return None
        base, normal, previous = linear, linear.factorise(), residual
        z -= base.transpose_times(normal.solve(c))
    return None


@kernel
def _iterate(
    layout: JacobianLayout,
    fronts: Fronts,
    L: Floats,
    pivot: Floats,
    J: Floats,
    wanted: float,
    previous: float,
    mixed: bool,
    z: Floats,
    c: Floats,
    B: Floats,
) -> float:
    """Move z by -J^+ c until it is there, or slow; the residual with its c and B.

    Mostly one part of c falls slowest, by the same share each time. What the last step
    has shown of how c answers is used for the next: of that step as much is taken once
    more as shortens J^+ c most, and J^+ does the rest (Anderson, J. ACM 12, 1965), if
    `mixed`: structures of few rows gained nothing by it, and took 746 steps for 736.
    """
    residual = np.inf
    c_before, y_before, y = np.zeros((3, len(c)))
    for k in range(ITERATIONS):
        rows.evaluate(layout, z, False, c, B)
        residual = jacobian.largest(layout, c)
        if residual <= wanted or not residual < FAST * previous:
            break
        previous = residual
        plain = solve_fronts(fronts, L, pivot, c)
        change = plain - y_before
        share = _share(change, c_before, c) if mixed and k > 0 else 0.0
        y = plain + share * (change + y)
        c_before[:], y_before[:] = c, plain
        jacobian.add_transpose_times(layout, J, y, -1.0, z)
    return residual


@kernel
def _share(change: Floats, before: Floats, c: Floats) -> float:
    """How much of the change of c (m,) shortens J^+ c most if it comes once more.

    Lengths of steps, |J^+ c|^2 = y.c with J J^T y = c, hang on no unit of a row.

    Parameters
    ----------
    change : (m,) of y
    """
    along = square = 0.0
    for i in range(len(c)):
        along -= change[i] * c[i]
        square += change[i] * (c[i] - before[i])
    return along / square if square > 0.0 else 0.0
