"""Tendons of a rod that moves: pulled to tensions that are known in time.

A tendon's energy would be its tension times its length, so a step of the conserving
rule has the slopes of its length in the middle of the step, Newmark's rule the mean of
those at both ends; both take the tension of the middle. What tendons give to the rod is
their forces' work. What friction takes along them is in `dry`.
"""

import numpy as np

from sim.arrays import Floats
from sim.rod.moving.space_world import SpaceWorld


def tensions_at(world: SpaceWorld, time: float) -> Floats:
    """(q,) of each piece of the tendons, N."""
    each = np.array([tendon.tension for tendon in world.tendons])
    if world.pulling is not None and len(each):
        each = each * world.pulling(time)
    return np.asarray(each[world.system.way.tendon])
