"""Bring an initial configuration onto its constraints, or say which ones contradict."""

import numpy as np

from sim.arrays import Floats, Ints
from sim.convergence import NotConvergedError
from sim.morph.equations.curvature import HessianTerms, factorise_newton
from sim.morph.equations.hessian import hessian_pattern_of
from sim.morph.equations.projection import satisfy_constraints
from sim.morph.equations.system import ConstraintSystem, linearise, state
from sim.morph.structure.structure import Structure

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
            f"constraints contradict: {names}; the residual stays at "
            f"{linearise(system, z).residual:.1e} at best: correct their constants"
        ) from None


def least_violated(system: ConstraintSystem, z: Floats, steps: int = 200) -> Floats:
    """The state of the least squares of the residuals, by Levenberg and Marquardt.

    Nocedal and Wright (2006), sect. 10.3: the shift grows where a step does not help.
    """
    pattern = hessian_pattern_of(system.topology)
    weight = 1.0 / system.scale**2
    nothing, no_forces = np.zeros((system.n, 3, 3)), np.zeros(system.m)
    shift, linear = 1e-3, linearise(system, z)
    value = float(weight @ linear.c**2)
    for _ in range(steps):
        terms = HessianTerms(nothing, no_forces, weight, shift * float(weight.max()))
        slope = linear.transpose_times(weight * linear.c)
        factor = factorise_newton(system, pattern, linear.B, z, terms)
        dz = -factor.solve(slope.ravel()).reshape(-1, 3)
        trial = linearise(system, z + dz)
        reached = float(weight @ trial.c**2)
        if reached >= value:
            shift *= 10.0
            if shift > 1e8:
                break
            continue
        small = value - reached <= 1e-12 * value
        z, linear, value, shift = z + dz, trial, reached, max(shift / 10.0, 1e-9)
        if small:
            break
    return z


def _names(system: ConstraintSystem, z: Floats) -> list[str]:
    """Constraints with a tenth of the largest residual or more, the worst first."""
    sizes = np.abs(linearise(system, z).c / system.scale)
    rows: Ints = np.argsort(-sizes, kind="stable").astype(np.int64)
    rows = rows[sizes[rows] >= 0.1 * sizes.max()]
    names = dict.fromkeys(system.table.name_of_row(int(row)) for row in rows)
    shown = list(names)[:NAMED]
    more = len(names) - len(shown)
    return shown + [f"{more} more"] * bool(more)
