"""The morphing simulation of [dJ23]: Methods, Morphing simulation, and Fig. 5."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import Checked, Choice, Count, NotConvergedError, Positive
from sim.mechanism.constraint_projection import (
    admissible,
    closed,
    satisfy_constraints,
    with_multipliers,
)
from sim.mechanism.constraint_system import ConstraintSystem, linearise, system_of
from sim.mechanism.shape_measures import (
    characteristic_length,
    distance_error,
    shape_factor,
)
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target


class Followers(Choice):
    """Where nodes that do not lead want to be; the paper leaves it open."""

    HOLD = "hold"  # where they are: g_j = r_j
    HOME = "home"  # where they began: g_j = r_j0


class Multipliers(Choice):
    """What becomes of lambda in eq. (11); the paper says that it is not used."""

    FROZEN = "frozen"
    TANGENT = "tangent"  # lambda moves along with the nodes, Psi U^+ (x_g - x)


class Watch(Choice):
    """The number whose change ends the simulation."""

    E = "E"
    S = "S"


class Stop(Choice):
    """Why the simulation ended."""

    CHANGE = "change"  # |dE| or |dS| per step is below the tolerance
    GRADIENT = "gradient"  # the gradient along the constraints is below the tolerance


class MorphStep(NamedTuple):
    """One configuration on the way.

    Attributes
    ----------
    r, g : (n, 3) nodes and their goals
    lam : (k,) multipliers
    E, S : eqs. (5) and (6); residual : of the constraints, dimensionless
    gradient : rms / L of the motion towards the goals that the constraints allow
    stop : why this step is the last, None if it is not
    start : of several, the one that it belongs to
    """

    s: int
    r: Floats
    g: Floats
    lam: Floats
    E: float
    S: float
    residual: float
    gradient: float
    stop: Stop | None
    start: int = 0

    @property
    def state(self) -> Floats:
        """(n + k, 3) nodes and multipliers."""
        lam = np.zeros((len(self.lam), 3))
        lam[:, 0] = self.lam
        return np.concatenate([self.r, lam])


@dataclass(frozen=True)
class ProjectionOptions(Checked):
    """Eqs. (11) and (12) as the paper has them; the defaults are the paper's.

    Attributes
    ----------
    tolerance : on the change of E (or S) between two steps
    residual : what eq. (12) must bring every constraint below; our own
    """

    tolerance: Positive = 1e-6
    max_steps: Count = 1000
    residual: Positive = 1e-10
    followers: Followers = Followers.HOLD
    multipliers: Multipliers = Multipliers.FROZEN
    watch: Watch = Watch.E


def morph(
    structure: Structure, target: Target, options: ProjectionOptions
) -> Iterator[MorphStep]:
    """Yield the configurations from the initial one to the matched one."""
    system = system_of(structure)
    L = characteristic_length(structure.r0)
    z = closed(system, structure, options.residual)
    previous = np.inf
    for s in range(options.max_steps + 1):
        r = z[: system.n]
        g = goals(structure, target, r, options.followers)
        E, S = distance_error(r, g, L), shape_factor(r, L)
        watched = E if options.watch is Watch.E else S
        stop = Stop.CHANGE if abs(watched - previous) < options.tolerance else None
        residual = linearise(system, z).residual
        dz = admissible(system, z, g - r)
        gradient = float(np.sqrt(np.square(dz).sum() / system.n)) / L
        yield MorphStep(s, r, g, z[system.n :, 0], E, S, residual, gradient, stop)
        if stop is not None:
            return
        previous = watched
        z = approach(system, z, dz, options)
    raise NotConvergedError(
        f"{options.watch.value} still changes by more than {options.tolerance:.0e} "
        f"per step after {options.max_steps} steps: raise max_steps, or move the "
        "target a little",
        best=z,
    )


def goals(
    structure: Structure, target: Target, r: Floats, followers: Followers
) -> Floats:
    """Where each node wants to be, (n, 3): [dJ23], Methods, Goal coordinates."""
    g = r.copy() if followers is Followers.HOLD else structure.r0.copy()
    g[structure.leading] = target.closest(r[structure.leading])
    return g


def approach(
    system: ConstraintSystem, z: Floats, dz: Floats, options: ProjectionOptions
) -> Floats:
    """One step: dz of eq. (11), then eq. (12) back to the constraints.

    A step after which eq. (12) fails is halved, which the paper does not do: it keeps
    every configuration that is yielded a true one.
    """
    if options.multipliers is Multipliers.TANGENT:
        dz = with_multipliers(system, z, dz)
    size = 1.0
    while True:
        try:
            return satisfy_constraints(
                system, z + size * dz, tolerance=options.residual
            )
        except NotConvergedError:
            size *= 0.5
            if size < 1e-3:
                raise
