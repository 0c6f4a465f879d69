"""The compiled time loop: full steps, cut where a node lands or where Newton fails.

Landing. A node that meets the ground must end the step on it with no velocity towards
it. With x1 = x0 + h/2 (v0 + v1) that needs a gap of h/2 |v0| at the start of the step.
So a step in which a node meets the ground at time T (found on its path: continuous
collision detection) is cut into two: one that ends h_2 / 2 before T, one of length h_2
with the node in contact from its start. Nodes that would land within `landing` of the
ground need no cut.

With `reversals` a step in which a contact stops to slide as it did is cut there too.
"""

from sim.arrays import Floats
from sim.kernels import inlined, kernel
from sim.rod.actuation.actuation import actuate
from sim.rod.contact.touching import TouchSetting
from sim.rod.energy.elastic import Strains, gradients, join
from sim.rod.stepping.contacts import (
    closed_contacts,
    contact_gap,
    find_landings,
    keep_contacts,
)
from sim.rod.stepping.energy_balance import (
    account,
    energy_at_work,
    is_sound,
    keep_flow,
)
from sim.rod.stepping.many_contacts import MANY
from sim.rod.stepping.newmark import guess
from sim.rod.stepping.reversals import reversal_time
from sim.rod.stepping.rules import solve_with_contacts
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.touches import keep_pairs
from sim.rod.stepping.workspace import Work

LISTINGS = 30  # rounds in which more contacts may be found to close in one step
EARLY = 0.25  # of a step, sooner than which one is not cut but where something meets
FIT = 0.5  # of the gap that is allowed, up to which frames are taken as they are
LANDING = 0.25  # of the shortest step, where none so long ends on a ground
FITS = 8  # rounds in which the frames of contacts are fitted to the end of the step


@kernel
def make_ready(setting: Setting, state: RodState, work: Work) -> None:
    """Gradient and strains at the start of a run."""
    if state.clock.ready != 0.0:
        return
    actuate(state.clock.time, state.pulse, setting.law, work.actuated)
    join(setting.element, work.actuated)
    gradients(
        state.x,
        setting.element,
        work.actuated,
        0.0,
        work.strain,
        state.strain,
        state.gradient,
        work.viscous,
    )
    state.clock.ready = 1.0
    if state.clock.time == 0.0:
        state.clock.at_work = energy_at_work(setting, state, work)


@kernel
def copy_strain(source: Strains, target: Strains) -> None:
    for k in range(len(source.stretch)):
        target.stretch[k] = source.stretch[k]
        for a in range(2):
            target.edge_slope[k, a] = source.edge_slope[k, a]
    for b in range(len(source.turn)):
        target.turn[b] = source.turn[b]
        for a in range(4):
            target.bend_slope[b, a] = source.bend_slope[b, a]


@kernel
def accept(
    setting: Setting,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
) -> None:
    """The end of the step becomes the state."""
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
    keep_contacts(setting, touch, state, work, count)
    keep_flow(state, work)
    state.clock.time += h
    state.clock.last_step = h
    report, clock = work.report, state.clock
    report.substeps += 1.0
    force, left = report.found_residual, report.found_complementarity
    report.residual = max(report.residual, force)
    report.complementarity = max(report.complementarity, left)
    clock.worst_share = max(clock.worst_share, report.found_share)
    clock.contact_gap = max(clock.contact_gap, report.found_gap)
    clock.worst_residual = max(clock.worst_residual, force)
    clock.worst_complementarity = max(clock.worst_complementarity, left)


@inlined
def add_reactions(work: Work, count: int, full: float, reaction: Floats) -> None:
    """Add the impulses of a step to the mean forces on the nodes in `full` seconds."""
    for s in range(work.memo.nodes if count > 0 else 0):
        i = work.node[s]
        reaction[i, 0] += work.impulse[i, 0] / full
        reaction[i, 1] += work.impulse[i, 1] / full


@inlined
def attempt(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    h: float,
    shortest: float,
) -> tuple[float, int]:
    """Solve a step of length h, and find all that lands in it.

    Returns h and the number of contacts; or the length of a step that is to be made
    first, because a node lands or sliding reverses; or 0, if it cannot be solved.
    """
    bare = not setting.grounded and touch is None
    count = 0 if bare else closed_contacts(setting, touch, state, work)
    guess(setting, state, work, h)
    fits = 0
    for _ in range(LISTINGS):
        if not solve_with_contacts(setting, scheme, touch, state, work, count, h):
            return 0.0, count
        if bare:
            return h, count
        uncut = h <= 2.0 * shortest or scheme.gamma == 1.0
        work.memo.crossed = 0
        listed, first = find_landings(
            setting, scheme, touch, state, work, count, h, uncut
        )
        if first < h:
            cut = 2.0 * first - h if 2.0 * first >= h else 2.0 * first
            if touch is not None and 2.0 * first - h < EARLY * h:
                cut = first
            return min(max(cut, shortest), h - shortest), count
        if work.memo.full != 0 or (listed == count and work.memo.crossed != 0):
            return 0.0, count
        if listed == count:
            if scheme.reversals:
                rest = reversal_time(setting, state, work, count, h, count > MANY)
                if shortest < rest < h - shortest:
                    return rest, count
            found = 0.0
            if touch is not None:
                found = contact_gap(setting, touch, state, work, count)
            if found <= FIT * scheme.contact_gap or fits == FITS:
                return h, count
            fits += 1
        count = listed
    return 0.0, count


@inlined
def stands(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
) -> bool:
    """Whether a solved step is sound and its contacts end close; else work says why."""
    measured = scheme.gamma < 1.0
    if measured:
        account(setting, scheme, state, work, count, h)
        work.memo.unsound = 0 if is_sound(scheme, state, work) else 1
    if touch is not None:
        measured = measured or touch.rods
    if measured and work.memo.unsound == 0:
        work.report.found_gap = contact_gap(setting, touch, state, work, count)
        if work.report.found_gap > scheme.contact_gap:
            work.memo.apart = 1
            return False
    return bool(work.memo.unsound == 0)


@inlined
def advance(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    full: float,
    reaction: Floats,
) -> bool:
    """Advance by `full` seconds; False where no step down to the shortest converges.

    reaction (n, 2) receives the mean force of all contacts on each node, N.
    """
    reaction[:] = 0.0
    remaining = full
    shortest, least = scheme.shortest * full, scheme.least * full
    h = full
    while remaining > 1e-9 * full:
        made, count = attempt(setting, scheme, touch, state, work, h, shortest)
        if made == h and not stands(setting, scheme, touch, state, work, count, h):
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
            accept(setting, touch, state, work, count, h)
            if touch is not None:
                keep_pairs(state, work, count)
            work.memo.unsound, work.memo.apart = 0, 0
            add_reactions(work, count, full, reaction)
            remaining -= h
            h = remaining
    return True
