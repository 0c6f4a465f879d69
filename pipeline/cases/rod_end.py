"""How a rod ends: what moved most, and whether it came to rest."""

from collections.abc import Sequence

import numpy as np

from pipeline.cases.moved_most import ToldLengths, moved_most
from pipeline.cases.record import Summary
from sim.arrays import Floats
from sim.rod.contact.touching import crossings, edge_gap
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.rod.paths import centroid
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import World

REST = 0.01  # of the way moved, that a rest may still creep in as long a time again
UNMOVED = 1e-6  # of the size, below which nothing moves
GIVEN = 1e-3  # of the energies at work, that contacts may give by pushing nodes out
DEEP = 0.02  # of the shortest edge, by which nodes may be in the ground
TOUCHING = "sim.rod.contact.touching.PlaneTouching"
USUAL = 1e-4, 10.0  # m, sizes of robots that nobody doubts


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


def end_in_plane(
    world: World, last: RodStep, lengths: ToldLengths, longer: str
) -> Summary:
    """Where the centre of mass ends, m, how many nodes there are, `rod_end`, in words.

    Parameters
    ----------
    longer : the key of the case that lets it run longer
    """
    rod = world.rod
    x_c, y_c = centroid(last.x, rod.mass)
    place: Summary = {"x_c": float(x_c), "y_c": float(y_c), "nodes": len(last.x)}
    loose = not rod.held.any() and world.ground is None and world.fluid is None
    ends = rod_end(rod.nodes, last.x, last.v, last.time)
    told = _in_words(rod.nodes, last.x, lengths, f"{longer}={2.0 * last.time:.3g}")
    through = _went_through(world, last.x, lengths)
    gave = -last.impact + max(-last.friction, 0.0)
    if gave > GIVEN * float(last.state.clock.at_work):
        through.append(
            f"contacts gave {gave:.2g} J, where impact and friction take energy: "
            "choose a smaller case.options.h"
        )
    return place | ends | told | _doubts(rod.nodes, lengths, loose, through)


def end_in_space(
    world: SpaceWorld, last: SpaceMotionStep, lengths: ToldLengths, longer: str
) -> Summary:
    """Likewise in space, where nodes are not counted."""
    rod, around = world.rod, world.touching
    place = rod.mass @ last.x / rod.mass.sum()
    centre: Summary = {f"{a}_c": float(c) for a, c in zip("xyz", place, strict=True)}
    v = last.moving.v[: rod.nodes.size].reshape(-1, 3)
    grounded = around is not None and (around.ground is not None or around.bodies)
    ends = rod_end(rod.nodes, last.x, v, last.time)
    told = _in_words(rod.nodes, last.x, lengths, f"{longer}={2.0 * last.time:.3g}")
    loose = not (rod.held.any() or grounded or world.fluid)
    return centre | ends | told | _doubts(rod.nodes, lengths, loose)


def _in_words(start: Floats, x: Floats, lengths: ToldLengths, longer: str) -> Summary:
    return {"moved": moved_most(start, x, lengths), "runs_on": longer}


def _went_through(world: World, x: Floats, lengths: ToldLengths) -> list[str]:
    """What edges have crossed that do not feel it, told with what lets them."""
    edges, found = world.rod.edges, []
    count = crossings(edges, x)
    if count and count > crossings(edges, world.rod.nodes):
        found.append(f"{count} pairs of edges cross, rods went through rods")
    if world.ground is not None:
        deep = -edge_gap(edges, x, world.ground)
        if deep > DEEP * float(world.rod.rest_length.min()):
            found.append(f"an edge is {lengths.said(deep)} in the ground")
    remedy = (
        f": edges feel rods and ground with 'case.touching={{_target_: {TOUCHING}}}'"
    )
    return [*found[:-1], found[-1] + remedy] if found else []


def _doubts(
    start: Floats, lengths: ToldLengths, loose: bool, through: Sequence[str] = ()
) -> Summary:
    """A warning of a robot that nothing holds, or of a size that no robot has."""
    size, doubts = float(np.ptp(start, axis=0).max()), [*through]
    if loose:
        doubts.append("no clamp, pin or ground holds the robot: it goes as a whole")
    if not USUAL[0] <= size <= USUAL[1]:
        doubts.append(
            f"the robot is {lengths.said(size)} across: is its unit {lengths.unit}?"
        )
    return {"warning": "; ".join(doubts)} if doubts else {}
