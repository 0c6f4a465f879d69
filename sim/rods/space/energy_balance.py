"""Where the energy of a step came from and went, and what forces are left over."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats
from sim.core.numba_kernels import kernel
from sim.rods.plane.options import StepOptions
from sim.rods.space.contact_forces import ContactRows, taken
from sim.rods.space.elastic_energy import energies
from sim.rods.space.frames import SpaceState
from sim.rods.space.rod import SpaceElements
from sim.rods.space.state import SpaceForces, SpaceLedger, SpaceTrial
from sim.rods.space.tendon_hinge_friction import stopped
from sim.rods.space.world import SpaceWorld


@kernel
def largest_forces(
    free: Bools, sizes: Floats, unbalanced: Floats, inner: Floats, outer: Floats,
    applied: Floats, push: Floats,
) -> tuple[float, float, float]:  # fmt: skip
    """Unbalanced, inner, and of all forces, N; all (3 n + m,). inf where one is none.

    Parameters
    ----------
    sizes : lengths over which unknowns are measured, m
    """
    worst = inside = force = 0.0
    sound = True
    for i in range(len(free)):
        left = abs(unbalanced[i] / sizes[i])
        if free[i]:
            sound = sound and left < np.inf
            worst = max(worst, left)
        inside = max(inside, abs(inner[i] / sizes[i]))
        force = max(force, abs(outer[i] / sizes[i]), abs(applied[i] / sizes[i]))
        force = max(force, abs(push[i] / sizes[i]))
    return (worst if sound else np.inf), inside, max(inside, force)


@kernel
def works(
    free: Bools, inertia: Floats, alpha: float, h: float, v: tuple[Floats, Floats],
    moves: Floats, pull: Floats, weight: Floats, inner: Floats, applied: Floats,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Kinetic energies, what was given, taken by drag, and weight's work, J.

    Parameters
    ----------
    v : before the step and after it
    pull, weight : outer forces, with those that act for a time, and without
    """
    before = after = given = drag = fallen = 0.0
    for i in range(len(free)):
        if not free[i]:
            given -= inner[i] * moves[i]
            continue
        before += 0.5 * inertia[i] * v[0][i] ** 2
        after += 0.5 * inertia[i] * v[1][i] ** 2
        given += (pull[i] - weight[i] + applied[i]) * moves[i]
        drag += alpha * inertia[i] * moves[i] ** 2 / h
        fallen += weight[i] * moves[i]
    return before, after, given, drag, fallen


ROUNDING = 1e-12  # of the energies


class SpaceEnd(NamedTuple):
    """Of a step: state, forces, velocities before and after impulses (3 c,) there; what
    friction within takes, and supports give, as it stops what sticks, J."""

    after: SpaceState
    found: SpaceForces
    landing: Floats
    v: Floats
    kick: Floats
    rows: ContactRows | None = None
    stop: tuple[float, float] = (0.0, 0.0)


@dataclass
class StepStatistics:
    """What steps took since the last record, and the energy that the last one left."""

    iterations: int = 0
    substeps: int = 0
    left: tuple[SpaceState, SpaceElements, float] | None = None

    def stored(self, state: SpaceState, part: SpaceElements) -> float:
        """Of stretching, bending and twisting, J."""
        if not (self.left and self.left[0] is state and self.left[1] is part):
            self.left = state, part, sum(energies(state, part))
        return self.left[2]


def kinetic_energy(world: SpaceWorld, v: Floats) -> float:
    """Of what is free, J."""
    return 0.5 * float(np.sum((world.inertia * v**2)[world.system.free]))


def forces_of_step(world: SpaceWorld, found: SpaceForces) -> tuple[float, float, float]:
    """Unbalanced, inner, and of all forces, N."""
    none = np.zeros_like(found.inner)
    return largest_forces(
        world.system.free, world.system.sizes, found.unbalanced, found.inner,
        world.pull, found.applied, found.contact.push if found.contact else none,
    )  # fmt: skip


def with_stopped(world: SpaceWorld, end: SpaceEnd) -> SpaceEnd:
    """The end of a step once what sticks within the rod has stopped."""
    dry = end.found.dry
    if dry is None:
        return end
    v, taken, given = stopped(dry, world.inertia, world.system.free, end.v)
    return end._replace(landing=v, v=v, stop=(taken, given))


def _of_friction(end: SpaceEnd, held: Bools, h: float) -> tuple[float, float, float]:
    """What friction takes, contacts do across them, and supports and moving bodies
    take in a step, J.

    Parameters
    ----------
    held : (3 n + m,)
    """
    contact, moves = end.found.contact, end.found.moves
    within = end.found.dry.taken if end.found.dry else 0.0
    stop, given = end.stop
    if not (contact and end.rows):
        return within + stop, 0.0, -within - given
    both = end.landing, end.v
    friction, impact, moved = taken(contact, moves, end.rows, end.kick, both, h)
    kicked = end.rows.push(end.kick, len(end.v))
    supports = (contact.push * moves)[held].sum() + (kicked * end.v)[held].sum()
    friction += within + stop
    return friction, impact, float(supports) - within - given - moved


def accounted(
    world: SpaceWorld,
    options: StepOptions,
    trial: SpaceTrial,
    end: SpaceEnd,
    effort: StepStatistics,
) -> SpaceLedger:
    """The ledger after a step: its change of energy, and where that came from."""
    now, free, h = trial.now, world.system.free, trial.h
    after, found, v = end.after, end.found, end.v
    earlier = trial.earlier
    stored = [effort.stored(now.state, earlier), effort.stored(after, trial.part)]
    given = 0.0
    if earlier is not trial.part:  # natural strains changed
        before = sum(energies(now.state, trial.part)) - stored[0]
        moved = stored[1] - sum(energies(after, earlier))
        given = before if trial.conserving else 0.5 * (before + moved)
    *kinetic, added, drag, fallen = works(
        free, world.inertia, world.damping.alpha, h, (now.v, v), found.moves,
        trial.pull, world.pull, found.inner, found.applied,
    )  # fmt: skip
    given, damped, raised = given + added, found.damped + drag, -fallen
    friction, impact, held = _of_friction(end, ~free, h)
    given -= held
    left = kinetic[1] - kinetic[0] + stored[1] - stored[0] + raised - given
    left += damped + friction + impact
    scale = 0.5 * sum(kinetic) + abs(raised) + abs(given) + damped
    scale = scale + abs(friction) + abs(impact) + abs(stored[1] - stored[0])
    worst, inside, force = forces_of_step(world, found)
    rounding = ROUNDING * sum(stored) + options.tolerance * inside
    over = max(0.0, abs(left) - rounding) / max(scale, 1e-300)
    was = now.ledger
    supplied = was.supplied if now.time else kinetic[0] + stored[0]
    supplied += max(given, 0.0) + max(fallen, 0.0)
    more = kinetic[1] + stored[1] - rounding - supplied
    return SpaceLedger(
        was.given + given, was.damped + damped, was.left + left,
        was.at_work + scale + rounding / options.balance,
        max(was.residual, worst),
        max(was.share, worst / max(force, 1e-300)), max(was.balance, over),
        was.friction + friction, was.impact + impact,
        max(was.complementarity, found.residual),
        max(was.gap, found.contact.gap if found.contact else 0.0),
        supplied,
        max(0.0, more) / max(supplied, 1e-300),
    )  # fmt: skip
