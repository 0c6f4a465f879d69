"""Many steps in one compiled call, of fixed or of adapted length.

Adapted steps. Newmark's rule errs by h^3 / 12 d3x/dt3 in a step. The third derivative
is taken from the change of the mean acceleration between two steps,

    error = h^2 / 12 max |a - a_before| 2 h / (h + h_before),

and the step length follows from error ~ h^3. A step in which a contact changes has no
third derivative: it is accepted, and not used to choose the next.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

from sim.arrays import Floats
from sim.kernels import kernel
from sim.rod.advance import advance, make_ready
from sim.rod.state import (
    ERROR,
    LAST_STEP,
    LENGTH,
    STEP,
    TIME,
    Scheme,
    Setting,
    State,
    Work,
)

SAFETY, LEAST, MOST = 0.8, 0.2, 2.0  # of the change of the step length

Function = TypeVar("Function", bound=Callable[..., object])


def released(function: Function) -> Function:
    """Compile like `kernel`, and run without Python's lock, so that threads help."""
    compiler = numba.njit(cache=True, error_model="numpy", nogil=True)
    return cast(Function, compiler(function))


@kernel
def step_error(before: State, state: State) -> float:
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
    h, h_before = state.clock[LAST_STEP], before.clock[LAST_STEP]
    return h * h / 12.0 * change * 2.0 * h / (h + h_before)


@kernel
def copy_motion(source: State, target: State) -> None:
    """Copy all but the factor, which stays usable for any state."""
    target.x[:] = source.x
    target.v[:] = source.v
    target.acceleration[:] = source.acceleration
    target.gradient[:] = source.gradient
    target.strain.stretch[:] = source.strain.stretch
    target.strain.turn[:] = source.strain.turn
    target.contact[:] = source.contact
    for entry in (TIME, STEP, LAST_STEP):
        target.clock[entry] = source.clock[entry]


@kernel
def adapted_step(
    setting: Setting,
    scheme: Scheme,
    state: State,
    before: State,
    work: Work,
    reaction: Floats,
    longest: float,
    stop: float,
    accuracy: float,
) -> bool:
    """One step whose error is at most `accuracy`; the next length is left in LENGTH."""
    copy_motion(state, before)
    h = min(state.clock[LENGTH], longest)
    if h == 0.0:
        h = longest
    while True:
        trial = min(h, stop - state.clock[TIME])
        if not advance(setting, scheme, state, work, trial, reaction):
            return False
        error = step_error(before, state)
        if error < 0.0:
            state.clock[LENGTH] = h
            return True
        factor = SAFETY * (accuracy / max(error, 1e-3 * accuracy)) ** (1.0 / 3.0)
        factor = min(max(factor, LEAST), MOST)
        if error <= accuracy:
            work.report[ERROR] = max(work.report[ERROR], error)
            state.clock[LENGTH] = min(trial * factor, longest) if trial == h else h
            return True
        copy_motion(before, state)
        h = trial * factor
        if h < 1e-6 * longest:
            return False


@released
def run(
    setting: Setting,
    scheme: Scheme,
    state: State,
    before: State,
    work: Work,
    reaction: Floats,
    steps: int,
    h: float,
    stop: float,
    accuracy: float,
) -> bool:
    """Make at most `steps` steps, none beyond the time `stop`; False if one fails.

    Steps have the length h, or with a positive `accuracy` (m) an adapted one up to h.
    """
    make_ready(setting, state, work)
    work.report[:] = 0.0
    for _ in range(steps):
        if state.clock[TIME] > stop - 1e-6 * h:
            break
        if accuracy > 0.0:
            made = adapted_step(
                setting, scheme, state, before, work, reaction, h, stop, accuracy
            )
        else:
            made = advance(setting, scheme, state, work, h, reaction)
        if not made:
            return False
        state.clock[STEP] += 1.0
        if accuracy <= 0.0:
            state.clock[TIME] = state.clock[STEP] * h
    return True


@kernel
def mechanical_energies(setting: Setting, state: State) -> tuple[float, float]:
    """Kinetic energy, and potential energy of gravity, J."""
    kinetic, height = 0.0, 0.0
    g = setting.gravity
    for i in range(len(state.x)):
        m = setting.element.mass[i]
        v, x = state.v[i], state.x[i]
        kinetic += 0.5 * m * (v[0] * v[0] + v[1] * v[1])
        height -= m * (g[0] * x[0] + g[1] * x[1])
    return kinetic, height
