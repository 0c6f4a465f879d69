"""State, records and workspace of the compiled time loop.

`RodState` is everything that the next step depends on. It is a named tuple of arrays
and numbers, which numba reads as they are, the last factorisation among them: a run
continued from a stored state makes the same bits as one that never stopped. `RodStep`
is what is recorded of a rod at one time.

`Work` is the space that a step works in, made once and used by all. Nothing in it
outlives a step. `ContactSystem` is its part for many contacts. `Run` is all that the
loop is handed.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import pointed
from sim.rods.plane.block_factorisation import BlockMatrix, BlockPattern, empty
from sim.rods.plane.contact_impulses import Scratch, scratch
from sim.rods.plane.elastic_energy import Actuated, Strains, passive, unstrained
from sim.rods.plane.options import RodModel, StepMethod
from sim.rods.plane.records_and_checkpoints import numbers
from sim.rods.plane.rod import Rod


def clear(record: Any) -> None:
    """Set all numbers of a record back to zero."""
    for name in record.dtype.names:
        record[name] = 0


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
    worst_balance : largest of that of a step, as a fraction of the energies at work
    given, damped, friction, impact, out_of_balance : J, since the start: `EnergyFlow`
    supplied : J, stored at the start, with what loads and falls gave or took since then
    at_work : J, the largest of that at any time
    rounding : J, what of it may be due to the tolerance of positions
    """

    time: float
    factor_step: float
    step: int
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
    out_of_balance: float
    supplied: float
    at_work: float
    rounding: float


class RodState(NamedTuple):
    """What the next step depends on.

    Attributes
    ----------
    x, v, acceleration : (n, 2)
    gradient : (n, 2) N, grad U at x
    strain : of the elements at x
    contact : (n,) OPEN, STICK, SLIP_POSITIVE or SLIP_NEGATIVE
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


def new_state(
    rod: Rod, pattern: BlockPattern, velocity: Floats, pairs: int
) -> RodState:
    """The rod at its start with velocities (n, 2); not yet ready for a step.

    pairs : contacts besides those of nodes with the ground, at most
    """
    n = len(rod.nodes)
    return RodState(
        x=rod.nodes.copy(),
        v=np.ascontiguousarray(velocity, dtype=np.float64).copy(),
        acceleration=np.zeros((n, 2)),
        gradient=np.zeros((n, 2)),
        strain=unstrained(rod),
        contact=np.zeros(n, dtype=np.int64),
        pair=np.zeros((pairs, 3), dtype=np.int64),
        pulse=np.full(rod.last_limb + 1, np.inf),
        factor=empty(pattern),
        clock=numbers(Clock),
    )


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


@dataclass(frozen=True, eq=False)
class RodStep:
    """The rod at one time.

    Attributes
    ----------
    step : number of full steps made
    time : s
    x, v : (n, 2) m, m/s
    reaction : (n, 2) N, mean force of the ground on each node in the last step
    contact : (n,) OPEN, STICK, SLIP_POSITIVE or SLIP_NEGATIVE
    kinetic, stretching, bending, gravity : J
    residual : N, largest unbalanced force since the last record
    complementarity : m/s, largest residual of the contact problem since then
    worst_residual, worst_complementarity : N, m/s, the largest since the start
    worst_share : the largest residual of a step over the largest force on a node
    contact_gap : m, largest distance of a contact from the ground since the start
    given, damped, friction, impact : J, put in and dissipated since the start: see
        `sim.rods.plane.energy_balance`
    out_of_balance : J, what the steps made of nothing since the start
    worst_balance : the largest of it in a step, over the energies at work in it
    iterations, substeps, factorisations : since the last record
    error : m, largest estimated error of a step since the last record, if adapted
    h : s, length of the last part of a step
    state : to continue from, unless `failed`
    failed : the next step could not be made; a part of it may have been
    share, snaps : of all loads, at a rest, and shares at which the rod snapped before
    """

    step: int
    time: float
    x: Floats
    v: Floats
    reaction: Floats
    contact: Ints
    kinetic: float
    stretching: float
    bending: float
    gravity: float
    residual: float
    complementarity: float
    worst_residual: float
    worst_complementarity: float
    worst_share: float
    contact_gap: float
    given: float
    damped: float
    friction: float
    impact: float
    out_of_balance: float
    worst_balance: float
    iterations: int
    substeps: int
    factorisations: int
    error: float
    h: float
    state: RodState
    failed: bool
    share: float = 1.0
    snaps: tuple[float, ...] = ()

    @property
    def energy(self) -> float:
        return self.kinetic + self.stretching + self.bending + self.gravity

    @property
    def mean_velocity(self) -> Floats:
        """(n, 2) m/s, of the last step: what rings from step to step is not in it."""
        return self.v - 0.5 * self.h * self.state.acceleration


CONTACT_NODES = 3  # nodes that a contact acts on, at most
WIDTH = 96  # blocks of a column of L, on the mean, that there is space for


class ContactSystem(NamedTuple):
    """The system of `solve_many`: n nodes, then c contacts, k = n + c rows of blocks.

    Attributes
    ----------
    node : (n,) nodes by the columns of the pattern of A
    place : (k,) places of the nodes, then of the contacts
    start, row : (k + 1,), (s,) blocks of L below the diagonal, by columns
    below, above : (s, 4) these of L, and those of U by rows
    diagonal, z : (k, 4), (k, 2) inverses of the diagonal; right-hand side and solution
    y, at : (n, 4), (3,) a column of L^-1, and where its paths are
    """

    node: Ints
    place: Ints
    start: Ints
    row: Ints
    below: Floats
    above: Floats
    diagonal: Floats
    z: Floats
    y: Floats
    at: Ints


def contact_system(pattern: BlockPattern, most: int) -> ContactSystem:
    """Space for up to so many contacts; large arrays are touched only as they need."""
    n = len(pattern.place)
    k = n + most
    stored = max(len(pattern.row), WIDTH * k)
    return ContactSystem(
        node=np.argsort(pattern.place),
        place=np.zeros(k, dtype=np.int64),
        start=np.zeros(k + 1, dtype=np.int64),
        row=np.empty(stored, dtype=np.int64),
        below=np.empty((stored, 4)),
        above=np.empty((stored, 4)),
        diagonal=np.zeros((k, 4)),
        z=np.zeros((k, 2)),
        y=np.zeros((n, 4)),
        at=np.zeros(CONTACT_NODES, dtype=np.int64),
    )


MAX_CONTACTS = 512  # with columns of their own: by the rules of [Hu20], or of rods
MAX_PAIRED = 1024  # contacts on so many nodes, where rods touch rods


class EnergyFlow:
    """The energies of one step, J: see `sim.rods.plane.energy_balance`.

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
    iterations: int
    substeps: int
    factorisations: int
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
    frame, closing : (c, 2), (c,) their tangents at the end of the step, and the
        velocity that closes their gap
    middle : (c, 2) tangents across which impulses act
    node_count, acts_on : (c,), (c, 3) the nodes that they act on, as many as there are
    slot : (c, 3) where these stand in `node`
    weight, push_weight : (c, 3) of the velocities of these nodes, and of impulses
    node, known : (n,) the nodes that any contact acts on, and those of `columns`
    place : (n,) -1; while `node` is filled, where each node stands there
    free : (2n,) m/s, their velocities without impulses
    head, next : (2n,), (m,) edges by cells of a grid; first of a cell, next of an edge
    of_edge, after : (m,), (c,) contacts by edges; first of an edge, next of a contact
    listed : (n,) whether a node is among `who`
    columns : (2n, n, 2) L^-1 of the unit vectors at these nodes
    predicted : (m,) strains that the last move of an iteration is to end with
    matrix : A, where contacts are many
    system : of many contacts, see `many_contact_impulses`
    xy, W, b, p : Delassus matrix by coordinates and by frames, velocities, impulses
    impulse, reaction : (n, 2) N s; N, the mean of the last full step
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
    node_count: Ints
    acts_on: Ints
    slot: Ints
    weight: Floats
    push_weight: Floats
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
    closing: Floats
    listed: Bools
    columns: Floats
    predicted: Floats
    xy: Floats
    W: Floats
    b: Floats
    p: Floats
    friction: Floats
    space: Scratch
    matrix: BlockMatrix
    system: ContactSystem
    impulse: Floats
    reaction: Floats
    report: StepReport
    memo: ColumnsKnown


class Run(NamedTuple):
    """What the compiled loop reads and writes: each part by its address.

    before : space for the state before an adapted step
    """

    model: RodModel
    method: StepMethod
    state: RodState
    work: Work
    before: RodState


def by_addresses(run: Run) -> Run:
    """As kernels read it."""
    made: Any = map(pointed, run)
    return Run(*made)


def numbers_of(record: Any) -> dict[str, Any]:
    """The numbers of a record by their names."""
    return dict(zip(record.dtype.names, record.item(), strict=True))


Shapes = tuple[tuple[tuple[int, ...], str], ...]


def arrays_of(shapes: Shapes, kind: type) -> dict[str, Any]:
    """Zeros of each shape by the names that follow it."""
    return {
        name: np.zeros(shape, kind) for shape, names in shapes for name in names.split()
    }


def work_space(rod: Rod, pattern: BlockPattern, pairs: int = 0) -> Work:
    """Working space; the large arrays are touched only as far as contacts need."""
    n, m = len(rod.nodes), len(rod.edges)
    most, nodes = n + pairs, min(n, MAX_CONTACTS)
    c = min(most, MAX_CONTACTS if pairs == 0 else MAX_PAIRED)
    floats: Shapes = (
        ((n, 2), "x v r elastic viscous outer drag support z product impulse reaction"),
        ((most, 2), "frame middle"),
        ((most, CONTACT_NODES), "weight push_weight"),
        ((most,), "closing"),
        ((2 * most,), "p"),
        ((2 * n,), "free"),
        ((m,), "predicted"),
        ((most if pairs else c,), "friction"),
        ((2 * nodes, n, 2), "columns"),
        ((2 * nodes, 2 * nodes), "xy"),
        ((2 * c, 2 * c), "W"),
        ((2 * c,), "b"),
    )
    integers: Shapes = (
        ((most,), "who edge was node_count after state"),
        ((most, CONTACT_NODES), "acts_on slot"),
        ((n,), "node place"),
        ((nodes,), "known"),
        ((2 * n,), "head"),
        ((m,), "next of_edge"),
    )
    work = Work(
        **arrays_of(floats, np.float64),
        **arrays_of(integers, np.int64),
        strain=unstrained(rod),
        actuated=passive(rod),
        earlier=passive(rod),
        flow=numbers(EnergyFlow),
        stiffness=empty(pattern),
        matrix=empty(pattern),
        listed=np.zeros(n, dtype=np.bool_),
        space=scratch(c, most),
        system=contact_system(pattern, most),
        report=numbers(StepReport),
        memo=numbers(ColumnsKnown),
    )
    work.place[:], work.of_edge[:] = -1, -1
    return work
