"""What a compiled time loop works on: the setting, the state, and working space.

All of them are named tuples of arrays and numbers, which numba reads as they are. The
state is everything that the next step depends on, the last factorisation among it: a
run continued from a stored state makes the same bits as one that never stopped.
"""

from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.rod.actuation.actuation import Law
from sim.rod.contact.coulomb import Scratch, scratch
from sim.rod.contact.ground import Relief
from sim.rod.contact.touching import TouchSetting
from sim.rod.energy.blocks import BlockMatrix, BlockPattern, empty
from sim.rod.energy.elastic import Actuated, Elements, Strains, passive, unstrained
from sim.rod.rod.rod import Rod
from sim.rod.stepping.surroundings import EdgeForces

MAX_CONTACTS = 512  # with columns of their own: by the rules of [Hu20], or of rods
MAX_PAIRED = 1024  # contacts on so many nodes, where rods touch rods
ARMS = 3  # nodes that a contact acts on, at most
WIDTH = 96  # blocks of an envelope's row, on the mean, that there is space for


class Setting(NamedTuple):
    """What does not change in a run.

    Attributes
    ----------
    gravity : (2,) m/s^2
    load : (n, 2) N, between the times load_window (2,) s
    along : drag and loads of edges
    alpha, beta : 1/s, s, damping
    mu : friction coefficient
    rayleigh : damping in the paper's form, else by strain rate
    grounded : whether there is a ground
    touch : what feels touch besides nodes on the ground
    """

    element: Elements
    pattern: BlockPattern
    held: Bools
    relief: Relief
    touch: TouchSetting
    law: Law
    gravity: Floats
    load: Floats
    load_window: Floats
    along: EdgeForces
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
    contact_gap : m, at which a contact may end a step from what it touches
    closing : fraction of a gap of a closed contact that is closed in a step
    shortest : shortest step, as a fraction of the full one
    least : likewise, where none so long will do
    exact : whether contact is exact, else the modified-mass rules of [Hu20]
    max_newton : iterations
    reuse : contraction of Newton's iteration up to which the factorisation is kept
    residual : of the largest force on a node, that a step may leave unbalanced
    stiffness, heaviest : N/m, kg, bounds of the rod's stiffness and of its masses
    strain : largest stretch of an edge
    balance : of the energies at work, that steps may leave out of balance
    length : s, of a full step, or longer: in which a gap is closed by `closing`
    reversals : whether steps are cut where sliding reverses
    """

    conserving: bool
    gamma: float
    tolerance: float
    complementarity: float
    landing: float
    contact_gap: float
    closing: float
    shortest: float
    least: float
    exact: bool
    max_newton: int
    reuse: float
    residual: float
    stiffness: float
    heaviest: float
    strain: float
    balance: float
    length: float
    reversals: bool


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


class EnergyFlow:
    """The energies of one step, J: see `sim.rod.stepping.energy_balance`.

    Attributes
    ----------
    given : by loads, moving supports and actuators
    damped, friction, impact : dissipated
    left : out of balance, positive where the step makes energy
    scale : kinetic, and all that is exchanged, put in or dissipated
    rounding : what of `left` the tolerance of positions explains
    fallen : by gravity
    stored : kinetic and elastic, at the end
    gave : by contacts, where all of them together do
    """

    given: float
    damped: float
    friction: float
    impact: float
    left: float
    scale: float
    rounding: float
    fallen: float
    stored: float
    gave: float


class StepReport:
    """What the steps since the last record took.

    Attributes
    ----------
    residual, complementarity, error : N, m/s, m, the largest
    iterations, substeps, factorisations : how many
    found_residual, found_share, found_complementarity, found_gap : of the solution
        found last, which may yet be rejected; the share is that of the largest force on
        a node, the gap that of contacts, m
    """

    residual: float
    complementarity: float
    iterations: float
    substeps: float
    factorisations: float
    error: float
    found_residual: float
    found_share: float
    found_complementarity: float
    found_gap: float


class ColumnsKnown:
    """Whether `Work.columns` can be used as they are.

    Attributes
    ----------
    count : nodes whose columns are known; -1 after a new factor
    nodes : that the contacts act on
    full : 1 if contacts ran out of space
    unsound : 1 if the last step tried was out of balance
    apart : 1 if contacts ended off the ground
    crossed : 1 if edges began to cross in the last step tried
    """

    count: int
    nodes: int
    full: int
    unsound: int
    apart: int
    crossed: int


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


class TouchSystem(NamedTuple):
    """Space for the system of `many_touches`: n nodes, c contacts, k = n + c rows.

    Attributes
    ----------
    rank : (k,) places of the nodes, then of the contacts
    queue, seen : (n,) nodes by their distance from one; whether they are placed
    head, next : (n,), (c, 3) arms of contacts by nodes; first of a node, next of an arm
    first, begin : (k,), (k + 1,) the first block of each row, and where it stands
    below, above : (s, 4) blocks of L by rows, of U by columns
    diagonal, z : (k, 4), (k, 2) inverses of the diagonal; right-hand side and solution
    W, u : (c, 2) 1/kg, m/s, normal and along: what an impulse moves its own contact by;
        velocities at the end of the step
    y, at, block : (n, 4), (3,), (4,) a column, where its paths are, and a product
    """

    rank: Ints
    queue: Ints
    seen: Ints
    head: Ints
    next: Ints
    first: Ints
    begin: Ints
    below: Floats
    above: Floats
    diagonal: Floats
    z: Floats
    W: Floats
    u: Floats
    y: Floats
    at: Ints
    block: Floats


def envelope(n: int, c: int) -> TouchSystem:
    """Space for n nodes and up to c contacts; touched only as far as they need."""
    k, stored = n + c, WIDTH * (n + c)
    return TouchSystem(
        rank=np.zeros(k, dtype=np.int64),
        queue=np.zeros(n, dtype=np.int64),
        seen=np.zeros(n, dtype=np.int64),
        head=np.zeros(n, dtype=np.int64),
        next=np.zeros((c, ARMS), dtype=np.int64),
        first=np.zeros(k, dtype=np.int64),
        begin=np.zeros(k + 1, dtype=np.int64),
        below=np.empty((stored, 4)),
        above=np.empty((stored, 4)),
        diagonal=np.zeros((k, 4)),
        z=np.zeros((k, 2)),
        W=np.zeros((c, 2)),
        u=np.zeros((c, 2)),
        y=np.zeros((n, 4)),
        at=np.zeros(ARMS, dtype=np.int64),
        block=np.zeros(4),
    )


class Work(NamedTuple):
    """Space for a step; nothing here outlives it.

    Attributes
    ----------
    x, v, r : (n, 2) at the end of the step, and the residual of its equation
    elastic, viscous : (n, 2) gradients
    strain, actuated : at the end of the step
    outer, drag : (n, 2) N s, what loads of edges push in the step, what a fluid takes
    support : (n, 2) N s, what holds held nodes in the step
    earlier : actuation at the start of the step
    flow : energies of the step
    z : (n, 2) in the order of the columns
    stiffness : K at the start of the step, for Rayleigh damping
    product : (n, 2)
    who : (c,) the nodes in contact, as many as there are, -1 for an edge on the ground
    edge : (c,) the edges in contact, -1 for a node on the ground
    was, state : (c,) their states before and after
    frame, push : (c, 2), (c,) their tangents at the end of the step, and the velocity
        that closes their gap
    middle : (c, 2) tangents across which impulses act
    arms, arm : (c,), (c, 3) the nodes that they act on, as many as there are
    slot : (c, 3) where these stand in `node`
    lever, share : (c, 3) weights of the velocities and of the impulses of these nodes
    node, known : (n,) the nodes that any contact acts on, and those of `columns`
    place : (n,) -1; while `node` is filled, where each node stands there
    free : (2n,) m/s, their velocities without impulses
    head, next : (2n,), (m,) edges by cells of a grid; first of a cell, next of an edge
    of_edge, after : (m,), (c,) contacts by edges; first of an edge, next of a contact
    matrix : A, and row, diagonal, below, above : (n, 4), (n, 4), (l, 4), (l, 4) its
        rows as many contacts change them, see `many_contacts`
    listed : (n,) whether a node is among `who`
    columns : (2n, n, 2) L^-1 of the unit vectors at these nodes
    envelope : the system of many contacts of edges, see `many_touches`
    xy, W, b, p : Delassus matrix by coordinates and by frames, velocities, impulses
    impulse : (n, 2) N s
    report : what steps took
    memo : whether `columns` are known
    """

    x: Floats
    v: Floats
    r: Floats
    elastic: Floats
    viscous: Floats
    strain: Strains
    actuated: Actuated
    outer: Floats
    drag: Floats
    support: Floats
    earlier: Actuated
    flow: EnergyFlow
    z: Floats
    stiffness: BlockMatrix
    product: Floats
    who: Ints
    edge: Ints
    was: Ints
    arms: Ints
    arm: Ints
    slot: Ints
    lever: Floats
    share: Floats
    node: Ints
    known: Ints
    place: Ints
    free: Floats
    head: Ints
    next: Ints
    of_edge: Ints
    after: Ints
    state: Ints
    frame: Floats
    middle: Floats
    push: Floats
    matrix: BlockMatrix
    row: Floats
    diagonal: Floats
    below: Floats
    above: Floats
    listed: Bools
    columns: Floats
    xy: Floats
    W: Floats
    b: Floats
    p: Floats
    friction: Floats
    space: Scratch
    envelope: TouchSystem
    impulse: Floats
    report: StepReport
    memo: ColumnsKnown


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


def work_space(rod: Rod, pattern: BlockPattern, pairs: int = 0) -> Work:
    """Working space; the large arrays are touched only as far as contacts need."""
    n = len(rod.nodes)
    most, nodes = n + pairs, min(n, MAX_CONTACTS)
    c = min(most, MAX_CONTACTS if pairs == 0 else MAX_PAIRED)
    return Work(
        **_of_each_contact(most),
        x=np.zeros((n, 2)),
        v=np.zeros((n, 2)),
        r=np.zeros((n, 2)),
        elastic=np.zeros((n, 2)),
        viscous=np.zeros((n, 2)),
        strain=unstrained(rod),
        actuated=passive(rod),
        outer=np.zeros((n, 2)),
        drag=np.zeros((n, 2)),
        support=np.zeros((n, 2)),
        earlier=passive(rod),
        flow=zeros(EnergyFlow),
        z=np.zeros((n, 2)),
        stiffness=empty(pattern),
        product=np.zeros((n, 2)),
        node=np.zeros(n, dtype=np.int64),
        known=np.zeros(nodes, dtype=np.int64),
        place=np.full(n, -1, dtype=np.int64),
        free=np.zeros(2 * n),
        head=np.zeros(2 * n, dtype=np.int64),
        next=np.zeros(len(rod.edges), dtype=np.int64),
        of_edge=np.full(len(rod.edges), -1, dtype=np.int64),
        matrix=empty(pattern),
        row=np.zeros((n, 4)),
        diagonal=np.zeros((n, 4)),
        below=np.zeros((len(pattern.row), 4)),
        above=np.zeros((len(pattern.row), 4)),
        listed=np.zeros(n, dtype=np.bool_),
        columns=np.empty((2 * nodes, n, 2)),
        xy=np.empty((2 * nodes, 2 * nodes)),
        W=np.empty((2 * c, 2 * c)),
        b=np.empty(2 * c),
        friction=np.zeros(most if pairs else c),
        space=scratch(c),
        envelope=envelope(n if pairs else 0, most if pairs else 0),
        impulse=np.zeros((n, 2)),
        report=zeros(StepReport),
        memo=zeros(ColumnsKnown),
    )


def _of_each_contact(most: int) -> dict[str, Any]:
    """What is kept of each of so many contacts."""
    return {
        "who": np.zeros(most, dtype=np.int64),
        "edge": np.zeros(most, dtype=np.int64),
        "after": np.zeros(most, dtype=np.int64),
        "was": np.zeros(most, dtype=np.int64),
        "arms": np.zeros(most, dtype=np.int64),
        "arm": np.zeros((most, ARMS), dtype=np.int64),
        "slot": np.zeros((most, ARMS), dtype=np.int64),
        "lever": np.zeros((most, ARMS)),
        "share": np.zeros((most, ARMS)),
        "state": np.zeros(most, dtype=np.int64),
        "frame": np.zeros((most, 2)),
        "middle": np.zeros((most, 2)),
        "push": np.zeros(most),
        "p": np.empty(2 * most),
    }
