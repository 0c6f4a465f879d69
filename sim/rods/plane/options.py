"""How time steps are made: `StepOptions`, and what the compiled time loop reads.

`RodModel` has what does not change in a run, `StepMethod` how its steps are made; both
are named tuples of arrays and numbers, which numba reads as they are. `rod_model` and
`step_method` make them from a world and the options of its steps.
"""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats
from sim.core.options import Checked, Choice, Count, NotNegative, Positive, within
from sim.rods.plane.actuation import Law
from sim.rods.plane.block_factorisation import BlockPattern, analyse
from sim.rods.plane.contact_geometry import EdgeContacts, edge_contacts
from sim.rods.plane.contact_impulses import ContactRule
from sim.rods.plane.elastic_energy import Elements, elements
from sim.rods.plane.ground import GroundPlane, Relief
from sim.rods.plane.rod import Rod
from sim.rods.plane.world import EdgeForces, World, edge_forces


class Integrator(Choice):
    """How internal forces are weighted in a step.

    newmark is the rule of [Hu20], which may gain energy where amplitudes are large;
    energy_momentum keeps energy, and angular momentum, at any amplitude.
    """

    NEWMARK = "newmark"
    ENERGY_MOMENTUM = "energy_momentum"


UP_TO_1 = within(0.0, 1.0, "a fraction up to 1")


@dataclass(frozen=True)
class StepOptions(Checked):
    """Time steps; h and the tolerance are as in simulators derived from [Hu20]'s.

    accuracy : m, error of a step; 0 makes every step h long, else h is the longest
    tolerance : m, error that Newton's iteration may leave
    complementarity : residual of the contact problem that a step may leave
    landing : gap with which a node may land, as a fraction of the shortest edge; at
        most contact_gap
    contact_gap : distance from the ground at which a contact may end a step, likewise
    shortest : part of h, shorter than which no step is made but on a ground, where none
        so long will do
    closing : fraction of the gap of a contact that a step closes
    residual : of the largest force on a node, which may be unbalanced after a step
    strain : largest stretch of an edge
    balance : of the energies at work, which a step, or all of them, may make or lose
    locate_reversals : cut steps where sliding reverses, in place of an error of first
        order in h
    reuse : contraction up to which a factorisation is reused; 0 renews it always
    """

    of = "steps"
    h: Positive = 2.5e-3  # s
    integrator: Integrator = Integrator.NEWMARK
    accuracy: NotNegative = 0.0
    tolerance: Positive = 1e-9
    contact: ContactRule = ContactRule.EXACT
    complementarity: Positive = 1e-9  # m/s
    landing: Positive = 5e-5
    contact_gap: Positive = 1e-4
    closing: Annotated[NotNegative, UP_TO_1] = 0.2
    shortest: Annotated[Positive, UP_TO_1] = 1.0 / 64.0  # of h
    max_newton: Count = 25
    reuse: NotNegative = 0.1
    residual: Positive = 1e-5
    strain: Positive = 1.0
    balance: Positive = 0.1
    locate_reversals: bool = False

    def __post_init__(self) -> None:
        for name, kind in (("contact", ContactRule), ("integrator", Integrator)):
            object.__setattr__(self, name, kind(getattr(self, name)))
        super().__post_init__()
        if self.locate_reversals and self.contact is not ContactRule.EXACT:
            raise ValueError(
                "steps: locate_reversals works with contact exact only, not "
                f"{self.contact.value}: remove it"
            )

    @property
    def steadier(self) -> str:
        """What to try where steps do not converge, or make energy."""
        other = self.integrator is Integrator.NEWMARK
        h = self.h * min(self.shortest, 0.5)
        less = f"reduce the time step h to {h:.2g} s or less"
        return f"{less}{', or use integrator energy_momentum' * other}"


CONSERVING = StepOptions(integrator=Integrator.ENERGY_MOMENTUM)  # of rods of one's own


class RodModel(NamedTuple):
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
    touch: EdgeContacts
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


class StepMethod(NamedTuple):
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
    reuse : contraction of Newton's iteration up to which the factorisation is reused
    residual : of the largest force on a node, that a step may leave unbalanced
    stiffness, heaviest : N/m, kg, bounds of the rod's stiffness and of its masses
    strain : largest stretch of an edge
    balance : of the energies at work, that steps may leave out of balance
    length : s, of a full step, or longer: in which a gap is closed by `closing`
    reversals : whether steps are cut where sliding reverses
    accuracy : m, error of an adapted step; 0 where all have one length
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
    accuracy: float


LEAVING = 0.03  # of the time of a fall by the size of the rod
SHORTEST = 2.0**-14  # part of a step, on a ground, or where edges feel touch


def rod_model(world: World) -> RodModel:
    """What the compiled loop reads of a world."""
    rod = world.rod
    load, window = np.zeros((len(rod.nodes), 2)), np.zeros(2)
    if world.load is not None:
        load[world.load.nodes] = world.load.force
        window[:] = world.load.window
    return RodModel(
        element=elements(rod),
        pattern=analyse(len(rod.nodes), rod.edges, rod.bends),
        held=rod.held,
        relief=(world.ground or GroundPlane()).relief,
        touch=edge_contacts(world.edge_contact, world.rod, world.ground),
        law=world.actuator.law,
        gravity=np.array(world.gravity, dtype=np.float64),
        load=load,
        load_window=window,
        along=edge_forces(
            rod, world.fluid, world.distributed_loads, world.follower_forces
        ),
        alpha=float(world.damping.alpha),
        beta=float(world.damping.beta),
        mu=float(world.friction),
        rayleigh=bool(world.damping.rayleigh),
        grounded=world.ground is not None,
    )


def step_method(
    options: StepOptions, world: World, *, gamma: float = 0.5
) -> StepMethod:
    """What the compiled loop reads of the options.

    On a ground steps are cut as short as contacts within their gaps ask for. Where
    edges feel touch, these are those that `EdgeContact` allows.
    """
    rod, edges = world.rod, world.edge_contact
    shortest = float(options.shortest)
    contact_gap, slow = options.contact_gap, leaving_time(world)
    landing = min(options.landing, contact_gap)
    if edges is not None:
        slow = 0.0
        if options.contact is not ContactRule.EXACT:
            raise ValueError("edge_contact needs contact exact: set `contact: exact`")
        landing = contact_gap = edges.gap
        shortest = min(shortest, SHORTEST)
    lands = world.ground is not None and gamma < 1.0
    conserving = options.integrator is Integrator.ENERGY_MOMENTUM and gamma < 1.0
    same = "tolerance", "complementarity", "reuse", "residual", "strain", "balance"
    return StepMethod(
        **{name: float(getattr(options, name)) for name in same},
        conserving=conserving,
        gamma=gamma,
        landing=float(landing * rod.rest_length.min()),
        contact_gap=float(contact_gap * rod.rest_length.min()),
        closing=float(options.closing) if gamma < 1.0 else 1.0,
        shortest=shortest,
        least=min(shortest, SHORTEST) if lands else shortest,
        exact=options.contact is ContactRule.EXACT,
        max_newton=int(options.max_newton),
        stiffness=stiffness_bound(rod),
        heaviest=float(rod.mass.max()),
        length=max(float(options.h), slow),
        reversals=bool(options.locate_reversals) and gamma < 1.0,
        accuracy=float(options.accuracy),
    )


def leaving_time(world: World) -> float:
    """Part of the time of a fall by its size, or of a flight as far, s.

    A node in the ground leaves it slowly, however short the steps: what an impact
    pushes on it while it leaves would give energy.
    """
    size = float(np.ptp(world.rod.nodes, axis=0).max())
    square = size * float(np.linalg.norm(world.gravity))
    if world.velocity is not None:
        square += float(np.square(world.velocity).sum(axis=1).max())
    return LEAVING * size / float(np.sqrt(square)) if square > 0.0 else 0.0


def stiffness_bound(rod: Rod) -> float:
    """No eigenvalue of a rod's stiffness at rest is larger, N/m.

    (1, -1) of an edge has 2 EA / l0, (1, -2, 1) of a bend 6 EI / dl^3; a node is part
    of as many of them as its edges and bends.
    """
    edges = np.bincount(rod.edges.ravel()).max() * 2.0
    stretching = float((rod.stretching / rod.rest_length).max())
    if len(rod.bends) == 0:
        return float(edges * stretching)
    bends = np.bincount(rod.bends.ravel()).max() * 6.0
    shortest = float(rod.rest_length.min())
    slope = (1.0 + (0.5 * rod.curvature * rod.voronoi) ** 2) ** 2  # of tan, squared
    bending = float((rod.bending / rod.voronoi * slope).max()) / shortest**2
    return float(edges * stretching + bends * bending)
