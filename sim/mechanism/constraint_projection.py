"""Projection onto the constraints: eqs. (11) and (12) of [dJ23], sparse.

The paper takes the null space of the Jacobian J from its singular values, which costs
n^3. With the multipliers eliminated from J (call it G), the same projector is

    U U^+ = I - G^T (G G^T)^+ G,        J^+ = J^T (J J^T)^+,

so that one sparse factorisation does for each. Dependent rows are dropped by rank.

`closed` brings an initial configuration onto its constraints, or says which of them
contradict.

A retraction is eq. (12) with a factor that is reused while it helps. The paper has J^+
anew in every iteration. One factorisation of J J^T costs as much as several iterations
with an old one, so it is renewed only where those are slow.
"""

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.core.options import NotConvergedError
from sim.linalg.multifrontal import Fronts, factorise_fronts, solve_fronts
from sim.linalg.sparse_ldl import DROP, Factor
from sim.mechanism import constraints, jacobian_pattern
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    LinearConstraints,
    coordinates,
    linearise,
    state,
)
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.jacobian_pattern import JacobianLayout
from sim.mechanism.structure import Structure

ROUNDING = 1e-14  # of G dz that may be left, relative to what was there


def admissible(system: ConstraintSystem, z: Floats, dr: Floats) -> Floats:
    """The motion closest to `dr` that the constraints allow: U U^+ dr of eq. (11).

    Parameters
    ----------
    z : (n + k, 3) state
    dr : (n, 3) desired displacements

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
        f"the constraint residual {smallest:.1e} is above {tolerance:.0e}: take "
        "smaller steps, or check that the constraints are consistent",
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
    constraints.evaluate(layout, z, True, c, G)
    values, violation = np.empty(len(layout.pairs)), np.empty(m)
    jacobian_pattern.products(layout.pairs, G, values)
    factorise_fronts(fronts, values, DROP, L, pivot, False)
    jacobian_pattern.times(layout, G, dz, violation)
    enough = ROUNDING * np.abs(violation).max() if m > 0 else 0.0
    for _ in range(2):
        y = solve_fronts(fronts, L, pivot, violation)
        jacobian_pattern.add_transpose_times(layout, G, y, -1.0, dz)
        jacobian_pattern.times(layout, G, dz, violation)
        if m == 0 or np.abs(violation).max() <= enough:
            break


NAMED = 6  # rows in a message


def closed(system: ConstraintSystem, structure: Structure, tolerance: float) -> Floats:
    """(n + k, 3) the state closest to the initial one that satisfies the constraints.

    Raises
    ------
    ValueError
        where no state nearby does; it names the constraints that contradict.
    """
    try:
        return satisfy_constraints(system, state(structure), tolerance=tolerance)
    except NotConvergedError:
        z = least_violated(system, state(structure))
    try:
        return satisfy_constraints(system, z, tolerance=tolerance)
    except NotConvergedError:
        names = "; ".join(_names(system, z))
        raise ValueError(
            f"inconsistent constraints: {names}; their least residual is "
            f"{linearise(system, z).residual:.1e}: correct the values they prescribe"
        ) from None


def least_violated(system: ConstraintSystem, z: Floats) -> Floats:
    """The state of the least squares of the residuals."""
    row = system.block_row
    places = np.repeat(row, 3), coordinates(system.block_node[:, None]).ravel()

    def rows(x: Floats) -> Floats:
        return linearise(system, x.reshape(z.shape)).c / system.scale

    def slopes(x: Floats) -> csr_array:
        B = linearise(system, x.reshape(z.shape)).B / system.scale[row, None]
        return csr_array((B.ravel(), places), shape=(system.m, z.size))

    found = least_squares(rows, z.ravel(), slopes, ftol=1e-12, xtol=1e-12, gtol=1e-12)
    return np.reshape(found.x, z.shape)


def _names(system: ConstraintSystem, z: Floats) -> list[str]:
    """Constraints with a tenth of the largest residual or more, the worst first."""
    sizes = np.abs(linearise(system, z).c / system.scale)
    rows: Ints = np.argsort(-sizes, kind="stable").astype(np.int64)
    rows = rows[sizes[rows] >= 0.1 * sizes.max()]
    names = dict.fromkeys(system.table.name_of_row(int(row)) for row in rows)
    shown = list(names)[:NAMED]
    more = len(names) - len(shown)
    return shown + [f"{more} more"] * bool(more)


FAST = 0.3  # ratio of two residuals above which a factor is renewed
RENEWALS = 4  # of a factor before the way back is given up
LOST = 0.5  # residual that is given up
ITERATIONS = 30  # with one factor
MIXED = 10_000  # rows from which an iteration fewer is worth another way to the end


def retract(
    base: LinearConstraints, normal: Factor, z: Floats, sought: float, enough: float
) -> tuple[Floats, LinearConstraints] | None:
    """The state on the constraints that eq. (12) finds from z; None if too far away.

    Parameters
    ----------
    base, normal : constraints close to z, and the factor of their J J^T
    sought : residual to reach
    enough : residual to accept where rounding forbids more
    """
    system, previous = base.system, np.inf
    z = z.copy()
    for renewals in range(RENEWALS + 1):
        c, B = np.empty_like(base.c), np.empty_like(base.B)
        residual = _iterate(
            system.layout, system.normal.fronts, normal.L, normal.pivot, base.B,
            sought, previous, system.m >= MIXED, z, c, B,
        )  # fmt: skip
        linear = LinearConstraints(system, c, B, residual)
        if residual <= sought or (
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
    sought: float,
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
        constraints.evaluate(layout, z, False, c, B)
        residual = jacobian_pattern.largest(layout, c)
        if residual <= sought or not residual < FAST * previous:
            break
        previous = residual
        plain = solve_fronts(fronts, L, pivot, c)
        change = plain - y_before
        share = _share(change, c_before, c) if mixed and k > 0 else 0.0
        y = plain + share * (change + y)
        c_before, y_before = c.copy(), plain
        jacobian_pattern.add_transpose_times(layout, J, y, -1.0, z)
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
