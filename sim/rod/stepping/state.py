"""The state of a compiled time loop: everything that the next step depends on.

It is a named tuple of arrays and numbers, which numba reads as they are, the last
factorisation among them: a run continued from a stored state makes the same bits as
one that never stopped.
"""

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.energy.blocks import BlockMatrix, BlockPattern, empty
from sim.rod.energy.elastic import Strains, unstrained
from sim.rod.rod.rod import Rod

Numbers = TypeVar("Numbers")


def zeros(numbers: type[Numbers]) -> Numbers:
    """The numbers of a class in one piece of memory that numba reads and writes."""
    types = list(numbers.__annotations__.items())
    made: Any = np.zeros((), np.dtype((np.record, types)))[()]
    return cast(Numbers, made)


def clear(numbers: Any) -> None:
    """Set all numbers of `zeros` back to zero."""
    for name in numbers.dtype.names:
        numbers[name] = 0


class Clock:
    """How far a run is, and the largest residuals of its steps.

    Attributes
    ----------
    time, step : s; full steps made
    factor_step : s, the step that the factor belongs to; 0 if to none
    last_step, length : s, of the last part of a step, and of the next adapted step
    ready : 1 once gradient and strains at the start are known
    worst_residual, worst_complementarity : N, m/s, of all accepted steps
    worst_share : of all accepted steps, their residual over the largest force
    contact_gap : m, of all accepted steps, the largest distance of a contact from what
        it touches, above or below
    worst_balance : largest `left` of a step, as a fraction of the energies at work
    given, damped, friction, impact, left : J, since the start, see `EnergyFlow`
    at_work : J, stored at the start or put in since then
    rounding : J, what of `left` may be due to the tolerance of positions
    """

    time: float
    factor_step: float
    step: float
    last_step: float
    length: float
    ready: float
    worst_residual: float
    worst_complementarity: float
    worst_share: float
    contact_gap: float
    worst_balance: float
    given: float
    damped: float
    friction: float
    impact: float
    left: float
    at_work: float
    rounding: float


class RodState(NamedTuple):
    """What the next step depends on.

    Attributes
    ----------
    x, v, acceleration : (n, 2)
    gradient : (n, 2) N, grad U at x
    strain : of the elements at x
    contact : (n,) OPEN, STICK, FORTH or BACK
    pair : (p, 3) node, or -1 for the ground, edge, and state of each other contact;
        the first that is OPEN ends them
    pulse : (limbs,) s, when each limb was last switched on
    factor : L and D of the last matrix
    clock : how far the run is
    """

    x: Floats
    v: Floats
    acceleration: Floats
    gradient: Floats
    strain: Strains
    contact: Ints
    pair: Ints
    pulse: Floats
    factor: BlockMatrix
    clock: Clock


def new_state(rod: Rod, velocity: Floats, pairs: int = 0) -> RodState:
    """The rod at its start with velocities (n, 2); not yet ready for a step.

    pairs : contacts besides those of nodes with the ground, at most
    """
    n = len(rod.nodes)
    pattern_free = BlockMatrix(np.zeros((n, 3)), np.zeros((0, 4)))
    return RodState(
        x=rod.nodes.copy(),
        v=np.ascontiguousarray(velocity, dtype=np.float64).copy(),
        acceleration=np.zeros((n, 2)),
        gradient=np.zeros((n, 2)),
        strain=unstrained(rod),
        contact=np.zeros(n, dtype=np.int64),
        pair=np.zeros((pairs, 3), dtype=np.int64),
        pulse=np.full(rod.last_limb + 1, np.inf),
        factor=pattern_free,
        clock=zeros(Clock),
    )


def with_factor(state: RodState, pattern: BlockPattern) -> RodState:
    """The state with space for a factor of this pattern, if it has none yet."""
    if len(state.factor.lower) == len(pattern.row):
        return state
    return state._replace(factor=empty(pattern))


def copied(state: RodState) -> RodState:
    """An independent copy."""
    own: dict[str, Any] = {
        name: part.copy()
        for name, part in state._asdict().items()
        if isinstance(part, np.ndarray | np.record)
    }
    strain = Strains(*(part.copy() for part in state.strain))
    factor = BlockMatrix(*(part.copy() for part in state.factor))
    return RodState(**own, strain=strain, factor=factor)
