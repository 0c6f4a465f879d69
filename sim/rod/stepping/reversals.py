"""When a contact that slides comes to rest within a step.

There friction turns over or falls, but a step has one friction for all its length. Its
velocity then errs by up to 2 mu g times the part of it on the other side, at first
order in h. A step that is cut at the reversal keeps its order.
"""

from sim.kernels import inlined
from sim.rod.contact.coulomb import FORTH, OPEN, STICK
from sim.rod.stepping.setting import Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.workspace import Work


@inlined
def reversal_time(
    setting: Setting, state: RodState, work: Work, count: int, h: float, many: bool
) -> float:
    """When the first sliding contact of the step just solved comes to rest, s, or h.

    With the friction that they had, contacts that no longer slide as they did would end
    the step beyond rest; their velocities are taken to change evenly until then.
    """
    first = h
    for c in range(count):
        if not stops(work, c):
            continue
        tx, ty = work.frame[c, 0], work.frame[c, 1]
        before, after, gained = 0.0, 0.0, 0.0
        for a in range(work.arms[c]):
            i, lever = work.arm[c, a], work.lever[c, a]
            before += lever * (tx * state.v[i, 0] + ty * state.v[i, 1])
            after += lever * (tx * work.v[i, 0] + ty * work.v[i, 1])
            rate = tx * state.acceleration[i, 0] + ty * state.acceleration[i, 1]
            gained += lever * h * rate
        beyond = (
            before + gained if many else after + unreversed(setting, work, count, c)
        )
        forth = work.was[c] == FORTH
        if (before > 0.0) == forth and (beyond < 0.0) == forth and beyond != 0.0:
            first = min(first, h * before / (before - beyond))
    return first


@inlined
def unreversed(setting: Setting, work: Work, count: int, c: int) -> float:
    """What contact c would gain in velocity if none had changed its friction, m/s.

    By the Delassus matrix; of many contacts, which have none, `reversal_time` takes the
    acceleration of the step before.
    """
    gained = 0.0
    for b in range(count):
        if stops(work, b):
            most = setting.mu * work.p[2 * b]
            kept = -most if work.was[b] == FORTH else most
            gained += work.W[2 * c + 1, 2 * b + 1] * (kept - work.p[2 * b + 1])
    return gained


@inlined
def stops(work: Work, c: int) -> bool:
    """Whether a contact slid before the step, and after it does not slide that way."""
    was, now = work.was[c], work.state[c]
    return bool(was != OPEN and was != STICK and now != was and now != OPEN)
