"""What does not change in a run of a compiled time loop, and how its steps are made.

Both are named tuples of arrays and numbers, which numba reads as they are.
"""

from typing import NamedTuple

from sim.arrays import Bools, Floats
from sim.rod.actuation.actuation import Law
from sim.rod.contact.ground import Relief
from sim.rod.contact.touching import TouchSetting
from sim.rod.energy.blocks import BlockPattern
from sim.rod.energy.elastic import Elements
from sim.rod.stepping.surroundings import EdgeForces


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
