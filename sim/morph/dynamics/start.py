"""The start of a motion: constraints met, velocities of the least kinetic energy."""

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

from sim.arrays import Floats
from sim.morph.dynamics.constraint_rows import unknowns_at
from sim.morph.dynamics.mechanism import INDEPENDENT, MovingMechanism
from sim.morph.dynamics.motion_state import MotionOptions, MotionState
from sim.morph.dynamics.sparse_rows import independent_rows, least_change

ROUNDED = 5.0  # residuals, by which a row may be rounded: mostly it is by far less
ROUGHEST = 1e-8  # rounding of rows with which steps are solved


def start_state(
    mechanism: MovingMechanism,
    options: MotionOptions,
    velocities: dict[int, Floats] | None = None,
) -> MotionState:
    """The mechanism at the start.

    Parameters
    ----------
    velocities : (3,) of the nodes that have a given one; all others move with the least
        kinetic energy that constraints and drivers allow

    Raises
    ------
    ValueError
        where constraints contradict each other or the velocities, or are rounded to
        more than may be left of them.
    """
    rows, s = mechanism.rows, mechanism.numbers(0.0)[0]
    z = unknowns_at(mechanism.structure, mechanism.structure.r0)
    _refuse_rounding(mechanism, options, z)
    for _ in range(20):
        c = rows.values(z, s)
        if np.abs(c).max(initial=0.0) <= 1e-14:
            break
        z = z - _least_change(mechanism, z, c)
    worst = float(np.abs(rows.values(z, s)).max(initial=0.0))
    if not worst <= options.residual:
        raise ValueError(
            f"constraints contradict each other by {worst:.1e} at the start: correct "
            "their constants, or hold fewer nodes"
        )
    v = _start_velocities(mechanism, z, velocities or {})
    energy = mechanism.forces.energy(z) + 0.5 * float(v @ (mechanism.mass @ v))
    if not energy < np.inf:
        raise ValueError("bodies overlap at the start, or a range is left: move them")
    nothing, kept = np.zeros(rows.count), mechanism.independent(z, 0.0)
    return MotionState(0, z, v, nothing, nothing, kept, energy, 0.0, 0.0, worst)


def _refuse_rounding(
    mechanism: MovingMechanism, options: MotionOptions, z: Floats
) -> None:
    """Structures so long beside their links that rows are not met to the residual."""
    left = mechanism.rows.rounding(z, mechanism.numbers(0.0)[0]).max(initial=0.0)
    if left > ROUNDED * options.residual:
        far = float(np.abs(mechanism.structure.r0).max())
        more = f", or raise residual ({options.residual:.0e}) to {left:.0e}"
        more = more if left <= ROUGHEST else ""
        raise ValueError(
            f"constraints are rounded by up to {left:.1e} where nodes are {far:.3g} "
            f"from the origin: put it into their middle{more}"
        )


def _least_change(mechanism: MovingMechanism, z: Floats, c: Floats) -> Floats:
    """(N,) by which rows at z change by c (m,)."""
    rows, s = mechanism.rows, mechanism.numbers(0.0)[0]
    if not mechanism.is_large:
        return np.asarray(np.linalg.lstsq(rows.dense(z, s), c, rcond=1e-10)[0])
    kept = mechanism.independent(z, 0.0)
    return least_change(rows.sparse(z, s)[kept], c[kept])


def _start_velocities(
    mechanism: MovingMechanism, z: Floats, velocities: dict[int, Floats]
) -> Floats:
    rows, N = mechanism.rows, mechanism.rows.unknowns
    s, ds = mechanism.numbers(0.0)
    given = np.array([3 * j + a for j in velocities for a in range(3)], dtype=np.int64)
    pick = eye_array(N, format="csr")[given] / mechanism.size
    wanted = np.concatenate(list(velocities.values()) or [np.empty(0)])
    rates = np.concatenate([-rows.values(z, ds), wanted / mechanism.size])
    G: Floats | csr_array
    if mechanism.is_large:
        G = csr_array(vstack([rows.sparse(z, s), pick]))
        kept = independent_rows(mechanism.in_units(G), INDEPENDENT)
        v = least_change(G[kept], rates[kept], mechanism.mass)
    else:
        G = np.vstack([rows.dense(z, s), pick.toarray()])
        v = _least_energy(mechanism, G, np.linalg.lstsq(G, rates, rcond=1e-10)[0])
    scale = max(float(np.abs(rates).max(initial=0.0)), 1e-300)
    left = float(np.abs(G @ v - rates).max(initial=0.0))
    if left > 1e-8 * scale:
        raise ValueError(
            f"the velocities at the start contradict constraints or drivers by "
            f"{left / scale:.1e} of the largest: give fewer of them, or correct them"
        )
    return v


def _least_energy(mechanism: MovingMechanism, G: Floats, v: Floats) -> Floats:
    """(N,) of all rates with the same G v (m,) that with the least kinetic energy."""
    _, sizes, axes = np.linalg.svd(G)
    rank = int(np.count_nonzero(sizes > 1e-10 * sizes.max(initial=1e-300)))
    free = axes[rank:].T
    M = mechanism.mass
    best = np.linalg.lstsq(free.T @ (M @ free), free.T @ (M @ v), rcond=1e-12)[0]
    least: Floats = v - free @ best
    return least
