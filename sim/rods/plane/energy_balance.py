"""What a step did with energy: put in, stored, dissipated, and what is out of balance.

With the mean velocity v of a step, (v0 + v1) / 2, its equation times h v says

    change of T + U + V = given - damped - friction - impact + left

    given     h v . (loads and force of a support), and change of U by actuation alone
    damped    alpha: h m v^2; beta: beta / h k (eps1 - eps0)^2, or beta h v . K v; and
              h v . drag in a fluid
    friction  -v_t p_t of all contacts
    impact    -v_n p_n of all contacts

Contacts take energy, all of them together: in an impact friction alone may give some.
`left` is what the step makes of nothing: the residual of its equation, and the
error of the rule by which it weights internal forces over the step, of order h^3 for
Newmark's rule, nothing with `conserving`.
"""

import numpy as np

from sim.core.numba_kernels import kernel
from sim.rods.plane.actuation import actuate
from sim.rods.plane.elastic_energy import bend_law, edge_law, energies, join
from sim.rods.plane.options import RodModel
from sim.rods.plane.state import Clock, EnergyFlow, RodState, Run
from sim.rods.plane.world import overlap

ROUNDING = 1e-12  # of the elastic energy
CONSERVED = 0.1  # of `balance`, that steps which keep energy may leave in all
OF_CONTACTS = 0.03  # of `balance`, that contacts may give


@kernel
def account(run: Run, count: int, h: float) -> None:
    """Fill work.flow with the energies of the step just solved."""
    model, state, work = run.model, run.state, run.work
    flow = work.flow
    flow.given, flow.damped, flow.friction, flow.impact = 0.0, 0.0, 0.0, 0.0
    flow.left, flow.scale, flow.rounding, flow.fallen = 0.0, 0.0, 0.0, 0.0
    flow.stored = 0.0
    actuate(state.clock.time, state.pulse, model.law, work.earlier)
    join(model.element, work.earlier)
    _add_edges(run, h)
    _add_bends(run, h)
    _add_nodes(run, h)
    _add_contacts(run, count)
    flow.gave = max(-flow.friction - flow.impact, 0.0)
    taken = flow.damped + flow.friction + flow.impact
    flow.left += taken - flow.given
    flow.scale += abs(flow.given) + abs(flow.damped)
    flow.scale += abs(flow.friction) + abs(flow.impact)


@kernel
def _add_element(
    flow: EnergyFlow, weight: float, old: float, driven: float, moved: float, new: float
) -> None:
    """Share the change of an element's energy between actuation and motion.

    Parameters
    ----------
    weight : of the actuation at the end of the step in the internal forces
    old, new : J, before and after the step
    driven, moved : J, with the actuation or the strain of the end alone
    """
    given = weight * (driven - old) + (1.0 - weight) * (new - moved)
    flow.given += given
    flow.left += new - old
    flow.stored += new
    flow.scale += abs(weight * (new - driven) + (1.0 - weight) * (moved - old))
    flow.rounding += ROUNDING * (old + new)


@kernel
def _add_edges(run: Run, h: float) -> None:
    """Stretching energy 1/2 EA eps^2 l0 of each edge, and what damps it."""
    model, method, state, work = run.model, run.method, run.state, run.work
    weight = 1.0 if method.conserving else method.gamma
    viscous = 0.0 if model.rayleigh else model.beta / h
    for k in range(len(model.element.rest)):
        old_EA = edge_law(model.element, work.earlier, k)
        EA = edge_law(model.element, work.actuated, k)
        rest = model.element.rest[k]
        eps0, eps1 = state.strain.stretch[k], work.strain.stretch[k]
        a, b = 0.5 * rest * eps0 * eps0, 0.5 * rest * eps1 * eps1
        _add_element(work.flow, weight, old_EA * a, EA * a, old_EA * b, EA * b)
        work.flow.damped += viscous * EA * rest * (eps1 - eps0) ** 2


@kernel
def _add_bends(run: Run, h: float) -> None:
    """Bending energy 1/2 s (turn - rest)^2 of each bend, and what damps it."""
    model, method, state, work = run.model, run.method, run.state, run.work
    weight = 1.0 if method.conserving else method.gamma
    viscous = 0.0 if model.rayleigh else model.beta / h
    for b in range(len(model.element.voronoi)):
        s0, rest0 = bend_law(model.element, work.earlier, b)
        s1, rest1 = bend_law(model.element, work.actuated, b)
        t0, t1 = state.strain.turn[b], work.strain.turn[b]
        old = 0.5 * s0 * (t0 - rest0) ** 2
        driven = 0.5 * s1 * (t0 - rest1) ** 2
        moved, new = 0.5 * s0 * (t1 - rest0) ** 2, 0.5 * s1 * (t1 - rest1) ** 2
        _add_element(work.flow, weight, old, driven, moved, new)
        work.flow.damped += viscous * s1 * (t1 - t0) ** 2


@kernel
def _add_nodes(run: Run, h: float) -> None:
    """Kinetic energy, weight, loads, supports, and damping by velocity."""
    model, method, state, work = run.model, run.method, run.state, run.work
    flow, place = work.flow, model.pattern.place
    loaded = overlap(model.load_window, state.clock.time, h)
    for i in range(len(work.v)):
        m = model.element.mass[i]
        for a in range(2):
            v, v0 = work.v[i, a], state.v[i, a]
            mean = 0.5 * (v + v0)
            raised = -m * model.gravity[a] * h * mean
            gained = m * (v - v0) * mean
            given = (loaded * model.load[i, a] + work.support[i, a]) * mean
            given += work.outer[i, a] * mean
            damped = model.alpha * m * h * mean * mean
            if model.rayleigh:
                damped += model.beta * h * mean * work.product[place[i], a]
            damped += work.drag[i, a] * mean
            flow.left += gained + raised
            flow.given += given
            flow.damped += damped
            flow.fallen -= raised
            flow.stored += 0.5 * m * v * v
            flow.scale += 0.5 * m * (v * v + v0 * v0) + abs(raised)
            force = max(abs(work.elastic[i, a]), abs(m * (v - v0) / h))
            force = max(force, abs(m * model.gravity[a]))
            flow.rounding += method.tolerance * force


@kernel
def _add_contacts(run: Run, count: int) -> None:
    """Work of the contacts along their normals and tangents.

    What a contact pushes a held coordinate its support holds.
    """
    model, state, work = run.model, run.state, run.work
    for c in range(count):
        tx, ty = work.middle[c, 0], work.middle[c, 1]
        x, y = 0.0, 0.0
        for a in range(work.node_count[c]):
            i, weight = work.acts_on[c, a], work.push_weight[c, a]
            x += weight * (0.5 * (state.v[i, 0] + work.v[i, 0]))
            y += weight * (0.5 * (state.v[i, 1] + work.v[i, 1]))
        work.flow.impact -= work.p[2 * c] * (-ty * x + tx * y)
        work.flow.friction -= work.p[2 * c + 1] * (tx * x + ty * y)
    for s in range(work.memo.nodes if count > 0 else 0):
        i = work.node[s]
        for a in range(2):
            if model.held[i, a]:
                mean = 0.5 * (state.v[i, a] + work.v[i, a])
                work.flow.given -= work.impulse[i, a] * mean


@kernel
def mechanical_energies(model: RodModel, state: RodState) -> tuple[float, float]:
    """Kinetic energy, and potential energy of gravity, J."""
    kinetic, height = 0.0, 0.0
    g = model.gravity
    for i in range(len(state.x)):
        m = model.element.mass[i]
        v, x = state.v[i], state.x[i]
        kinetic += 0.5 * m * (v[0] * v[0] + v[1] * v[1])
        height -= m * (g[0] * x[0] + g[1] * x[1])
    return kinetic, height


@kernel
def energy_at_work(run: Run) -> float:
    """Kinetic and elastic energy of a state, actuated as in work.actuated, J."""
    model, state, work = run.model, run.state, run.work
    kinetic, _ = mechanical_energies(model, state)
    stretching, bending = energies(state.x, model.element, work.actuated)
    return float(kinetic + stretching + bending)


@kernel
def copy_flow(source: Clock, target: Clock) -> None:
    """The energies since the start, as they were there."""
    target.given = source.given
    target.damped = source.damped
    target.friction = source.friction
    target.impact = source.impact
    target.out_of_balance = source.out_of_balance
    target.supplied = source.supplied
    target.at_work = source.at_work
    target.rounding = source.rounding


@kernel
def keep_flow(run: Run) -> None:
    """Add the energies of an accepted step to those since the start."""
    state, work = run.state, run.work
    clock, flow = state.clock, work.flow
    clock.given += flow.given
    clock.damped += flow.damped
    clock.friction += flow.friction
    clock.impact += flow.impact
    clock.out_of_balance += flow.left
    clock.rounding = _together(clock.rounding, flow.rounding)
    clock.supplied += flow.given + flow.fallen
    clock.at_work = max(clock.at_work, clock.supplied)
    over = max(0.0, abs(flow.left) - flow.rounding)
    if flow.scale > 0.0:
        clock.worst_balance = max(clock.worst_balance, over / flow.scale)


@kernel
def strains_and_energy_valid(run: Run) -> bool:
    """Whether strains stay those of a rod, and no energy comes from nowhere.

    The sum of errors of many steps is compared with the largest energy at any one time:
    what falls and rises again does not count twice. Contacts take energy, and what they
    give in a step is an error of it: that of a node that rose and fell in it, say.
    """
    method, state, work = run.method, run.state, run.work
    for k in range(len(work.strain.stretch)):
        if not abs(work.strain.stretch[k]) <= method.strain:
            return False
    for b in range(len(work.strain.turn)):  # 2 tan of half the angle: by pi at most
        if not work.strain.turn[b] * state.strain.turn[b] >= -4.0:
            return False
    flow, clock = work.flow, state.clock
    if not abs(flow.left) <= method.balance * flow.scale + flow.rounding:
        return False
    at_work = max(clock.at_work, clock.supplied + flow.given + flow.fallen)
    most = (1.0 + method.balance) * at_work - min(clock.damped + flow.damped, 0.0)
    if not flow.stored <= most + flow.rounding:
        return False
    gave = OF_CONTACTS * method.balance * at_work + flow.rounding
    in_all = -(clock.friction + flow.friction) - (clock.impact + flow.impact)
    if method.exact and not max(flow.gave, in_all) <= gave:
        return False
    left = clock.out_of_balance + flow.left
    rounding = _together(clock.rounding, flow.rounding)
    share = method.balance * (CONSERVED if method.conserving else 1.0)
    return bool(abs(left) <= share * at_work + rounding)


@kernel
def _together(before: float, rounding: float) -> float:
    """What rounds off to either side grows as the root of the number of steps."""
    return float(np.sqrt(before * before + rounding * rounding))
