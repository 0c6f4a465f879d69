"""A moving sheet at one time, and what a step works with."""

from dataclasses import dataclass
from typing import NamedTuple

from sim.arrays import Floats, Ints
from sim.origami.model.assembly import EquilibriumSystem
from sim.origami.model.model import BarHingeModel


@dataclass(frozen=True, eq=False)
class MovingState:
    """A sheet at one time.

    Attributes
    ----------
    time : s
    x, v, a : (n, 3) m, m/s, m/s^2
    theta, rate : (h,) angles of hinges, rad, and rad/s
    kinetic, height : J, of speeds, and of masses in gravity
    energies : (6,) J, see `sim.origami.model.assembly.EquilibriumSystem`
    lost, rubbed : J, by damping and by friction since the beginning
    parts, iterations : of the last step
    residual : of Coulomb's law, the largest of a part of the last step, m/s
    """

    time: float
    x: Floats
    v: Floats
    a: Floats
    theta: Floats
    rate: Floats
    kinetic: float
    height: float
    energies: Floats
    lost: float = 0.0
    rubbed: float = 0.0
    parts: int = 1
    iterations: int = 0
    residual: float = 0.0

    @property
    def total(self) -> float:
        """J: what there is, and what was taken; the same at all times."""
        there = self.kinetic + self.height + self.energies.sum()
        return float(there + self.lost + self.rubbed)


class StepMatrix(NamedTuple):
    """What a step of h seconds adds to the sheet's own stiffness.

    Attributes
    ----------
    stiffer : hinges with their dashpots
    order, diagonal : (u,) numbers of the unknowns as the nodes have them; inertia, N/m
    rounding : N, of forces
    """

    h: float
    stiffer: BarHingeModel
    order: Ints
    diagonal: Floats
    rounding: float


class StepTrial(NamedTuple):
    """A step as if it ended at x.

    Attributes
    ----------
    r : (u,) what is unbalanced, without friction, N
    """

    x: Floats
    v: Floats
    a: Floats
    theta: Floats
    rate: Floats
    system: EquilibriumSystem
    r: Floats
