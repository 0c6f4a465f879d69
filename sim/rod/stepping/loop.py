"""Many steps in one compiled call, of fixed or of adapted length.

Adapted steps. Newmark's rule errs by h^3 / 12 d3x/dt3 in a step. The third derivative
is taken from the change of the mean acceleration between two steps,

    error = h^2 / 12 max |a - a_before| 2 h / (h + h_before),

and the step length follows from error ~ h^3. A step in which a contact changes has no
third derivative: it is accepted, and not used to choose the next.
"""

from sim.arrays import Floats
from sim.kernels import inlined, kernel, released
from sim.rod.contact.touching import TouchSetting
from sim.rod.stepping.advance import advance, copy_strain, make_ready
from sim.rod.stepping.energy_balance import copy_flow
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.workspace import Work

SAFETY, LEAST, MOST = 0.8, 0.2, 2.0  # of the change of the step length
FIRST = 1e-3  # adapted step, as a fraction of the longest
SHORTEST = 1e-6  # adapted step, as a fraction of the longest


@inlined
def step_error(before: RodState, state: RodState) -> float:
    """Error of the last step, m; negative where contacts changed."""
    rate, rate_before = 0.0, 0.0
    change = 0.0
    for i in range(len(state.x)):
        for a in range(2):
            new, old = state.acceleration[i, a], before.acceleration[i, a]
            rate, rate_before = max(rate, abs(new)), max(rate_before, abs(old))
            change = max(change, abs(new - old))
    if rate == 0.0 or rate_before == 0.0:
        return -1.0
    h, h_before = state.clock.last_step, before.clock.last_step
    return float(h * h / 12.0 * change * 2.0 * h / (h + h_before))


@kernel
def copy_motion(source: RodState, target: RodState) -> None:
    """Copy all but the factor, which stays usable for any state."""
    for i in range(len(source.x)):
        target.contact[i] = source.contact[i]
        for a in range(2):
            target.x[i, a] = source.x[i, a]
            target.v[i, a] = source.v[i, a]
            target.acceleration[i, a] = source.acceleration[i, a]
            target.gradient[i, a] = source.gradient[i, a]
    for m in range(len(source.pair)):
        for a in range(3):
            target.pair[m, a] = source.pair[m, a]
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
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    before: RodState,
    work: Work,
    reaction: Floats,
    longest: float,
    stop: float,
    accuracy: float,
) -> bool:
    """One step of length `longest`; or if `accuracy` > 0 one whose error is within it.

    The length of the next adapted step is left in LENGTH.
    """
    adapted = accuracy > 0.0
    h = longest
    if adapted:
        copy_motion(state, before)
        if state.clock.length == 0.0:  # no error is known yet
            state.clock.length = FIRST * longest
        h = min(state.clock.length, longest)
    while h >= SHORTEST * longest:
        trial = min(h, stop - state.clock.time) if adapted else h
        if not advance(setting, scheme, touch, state, work, trial, reaction):
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
def run(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    before: RodState,
    work: Work,
    reaction: Floats,
    steps: int,
    h: float,
    stop: float,
    end: float,
    accuracy: float,
) -> bool:
    """Make at most `steps` steps up to the time `stop`; False if one fails.

    Steps have the length h, but the last before `end`, which is cut to end there; or
    with a positive `accuracy` (m) an adapted one up to h, none beyond `stop`. `touch`
    is that of the setting; None, where no edge feels any, compiles nothing of it.
    """
    make_ready(setting, state, work)
    for _ in range(steps):
        if state.clock.time > stop - 1e-6 * h:
            break
        start = state.clock.time
        left = end - start
        whole = accuracy > 0.0 or left >= (1.0 - 1e-6) * h
        length = h if whole else left
        if not one_step(
            setting, scheme, touch, state, before, work, reaction, length, stop,
            accuracy,
        ):  # fmt: skip
            return False
        on_time = abs(start - state.clock.step * h) <= 1e-6 * h
        state.clock.step += 1.0
        if accuracy <= 0.0:
            if not whole:
                state.clock.time = end
            elif on_time:
                state.clock.time = state.clock.step * h
    return True
