"""Mechanisms that move, small enough to know the answer."""

from collections.abc import Sequence

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.dynamics.moving_mechanism import Driver, MovingMechanism
from sim.mechanism.dynamics.rigid_masses import RigidMass
from sim.mechanism.dynamics.time_loop import (
    MotionOptions,
    MotionStep,
    motion,
    start_state,
)
from sim.mechanism.dynamics.time_step import Dampers
from sim.mechanism.statics.elastic_parts import Elastic
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.structure import Structure

DOWN = np.array([0.0, -9.81, 0.0])


def moving(
    structure: Structure,
    masses: Sequence[RigidMass],
    gravity: Floats = DOWN,
    elastic: Elastic | None = None,
    drivers: Sequence[Driver] = (),
    dampers: Dampers | None = None,
    contact_energy: float | None = None,
) -> MovingMechanism:
    """A structure that moves, without loads."""
    n = len(structure.r0)
    loaded = LoadedStructure(
        structure, elastic or Elastic.none(), np.zeros((n, 3)), np.zeros(n)
    )
    return MovingMechanism(
        loaded,
        tuple(masses),
        gravity,
        dampers or Dampers.none(),
        tuple(drivers),
        contact_energy,
    )


def moved(
    mechanism: MovingMechanism,
    h: float,
    duration: float,
    velocities: dict[int, Floats] | None = None,
) -> list[MotionStep]:
    """All steps of a motion."""
    options = MotionOptions(h)
    start = start_state(mechanism, options, velocities)
    return list(motion(mechanism, options, start, duration))


def largest(steps: Sequence[MotionStep], name: str) -> float:
    """Of a number of the steps, in size."""
    return max(abs(getattr(step, name)) for step in steps)


def change(steps: Sequence[MotionStep], name: str) -> float:
    """Of a vector of the steps since the first, its largest part."""
    ways = np.array([getattr(step, name) for step in steps])
    return float(np.abs(ways - ways[0]).max())
