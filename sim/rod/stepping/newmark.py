"""One implicit step, eq. (2), with the contact problem inside Newton's iteration.

    M (v1 - v0) = h (F_elastic + F_damping + F_outside) + p        p: contact impulses
    x1 = x0 + h (gamma v1 + (1 - gamma) v0)

with F_elastic weighted by gamma between the ends of the step. gamma = 1/2 is Newmark's
rule (J. Eng. Mech. 85, 1959) with (1/4, 1/2), as in [Hu20]; 1 is used to reach an
equilibrium. The unknown is v1. Each iteration solves

    A dv = -r + G^T p,     A = M (1 + h gamma alpha) + h^2 gamma dF,

together with eq. (3) for G (v1 + dv), so that contact holds exactly at the end of
every iteration, and only the elasticity has to converge. A is kept as long as the
iteration contracts by `reuse` or better: at convergence its value does not matter.

With `conserving` the internal forces are those of `sim.rod.stepping.conserving`; A then
keeps that of Newmark's rule, from which it differs by the turning of an edge in a step.
"""

import numpy as np

from sim.kernels import inlined, kernel
from sim.rod.actuation.actuation import actuate
from sim.rod.contact.touching import TouchSetting
from sim.rod.energy.blocks import backward, factorise, forward
from sim.rod.energy.elastic import Rates, gradients, join
from sim.rod.energy.stiffness import add_mass, add_stiffness, multiply, set_multiple
from sim.rod.stepping.along import add_drag, find_edge_forces, overlap
from sim.rod.stepping.conserving import conserving_gradient
from sim.rod.stepping.contacts import add_impulses, place_frames
from sim.rod.stepping.many_contacts import MANY, solve_many
from sim.rod.stepping.many_touches import solve_many_touches
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.workspace import Work


@kernel
def strain_rate_weight(setting: Setting, h: float) -> float:
    return 0.0 if setting.rayleigh else setting.beta / h


@inlined
def evaluate(
    setting: Setting, scheme: Scheme, state: RodState, work: Work, h: float
) -> None:
    """Positions, gradients and the residual r, N s, for the velocities work.v."""
    g = scheme.gamma
    for i in range(len(work.v)):
        for a in range(2):
            mean = g * work.v[i, a] + (1.0 - g) * state.v[i, a]
            work.x[i, a] = state.x[i, a] + h * mean
    gradients(
        work.x,
        setting.element,
        work.actuated,
        strain_rate_weight(setting, h),
        state.strain,
        work.strain,
        work.elastic,
        work.viscous,
    )
    if scheme.conserving:
        weight = strain_rate_weight(setting, h)
        conserving_gradient(
            state.x, work.x, setting.element, work.actuated, weight, work.viscous
        )
    loaded = overlap(setting.load_window, state.clock.time, h)
    find_edge_forces(setting, scheme, state, work, h)
    if setting.rayleigh:
        for i in range(len(work.v)):
            for a in range(2):
                mean = g * work.v[i, a] + (1.0 - g) * state.v[i, a]
                work.z[setting.pattern.place[i], a] = mean
        multiply(setting.pattern, work.stiffness, work.z, work.product)
    for i in range(len(work.v)):
        m = setting.element.mass[i]
        for a in range(2):
            v, v0 = work.v[i, a], state.v[i, a]
            force = work.viscous[i, a] + setting.alpha * m * (g * v + (1.0 - g) * v0)
            if not scheme.conserving:
                force += g * work.elastic[i, a] + (1.0 - g) * state.gradient[i, a]
            if setting.rayleigh:
                force += setting.beta * work.product[setting.pattern.place[i], a]
            r = m * (v - v0) + h * (force - m * setting.gravity[a])
            r -= loaded * setting.load[i, a] + work.outer[i, a] - work.drag[i, a]
            work.support[i, a] = r if setting.held[i, a] else 0.0
            work.r[i, a] = 0.0 if setting.held[i, a] else r


@inlined
def renew_factor(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    h: float,
    many: bool,
) -> None:
    """Assemble A at the present iterate; factorise it, or keep it for many contacts."""
    g = scheme.gamma
    matrix = state.factor
    if setting.rayleigh:
        set_multiple(h * g * setting.beta, work.stiffness, matrix)
    else:
        matrix.diagonal[:] = 0.0
        matrix.lower[:] = 0.0
    mass_scale = 1.0 + h * g * setting.alpha
    add_mass(setting.pattern, matrix, setting.element.mass, setting.held, mass_scale)
    add_stiffness(
        work.x,
        setting.element,
        work.actuated,
        Rates(g, strain_rate_weight(setting, h)),
        state.strain,
        setting.pattern,
        h * h * g,
        matrix,
    )
    add_drag(setting, scheme, state, work, h)
    if many:
        set_multiple(1.0, matrix, work.matrix)
    if touch is not None or not many:
        factorise(setting.pattern, matrix)
    state.clock.factor_step = h
    work.memo.count = -1
    work.report.factorisations += 1.0


@inlined
def improve(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
) -> tuple[float, float]:
    """One iteration. Returns its largest move, m, and the contact residual, m/s."""
    place = setting.pattern.place
    z = work.z
    for i in range(len(place)):
        j = place[i]
        z[j, 0], z[j, 1] = -work.r[i, 0], -work.r[i, 1]
    left = 0.0
    if scheme.exact and count > MANY:
        if touch is not None:
            left = solve_many_touches(setting, scheme, touch, state.factor, work, count)
        else:
            left = solve_many(setting, work, count)
    elif work.memo.nodes > len(work.known) and count > 0:
        work.memo.full = 1
        return np.inf, np.inf
    else:
        forward(setting.pattern, state.factor, z)
        if count > 0:
            left = add_impulses(setting, scheme, state, work, count)
        backward(setting.pattern, state.factor, z)
    largest = 0.0
    for i in range(len(place)):
        for a in range(2):
            d = z[place[i], a]
            work.v[i, a] += d
            largest = max(largest, abs(d))
            if not np.isfinite(d):
                return np.inf, left
    work.report.iterations += 1.0
    return scheme.gamma * h * largest, left


@kernel
def guess(setting: Setting, state: RodState, work: Work, h: float) -> None:
    """Start the iteration from the velocities that constant acceleration gives."""
    for i in range(len(work.v)):
        for a in range(2):
            forecast = 0.0 if setting.held[i, a] else h * state.acceleration[i, a]
            work.v[i, a] = state.v[i, a] + forecast


@kernel
def solve_step(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
) -> bool:
    """Find v1 with the listed contacts, from the guess in work.v; False if it fails."""
    actuate(state.clock.time + h, state.pulse, setting.law, work.actuated)
    join(setting.element, work.actuated)
    place_frames(setting, scheme, touch, state, work, count, h)
    if setting.rayleigh:
        _paper_stiffness(setting, state, work)
    many = scheme.exact and count > MANY
    renew = state.clock.factor_step != h or scheme.reuse <= 0.0 or many
    done = False
    left = 0.0
    previous = np.inf
    for iteration in range(scheme.max_newton + 1):
        evaluate(setting, scheme, state, work, h)
        if done:
            largest = _report(setting, state, work, count, left, h)
            if work.report.found_residual <= bound(setting, scheme, largest, h):
                if many:
                    state.clock.factor_step = 0.0  # there is none
                return left <= scheme.complementarity or not scheme.exact
            renew = True  # small moves of a matrix that is no longer the right one
        if iteration == scheme.max_newton:
            break
        if renew:
            renew_factor(setting, scheme, touch, state, work, h, many)
        move, left = improve(setting, scheme, touch, state, work, count, h)
        if not np.isfinite(move) or not np.isfinite(left):
            break
        contraction = move / previous if iteration > 0 else 1.0
        done = move <= scheme.tolerance
        if iteration > 0 and contraction < 1.0:
            remaining = move * contraction / (1.0 - contraction)
            done = done or remaining <= scheme.tolerance
        renew = many or (iteration > 0 and contraction > scheme.reuse)
        previous = move
    state.clock.factor_step = 0.0
    return False


@inlined
def _paper_stiffness(setting: Setting, state: RodState, work: Work) -> None:
    """K at the start of the step: then d(K v)/dv1 is known exactly.

    [Hu20] does not say where K is taken; with K(x1) the derivative of K is usually
    dropped, and Newton's iteration is no longer one.
    """
    work.stiffness.diagonal[:] = 0.0
    work.stiffness.lower[:] = 0.0
    add_stiffness(
        state.x,
        setting.element,
        work.actuated,
        Rates(1.0, 0.0),
        state.strain,
        setting.pattern,
        1.0,
        work.stiffness,
    )


@kernel
def _report(
    setting: Setting, state: RodState, work: Work, count: int, left: float, h: float
) -> float:
    """The force that is out of balance, N, its share, and the contact residual, m/s.

    Returns the largest force on a node, N.
    """
    worst, largest = 0.0, 0.0
    for i in range(len(work.r)):
        m = setting.element.mass[i]
        for a in range(2):
            p = work.impulse[i, a] if count > 0 and not setting.held[i, a] else 0.0
            worst = max(worst, abs(work.r[i, a] - p) / h)
            inertia = m * abs(work.v[i, a] - state.v[i, a]) / h
            inner_force = max(abs(work.elastic[i, a]), abs(work.viscous[i, a]))
            outer_force = max(m * abs(setting.gravity[a]), abs(p) / h)
            outer_force = max(outer_force, abs(work.outer[i, a]) / h)
            largest = max(largest, inertia, inner_force, outer_force)
    work.report.found_residual = worst
    work.report.found_share = worst / largest if largest > 0.0 else 0.0
    work.report.found_complementarity = left
    return largest


@kernel
def bound(setting: Setting, scheme: Scheme, largest: float, h: float) -> float:
    """The residual of a step that may be accepted, N.

    A fraction of the largest force, and what positions that err by the tolerance make
    of it: the rod at rest has no larger stiffness than `scheme.stiffness`.
    """
    spring = (1.0 + setting.beta / h) * scheme.stiffness
    inertia = 4.0 * scheme.heaviest / (h * h)
    return float(scheme.residual * largest + scheme.tolerance * (spring + inertia))
