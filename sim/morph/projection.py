"""The two halves of a morphing step, eqs. (11) and (12) of [dJ23], sparse.

The paper takes the null space of the Jacobian J from its singular values, which costs
n^3. With the multipliers eliminated from J (call it G), the same projector is

    U U^+ = I - G^T (G G^T)^+ G,        J^+ = J^T (J J^T)^+,

so that one sparse factorisation does for each. Dependent rows are dropped by rank.
"""

import numpy as np

from sim.arrays import Floats
from sim.morph.constraints import Kind
from sim.morph.system import Linear, System, linearise
from sim.newton import NotConvergedError


def admissible(system: System, z: Floats, dr: Floats) -> Floats:
    """The motion closest to `dr` that the constraints allow: U U^+ dr of eq. (11).

    Parameters
    ----------
    z : (n + k, 3) state
    dr : (n, 3) wanted displacements

    Returns
    -------
    (n + k, 3), zero for the multipliers
    """
    G = linearise(system, z, eliminate=True)
    dz = np.zeros_like(z)
    dz[: system.n] = dr
    factor = G.factorise()
    for _ in range(2):  # the second removes what rounding left of the first
        dz -= G.transpose_times(factor.solve(G.times(dz)))
    return dz


def with_multipliers(system: System, z: Floats, dz: Floats) -> Floats:
    """`dz` with the multipliers' share, Psi U^+ (x_g - x).

    Along an admissible motion lambda = d.u / u.u changes by
    (dd.u + d.du - 2 lambda u.du) / u.u.
    """
    nodes = system.table.nodes[system.table.kind == Kind.PAR]
    d, u = (z[nodes[:, i + 1]] - z[nodes[:, i]] for i in (0, 2))
    dd, du = (dz[nodes[:, i + 1]] - dz[nodes[:, i]] for i in (0, 2))
    lam = z[system.n :, :1]
    change = (dd * u + d * du - 2.0 * lam * u * du).sum(axis=1)
    full = dz.copy()
    full[system.n :, 0] = change / (u * u).sum(axis=1)
    return full


def shortest_correction(linear: Linear) -> Floats:
    """The shortest dz with J dz = -c, eq. (12), (n + k, 3)."""
    return -linear.transpose_times(linear.factorise().solve(linear.c))


def satisfy_constraints(
    system: System, z: Floats, *, tolerance: float, max_iterations: int = 50
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
