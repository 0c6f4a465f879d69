"""Forces in stiff links and joints, and what a length is worth.

At a stationary point of f = 1/2 sum_j |r_j - g_j|^2 on c(z) = 0 the forces y of the
constraints balance the pull towards the goals,

    grad f + J^T y = 0.

If every leading node hangs on its goal by a spring of stiffness one, y are the forces
that the constraints carry; a link of length l in tension carries 2 l y. [dJ23] leaves
forces out and names them as a next step (Discussion).

A constraint with the constant k reads c = h(z) - k, so that f changes by
df/dk = -y_k. With f = 1/2 n L^2 E^2, and L held at its initial value,

    d(E^2)/dk = -2 y_k / (n L^2);

for a link k = l^2. E itself has no derivative at E = 0.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.equations.constraint_forces import (
    MorphConfiguration,
    ObstacleTerms,
    constraint_forces,
)
from sim.morph.equations.system import linearise, system_of
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class Reactions:
    """What the constraints carry where nodes rest as close to their goals as they can.

    Attributes
    ----------
    y : (m,) forces of the rows, zero for rows that depend on others
    tension : (links,) force in each link, positive when it is pulled
    on_nodes : (n, 3) force of the constraints on each node, -J^T y
    sensitivity : (m,) d(E^2)/d(constant) of each row
    gradient : rms / L of what they do not balance: zero at a stationary point
    redundant : rows that depend on others; with any, the forces are not the only ones
    """

    y: Floats
    tension: Floats
    on_nodes: Floats
    sensitivity: Floats
    gradient: float
    redundant: Ints


def reactions(
    structure: Structure, z: Floats, g: Floats, contacts: ObstacleTerms | None = None
) -> Reactions:
    """Forces at the state z (n + k, 3) with the goals g (n, 3).

    Parameters
    ----------
    contacts : of balls that push each other there
    """
    system = system_of(structure)
    L = characteristic_length(structure.r0)
    forces = constraint_forces(MorphConfiguration(z, g, linearise(system, z)), contacts)
    y, linear = forces.y, forces.linear
    links = np.repeat(system.table.kind == ConstraintKind.DIST, ROWS[system.table.kind])
    tension: Floats = 2.0 * np.sqrt(system.scale[links]) * y[links]
    return Reactions(
        y=y,
        tension=tension,
        on_nodes=-linear.transpose_times(y)[: system.n],
        sensitivity=-2.0 * y / (system.n * L**2),
        gradient=forces.size / L,
        redundant=forces.normal.dropped,
    )
