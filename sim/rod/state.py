"""What a compiled time loop works on: the setting, the state, and working space.

All of them are named tuples of arrays and numbers, which numba reads as they are. The
state is everything that the next step depends on, the last factorisation among it: a
run continued from a stored state makes the same bits as one that never stopped.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.rod.actuation import Law
from sim.rod.blocks import Blocks, Pattern, empty
from sim.rod.coulomb import Scratch, scratch
from sim.rod.elastic import Actuated, Elements, Strains, passive, unstrained
from sim.rod.ground import Relief
from sim.rod.rod import Rod

MAX_CONTACTS = 512


class Setting(NamedTuple):
    """What does not change in a run.

    Attributes
    ----------
    gravity : (2,) m/s^2
    load : (n, 2) N, between the times load_window (2,) s
    alpha, beta : 1/s, s, damping
    mu : friction coefficient
    rayleigh : damping in the paper's form, else by strain rate
    grounded : whether there is a ground
    """

    element: Elements
    pattern: Pattern
    held: Bools
    relief: Relief
    law: Law
    gravity: Floats
    load: Floats
    load_window: Floats
    alpha: float
    beta: float
    mu: float
    rayleigh: bool
    grounded: bool


class Scheme(NamedTuple):
    """How a step is made.

    conserving : whether internal forces keep energy exactly
    gamma : 1/2 is Newmark's rule (1/4, 1/2), 1 the backward Euler rule
    tolerance : m, on the error that Newton's iteration leaves in the positions
    complementarity : m/s, on the residual of the contact problem
    landing : m, the largest gap with which a node may land
    closing : fraction of a gap of a closed contact that is closed in a step
    shortest : shortest step, as a fraction of the full one
    exact : whether contact is exact, else the modified-mass rules of [Hu20]
    max_newton : iterations
    reuse : contraction of Newton's iteration up to which the factorisation is kept
    """

    conserving: bool
    gamma: float
    tolerance: float
    complementarity: float
    landing: float
    closing: float
    shortest: float
    exact: bool
    max_newton: int
    reuse: float


class State(NamedTuple):
    """What the next step depends on.

    Attributes
    ----------
    x, v, acceleration : (n, 2)
    gradient : (n, 2) N, grad U at x
    strain : of the elements at x
    contact : (n,) OPEN, STICK, FORTH or BACK
    pulse : (limbs,) s, when each limb was last switched on
    factor : L and D of the last matrix
    clock : (8,) see below
    """

    x: Floats
    v: Floats
    acceleration: Floats
    gradient: Floats
    strain: Strains
    contact: Ints
    pulse: Floats
    factor: Blocks
    clock: Floats


# Entries of `clock`: s, s of the factor, steps made, s, s of the next, made ready, and
# the largest residuals of all accepted steps, N and m/s.
TIME, FACTOR_STEP, STEP, LAST_STEP, LENGTH, READY = range(6)
WORST_RESIDUAL, WORST_COMPLEMENTARITY = 6, 7


class Work(NamedTuple):
    """Space for a step; nothing here outlives it.

    Attributes
    ----------
    x, v, r : (n, 2) at the end of the step, and the residual of its equation
    elastic, viscous : (n, 2) gradients
    strain, actuated : at the end of the step
    z : (n, 2) in the order of the columns
    stiffness : K at the start of the step, for Rayleigh damping
    product : (n, 2)
    who : (c,) the nodes in contact; known : those of `columns`
    state, frame, push : (c,), (c, 2), (c,) their states, tangents, and the velocity
        that closes their gap
    columns : (2c, n, 2) L^-1 of the unit vectors at the contacts
    xy, W, b, p : Delassus matrix by coordinates and by frames, velocities, impulses
    impulse : (n, 2) N s
    report : (8,) see below
    memo : (2,) validity of `columns`
    """

    x: Floats
    v: Floats
    r: Floats
    elastic: Floats
    viscous: Floats
    strain: Strains
    actuated: Actuated
    z: Floats
    stiffness: Blocks
    product: Floats
    who: Ints
    known: Ints
    state: Ints
    frame: Floats
    push: Floats
    columns: Floats
    xy: Floats
    W: Floats
    b: Floats
    p: Floats
    friction: Floats
    space: Scratch
    impulse: Floats
    report: Floats
    memo: Ints


# Entries of `report`: the largest since the last record, or the number; the residuals
# of the solution found last, which may yet be rejected.
RESIDUAL, COMPLEMENTARITY, ITERATIONS, SUBSTEPS, FACTORISATIONS, ERROR = range(6)
FOUND_RESIDUAL, FOUND_COMPLEMENTARITY = 6, 7
COUNT, FULL = 0, 1  # entries of `memo`: contacts in `columns`, ran out of space


def new_state(rod: Rod, velocity: Floats) -> State:
    """The rod at its start with velocities (n, 2); not yet ready for a step."""
    n = len(rod.nodes)
    pattern_free = Blocks(np.zeros((n, 3)), np.zeros((0, 4)))
    return State(
        x=rod.nodes.copy(),
        v=np.ascontiguousarray(velocity, dtype=np.float64).copy(),
        acceleration=np.zeros((n, 2)),
        gradient=np.zeros((n, 2)),
        strain=unstrained(rod),
        contact=np.zeros(n, dtype=np.int64),
        pulse=np.full(rod.last_limb + 1, np.inf),
        factor=pattern_free,
        clock=np.zeros(8),
    )


def with_factor(state: State, pattern: Pattern) -> State:
    """The state with space for a factor of this pattern, if it has none yet."""
    if len(state.factor.lower) == len(pattern.row):
        return state
    return state._replace(factor=empty(pattern))


def copied(state: State) -> State:
    """An independent copy."""
    arrays = {
        name: part.copy()
        for name, part in state._asdict().items()
        if isinstance(part, np.ndarray)
    }
    strain = Strains(*(part.copy() for part in state.strain))
    factor = Blocks(*(part.copy() for part in state.factor))
    return State(**arrays, strain=strain, factor=factor)


def work_space(rod: Rod, pattern: Pattern) -> Work:
    """Working space; the large arrays are touched only as far as contacts need."""
    n = len(rod.nodes)
    c = min(n, MAX_CONTACTS)
    return Work(
        x=np.zeros((n, 2)),
        v=np.zeros((n, 2)),
        r=np.zeros((n, 2)),
        elastic=np.zeros((n, 2)),
        viscous=np.zeros((n, 2)),
        strain=unstrained(rod),
        actuated=passive(rod),
        z=np.zeros((n, 2)),
        stiffness=empty(pattern),
        product=np.zeros((n, 2)),
        who=np.zeros(c, dtype=np.int64),
        known=np.zeros(c, dtype=np.int64),
        state=np.zeros(c, dtype=np.int64),
        frame=np.zeros((c, 2)),
        push=np.zeros(c),
        columns=np.empty((2 * c, n, 2)),
        xy=np.empty((2 * c, 2 * c)),
        W=np.empty((2 * c, 2 * c)),
        b=np.empty(2 * c),
        p=np.empty(2 * c),
        friction=np.zeros(c),
        space=scratch(c),
        impulse=np.zeros((n, 2)),
        report=np.zeros(8),
        memo=np.zeros(2, dtype=np.int64),
    )
