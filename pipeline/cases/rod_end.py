"""How a rod ends: how far it moved from its start, and whether it came to rest."""

import numpy as np

from pipeline.cases.record import Summary
from sim.arrays import Floats
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.rod.paths import centroid
from sim.rod.rod.rod import Rod
from sim.rod.space.space_rod import SpaceRod
from sim.rod.stepping.step import RodStep

REST = 0.01  # of the way moved, that a rest may still creep in as long a time again
UNMOVED = 1e-6  # of the size, below which nothing moves


def rod_end(start: Floats, x: Floats, v: Floats, time: float) -> Summary:
    """The way of the node that moved most, the speed of the fastest, whether at rest.

    At rest is what would creep, at that speed and in as long a time again, by less than
    a hundredth of the way, or a millionth of its size.

    Parameters
    ----------
    start, x : (n, 2 or 3) m, nodes at the start and at the end
    v : (n, 2 or 3) m/s, at the end
    time : s, since the start
    """
    way = float(np.linalg.norm(x - start, axis=1).max())
    speed = float(np.linalg.norm(v, axis=1).max())
    size = float(np.ptp(start, axis=0).max())
    at_rest = speed * time <= max(REST * way, UNMOVED * size)
    return {"largest_displacement": way, "largest_speed": speed, "at_rest": at_rest}


def end_in_plane(rod: Rod, last: RodStep) -> Summary:
    """Where the centre of mass ends, m, how many nodes there are, and `rod_end`."""
    x_c, y_c = centroid(last.x, rod.mass)
    place = {"x_c": float(x_c), "y_c": float(y_c), "nodes": len(last.x)}
    return place | rod_end(rod.nodes, last.x, last.v, last.time)


def end_in_space(rod: SpaceRod, last: SpaceMotionStep) -> Summary:
    """Where the centre of mass ends, m, and `rod_end`."""
    place = rod.mass @ last.x / rod.mass.sum()
    centre = {f"{a}_c": float(c) for a, c in zip("xyz", place, strict=True)}
    v = last.moving.v[: rod.nodes.size].reshape(-1, 3)
    return centre | rod_end(rod.nodes, last.x, v, last.time)
