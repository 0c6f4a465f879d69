"""`contact: modified_mass`: the rules by which [Hu20] looks for the contact states.

The equations are solved with given states: free, sliding with a given friction force,
or held. Then the rules of Methods are checked: a node below the ground is held, a
contact that pulls is released, one outside the friction cone slides with the friction
of that moment, one whose sliding reverses is held; and the equations are solved again.
Two limits are those of a simulator derived from the paper's: ten passes, releases and
reversals in the first five of them only. After the last pass the states are taken as
they are, right or not: the residual of the contact problem, which is recorded, says
which. (In the paper the constrained coordinates are removed from the equations, here
the same condition is imposed by an impulse.)
"""

from sim.kernels import inlined, kernel
from sim.rod.contact.coulomb import BACK, FORTH, OPEN, STICK
from sim.rod.contact.touching import TouchSetting
from sim.rod.stepping.newmark import solve_step
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.state import RodState
from sim.rod.stepping.workspace import Work

PASSES = 10
PASSES_WITH_RELEASE = 5


@inlined
def solve_with_contacts(
    setting: Setting,
    scheme: Scheme,
    touch: TouchSetting | None,
    state: RodState,
    work: Work,
    count: int,
    h: float,
) -> bool:
    """Solve a step with the listed contacts, exactly or by the rules above.

    Returns whether Newton's iteration, and with exact contact eq. (3), met its
    tolerance.
    """
    if not scheme.exact:
        work.state[:count] = STICK
        if count > len(work.known):
            work.memo.full = 1
            return False
    for turn in range(PASSES):
        if not solve_step(setting, scheme, touch, state, work, count, h):
            return False
        if scheme.exact or not change_by_rules(setting, state, work, count, turn):
            break
    return True


@kernel
def change_by_rules(
    setting: Setting, state: RodState, work: Work, count: int, turn: int
) -> bool:
    """Apply the rules to each contact; whether any state changed."""
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
        elif work.state[c] == STICK and abs(p_t) > setting.mu * max(p_n, 0.0):
            sign = 1.0 if p_t > 0.0 else -1.0
            work.state[c] = BACK if p_t > 0.0 else FORTH
            work.friction[c] = sign * setting.mu * max(p_n, 0.0)
            changed = True
        elif work.state[c] > STICK and before * after < 0.0 and early:
            work.state[c] = STICK
            changed = True
    return changed
