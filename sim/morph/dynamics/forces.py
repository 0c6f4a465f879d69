"""Forces of a step: gravity and loads, elastic parts and obstacles, dampers.

The potential V of elastic parts and obstacles feels no rigid motion. Over a step from
r0 to r1, with r at the middle and d = r1 - r0, its force is -D with

    D = grad V(r) + (V1 - V0 - grad V(r) . d) e / |e|^2,

e what is left of d without its part that is a rigid motion about r. So D . d = V1 - V0,
and D has no sum and no moment about r: the discrete gradient that keeps energy and both
momenta (Gonzalez, J. Nonlinear Sci. 6, 1996, sect. 4). A damper opposes the change of
its coordinate q with the force -c (q' . d / h) q' at the middle, and takes c (dq/dt)^2.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sim.arrays import Floats
from sim.morph.statics.driving import Coordinates
from sim.morph.statics.inner import inner_energy, inner_forces, is_elastic
from sim.morph.statics.potential import PotentialEnergy
from sim.morph.structure.measures import rigid_motions

STILL = 1e-12  # of the size: a step that deforms less has nothing to correct


@dataclass(frozen=True, eq=False)
class Dampers:
    """Viscous dampers.

    Attributes
    ----------
    coordinates : lengths, corners and hinges that they act on
    viscosity : (count,) force x time / length, or moment x time / rad
    """

    coordinates: Coordinates
    viscosity: Floats

    def __post_init__(self) -> None:
        if len(self.viscosity) != len(self.coordinates):
            raise ValueError(
                f"{len(self.viscosity)} viscosities for {len(self.coordinates)} "
                "dampers: give one for each"
            )
        for name, c in zip(self.coordinates.names, self.viscosity, strict=True):
            if not (np.isfinite(c) and c >= 0.0):
                raise ValueError(f"the damper of {name} has {c}: give 0 or more")

    @classmethod
    def none(cls) -> "Dampers":
        """Nothing is damped."""
        return cls(Coordinates.of(), np.empty(0))


@dataclass(frozen=True, eq=False)
class StepForces:
    """Forces of one step.

    Attributes
    ----------
    slope : (3n,) D and what dampers do, of the opposite sign of a force
    damped : energy that dampers take
    stiffness : (3n, 3n) derivative of `slope` in the nodes at the end, without small
        parts; None where nothing is elastic or damped
    """

    slope: Floats
    damped: float
    stiffness: csr_array | None


@dataclass(frozen=True, eq=False)
class Forces:
    """What acts on the nodes besides constraints.

    Attributes
    ----------
    potential : elastic parts, and obstacles with their kappa
    dead : (n, 3) gravity and loads, which keep their direction
    """

    potential: PotentialEnergy
    dead: Floats
    dampers: Dampers

    def energy(self, z: Floats) -> float:
        """Potential energy at the unknowns z (N,), infinite where bodies overlap."""
        fallen = float(self.dead.ravel() @ z[: self.dead.size])
        return inner_energy(self.potential, self._state(z)) - fallen

    def _state(self, z: Floats) -> Floats:
        """(n + k, 3) as constraints and obstacles have it."""
        n, k = len(self.dead), self.potential.system.k
        state = np.zeros((n + k, 3))
        state[:n] = z[: 3 * n].reshape(-1, 3)
        state[n:, 0] = z[3 * n : 3 * n + k]
        return state

    def passes(self, z0: Floats, z1: Floats) -> bool:
        """Whether no bodies meet and no range is left on the way from z0 to z1 (N,)."""
        obstacles, size = self.potential.obstacles, self.dead.size
        if obstacles is None:
            return True
        r0, r1 = (z[:size].reshape(-1, 3) for z in (z0, z1))
        return self.energy(z1) < np.inf and obstacles.allows(r0, r1)

    def between(self, z0: Floats, z1: Floats, h: float) -> StepForces:
        """Of a step of h from z0 to z1 (N,)."""
        middle, d = self._state(0.5 * (z0 + z1)), (z1 - z0)[: self.dead.size]
        r, slope = middle[: len(self.dead)], -self.dead.ravel()
        damped, K = 0.0, []
        if is_elastic(self.potential) or self.potential.obstacles is not None:
            own, stiffness = self._discrete(z0, z1, middle, d)
            slope = slope + own
            K.append(stiffness)
        if len(self.dampers.viscosity):
            along = self.dampers.coordinates.slopes(r).reshape(-1, d.size)
            rate, c = along @ d / h, self.dampers.viscosity
            slope = slope + (c * rate) @ along
            damped = h * float(c @ rate**2)
            K.append(csr_array(along.T @ (c[:, None] / h * along)))
        return StepForces(slope, damped, sum(K[1:], K[0]) if K else None)

    def _discrete(
        self, z0: Floats, z1: Floats, middle: Floats, d: Floats
    ) -> tuple[Floats, csr_array]:
        """D (3n,) and its derivative in the nodes at the end, but for how e turns."""
        V, state0, state1 = self.potential, self._state(z0), self._state(z1)
        change = inner_energy(V, state1) - inner_energy(V, state0)
        if not np.isfinite(change):
            return np.full_like(d, np.inf), csr_array((len(d), len(d)))
        slopes, half = inner_forces(V, middle)
        (first, _), (end, _) = inner_forces(V, state0), inner_forces(V, state1)
        slope, half = slopes.ravel(), 0.5 * half
        somewhere = (slopes != 0.0) | (first != 0.0) | (end != 0.0)
        felt = np.flatnonzero(np.repeat(somewhere.any(axis=1), 3))
        if not len(felt):
            return slope, half
        r = middle[: len(self.dead)].ravel()[felt].reshape(-1, 3)
        e, apart = deforming(r, d[felt])
        if float(e @ e) <= (STILL * float(np.ptp(r, axis=0).max())) ** 2:
            return slope, half
        e = e / float(e @ e)
        missing = change - float(slope @ d)
        more = end.ravel() - slope - half.T @ d
        D, turned = slope.copy(), np.zeros((len(felt), len(d)))
        D[felt] += missing * e
        turned += np.outer(e, more)
        turned[:, felt] += missing * (float(e @ e) * apart - 2.0 * np.outer(e, e))
        rows, cols = np.repeat(felt, len(d)), np.tile(np.arange(len(d)), len(felt))
        shape = (len(d), len(d))
        return D, csr_array(half + csr_array((turned.ravel(), (rows, cols)), shape))


def deforming(r: Floats, d: Floats) -> tuple[Floats, Floats]:
    """What d (3n,) is without rigid motions about r (n, 3), and the projector."""
    rigid = rigid_motions(r)
    apart: Floats = np.eye(len(d)) - rigid @ rigid.T
    return apart @ (apart @ d), apart
