"""What is recorded of a rod at one time."""

from dataclasses import dataclass

from sim.arrays import Floats, Ints
from sim.rod.stepping.state import RodState


@dataclass(frozen=True, eq=False)
class RodStep:
    """The rod at one time.

    Attributes
    ----------
    step : number of full steps made
    time : s
    x, v : (n, 2) m, m/s
    reaction : (n, 2) N, mean force of the ground on each node in the last step
    contact : (n,) OPEN, STICK, FORTH or BACK
    kinetic, stretching, bending, gravity : J
    residual : N, largest unbalanced force since the last record
    complementarity : m/s, largest residual of the contact problem since then
    worst_residual, worst_complementarity : N, m/s, the largest since the start
    worst_share : the largest residual of a step over the largest force on a node
    contact_gap : m, largest distance of a contact from the ground since the start
    given, damped, friction, impact : J, put in and dissipated since the start: see
        `sim.rod.stepping.energy_balance`
    out_of_balance : J, what the steps made of nothing since the start
    worst_balance : the largest of it in a step, over the energies at work in it
    iterations, substeps, factorisations : since the last record
    error : m, largest estimated error of a step since the last record, if adapted
    h : s, length of the last part of a step
    state : to continue from, unless `failed`
    failed : the next step could not be made; a part of it may have been
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

    @property
    def energy(self) -> float:
        return self.kinetic + self.stretching + self.bending + self.gravity
