"""The compiled time loop: many steps of fixed or adapted length in one call.

Adapted steps. Newmark's rule errs by h^3 / 12 d3x/dt3 in a step. The third derivative
is taken from the change of the mean acceleration between two steps,

    error = h^2 / 12 max |a - a_before| 2 h / (h + h_before),

and the step length follows from error ~ h^3. A step in which a contact changes has no
third derivative: it is accepted, and not used to choose the next.

A full step is cut where a node lands or where Newton's method fails. Landing. A node
that meets the ground must end the step on it with no velocity towards it. With x1 = x0
+ h/2 (v0 + v1) that needs a gap of h/2 |v0| at the start of the step. So a step in
which a node meets the ground at time T (found on its path: continuous collision
detection) is cut into two: one that ends h_2 / 2 before T, one of length h_2 with the
node in contact from its start. Nodes that would land within `landing` of the ground
need no cut.

With `reversals` a step in which a contact stops to slide as it did is cut there too.
There friction turns over or falls, but a step has one friction for all its length. Its
velocity then errs by up to 2 mu g times the part of it on the other side, at first
order in h. A step that is cut at the reversal keeps its order.
"""

import numpy as np

from sim.core.numba_kernels import inlined, kernel, released
from sim.rods.plane.actuation import actuate
from sim.rods.plane.contact_geometry import EdgeContacts
from sim.rods.plane.contact_impulses import OPEN, SLIP_POSITIVE, STICK
from sim.rods.plane.contact_problem import (
    closed_contacts,
    contact_gap,
    find_contact_events,
    keep_contacts,
)
from sim.rods.plane.edge_contact import keep_pairs
from sim.rods.plane.elastic_energy import Strains, copy_values, gradients, join
from sim.rods.plane.energy_balance import (
    account,
    copy_flow,
    energy_at_work,
    keep_flow,
    strains_and_energy_valid,
)
from sim.rods.plane.implicit_step import guess, solve_with_contacts
from sim.rods.plane.many_contact_impulses import MANY
from sim.rods.plane.state import RodState, Run, Work


@inlined
def reversal_time(run: Run, count: int, h: float, many: bool) -> float:
    """When the first sliding contact of the step just solved comes to rest, s, or h.

    With the friction that they had, contacts that no longer slide as they did would end
    the step beyond rest; their velocities are taken to change evenly until then.
    """
    state, work = run.state, run.work
    first = h
    for c in range(count):
        if not stops(work, c):
            continue
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        before, after, gained = 0.0, 0.0, 0.0
        for a in range(work.node_count[c]):
            i, weight = work.acts_on[c, a], work.weight[c, a]
            before += weight * (tx * state.v[i, 0] + ty * state.v[i, 1])
            after += weight * (tx * work.v[i, 0] + ty * work.v[i, 1])
            rate = tx * state.acceleration[i, 0] + ty * state.acceleration[i, 1]
            gained += weight * h * rate
        beyond = before + gained if many else after + unreversed(run, count, c)
        forth = work.was[c] == SLIP_POSITIVE
        if (before > 0.0) == forth and (beyond < 0.0) == forth and beyond != 0.0:
            first = min(first, h * before / (before - beyond))
    return first


@inlined
def unreversed(run: Run, count: int, c: int) -> float:
    """What contact c would gain in velocity if none had changed its friction, m/s.

    By the Delassus matrix; of many contacts, which have none, `reversal_time` takes the
    acceleration of the step before.
    """
    model, work = run.model, run.work
    gained = 0.0
    for b in range(count):
        if stops(work, b):
            most = model.mu * work.p[2 * b]
            former = -most if work.was[b] == SLIP_POSITIVE else most
            gained += work.W[2 * c + 1, 2 * b + 1] * (former - work.p[2 * b + 1])
    return gained


@inlined
def stops(work: Work, c: int) -> bool:
    """Whether a contact slid before the step, and after it does not slide that way."""
    was, now = work.was[c], work.state[c]
    return bool(was != OPEN and was != STICK and now != was and now != OPEN)


LISTINGS = 30  # rounds in which more contacts may be found to close in one step
EARLY = 0.25  # of a step, sooner than which one is not cut but where something meets
FIT = 0.5  # of the gap that is allowed, up to which frames are taken as they are
LANDING = 0.25  # of the shortest step, where none so long ends on a ground
FITS = 8  # rounds in which the frames of contacts are fitted to the end of the step


@kernel
def make_ready(run: Run) -> None:
    """Gradient and strains at the start of a run."""
    model, state, work = run.model, run.state, run.work
    if state.clock.ready != 0.0:
        return
    actuate(state.clock.time, state.pulse, model.law, work.actuated)
    join(model.element, work.actuated)
    gradients(
        state.x,
        model.element,
        work.actuated,
        0.0,
        work.strain,
        state.strain,
        state.gradient,
        work.viscous,
    )
    state.clock.ready = 1.0
    if state.clock.time == 0.0:
        state.clock.supplied = energy_at_work(run)
        state.clock.at_work = state.clock.supplied


@kernel
def copy_strain(source: Strains, target: Strains) -> None:
    copy_values(source.stretch, target.stretch)
    copy_values(source.turn, target.turn)
    copy_values(source.edge_slope, target.edge_slope)
    copy_values(source.bend_slope, target.bend_slope)


@kernel
def accept(run: Run, touch: EdgeContacts | None, count: int, h: float) -> None:
    """The end of the step becomes the state."""
    state, work = run.state, run.work
    changed = 0
    for c in range(count):
        changed += work.was[c] != work.state[c]
    for i in range(len(state.x)):
        for a in range(2):
            rate = (work.v[i, a] - state.v[i, a]) / h
            state.acceleration[i, a] = rate if changed == 0 else 0.0
            state.x[i, a] = work.x[i, a]
            state.v[i, a] = work.v[i, a]
            state.gradient[i, a] = work.elastic[i, a]
    copy_strain(work.strain, state.strain)
    keep_contacts(run, touch, count)
    keep_flow(run)
    state.clock.time += h
    state.clock.last_step = h
    report, clock = work.report, state.clock
    report.substeps += 1
    force, left = report.found_residual, report.found_complementarity
    report.residual = max(report.residual, force)
    report.complementarity = max(report.complementarity, left)
    clock.worst_share = max(clock.worst_share, report.found_share)
    clock.contact_gap = max(clock.contact_gap, report.found_gap)
    clock.worst_residual = max(clock.worst_residual, force)
    clock.worst_complementarity = max(clock.worst_complementarity, left)


@inlined
def add_reactions(work: Work, count: int, full: float) -> None:
    """Add the impulses of a step to the mean forces on the nodes in `full` seconds."""
    for s in range(work.memo.nodes if count > 0 else 0):
        i = work.node[s]
        work.reaction[i, 0] += work.impulse[i, 0] / full
        work.reaction[i, 1] += work.impulse[i, 1] / full


@inlined
def attempt(
    run: Run,
    touch: EdgeContacts | None,
    crowd: bool | None,
    h: float,
    shortest: float,
) -> tuple[float, int]:
    """Solve a step of length h, and find all that lands in it.

    Returns h and the number of contacts; or the length of a step that is to be made
    first, because a node lands or sliding reverses; or 0, if it cannot be solved.
    """
    model, method, work = run.model, run.method, run.work
    bare = not model.grounded and touch is None
    count = 0 if bare else closed_contacts(run, touch)
    guess(run, h)
    fits = 0
    for _ in range(LISTINGS):
        if not solve_with_contacts(run, touch, crowd, count, h):
            return 0.0, count
        if bare:
            return h, count
        uncut = h <= 2.0 * shortest or method.gamma == 1.0
        work.memo.crossed = 0
        listed, first = find_contact_events(run, touch, count, h, uncut)
        if first < h:
            cut = 2.0 * first - h if 2.0 * first >= h else 2.0 * first
            if touch is not None and 2.0 * first - h < EARLY * h:
                cut = first
            return min(max(cut, shortest), h - shortest), count
        if work.memo.full != 0 or (listed == count and work.memo.crossed != 0):
            return 0.0, count
        if listed == count:
            if method.reversals:
                rest = reversal_time(run, count, h, count > MANY)
                if shortest < rest < h - shortest:
                    return rest, count
            found = 0.0
            if touch is not None:
                found = contact_gap(run, touch, count)
            if found <= FIT * method.contact_gap or fits == FITS:
                return h, count
            fits += 1
        count = listed
    return 0.0, count


@inlined
def step_is_valid(run: Run, touch: EdgeContacts | None, count: int, h: float) -> bool:
    """Whether a solved step is sound and its contacts end close; else work says why."""
    method, work = run.method, run.work
    measured = method.gamma < 1.0
    if measured:
        account(run, count, h)
        work.memo.unsound = 0 if strains_and_energy_valid(run) else 1
    if touch is not None:
        measured = measured or touch.rods
    if measured and work.memo.unsound == 0:
        work.report.found_gap = contact_gap(run, touch, count)
        if work.report.found_gap > method.contact_gap:
            work.memo.apart = 1
            return False
    return bool(work.memo.unsound == 0)


@inlined
def advance(
    run: Run, touch: EdgeContacts | None, crowd: bool | None, full: float
) -> bool:
    """Advance by `full` seconds; False where no step down to the shortest converges."""
    method, work = run.method, run.work
    work.reaction[:] = 0.0
    remaining = full
    shortest, least = method.shortest * full, method.least * full
    h = full
    while remaining > 1e-9 * full:
        made, count = attempt(run, touch, crowd, h, shortest)
        if made == h and not step_is_valid(run, touch, count, h):
            made = 0.0
        if made == 0.0:
            h = 0.5 * h
            if h < shortest:
                shortest, h = LANDING * shortest, remaining
            if shortest < least or work.memo.full != 0:
                return False
        elif made < h:
            h = made
        else:
            accept(run, touch, count, h)
            if touch is not None:
                keep_pairs(run, count)
            work.memo.unsound, work.memo.apart = 0, 0
            add_reactions(work, count, full)
            remaining -= h
            h = remaining
    return True


SAFETY, LEAST, MOST = 0.8, 0.2, 2.0  # of the change of the step length
FIRST = 1e-3  # adapted step, as a fraction of the longest
SHORTEST = 1e-6  # adapted step, as a fraction of the longest


@inlined
def step_error(before: RodState, state: RodState) -> float:
    """Error of the last step, m; negative where contacts changed."""
    new, old = state.acceleration, before.acceleration
    if not new.any() or not old.any():
        return -1.0
    change = np.abs(new - old).max()
    h, h_before = state.clock.last_step, before.clock.last_step
    return float(h * h / 12.0 * change * 2.0 * h / (h + h_before))


@kernel
def copy_motion(source: RodState, target: RodState) -> None:
    """Copy all but the factor, which stays usable for any state."""
    copy_values(source.x, target.x)
    copy_values(source.v, target.v)
    copy_values(source.acceleration, target.acceleration)
    copy_values(source.gradient, target.gradient)
    copy_values(source.contact, target.contact)
    copy_values(source.pair, target.pair)
    copy_strain(source.strain, target.strain)
    target.clock.time = source.clock.time
    target.clock.step = source.clock.step
    target.clock.last_step = source.clock.last_step
    copy_flow(source.clock, target.clock)


@inlined
def next_length(trial: float, h: float, error: float, accuracy: float) -> float:
    """The length that brings the error of a step to `accuracy`, with some safety."""
    factor = SAFETY * (accuracy / max(error, 1e-3 * accuracy)) ** (1.0 / 3.0)
    factor = min(max(factor, LEAST), MOST)
    return trial * factor if error > accuracy or trial == h else h


@inlined
def one_step(
    run: Run,
    touch: EdgeContacts | None,
    crowd: bool | None,
    longest: float,
    stop: float,
) -> bool:
    """One step of length `longest`; or one whose error is within `accuracy`.

    The length of the next adapted step is left in the clock.
    """
    state, work, before = run.state, run.work, run.before
    accuracy = run.method.accuracy
    adapted = accuracy > 0.0
    h = longest
    if adapted:
        copy_motion(state, before)
        if state.clock.length == 0.0:  # no error is known yet
            state.clock.length = FIRST * longest
        h = min(state.clock.length, longest)
    while h >= SHORTEST * longest:
        trial = min(h, stop - state.clock.time) if adapted else h
        if not advance(run, touch, crowd, trial):
            return False
        if not adapted:
            return True
        error = step_error(before, state)
        if error < 0.0:
            state.clock.length = h
            return True
        h = next_length(trial, h, error, accuracy)
        if error <= accuracy:
            work.report.error = max(work.report.error, error)
            state.clock.length = h
            return True
        copy_motion(before, state)
    return False


@released
def make_steps(
    run: Run,
    touch: EdgeContacts | None,
    crowd: bool | None,
    steps: int,
    h: float,
    stop: float,
    end: float,
) -> bool:
    """Make at most `steps` steps up to the time `stop`; False if one fails.

    Steps have the length h, but the last before `end`, which is cut to end there; or
    with a positive accuracy an adapted one up to h, none beyond `stop`. `touch`
    is that of the model; None, where no edge feels any, compiles nothing of it. `crowd`
    is True; None, where contacts are never more than `MANY`, compiles no `solve_many`.
    """
    state, adapted = run.state, run.method.accuracy > 0.0
    make_ready(run)
    for _ in range(steps):
        if state.clock.time > stop - 1e-6 * h:
            break
        start = state.clock.time
        left = end - start
        whole = adapted or left >= (1.0 - 1e-6) * h
        length = h if whole else left
        if not one_step(run, touch, crowd, length, stop):
            return False
        on_time = abs(start - state.clock.step * h) <= 1e-6 * h
        state.clock.step += 1
        if not whole:
            state.clock.time = end
        elif on_time and not adapted:
            state.clock.time = state.clock.step * h
    return True
