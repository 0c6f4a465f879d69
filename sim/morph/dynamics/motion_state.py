"""What a motion is made by, what it goes on from, and what is recorded of a step."""

from dataclasses import dataclass
from typing import NamedTuple

from sim.arrays import Bools, Floats
from sim.limits import is_count, refuse_unless_positive


@dataclass(frozen=True)
class MotionOptions:
    """How a motion is stepped.

    Attributes
    ----------
    h : length of a step
    residual : largest violation of a row at the end of a step, dimensionless
    halvings : how often a step may be cut in two
    """

    h: float
    residual: float = 1e-10
    halvings: int = 12

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "h", "residual")
        if not is_count(self.halvings, least=0):
            raise ValueError(f"halvings is {self.halvings}: give 0 or more")


class MotionState(NamedTuple):
    """All that later steps depend on.

    Attributes
    ----------
    step : full steps that were made
    z, v : (N,) unknowns and their rates
    lam, mu : (m,) of the last step, mean forces of the rows and what stabilises them
    kept : (m,) rows that stand in the equations
    energy : at the start
    driven, damped : energy brought by drivers and taken by dampers since
    worst : largest violation of a row so far
    """

    step: int
    z: Floats
    v: Floats
    lam: Floats
    mu: Floats
    kept: Bools
    energy: float
    driven: float
    damped: float
    worst: float


@dataclass(frozen=True, eq=False)
class MotionStep:
    """A moment of a motion.

    Attributes
    ----------
    r, v : (n, 3) nodes and velocities
    kinetic, potential : energy
    momentum, angular : (3,) about the origin
    driven, damped : energy brought by drivers, and taken by dampers so far
    balance : energy that nothing accounts for so far
    residual, hidden : largest violation of a row, and of a rate of one, in units of the
        fastest node over L
    worst : the largest residual so far
    reaction : (parts,) largest force that the rows of a part put on a node, mean over
        the step; nan where it may as well be another
    effort : (drivers,) of each driver, mean over the step
    iterations, substeps : of Newton's method in the last full step, and its parts
    """

    state: MotionState
    time: float
    r: Floats
    v: Floats
    kinetic: float
    potential: float
    momentum: Floats
    angular: Floats
    driven: float
    damped: float
    balance: float
    residual: float
    hidden: float
    worst: float
    reaction: Floats
    effort: Floats
    iterations: int
    substeps: int
