"""The two halves of a morphing step, eqs. (11) and (12) of [dJ23], sparse.

The paper takes the null space of the Jacobian J from its singular values, which costs
n^3. With the multipliers eliminated from J (call it G), the same projector is

    U U^+ = I - G^T (G G^T)^+ G,        J^+ = J^T (J J^T)^+,

so that one sparse factorisation does for each. Dependent rows are dropped by rank.
"""

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.kernels import kernel
from sim.linear.fronts import Fronts, factorise_fronts, solve_fronts
from sim.linear.sparse import DROP
from sim.morph.equations import jacobian, rows
from sim.morph.equations.jacobian import JacobianLayout
from sim.morph.equations.system import (
    ConstraintSystem,
    LinearConstraints,
    linearise,
)
from sim.morph.structure.constraints import ConstraintKind

ROUNDING = 1e-14  # of G dz that may be left, relative to what was there


def admissible(system: ConstraintSystem, z: Floats, dr: Floats) -> Floats:
    """The motion closest to `dr` that the constraints allow: U U^+ dr of eq. (11).

    Parameters
    ----------
    z : (n + k, 3) state
    dr : (n, 3) wanted displacements

    Returns
    -------
    (n + k, 3), zero for the multipliers
    """
    dz = np.zeros_like(z)
    dz[: system.n] = dr
    with system.normal.lent() as (L, pivot):
        _project(system.layout, system.normal.fronts, z, L, pivot, dz)
    return dz


def with_multipliers(system: ConstraintSystem, z: Floats, dz: Floats) -> Floats:
    """`dz` with the multipliers' share, Psi U^+ (x_g - x).

    Along an admissible motion lambda = d.u / u.u changes by
    (dd.u + d.du - 2 lambda u.du) / u.u.
    """
    nodes = system.table.nodes[system.table.kind == ConstraintKind.PAR]
    d, u = (z[nodes[:, i + 1]] - z[nodes[:, i]] for i in (0, 2))
    dd, du = (dz[nodes[:, i + 1]] - dz[nodes[:, i]] for i in (0, 2))
    lam = z[system.n :, :1]
    change = (dd * u + d * du - 2.0 * lam * u * du).sum(axis=1)
    full = dz.copy()
    full[system.n :, 0] = change / (u * u).sum(axis=1)
    return full


def shortest_correction(linear: LinearConstraints) -> Floats:
    """The shortest dz with J dz = -c, eq. (12), (n + k, 3)."""
    return -linear.transpose_times(linear.factorise().solve(linear.c))


def satisfy_constraints(
    system: ConstraintSystem, z: Floats, *, tolerance: float, max_iterations: int = 50
) -> Floats:
    """Repeat eq. (12) until the residual is at most `tolerance`.

    Raises
    ------
    NotConvergedError
        with the state of the smallest residual as `best`.
    """
    best, smallest = z, np.inf
    for _ in range(max_iterations):
        linear = linearise(system, z)
        residual = linear.residual
        if residual <= tolerance:
            return z
        if residual < smallest:
            best, smallest = z, residual
        if not residual < 1e6:
            break
        z = z + shortest_correction(linear)
    raise NotConvergedError(
        f"residual {smallest:.1e} of the constraints is above {tolerance:.0e}: "
        "take smaller steps, or check that the constraints do not contradict",
        best=best,
    )


@kernel
def _project(
    layout: JacobianLayout,
    fronts: Fronts,
    z: Floats,
    L: Floats,
    pivot: Floats,
    dz: Floats,
) -> None:
    """dz -= G^T (G G^T)^+ G dz, again where rounding has left something of G dz."""
    m = len(layout.scale)
    c, G = np.empty(m), np.empty((len(layout.block_row), 3))
    rows.evaluate(layout, z, True, c, G)
    values, violation = np.empty(len(layout.pairs)), np.empty(m)
    jacobian.products(layout.pairs, G, values)
    factorise_fronts(fronts, values, DROP, L, pivot, False)
    jacobian.times(layout, G, dz, violation)
    enough = ROUNDING * np.abs(violation).max() if m > 0 else 0.0
    for _ in range(2):
        y = solve_fronts(fronts, L, pivot, violation)
        jacobian.add_transpose_times(layout, G, y, -1.0, dz)
        jacobian.times(layout, G, dz, violation)
        if m == 0 or np.abs(violation).max() <= enough:
            break
