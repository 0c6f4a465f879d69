"""A step that is tried: what it starts from, how it is set up, what acts in it."""

from typing import NamedTuple

from sim.arrays import Floats
from sim.rod.moving.dry import Dry
from sim.rod.moving.pulled import tensions_at
from sim.rod.moving.pushing import Pushed
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.space.elements import SpaceElements
from sim.rod.space.frames import SpaceState
from sim.rod.stepping.options import Integrator, StepOptions


class SpaceLedger(NamedTuple):
    """Energies since the start, J, and the worst of all steps.

    Attributes
    ----------
    given, damped : as in `sim.rod.stepping.energy_balance`
    left : what steps made of nothing
    at_work : exchanged, against which `left` is measured
    supplied : stored at the start or put in since then
    over : share of it by which more is stored
    friction, impact : what contacts take along and across them; `friction` also what
        tendons and hinges do
    residual, share : largest unbalanced force, N; over the largest force of its step
    balance : energy of a step out of balance over that at work in it
    complementarity, gap : largest residual of contact and of friction within the rod,
        and largest distance of skins that push each other, m
    """

    given: float = 0.0
    damped: float = 0.0
    left: float = 0.0
    at_work: float = 0.0
    residual: float = 0.0
    share: float = 0.0
    balance: float = 0.0
    friction: float = 0.0
    impact: float = 0.0
    complementarity: float = 0.0
    gap: float = 0.0
    supplied: float = 0.0
    over: float = 0.0


class SpaceMoving(NamedTuple):
    """All that later steps depend on.

    Attributes
    ----------
    v : (3 n + m,) velocities of nodes and spins of edges, m/s, rad/s
    acceleration : (3 n + m,) mean of the last step, without contacts
    push : (3 n + m,) what contacts and impulses there added to it
    drift : (3 n + m,) change of acceleration in the last step, 0 with contacts
    step, time, length, last : steps made; s; next and last length of a step, s
    pulse : (limbs,) s, when each limb was last switched on; inf if never
    rubbing : (r,) forces of friction within the rod in the last step, see `dry`
    """

    state: SpaceState
    v: Floats
    acceleration: Floats
    push: Floats
    drift: Floats
    step: int
    time: float
    length: float
    last: float
    ledger: SpaceLedger
    pulse: Floats
    rubbing: Floats


class SpaceTrial(NamedTuple):
    """One step of h seconds as it is set up.

    Attributes
    ----------
    part, earlier : elements as actuated at its end and its start
    pull : (3 n + m,) weight and forces, N
    tension : (q,) of pieces of tendons, N
    """

    now: SpaceMoving
    h: float
    part: SpaceElements
    earlier: SpaceElements
    conserving: bool
    pull: Floats
    tension: Floats


def set_up(
    world: SpaceWorld, options: StepOptions, now: SpaceMoving, h: float
) -> SpaceTrial:
    conserving = options.integrator is Integrator.ENERGY_MOMENTUM
    part = world.part(now.time + h, now.pulse)
    earlier = world.part(now.time, now.pulse)
    pull = world.loaded(now.time, h)
    tension = tensions_at(world, now.time + 0.5 * h)
    return SpaceTrial(now, h, part, earlier, conserving, pull, tension)


class SpaceForces(NamedTuple):
    """Of a step, (3 n + m,): inner ones, those of tendons with friction within and
    loads of edges, what is unbalanced; moves; what damps, J; contacts; friction
    within."""

    inner: Floats
    drawn: Floats
    unbalanced: Floats
    moves: Floats
    damped: float
    pushed: Pushed | None = None
    dry: Dry | None = None

    @property
    def residual(self) -> float:
        """Of the laws of contact and of friction within, m."""
        of_contacts = self.pushed.residual if self.pushed else 0.0
        return max(of_contacts, self.dry.left if self.dry else 0.0)
