"""Mechanisms that move, small enough to know the answer."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats
from sim.morph.dynamics.drivers import Driver
from sim.morph.dynamics.forces import Dampers
from sim.morph.dynamics.masses import RigidMass
from sim.morph.dynamics.mechanism import MovingMechanism
from sim.morph.dynamics.motion import motion
from sim.morph.dynamics.motion_state import MotionOptions, MotionStep
from sim.morph.dynamics.start import start_state
from sim.morph.statics.elastic import Elastic
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.structure.structure import Structure

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
