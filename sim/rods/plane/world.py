"""A rod, what acts on it, and what it stands on.

Loads are forces at nodes, forces spread along a rod, loads that turn with it, and drag
in a fluid (`sim.rods.fluid_drag`).

A `TurningEdge` moves and turns in time: two held nodes, carried by tables. The
velocity of both is set before each step to the mean one that takes them to their
places at its end: so they are there at every step, to rounding. What their own kinetic
energy gains by that is given by the support.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Annotated, Any, NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.numba_kernels import kernel
from sim.core.options import (
    Checked,
    Finite,
    NotNegative,
    Requirement,
    Whole,
    is_finite,
    refuse_missing,
)
from sim.rods.fluid_drag import Edged, Fluid
from sim.rods.plane.actuation import (
    Actuator,
    LeftOfContact,
    Pulses,
    Schedule,
    WholeNumbers,
)
from sim.rods.plane.contact_geometry import EdgeContact, refuse_start_inside
from sim.rods.plane.ground import Ground, gaps
from sim.rods.plane.rod import GRAVITY, PASSIVE, Rod
from sim.rods.prescribed_motion import PrescribedMotion, TurningEdge

ALWAYS = (0.0, np.inf)
FOLDED = 150.0  # degrees, of a driven hinge, from straight


def _are_numbers(value: Any, *sizes: int) -> bool:
    """Whether it has so many entries, all finite numbers."""
    fits = isinstance(value, Sequence | np.ndarray) and len(value) in sizes
    return fits and all(is_finite(number) for number in value)


Force = Annotated[
    tuple[float, ...],
    Requirement(
        "two finite numbers, or three in space", lambda force: _are_numbers(force, 2, 3)
    ),
]
Duration = Annotated[
    float,
    Requirement("0 or more", lambda value: isinstance(value, Real) and value >= 0),
]


@dataclass(frozen=True, eq=False)
class DistributedLoad(Checked):
    """A force per length of edges, for a time.

    Attributes
    ----------
    edges : by their numbers
    force : N/m of the length at rest; it keeps its direction
    along, across : N/m of the present length, which turn with each edge; across is to
        the left of its way, in space along d1: a pressure times the width it acts on
    start, duration : s
    """

    of = "distributed load"
    edges: WholeNumbers
    force: Force = (0.0, 0.0)
    along: Finite = 0.0
    across: Finite = 0.0
    start: Finite = 0.0
    duration: Duration = np.inf


@dataclass(frozen=True, eq=False)
class FollowerForce(Checked):
    """A force on an end of a rod that turns with its last edge, for a time.

    Attributes
    ----------
    node : the end
    along, across : N, out of the rod and to the left of this; in space along d1 as the
        end of a rod has it, and against it where a rod begins
    moment : N m, that turns the last edge from `along` to `across`
    start, duration : s
    """

    of = "follower force"
    node: Whole
    along: Finite = 0.0
    across: Finite = 0.0
    moment: Finite = 0.0
    start: Finite = 0.0
    duration: Duration = np.inf


class EdgeForces(NamedTuple):
    """What the compiled loop reads of them: k rows, each of an edge, or none.

    Attributes
    ----------
    edge, ends : (k,), (k, 2) the edge, and its nodes
    share : (k, 2) how much of the force each of them gets
    force : (k, 4) N along x and y; and along and across the edge, N, or N/m and N m
        where it is to be multiplied by a power of the length; (k, 5) in space, along z
        too
    power : (k,) of the length: 1, 0 or -1
    window : (k, 2) s, between which times
    drag : (k, 2) N s/m along and across the edge, on each of its nodes
    """

    edge: Ints
    ends: Ints
    share: Floats
    force: Floats
    power: Ints
    window: Floats
    drag: Floats


def edge_forces(
    rod: Edged,
    fluid: Fluid | None,
    loads: Sequence[DistributedLoad],
    follower_forces: Sequence[FollowerForce],
) -> EdgeForces:
    """The rows of all; what is held at both ends is a support, and feels no fluid."""
    rows: list[tuple[object, ...]] = []
    half, none, d = (0.5, 0.5), (0.0, 0.0), rod.nodes.shape[1]
    for k, edge in enumerate(rod.edges if fluid is not None else ()):
        if fluid is not None and not rod.held[edge].all():
            drag = 0.5 * rod.rest_length[k] * np.array([fluid.along, fluid.across])
            rows.append((k, edge, half, np.zeros(4), 0, ALWAYS, drag))
    for load in loads:
        window = load.start, load.start + load.duration
        for k in load.edges:
            force = np.array([0.0] * d + [load.along, load.across])
            force[: len(load.force)] = rod.rest_length[k] * np.array(load.force)
            rows.append((k, rod.edges[k], half, force, 1, window, none))
    for follower in follower_forces:
        window = follower.start, follower.start + follower.duration
        k = end_edge(rod, follower.node)
        inner = int(rod.edges[k].sum()) - follower.node
        force = np.array([0.0] * d + [follower.along, follower.across])
        ends = inner, follower.node
        rows.append((k, ends, (0.0, 1.0), force, 0, window, none))
        if follower.moment:
            couple = np.array([0.0] * (d + 1) + [follower.moment])
            rows.append((k, ends, (-1.0, 1.0), couple, -1, window, none))
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    kinds = (int, int, float, float, int, float, float)
    shapes = (-1, (-1, 2), (-1, 2), (-1, d + 2), -1, (-1, 2), (-1, 2))
    made = zip(columns, kinds, shapes, strict=True)
    return EdgeForces(*(np.array(c, dtype=k).reshape(s) for c, k, s in made))


@kernel
def overlap(window: Floats, time: float, h: float) -> float:
    """How long of the step from `time` a load acts, s."""
    return float(max(0.0, min(window[1], time + h) - max(window[0], time)))


def end_edge(rod: Edged, node: int) -> int:
    """The only edge at an end of a rod."""
    message, n = "follower force: node {} does not exist", len(rod.nodes)
    refuse_missing(message, [node], n, "choose")
    at = np.flatnonzero((rod.edges == node).any(axis=1))
    if (many := len(at)) != 1:
        where = ", ".join(f"{value:g}" for value in rod.nodes[node])
        raise ValueError(
            f"a follower force at ({where}) m needs a free end, but {many} edges "
            "meet there: choose a free end"
        )
    return int(at[0])


def places_of(turn: TurningEdge, rod: Rod, time: float) -> Floats:
    """(2, 2) m, where both nodes of an edge are at a time."""
    ends = np.pad(rod.nodes[rod.edges[turn.edge]], ((0, 0), (0, 1)))
    return turn.motion.placed(ends, time)[:, :2]


def _refuse_in_ground(turn: TurningEdge, rod: Rod, ground: Ground) -> None:
    """A ValueError if either node comes to be below the ground."""
    for time in turn.motion.finely.tolist():
        low = float(gaps(ground, places_of(turn, rod, time)).min())
        if low < -1e-6 * float(np.ptp(rod.nodes, axis=0).max()):
            raise ValueError(
                f"ground: a moving clamp or its edge is {-low:.3g} m below the "
                f"ground at {time:.3g} s: lift the clamp"
            )


@dataclass(frozen=True)
class Damping(Checked):
    """alpha, beta of eq. (1); the form is the paper's with `rayleigh`.

    Neither is in the text of [Hu20]; 0 and 8 ms are stated assumptions.
    """

    of = "damping"
    alpha: NotNegative = 0.0  # 1/s
    beta: NotNegative = 8.0e-3  # s
    rayleigh: bool = False


@dataclass(frozen=True, eq=False)
class NodeLoad(Checked):
    """A force that acts on nodes for a time."""

    of = "load"
    nodes: WholeNumbers
    force: Force  # N, on each of the nodes, along x and y, and z in space
    start: Finite = 0.0  # s
    duration: Duration = np.inf  # s

    @property
    def window(self) -> Floats:
        """(2,) s, from when until when it acts."""
        return np.array([self.start, self.start + self.duration])


def refuse_unfitting(world: Any, dimension: int) -> None:
    """A ValueError for forces of another dimension, on nodes or edges of no rod.

    Parameters
    ----------
    world : of the plane or of space
    """
    rod, numbers = world.rod, "two" if dimension == 2 else "three"
    spread, load = world.distributed_loads, world.load
    if not _are_numbers(world.gravity, dimension):
        raise ValueError(
            f"gravity is {world.gravity}: give {numbers} finite numbers, m/s^2"
        )
    nodes, edges = load.nodes if load else (), [k for one in spread for k in one.edges]
    refuse_missing("load: node {} does not exist", nodes, len(rod.nodes), "choose")
    message = "distributed load: edge {} does not exist"
    refuse_missing(message, edges, len(rod.edges), "choose")
    for one in (*spread, load) if load else spread:
        if len(one.force) > dimension:
            raise ValueError(
                f"{one.of}: force is {one.force}: give two numbers in the plane"
            )
    for follower in world.follower_forces:
        end_edge(rod, follower.node)


@dataclass(frozen=True, eq=False)
class World(Checked):
    """A rod, what acts on it, and what it stands on."""

    of = "ground"  # whose friction it is
    rod: Rod
    ground: Ground | None = None
    friction: NotNegative = 0.8
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    damping: Damping = field(default_factory=Damping)
    actuator: Actuator = field(default_factory=Actuator)
    schedule: Schedule | None = None
    load: NodeLoad | None = None
    fluid: Fluid | None = None
    distributed_loads: tuple[DistributedLoad, ...] = ()
    follower_forces: tuple[FollowerForce, ...] = ()
    turning: tuple[TurningEdge, ...] = ()
    driven: tuple[tuple[int, PrescribedMotion], ...] = ()  # hinges whose springs turn
    edge_contact: EdgeContact | None = None  # without it, nodes feel the ground alone
    velocity: Floats | None = None  # (n, 2) m/s at the start; held nodes keep it

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_unfitting(self, 2)
        self._refuse_ground_above_rod()
        if self.edge_contact is not None:
            refuse_start_inside(self.edge_contact, self.rod, self.ground)
        if isinstance(self.schedule, Pulses):
            self.schedule.refuse_missing(self.rod.last_limb + 1)
        if isinstance(self.schedule, LeftOfContact):
            self._refuse_missing_limbs()
        for node, motion in self.driven:
            own = self.rod.curvature * self.rod.voronoi * (self.rod.bends[:, 1] == node)
            drawn = 2.0 * np.arctan(0.5 * np.abs(own).max())
            most = float(np.degrees(drawn + np.abs(motion.angles).max()))
            if most > FOLDED:
                raise ValueError(
                    f"hinges: turns may fold a hinge by {most:.4g} degrees, above the "
                    f"limit of {FOLDED:g}: reduce them"
                )
        for turn in self.turning:
            turn.refuse_unless(bool(self.rod.held[self.rod.edges[turn.edge]].all()))
            if self.ground is not None:
                _refuse_in_ground(turn, self.rod, self.ground)

    def _refuse_missing_limbs(self) -> None:
        """The contact limb is chosen among all limbs by their edges."""
        known = sorted({*self.rod.edge_limb.tolist()} - {PASSIVE})
        if len(known) < 2 or known != list(range(len(known))):
            raise ValueError(
                f"actuation: the limbs are {known}: number two or more limbs from 0 "
                "without gaps, or give a table of pulses"
            )

    def _refuse_ground_above_rod(self) -> None:
        if self.ground is None:
            return
        size = float(np.ptp(self.rod.nodes, axis=0).max())
        depth = gaps(self.ground, self.rod.nodes)
        k = int(np.argmin(depth))
        if depth[k] < -1e-9 * size:
            x, y = self.rod.nodes[k]
            raise ValueError(
                f"ground: node {k} at ({x:g}, {y:g}) m starts {-depth[k]:.3g} m below "
                "the ground: lift the rod"
            )
