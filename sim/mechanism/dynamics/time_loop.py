"""The motion of a mechanism in time: its steps, and what they record.

A step whose equations are not solved is cut in two, at most `halvings` times. Where
rows depend on others, those that are farthest from doing so at its start are in its
equations, and the others are met all the same: if one is not at its end, as where a
singular configuration was left, rows are chosen anew. Nothing is yielded that violates
a row by more than `residual`.

At the start constraints are met, by velocities of the least kinetic energy.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array, eye_array, vstack

from sim.core.arrays import Bools, Floats
from sim.core.options import Checked, NotConvergedError, Positive, Whole
from sim.mechanism.dynamics.moving_mechanism import (
    INDEPENDENT,
    DriverKind,
    MovingMechanism,
    equations_with,
)
from sim.mechanism.dynamics.quadratic_constraints import (
    independent_rows,
    least_change,
    unknowns_at,
)
from sim.mechanism.dynamics.time_step import Span, StepEnd, StepFailedError

ROUNDING = 1e-9  # of a duration, within which it is a multiple of the step


@dataclass(frozen=True)
class MotionOptions(Checked):
    """How a motion is stepped.

    Attributes
    ----------
    h : length of a step, the largest where the duration is not a multiple of it
    residual : largest violation of a row at the end of a step, dimensionless
    halvings : how often a step may be cut in two
    """

    h: Positive
    residual: Positive = 1e-10
    halvings: Whole = 12


class MotionState(NamedTuple):
    """All that later steps depend on.

    Attributes
    ----------
    step : full steps that were made
    z, v : (N,) unknowns and their rates
    lam, mu : (m,) of the last step, mean forces of the rows and what stabilises them
    independent : (m,) rows in the equations
    energy : at the start
    driven, damped : energy brought by drivers and taken by dampers since
    worst : largest violation of a row so far
    """

    step: int
    z: Floats
    v: Floats
    lam: Floats
    mu: Floats
    independent: Bools
    energy: float
    driven: float
    damped: float
    worst: float


@dataclass(frozen=True, eq=False)
class MotionStep:
    """A moment of a motion.

    Attributes
    ----------
    r, v : (n, 3) nodes and velocities
    kinetic, potential : energy
    momentum, angular : (3,) about the origin
    driven, damped : energy brought by drivers, and taken by dampers so far
    balance : energy that nothing accounts for so far
    residual, hidden : largest violation of a row, and of a rate of one, in units of the
        fastest node over L
    worst : the largest residual so far
    reaction : (parts,) largest force that the rows of a part put on a node, mean over
        the step; nan where it may as well be another
    effort : (drivers,) of each driver, mean over the step
    iterations, substeps : of Newton's method in the last full step, and its parts
    """

    state: MotionState
    time: float
    r: Floats
    v: Floats
    kinetic: float
    potential: float
    momentum: Floats
    angular: Floats
    driven: float
    damped: float
    balance: float
    residual: float
    hidden: float
    worst: float
    reaction: Floats
    effort: Floats
    iterations: int
    substeps: int


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
            f"inconsistent constraints: residual {worst:.1e} at the start: correct "
            "the values they prescribe, or fix fewer nodes"
        )
    v = _start_velocities(mechanism, z, velocities or {})
    energy = mechanism.forces.energy(z) + 0.5 * float(v @ (mechanism.mass @ v))
    if not energy < np.inf:
        raise ValueError("bodies overlap or exceed a range at the start: move them")
    nothing, independent = np.zeros(rows.count), mechanism.independent_rows(z, 0.0)
    return MotionState(0, z, v, nothing, nothing, independent, energy, 0.0, 0.0, worst)


def _refuse_rounding(
    mechanism: MovingMechanism, options: MotionOptions, z: Floats
) -> None:
    """Refuse links so short that their rows are rounded to more than the residual."""
    left = mechanism.rows.rounding(z, mechanism.numbers(0.0)[0]).max(initial=0.0)
    if left > ROUNDED * options.residual:
        far = float(np.abs(mechanism.structure.r0).max())
        more = f", or raise residual ({options.residual:.0e}) to {left:.0e}"
        more = more if left <= ROUGHEST else ""
        raise ValueError(
            f"rounding errors in the constraints reach {left:.1e} because nodes are "
            f"{far:.3g} from the origin: move the origin to their centre{more}"
        )


def _least_change(mechanism: MovingMechanism, z: Floats, c: Floats) -> Floats:
    """(N,) by which rows at z change by c (m,)."""
    independent = mechanism.independent_rows(z, 0.0)
    G = mechanism.rows.sparse(z, mechanism.numbers(0.0)[0])
    return least_change(G[independent], c[independent])


def _start_velocities(
    mechanism: MovingMechanism, z: Floats, velocities: dict[int, Floats]
) -> Floats:
    rows, N = mechanism.rows, mechanism.rows.unknowns
    s, ds = mechanism.numbers(0.0)
    given = np.array([3 * j + a for j in velocities for a in range(3)], dtype=np.int64)
    pick = eye_array(N, format="csr")[given] / mechanism.size
    given_rates = np.concatenate(list(velocities.values()) or [np.empty(0)])
    rates = np.concatenate([-rows.values(z, ds), given_rates / mechanism.size])
    G = csr_array(vstack([rows.sparse(z, s), pick]))
    independent = independent_rows(mechanism.in_units(G), INDEPENDENT)
    v = least_change(G[independent], rates[independent], mechanism.mass)
    scale = max(float(np.abs(rates).max(initial=0.0)), 1e-300)
    left = float(np.abs(G @ v - rates).max(initial=0.0))
    if left > 1e-8 * scale:
        raise ValueError(
            "initial velocities violate the constraints or drivers by "
            f"{left / scale:.1e} of the largest velocity: correct them"
        )
    return v


MISSED = 0.01  # of what rows miss: more is left where no change takes it away
FASTER = 30.0  # than all masses: a node that is stopped by a dead centre


@dataclass(eq=False)
class Steps:
    """A full step, and how it was made."""

    mechanism: MovingMechanism
    options: MotionOptions
    iterations: int = 0
    substeps: int = 0


def motion(
    mechanism: MovingMechanism,
    options: MotionOptions,
    start: MotionState,
    duration: float,
    every: int = 1,
) -> Iterator[MotionStep]:
    """The motion from a state on; a start at time 0 is the first that is yielded.

    Parameters
    ----------
    every : full steps from one that is yielded to the next; the last is yielded too

    Raises
    ------
    NotConvergedError
        where a step is not solved, with the state before it.
    """
    state, last = start, ceil(duration / options.h * (1.0 - ROUNDING))
    if abs(last * options.h - duration) > ROUNDING * duration:
        options = replace(options, h=duration / last)
    if state.step == 0:
        yield _seen(Steps(mechanism, options), state)
    while state.step < last:
        made, t = Steps(mechanism, options), state.step * options.h
        state = _advanced(made, state, t, options.h)
        state = state._replace(step=state.step + 1)
        if state.step % every == 0 or state.step == last:
            yield _seen(made, state)


def _advanced(made: Steps, state: MotionState, t: float, h: float) -> MotionState:
    """The state after h, in one step or in two halves."""
    try:
        after = _solved(made, state, t, h)
    except StepFailedError as error:
        if h <= made.options.h * 0.5**made.options.halvings * 1.5:
            raise NotConvergedError(
                _beyond_reach(made, state, t)
                or f"the step of {h:.1e} at time {t:.6g} does not converge ({error}): "
                f"{_remedy(made.mechanism, state)}",
                best=state,
            ) from None
        for begin in (t, t + 0.5 * h):
            state = _advanced(made, state, begin, 0.5 * h)
        return state
    made.substeps += 1
    return after


def _beyond_reach(made: Steps, state: MotionState, t: float) -> str:
    """Which driver asks for more than the linkage reaches within a step, if one does.

    Then no change of the unknowns takes away most of what the rows miss at its end.
    """
    mechanism, rows = made.mechanism, made.mechanism.rows
    s = mechanism.numbers(t + made.options.h)[0]
    missed = rows.values(state.z, s)
    drivers = slice(rows.count - len(mechanism.drivers), rows.count)
    if not np.abs(missed[drivers]).any():
        return ""
    found = least_squares(
        rows.values, state.z, rows.dense, args=(s,), x_scale=mechanism.unit_of_unknowns
    )
    if np.linalg.norm(found.fun) < MISSED * np.linalg.norm(missed):
        return ""
    which = int(np.argmax(np.abs(found.fun[drivers])))
    driver = mechanism.drivers[which]
    q, unit = mechanism.starts[which] + driver.law.change(t), ""
    if driver.kind is DriverKind.ANGLE:
        q, unit = np.degrees(q), " degrees"
    return (
        f"at time {t:.4g} the driver {driver.name} asks for more than the linkage "
        f"reaches, {q:.4g}{unit}: let it stop or turn back before"
    )


def _remedy(mechanism: MovingMechanism, state: MotionState) -> str:
    """What to do where no step is solved.

    A node without mass has to be infinitely fast where two links come into line and the
    masses go on: an impact, which no smooth motion passes.
    """
    n = len(mechanism.structure.r0)
    speed = np.linalg.norm(state.v[: 3 * n].reshape(n, 3), axis=1)
    heavy = mechanism.node_mass.diagonal() > 0.0
    light, fastest = np.where(heavy, 0.0, speed), max(speed[heavy].max(), 1e-300)
    if not light.max() > FASTER * fastest:
        return "take a smaller h, or look for a singular configuration there"
    node, times = int(np.argmax(light)), light.max() / fastest
    return (
        f"node {node} has no mass and moves {times:.0f} times as fast as any node "
        "with mass (two links nearly in line?): give it a mass"
    )


def _solved(made: Steps, state: MotionState, t: float, h: float) -> MotionState:
    """The state after one step; rows are chosen anew where that is needed."""
    mechanism, independent, z1 = made.mechanism, state.independent, state.z
    if not independent.all():  # those that were the best may be nearly dependent by now
        independent = mechanism.independent_rows(z1, t)
    why: StepFailedError | str = ""
    for _ in range(2):
        try:
            end = _step(mechanism, state, independent, t, h)
        except StepFailedError as error:
            why = error
        else:
            made.iterations += end.iterations
            z1 = end.span.ends[1]
            worst = _violation(mechanism, z1, t + h)
            if worst <= made.options.residual:
                return _after(state, independent, end, worst)
            why = f"constraint residual {worst:.1e}"
        again = mechanism.independent_rows(z1, t + h)
        if (again == independent).all():
            break
        independent = again
    raise StepFailedError(str(why))


def _step(
    mechanism: MovingMechanism,
    state: MotionState,
    independent: Bools,
    t: float,
    h: float,
) -> StepEnd:
    """The end of a step."""
    lam, mu = h * state.lam[independent], h * state.mu[independent]
    span = Span(
        mechanism.time_numbers(t, h),
        np.append(state.z, state.v),
        np.concatenate([state.z + h * state.v, state.v, lam, mu]),
    )
    return equations_with(mechanism, independent.tobytes()).solve(span)


def _after(
    state: MotionState, independent: Bools, end: StepEnd, worst: float
) -> MotionState:
    lam, mu = np.zeros(len(independent)), np.zeros(len(independent))
    lam[independent], mu[independent] = end.span.row_forces / end.span.time.h
    N = len(state.z)
    return state._replace(
        z=end.span.w[:N],
        v=end.span.w[N : 2 * N],
        lam=lam,
        mu=mu,
        independent=independent,
        driven=state.driven + end.driven,
        damped=state.damped + end.damped,
        worst=max(worst, state.worst),
    )


def _violation(mechanism: MovingMechanism, z: Floats, t: float) -> float:
    rows = mechanism.rows.values(z, mechanism.numbers(t)[0])
    return float(np.abs(rows).max(initial=0.0))


def _seen(made: Steps, state: MotionState) -> MotionStep:
    mechanism, t = made.mechanism, state.step * made.options.h
    rows = mechanism.rows
    n = len(mechanism.structure.r0)
    r, v = (x[: 3 * n].reshape(n, 3) for x in (state.z, state.v))
    p = mechanism.node_mass @ v
    turning = r.T @ p - p.T @ r  # of which three entries are the sum of r x p
    kinetic, potential = 0.5 * float(np.sum(v * p)), mechanism.forces.energy(state.z)
    s, ds = mechanism.numbers(t)
    rates = rows.along(rows.slopes(state.z, s), state.v) + rows.values(state.z, ds)
    fastest = max(float(np.linalg.norm(v, axis=1).max()), 1e-300) / mechanism.size
    hidden = float(np.abs(rates).max(initial=0.0)) / fastest if p.any() else 0.0
    gained = kinetic + potential - state.energy
    reaction, effort = _reactions(mechanism, state, t)
    return MotionStep(
        state, t, r, v, kinetic, potential, p.sum(axis=0),
        turning[[1, 2, 0], [2, 0, 1]], state.driven, state.damped,
        gained - state.driven + state.damped, _violation(mechanism, state.z, t),
        hidden, state.worst, reaction, effort, made.iterations, made.substeps,
    )  # fmt: skip


def _reactions(
    mechanism: MovingMechanism, state: MotionState, t: float
) -> tuple[Floats, Floats]:
    """Largest force on a node of each part, and the effort of each driver."""
    rows, (names, of) = mechanism.rows, mechanism.parts
    s, n = mechanism.numbers(t)[0], len(mechanism.structure.r0)
    part, entries, place = mechanism.felt
    carried = rows.slopes(state.z, s) * state.lam[rows.slope_places[0]]
    force = np.bincount(place, carried[entries], 3 * len(part)).reshape(-1, 3)
    reaction = np.zeros(len(names))
    np.maximum.at(reaction, part, np.linalg.norm(force, axis=1))
    unsure = mechanism.sharing(state.z, t, state.independent, state.lam)
    reaction[of[unsure]] = np.nan
    first, r = rows.count - len(mechanism.drivers), state.z[: 3 * n].reshape(n, 3)
    effort = np.array(
        [
            state.lam[i] * driver.lever(r, start + driver.law.change(t))
            / mechanism.units[i]
            for i, (driver, start) in enumerate(
                zip(mechanism.drivers, mechanism.starts, strict=True), first
            )
        ]
    )  # fmt: skip
    effort[unsure[first:]] = np.nan
    return reaction, effort
