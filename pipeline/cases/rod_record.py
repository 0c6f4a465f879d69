"""How cases about rods are run, what is recorded of them, and how they end."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.cases.record import (
    Arrays,
    LengthUnit,
    Recorder,
    Row,
    State,
    Summary,
    along_axes,
    attributes,
    moved_most,
)
from sim.core.arrays import Floats
from sim.core.options import Checked
from sim.rods.plane.contact_geometry import crossings, edge_gap
from sim.rods.plane.contact_impulses import OPEN
from sim.rods.plane.ground import gaps, surface
from sim.rods.plane.markers import centroid
from sim.rods.plane.records_and_checkpoints import state_arrays, state_from
from sim.rods.plane.simulate import simulate
from sim.rods.plane.state import RodState, RodStep
from sim.rods.plane.world import World, edge_forces

if TYPE_CHECKING:  # slow to import, and no need of a planar run
    from sim.rods.space.world import SpaceWorld

GROUND_POINTS = 400  # of the ground in pictures


class RodCase(Checked):
    """What a case about a rod says besides what is recorded of every rod.

    stop : what ends its run
    """

    stop = "duration"

    def columns(self, step: Any) -> Row:
        """Of steps.csv."""
        del step
        return {}

    def ends(self, last: Any) -> Summary:
        """How it ended."""
        del last
        return {}

    def recorder(self) -> Recorder[Any, Any]:
        """Of its steps."""
        return RodRecorder(self)


class RestingRod(RodCase):
    """How a case is run about a rod that rests once in the plane, in its `world`."""

    stop = "equilibrium"

    def __post_init__(self: Any) -> None:
        super().__post_init__()
        _ = self.world


class MovingRod(RodCase):
    """How a case is run about a rod that moves for its `duration`, s.

    Every `every`-th step of its `options` is recorded of its `world`.
    """

    def steps(self: Any, state: State | None = None) -> Iterator[Any]:
        """From the start, or from a recorded state."""
        start = None if state is None else state_from(RodState, state)
        yield from simulate(
            self.world, self.options, self.duration, every=self.every, start=start
        )

    def continued(self, state: State) -> tuple[Recorder[Any, Any], Iterator[Any]]:
        return self.recorder(), self.steps(state)


def is_left(case: Any, time: float) -> bool:
    """Whether a motion goes on after a time, s."""
    return bool(time < case.duration - 1e-6 * case.options.h)


class RodRecorder(Recorder[Any, RodStep]):
    """Records a rod in the plane, with what its case says besides."""

    def row(self, step: RodStep) -> Row:
        return {
            **attributes(step, "step", "time"),
            **along_axes("{}_c", centroid(step.x, self.case.world.rod.mass)),
            **attributes(step, "kinetic", "stretching", "bending", "gravity"),
            "contacts": int(np.count_nonzero(step.contact != OPEN)),
            **attributes(step, "residual", "complementarity", "given", "damped"),
            **attributes(step, "friction", "impact", "out_of_balance", "iterations"),
            **attributes(step, "substeps", "h"),
            **self.case.columns(step),
        }

    def arrays(self, step: RodStep) -> Arrays:
        return attributes(step, "x", "v", "reaction", "contact")

    def progress(self, step: RodStep) -> str:
        return f"t {step.time:.3f} s"

    def state(self, step: RodStep) -> Arrays:
        moves = self.case.stop == MovingRod.stop and is_left(self.case, step.time)
        return state_arrays(step.state) if moves and not step.failed else {}

    def fixed_arrays(self) -> Arrays:
        world: World = self.case.world
        rod = attributes(world.rod, "edges", "edge_limb", "mass")
        rod |= held_and_loads(world.rod, world)
        return {**rod, "ground": _ground_curve(world)}

    def summary(self) -> Summary:
        """Residuals are the largest of all steps.

        With a ground or touch, the largest distance of a contact from what it touches;
        the gaps of nodes and of edges above the ground at the end, and how many edges
        cross.
        """
        world, step = self.case.world, self.last
        edges = world.rod.edges
        near: Summary = {"crossings": crossings(edges, step.x)}
        if world.ground is not None or world.edge_contact is not None:
            near["contact_gap"] = step.contact_gap
        if world.ground is not None:
            near["gap"] = float(gaps(world.ground, step.x).min())
            near["edge_gap"] = edge_gap(edges, step.x, world.ground)
        return {
            **near,
            "stop": self.case.stop,
            "time": step.time,
            "steps": step.step,
            "energy": step.energy,
            "residual": step.worst_residual,
            "complementarity": step.worst_complementarity,
            "residual_share": step.worst_share,
            "out_of_balance": step.out_of_balance,
            "balance": step.worst_balance,
            **self.case.ends(step),
        }


def held_and_loads(rod: Any, world: Any = None) -> Arrays:
    """For pictures: nodes that are held, forces on nodes, and those on edges, which may
    turn with them (`EdgeForces`); couples are left out."""
    force, load = np.zeros_like(rod.nodes), getattr(world, "load", None)
    if load:
        force[[*load.nodes], : len(load.force)] = load.force
    spread = [getattr(world, k, ()) for k in ("distributed_loads", "follower_forces")]
    rows = edge_forces(rod, None, *spread)._asdict()
    own = {f"load_{k}": rows[k][rows["power"] >= 0] for k in ("ends", "force", "edge")}
    return {"held": np.flatnonzero(rod.held.all(axis=1)), "force": force, **own}


def _ground_curve(world: World) -> Floats:
    """(k, 2) points of the ground around the start, or none."""
    if world.ground is None:
        return np.empty((0, 2))
    middle = world.rod.nodes[:, 0].mean()
    reach = 6.0 * np.ptp(world.rod.nodes, axis=0).max()
    x = np.linspace(middle - reach, middle + reach, GROUND_POINTS)
    relief = world.ground.relief
    return np.array([[p, surface(relief, p)[0]] for p in x])


REST = 0.01  # of the way moved, that a rest may still creep in as long a time again
UNMOVED = 1e-6  # of the size, below which nothing moves
GIVEN = 1e-3  # of the energies at work, that contacts may give where they lift nodes
DEEP = 0.02  # of the shortest edge, by which nodes may be in the ground
PLANE_CONTACT = "sim.rods.plane.contact_geometry.EdgeContact"
USUAL = 1e-4, 10.0  # m, sizes of robots without a warning


def rod_end(start: Floats, x: Floats, v: Floats, mean: Floats, time: float) -> Summary:
    """The way of the node that moved most, the speed of the fastest, whether at rest.

    At rest is what would creep, at its mean speed in the last step and in as long a
    time again, by less than a hundredth of the way, or a millionth of its size. Stiff
    rods may ring from step to step for ever, without a change of their places.

    Parameters
    ----------
    start, x : (n, 2 or 3) m, nodes at the start and at the end
    v, mean : (n, 2 or 3) m/s, at the end, and the mean of the last step
    time : s, since the start
    """
    way = float(np.linalg.norm(x - start, axis=1).max())
    fast, slow = (float(np.linalg.norm(own, axis=1).max()) for own in (v, mean))
    size = float(np.ptp(start, axis=0).max())
    at_rest = slow * time <= max(REST * way, UNMOVED * size)
    speed = min(slow, fast) if at_rest else fast
    return {"largest_displacement": way, "largest_speed": speed, "at_rest": at_rest}


def user_end(
    world: "World | SpaceWorld", last: Any, lengths: LengthUnit,
    limits: Sequence[str] = (), *, rests: bool = False,
) -> Summary:  # fmt: skip
    """Where the centre of mass ends, m, how many nodes there are, `rod_end`, in words.

    It warns of rods that went through something, of a robot that nothing holds, and of
    a size that no robot has.

    Parameters
    ----------
    last : the last step of the world
    limits : further warnings
    rests : whether it is an equilibrium, and not the end of a motion
    """
    rod, start = world.rod, world.rod.nodes
    size, warnings = float(np.ptp(start, axis=0).max()), []
    if isinstance(world, World):
        around: Any = world
        warnings = _went_through(world, last, lengths)
    else:
        around = world.contact
    grounded = around and (around.ground or getattr(around, "bodies", ()))
    if not (rod.held.any() or grounded or world.fluid):
        warnings.append("nothing holds the robot: add a clamp, a pin or ground")
    warnings += limits
    if not USUAL[0] <= size <= USUAL[1]:
        warnings.append(
            f"the robot is {lengths.text(size)} across: is its unit {lengths.unit}?"
        )
    end: Summary = {"at_rest": True}
    if not rests:
        end = rod_end(start, last.x, last.v, last.mean_velocity, last.time)
        end["runs_on"] = f"case.duration={2.0 * last.time:.3g}"
    return {
        **along_axes("{}_c", rod.mass @ last.x / rod.mass.sum()),
        "nodes": len(last.x),
        **end,
        "moved": moved_most(start, last.x, lengths),
        **({"warning": "; ".join(warnings)} if warnings else {}),
    }


def _went_through(world: World, last: RodStep, lengths: LengthUnit) -> list[str]:
    """What edges have crossed that do not feel it, and what lets them."""
    x, edges, found = last.x, world.rod.edges, []
    count = crossings(edges, x)
    if count and count > crossings(edges, world.rod.nodes):
        found.append(f"rods passed through each other (crossed edge pairs: {count})")
    if world.ground is not None:
        deep = -edge_gap(edges, x, world.ground)
        if deep > DEEP * float(world.rod.rest_length.min()):
            found.append(f"an edge penetrates the ground by {lengths.text(deep)}")
    if found:
        found[-1] += (
            ": detect contacts of edges with "
            f"'case.edge_contact={{_target_: {PLANE_CONTACT}}}'"
        )
    gave = -last.impact + max(-last.friction, 0.0)
    if gave > GIVEN * float(last.state.clock.at_work):
        found.append(
            f"contacts added {gave:.2g} J, but impact and friction must dissipate: "
            "choose a smaller case.options.h"
        )
    return found
