"""Rods in space and their matrices, as the tests want them."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array

from sim.core.arrays import Floats
from sim.rods.space.assembled_system import SpaceLoads, SpaceSystem, no_loads
from sim.rods.space.contact_detection import contacts_of, near
from sim.rods.space.frames import SpaceState, edge_tangents, moved_on
from sim.rods.space.rod import (
    SpaceMaterial,
    SpaceRod,
    StretchLaw,
    clamped,
    disc,
    rectangle,
    through,
)
from sim.rods.space.simulate import SpaceMotionStep
from sim.rods.space.world import SpaceWorld

WIRE = SpaceMaterial(1.0e7, 1000.0, 0.3)
ROUND = disc(1.0e-3)
B = WIRE.modulus * ROUND.second[0]
C = WIRE.shear * ROUND.torsion


@dataclass(frozen=True, eq=False)
class MovingSupports:
    """Held nodes and frames that move and turn evenly, for a time.

    Attributes
    ----------
    velocity, spin : (n, 3) m/s, (m,) rad/s
    """

    velocity: Floats
    spin: Floats
    start: float = 0.0
    end: float = np.inf

    def moved(self, time: float, h: float) -> tuple[Floats, Floats]:
        """As `Drive.moved`."""
        on = max(0.0, min(self.end, time + h) - max(self.start, time))
        return on * self.velocity, on * self.spin


def crooked(rng: np.random.Generator, law: StretchLaw) -> tuple[SpaceRod, SpaceState]:
    """A short rod of flat tapered sections, bent, twisted and stretched at random."""
    n = 6
    s = np.linspace(0.0, 2.0, n)
    x = np.column_stack([np.cos(s), np.sin(s), 0.3 * s])
    x += 0.1 * rng.normal(size=(n, 3))
    sections = [rectangle(0.1 * (1.0 + 0.1 * k), 0.2) for k in range(n - 1)]
    rod = through(x, SpaceMaterial(1e3, 1.0, 0.3), sections, first=(0, 0, 1), law=law)
    move, turn = 0.1 * rng.normal(size=(n, 3)), 0.4 * rng.normal(size=n - 1)
    return rod, moved_on(rod.state, rod.edges, rod.bends, move, turn)


def along_x(length: float, edges: int, *, first: float = 0.5) -> SpaceRod:
    """A straight wire; its start, x = 0, is a share of the first edge on."""
    size = length / (edges - 2.0 * first)
    x = size * (np.arange(edges + 1) - first)
    return through(np.column_stack([x, 0 * x, 0 * x]), WIRE, ROUND)


def on_curve(x: Floats, tangent: Floats) -> SpaceRod:
    """A wire through nodes, its first edge clamped."""
    return clamped(through(x, WIRE, ROUND, first=tuple(tangent)), 0)


def with_force(rod: SpaceRod, node: int, force: Floats) -> SpaceLoads:
    """One force on a node."""
    loads = no_loads(rod)
    loads.force[node] += force
    return loads


def dense(system: SpaceSystem, state: SpaceState) -> tuple[Floats, Floats]:
    """Gradient and Hessian of all unknowns."""
    everything = replace(
        system.rod,
        held=np.zeros_like(system.rod.held),
        held_frames=np.zeros_like(system.rod.held_frames),
    )
    whole = SpaceSystem(everything, system.loads)
    g, values = whole.gradient(state, whole.tensions(state))
    rows, cols, _ = whole._places
    K = coo_array((values, (rows, cols)), shape=(whole.count, whole.count)).toarray()
    return g, K + K.T - np.diag(K.diagonal())


def gaps_of(world: SpaceWorld, x: Floats, within: float) -> Floats:
    """Of skins nearer to each other than so, m."""
    assert world.contact is not None
    what = near(world.rod, world.contact, x, within)
    return contacts_of(world.rod, world.contact, what, x, None).gap


def negative(system: SpaceSystem, state: SpaceState) -> int:
    """Directions in which the energy of free unknowns falls, by the factor."""
    _, values = system.gradient(state, system.tensions(state))
    return system.factor(values, np.zeros(system.count)).negative


def momentum(rod: SpaceRod, step: SpaceMotionStep) -> Floats:
    """(3,) of nodes, kg m/s."""
    return np.asarray(rod.mass @ step.v)


def angular_momentum(rod: SpaceRod, step: SpaceMotionStep) -> Floats:
    """(3,) of nodes and spins, about the origin, kg m^2/s."""
    spins = rod.inertia * step.moving.v[rod.nodes.size :]
    return np.asarray(
        rod.mass @ np.cross(step.x, step.v) + spins @ edge_tangents(step.x, rod.edges)
    )
