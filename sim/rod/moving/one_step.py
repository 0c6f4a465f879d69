"""One step of a rod that moves in space.

Its end is found, or there is none that is sound: what turns or stretches too far,
passes through something, or leaves its energy unaccounted for is tried by parts.
"""

import numpy as np

from sim.rod.moving.account import Effort, SpaceEnd, accounted, with_stopped
from sim.rod.moving.newton import contact_allowed, end_of_step
from sim.rod.moving.pushing import passes_through, settled_kick
from sim.rod.moving.softened import changes
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.trial import SpaceMoving, set_up
from sim.rod.space.frames import SpaceState
from sim.rod.space.hinges import strains_of_hinges
from sim.rod.stepping.options import StepOptions

QUARTER = 0.5 * np.pi  # rad, largest change of a twist in a step
LARGEST_SPIN = 2.0  # rad, turn of an edge about itself in a step


def made(
    world: SpaceWorld, options: StepOptions, now: SpaceMoving, h: float, effort: Effort
) -> SpaceMoving | None:
    """What a step of h seconds ends in; None where there is no sound end."""
    if h * np.abs(now.v[world.rod.nodes.size :]).max() > LARGEST_SPIN:
        return None
    trial = set_up(world, options, now, h)
    effort.substeps += 1
    solved = end_of_step(world, options, trial, effort)
    if solved is None or not _sound(world, options, now.state, solved[0]):
        return None
    after, found = solved
    if passes_through(world, now.state, after, now.time, h):
        return None
    v = np.where(world.system.free, 2.0 * found.moves / h - now.v, found.moves / h)
    acceleration = (v - now.v) / h
    ending = with_stopped(world, SpaceEnd(after, found, v, v, np.empty(0)))
    v = ending.v
    if found.pushed and world.touching:
        rows = found.pushed.facing
        allowed = contact_allowed(options, trial)
        kick, unsettled = settled_kick(world, found.pushed, rows, v, h, allowed)
        if not unsettled <= allowed:
            return None
        pushed = rows.push(kick, len(v)) / world.inertia
        v = np.where(world.system.free, v + pushed, v)
        ending = ending._replace(v=v, kick=kick, rows=rows)
        acceleration -= found.pushed.push / world.inertia
        acceleration[~world.system.free] = 0.0
    push = (v - now.v) / h - acceleration
    smooth = now.step > 0 and not found.pushed
    drift = acceleration - now.acceleration if smooth else np.zeros_like(v)
    ledger = accounted(world, options, trial, ending, effort)
    if (
        max(
            ledger.balance,
            ledger.over,
            abs(ledger.left) / max(ledger.at_work, 1e-300),
        )
        > options.balance
    ):
        return None
    return SpaceMoving(
        after, v, acceleration, push, drift, now.step, now.time + h, now.length, h,
        ledger, now.pulse, found.dry.force if found.dry else now.rubbing,
    )  # fmt: skip


def _sound(
    world: SpaceWorld, options: StepOptions, before: SpaceState, after: SpaceState
) -> bool:
    """Whether strains stay those of a rod, and nothing turns by a quarter turn."""
    part = world.system.part
    if part.hinge_stiffness[:, 2].any():
        both = [strains_of_hinges(state, part)[:, 2] for state in (before, after)]
        beyond = np.abs(both[1] - both[0]) > np.pi
        if (beyond & (part.hinge_stiffness[:, 2] > 0.0)).any():
            return False
    stretched, ahead = changes(before.x, after.x, part.edges, part.rest)
    twisted = np.abs(after.twist - before.twist).max(initial=0.0)
    return bool(stretched <= options.strain and ahead > 0.0 and twisted <= QUARTER)
