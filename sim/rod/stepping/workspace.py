"""Space that a step of the compiled time loop works in, made once and used by all.

Nothing here outlives a step: what the next one depends on is the state,
`sim.rod.stepping.state`.
"""

from typing import Any, NamedTuple

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.rod.contact.coulomb import Scratch, scratch
from sim.rod.energy.blocks import BlockMatrix, BlockPattern, empty
from sim.rod.energy.elastic import Actuated, Strains, passive, unstrained
from sim.rod.rod.rod import Rod
from sim.rod.stepping.state import zeros
from sim.rod.stepping.touch_system import ARMS, TouchSystem, envelope

MAX_CONTACTS = 512  # with columns of their own: by the rules of [Hu20], or of rods
MAX_PAIRED = 1024  # contacts on so many nodes, where rods touch rods


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
