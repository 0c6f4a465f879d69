"""One implicit step, eq. (2), with the contact problem inside Newton's iteration.

    M (v1 - v0) = h (F_elastic + F_damping + F_outside) + p        p: contact impulses
    x1 = x0 + h (gamma v1 + (1 - gamma) v0)

with F_elastic weighted by gamma between the ends of the step. gamma = 1/2 is Newmark's
rule (J. Eng. Mech. 85, 1959) with (1/4, 1/2), as in [Hu20]; 1 is used to reach an
equilibrium. The unknown is v1. Each iteration solves

    A dv = -r + G^T p,     A = M (1 + h gamma alpha) + h^2 gamma dF,

together with eq. (3) for G (v1 + dv), so that contact holds exactly at the end of
every iteration, and only the elasticity has to converge. A is reused as long as the
iteration contracts by `reuse` or better: at convergence its value does not matter.

With `conserving` the internal forces are those of `conserving_gradient`; A then keeps
that of Newmark's rule, from which it differs by the turning of an edge in a step.

Rules of [Hu20] for the contact states, `contact: modified_mass`. The equations are
solved with given states: free, sliding with a given friction force, or held. Then the
rules of Methods are checked: a node below the ground is held, a contact that pulls is
released, one outside the friction cone slides with the friction of that moment, one
whose sliding reverses is held; and the equations are solved again. Two limits are those
of a simulator derived from the paper's: ten passes, releases and reversals in the first
five of them only. After the last pass the states are taken as they are, right or not:
the residual of the contact problem, which is recorded, says which. (In the paper the
constrained coordinates are removed from the equations, here the same condition is
imposed by an impulse.)

Internal forces that keep energy and angular momentum exactly, at any amplitude.
Newmark's rule keeps the energy of a linear system only. A rod is far stiffer in
stretching than in bending, and at large amplitude without damping the rule feeds the
stretching modes, until Newton's iteration fails. Here the force of an element is

    F = -k ((eps0 + eps1) / 2 - rest + beta / h (eps1 - eps0)) g

with a mean slope g for which g . (x1 - x0) = eps1 - eps0 holds exactly. Then the work
of F over a step is U0 - U1 less what beta takes: the energy-momentum method of Simo and
Tarnow, ZAMP 43 (1992), with discrete derivatives (Gonzalez, J. Nonlinear Sci. 6, 1996).
Such slopes follow from the mean edges e, f of the step:

    d|e| = 2 e . de / (|e0| + |e1|)
    d(e x f) = e x df + de x f          d(e . f) = e . df + de . f
    d(|e||f|) = mean|e| d|f| + mean|f| d|e|
    d(C / S) = (mean S dC - mean C dS) / (S0 S1)

with C = e x f, S = |e||f| + e . f and the turning 2 C / S. As g is made of e and f as
the slope at the mean shape would be, the forces have no moment about it.

Loads of edges, with the mean edge e = (1 - gamma) e0 + gamma e1 of the step, of length
l, as drag of `sim.rods.fluid_drag` has it:

    outer = w (F + f_t e + f_n Je) s    or    w (F + (f_t e + f_n Je) / l) s

for a node that has the share w, with s of the step in which the load acts, and J a turn
by a right angle to the left. With gamma = 1/2 the work of a pressure on a closed rod is
then exactly that times the change of its area. Of the tangents of loads and drag the
matrix of a step has that of drag in v; how forces turn is not symmetric and left to the
iteration.
"""

import numpy as np

from sim.core.arrays import Floats
from sim.core.numba_kernels import inlined, kernel
from sim.rods.fluid_drag import add_drag, find_drag, mean_tangent
from sim.rods.plane.actuation import actuate
from sim.rods.plane.block_factorisation import BlockMatrix, backward, factorise, forward
from sim.rods.plane.contact_geometry import EdgeContacts
from sim.rods.plane.contact_impulses import OPEN, SLIP_NEGATIVE, SLIP_POSITIVE, STICK
from sim.rods.plane.contact_problem import add_impulses, place_frames
from sim.rods.plane.elastic_energy import (
    Actuated,
    Elements,
    Rates,
    add_mass,
    add_pair,
    add_stiffness,
    add_triple,
    bend_law,
    copy_values,
    edge_between,
    edge_law,
    gradients,
    join,
    multiply,
    set_multiple,
)
from sim.rods.plane.many_contact_impulses import MANY, solve_many
from sim.rods.plane.options import RodModel
from sim.rods.plane.state import Run
from sim.rods.plane.world import overlap


@kernel
def conserving_gradient(
    x0: Floats,
    x1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    total: Floats,
) -> None:
    """-F (n, 2), N, of a step from x0 to x1; viscous is beta / h.

    EA (mean strain + viscous change of strain) d|e| of every edge, and
    s (mean turning - rest + viscous change of turning) d turning of every bend.
    """
    total[:] = 0.0
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        l0 = _length(x0, i, j)
        l1 = _length(x1, i, j)
        ex, ey = _mean_edge(x0, x1, i, j)
        strain = 0.5 * (l0 + l1) / element.rest[k] - 1.0
        rate = viscous * (l1 - l0) / element.rest[k]
        EA = edge_law(element, actuated, k)
        c = 2.0 * EA * (strain + rate) / (l0 + l1)
        add_pair(total, i, j, c * ex, c * ey)

    for b in range(len(element.voronoi)):
        i, j, k = element.bend[b, 0], element.bend[b, 1], element.bend[b, 2]
        s, rest = bend_law(element, actuated, b)
        e0, e1 = _length(x0, i, j), _length(x1, i, j)
        f0, f1 = _length(x0, j, k), _length(x1, j, k)
        C0, D0 = _products(x0, i, j, k, element.fold[b])
        C1, D1 = _products(x1, i, j, k, element.fold[b])
        S0, S1 = e0 * f0 + D0, e1 * f1 + D1
        t0, t1 = 2.0 * C0 / S0, 2.0 * C1 / S1
        moment = s * (0.5 * (t0 + t1) - rest + viscous * (t1 - t0))
        # The moment times d turn / d(e x f), d turn / d(e . f), d turn / dS.
        dC = element.fold[b] * moment * (S0 + S1) / (S0 * S1)
        dS = -moment * (C0 + C1) / (S0 * S1)
        dD = element.fold[b] * dS
        ex, ey = _mean_edge(x0, x1, i, j)
        fx, fy = _mean_edge(x0, x1, j, k)
        along_e = dS * (f0 + f1) / (e0 + e1)
        along_f = dS * (e0 + e1) / (f0 + f1)
        px, py = dC * fy + dD * fx + along_e * ex, -dC * fx + dD * fy + along_e * ey
        qx, qy = -dC * ey + dD * ex + along_f * fx, dC * ex + dD * ey + along_f * fy
        add_triple(total, i, j, k, -px, -py, qx, qy)


@kernel
def _length(x: Floats, i: int, j: int) -> float:
    ex, ey = edge_between(x, i, j)
    return float(np.sqrt(ex * ex + ey * ey))


@kernel
def _mean_edge(x0: Floats, x1: Floats, i: int, j: int) -> tuple[float, float]:
    e0x, e0y = edge_between(x0, i, j)
    e1x, e1y = edge_between(x1, i, j)
    return 0.5 * (e0x + e1x), 0.5 * (e0y + e1y)


@kernel
def _products(x: Floats, i: int, j: int, k: int, fold: float) -> tuple[float, float]:
    """e x f and e . f of the edges (i, j), reversed if fold is -1, and (j, k)."""
    ex, ey = edge_between(x, i, j)
    fx, fy = edge_between(x, j, k)
    return fold * (ex * fy - ey * fx), fold * (ex * fx + ey * fy)


@inlined
def find_edge_loads(run: Run, h: float) -> None:
    """Fill work.outer, N s, for the end of the step in work.x."""
    along, work, both = run.model.along, run.work, (run.state.x, run.work.x)
    work.outer[:] = 0.0
    for k in range(len(along.ends)):
        i, j = along.ends[k]
        tx, ty, length = mean_tangent(both, run.method.gamma, i, j)
        acts = overlap(along.window[k], run.state.clock.time, h)
        size = acts * length ** along.power[k]
        ft, fn = size * along.force[k, 2], size * along.force[k, 3]
        fx = acts * along.force[k, 0] + ft * tx - fn * ty
        fy = acts * along.force[k, 1] + ft * ty + fn * tx
        for a in range(2):
            i, w = along.ends[k, a], along.share[k, a]
            work.outer[i, 0] += w * fx
            work.outer[i, 1] += w * fy


@kernel
def strain_rate_weight(model: RodModel, h: float) -> float:
    return 0.0 if model.rayleigh else model.beta / h


@inlined
def evaluate(run: Run, h: float) -> None:
    """Positions, gradients and the residual r, N s, for the velocities work.v."""
    model, method, state, work = run.model, run.method, run.state, run.work
    g = method.gamma
    for i in range(len(work.v)):
        for a in range(2):
            mean = g * work.v[i, a] + (1.0 - g) * state.v[i, a]
            work.x[i, a] = state.x[i, a] + h * mean
    gradients(
        work.x,
        model.element,
        work.actuated,
        strain_rate_weight(model, h),
        state.strain,
        work.strain,
        work.elastic,
        work.viscous,
    )
    if method.conserving:
        weight = strain_rate_weight(model, h)
        conserving_gradient(
            state.x, work.x, model.element, work.actuated, weight, work.viscous
        )
    loaded = overlap(model.load_window, state.clock.time, h)
    if len(model.along.ends) > 0:
        find_edge_loads(run, h)
        along, both = model.along, (state.x, work.x)
        speeds = state.v, work.v
        find_drag(along.ends, along.drag, both, speeds, g, h, work.drag)
    if model.rayleigh:
        for i in range(len(work.v)):
            for a in range(2):
                mean = g * work.v[i, a] + (1.0 - g) * state.v[i, a]
                work.z[model.pattern.place[i], a] = mean
        multiply(model.pattern, work.stiffness, work.z, work.product)
    for i in range(len(work.v)):
        m = model.element.mass[i]
        for a in range(2):
            v, v0 = work.v[i, a], state.v[i, a]
            force = work.viscous[i, a] + model.alpha * m * (g * v + (1.0 - g) * v0)
            if not method.conserving:
                force += g * work.elastic[i, a] + (1.0 - g) * state.gradient[i, a]
            if model.rayleigh:
                force += model.beta * work.product[model.pattern.place[i], a]
            r = m * (v - v0) + h * (force - m * model.gravity[a])
            r -= loaded * model.load[i, a] + work.outer[i, a] - work.drag[i, a]
            work.support[i, a] = r if model.held[i, a] else 0.0
            work.r[i, a] = 0.0 if model.held[i, a] else r


@kernel
def set_zero(matrix: BlockMatrix) -> None:
    """All blocks <- 0."""
    matrix.diagonal[:] = 0.0
    matrix.lower[:] = 0.0


@kernel
def add_stiffness_at(
    run: Run, x: Floats, rates: Rates, scale: float, matrix: BlockMatrix
) -> None:
    """A += scale times the stiffness at x, of strains since the start of the step."""
    model = run.model
    add_stiffness(
        x, model.element, run.work.actuated, rates, run.state.strain,
        run.work.predicted, model.pattern, scale, matrix,
    )  # fmt: skip


@inlined
def renew_factor(run: Run, h: float, many: bool) -> None:
    """Assemble A at the present iterate; keep it for many contacts; factorise it."""
    model, method, state, work = run.model, run.method, run.state, run.work
    g = method.gamma
    matrix = state.factor
    if model.rayleigh:
        set_multiple(h * g * model.beta, work.stiffness, matrix)
    else:
        set_zero(matrix)
    mass_scale = 1.0 + h * g * model.alpha
    add_mass(model.pattern, matrix, model.element.mass, model.held, mass_scale)
    rates = Rates(g, strain_rate_weight(model, h), method.conserving)
    add_stiffness_at(run, work.x, rates, h * h * g, matrix)
    along, place, both = model.along, model.pattern.place, (state.x, work.x)
    add_drag(along.ends, along.drag, both, g, h, place, matrix.diagonal)
    if many:
        set_multiple(1.0, matrix, work.matrix)
    factorise(model.pattern, matrix)
    state.clock.factor_step = h
    work.memo.count = -1
    work.report.factorisations += 1


@inlined
def improve(run: Run, crowd: bool | None, count: int, h: float) -> tuple[float, float]:
    """One iteration. Returns its largest move, m, and the contact residual, m/s."""
    model, method, state, work = run.model, run.method, run.state, run.work
    place = model.pattern.place
    z = work.z
    for i in range(len(place)):
        j = place[i]
        z[j, 0], z[j, 1] = -work.r[i, 0], -work.r[i, 1]
    left = 0.0
    if method.exact and count > MANY:
        left = solve_many(run, crowd, count)
    elif work.memo.nodes > len(work.known) and count > 0:
        work.memo.full = 1
        return np.inf, np.inf
    else:
        forward(model.pattern, state.factor, z)
        if count > 0:
            left = add_impulses(run, count)
        backward(model.pattern, state.factor, z)
    largest = 0.0
    for i in range(len(place)):
        for a in range(2):
            d = z[place[i], a]
            work.v[i, a] += d
            largest = max(largest, abs(d))
            if not np.isfinite(d):
                return np.inf, left
    if method.conserving:
        predict_strains(run, h)
    work.report.iterations += 1
    return method.gamma * h * largest, left


@kernel
def predict_strains(run: Run, h: float) -> None:
    """work.predicted <- strains after the move in work.z, to first order in it.

    A turn lengthens a stiff edge at second order, by far more than forces do, until the
    next move: a matrix with such a strain makes that move a wrong one.
    """
    model, method, state, work = run.model, run.method, run.state, run.work
    place, move = model.pattern.place, method.gamma * h
    for k in range(len(work.predicted)):
        i, j = model.element.edge[k, 0], model.element.edge[k, 1]
        ex, ey = _mean_edge(state.x, work.x, i, j)
        dx = work.z[place[j], 0] - work.z[place[i], 0]
        dy = work.z[place[j], 1] - work.z[place[i], 1]
        longer = move * (ex * dx + ey * dy) / np.sqrt(ex * ex + ey * ey)
        strain = work.strain.stretch[k]
        work.predicted[k] = strain + longer / model.element.rest[k]


@kernel
def guess(run: Run, h: float) -> None:
    """Start the iteration from the velocities that constant acceleration gives."""
    model, state, work = run.model, run.state, run.work
    for i in range(len(work.v)):
        for a in range(2):
            forecast = 0.0 if model.held[i, a] else h * state.acceleration[i, a]
            work.v[i, a] = state.v[i, a] + forecast


@kernel
def solve_step(
    run: Run, touch: EdgeContacts | None, crowd: bool | None, count: int, h: float
) -> bool:
    """Find v1 with the listed contacts, from the guess in work.v; False if it fails."""
    model, method, state, work = run.model, run.method, run.state, run.work
    actuate(state.clock.time + h, state.pulse, model.law, work.actuated)
    join(model.element, work.actuated)
    place_frames(run, touch, count, h)
    if model.rayleigh:
        _paper_stiffness(run)
    many = method.exact and count > MANY
    renew = state.clock.factor_step != h or method.reuse <= 0.0 or many
    copy_values(state.strain.stretch, work.predicted)
    done = False
    left = 0.0
    previous = np.inf
    for iteration in range(method.max_newton + 1):
        evaluate(run, h)
        if done:
            largest = _report(run, count, left, h)
            if work.report.found_residual <= bound(run, largest, h):
                return left <= method.complementarity or not method.exact
        if iteration == method.max_newton:
            break
        if renew:
            renew_factor(run, h, many)
        move, left = improve(run, crowd, count, h)
        if not np.isfinite(move) or not np.isfinite(left):
            break
        contraction = move / previous if iteration > 0 else 1.0
        done = move <= method.tolerance
        if iteration > 0 and contraction < 1.0:
            remaining = move * contraction / (1.0 - contraction)
            done = done or remaining <= method.tolerance
        renew = many or (iteration > 0 and contraction > method.reuse)
        previous = move
    state.clock.factor_step = 0.0
    return False


@inlined
def _paper_stiffness(run: Run) -> None:
    """K at the start of the step: then d(K v)/dv1 is known exactly.

    [Hu20] does not say where K is taken; with K(x1) the derivative of K is usually
    dropped, and Newton's iteration is no longer one.
    """
    set_zero(run.work.stiffness)
    add_stiffness_at(run, run.state.x, Rates(1.0, 0.0, False), 1.0, run.work.stiffness)


@kernel
def _report(run: Run, count: int, left: float, h: float) -> float:
    """The force that is out of balance, N, its share, and the contact residual, m/s.

    Returns the largest force on a node, N.
    """
    model, method, state, work = run.model, run.method, run.state, run.work
    worst, largest = 0.0, 0.0
    for i in range(len(work.r)):
        m = model.element.mass[i]
        for a in range(2):
            p = work.impulse[i, a] if count > 0 and not model.held[i, a] else 0.0
            worst = max(worst, abs(work.r[i, a] - p) / h)
            inertia = m * abs(work.v[i, a] - state.v[i, a]) / h
            inner_force = abs(work.viscous[i, a])
            if not method.conserving:
                inner_force = max(inner_force, abs(work.elastic[i, a]))
            outer_force = max(m * abs(model.gravity[a]), abs(p) / h)
            outer_force = max(outer_force, abs(work.outer[i, a]) / h)
            largest = max(largest, inertia, inner_force, outer_force)
    work.report.found_residual = worst
    work.report.found_share = worst / largest if largest > 0.0 else 0.0
    work.report.found_complementarity = left
    return largest


ROUNDED = 1e-15  # of the farthest coordinate: moves that doubles do not hold


@kernel
def bound(run: Run, largest: float, h: float) -> float:
    """The residual of a step that may be accepted, N.

    A fraction of the largest force, what velocities that err as those of contacts may
    make of it, and what rounding of positions does: the rod at rest has no larger
    stiffness than `method.stiffness`.
    """
    model, method, x = run.model, run.method, run.work.x
    far = 0.0
    for i in range(len(x)):
        far = max(far, abs(x[i, 0]), abs(x[i, 1]))
    spring = (1.0 + model.beta / h) * method.stiffness
    inertia = 4.0 * method.heaviest / (h * h)
    rounding = ROUNDED * far * (spring + inertia)
    impact = method.complementarity * method.heaviest / h
    return float(method.residual * largest + impact + rounding)


PASSES = 10
PASSES_WITH_RELEASE = 5


@inlined
def solve_with_contacts(
    run: Run, touch: EdgeContacts | None, crowd: bool | None, count: int, h: float
) -> bool:
    """Solve a step with the listed contacts, exactly or by the rules above.

    Returns whether Newton's iteration, and with exact contact eq. (3), met its
    tolerance.
    """
    method, work = run.method, run.work
    if not method.exact:
        work.state[:count] = STICK
        if count > len(work.known):
            work.memo.full = 1
            return False
    for turn in range(PASSES):
        if not solve_step(run, touch, crowd, count, h):
            return False
        if method.exact or not change_by_rules(run, count, turn):
            break
    return True


@kernel
def change_by_rules(run: Run, count: int, turn: int) -> bool:
    """Apply the rules to each contact; whether any state changed."""
    model, state, work = run.model, run.state, run.work
    changed = False
    for c in range(count):
        p_n, p_t = work.p[2 * c], work.p[2 * c + 1]
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        i = work.who[c]
        before = state.v[i, 0] * tx + state.v[i, 1] * ty
        after = work.v[i, 0] * tx + work.v[i, 1] * ty
        early = turn < PASSES_WITH_RELEASE
        if work.state[c] == OPEN:
            continue
        if p_n < 0.0 and early:
            work.state[c] = OPEN
            changed = True
        elif work.state[c] == STICK and abs(p_t) > model.mu * max(p_n, 0.0):
            sign = 1.0 if p_t > 0.0 else -1.0
            work.state[c] = SLIP_NEGATIVE if p_t > 0.0 else SLIP_POSITIVE
            work.friction[c] = sign * model.mu * max(p_n, 0.0)
            changed = True
        elif work.state[c] > STICK and before * after < 0.0 and early:
            work.state[c] = STICK
            changed = True
    return changed
