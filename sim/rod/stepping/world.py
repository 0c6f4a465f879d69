"""A rod, what acts on it, and what it stands on."""

from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_negative, refuse_unless_finite
from sim.rod.actuation.actuation import Actuator, LeftOfContact, Pulses, Schedule
from sim.rod.contact.ground import Ground, gaps
from sim.rod.contact.touching import PlaneTouching, refuse_start_inside
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import PASSIVE, Rod
from sim.rod.stepping.surroundings import (
    DistributedLoad,
    Fluid,
    FollowerForce,
    end_edge,
)
from sim.rod.stepping.turning import TurningEnd


@dataclass(frozen=True)
class Damping:
    """alpha, beta of eq. (1); the form is the paper's with `rayleigh`.

    Neither is in the text of [Hu20]; 0 and 8 ms are stated assumptions.
    """

    alpha: float = 0.0  # 1/s
    beta: float = 8.0e-3  # s
    rayleigh: bool = False

    def __post_init__(self) -> None:
        refuse_negative(self, "alpha", "beta", of="damping")


@dataclass(frozen=True, eq=False)
class NodeLoad:
    """A force that acts on nodes for a time."""

    nodes: list[int]
    force: tuple[float, ...]  # N, on each of the nodes, along x and y, and z in space
    start: float = 0.0  # s
    duration: float = np.inf  # s

    def __post_init__(self) -> None:
        if not all(type(node) is int for node in self.nodes):
            raise ValueError(f"load: nodes are {self.nodes}: give whole numbers")
        try:
            force = np.array(self.force, dtype=np.float64)
        except (TypeError, ValueError):
            force = np.empty(0)
        if force.shape not in ((2,), (3,)) or not np.isfinite(force).all():
            raise ValueError(
                f"load: force is {self.force}: give two finite numbers, N, along x "
                "and y, and z in space"
            )
        refuse_unless_finite(self, "start", of="load")
        if not (isinstance(self.duration, Real) and self.duration >= 0.0):
            raise ValueError(f"load: duration is {self.duration}: give 0 or more")

    def refuse_unfitting(self, nodes: int, dimension: int) -> None:
        """Nodes that a rod does not have, and a third number in the plane."""
        if not all(0 <= k < nodes for k in self.nodes):
            raise ValueError(f"load: nodes {self.nodes}: choose from 0 to {nodes - 1}")
        if len(self.force) > dimension:
            raise ValueError(
                f"load: force is {self.force}: give two numbers in the plane"
            )


@dataclass(frozen=True, eq=False)
class World:
    """A rod, what acts on it, and what it stands on."""

    rod: Rod
    ground: Ground | None = None
    friction: float = 0.8
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    damping: Damping = field(default_factory=Damping)
    actuator: Actuator = field(default_factory=Actuator)
    schedule: Schedule | None = None
    load: NodeLoad | None = None
    fluid: Fluid | None = None
    distributed_loads: tuple[DistributedLoad, ...] = ()
    follower_forces: tuple[FollowerForce, ...] = ()
    turning: tuple[TurningEnd, ...] = ()
    touching: PlaneTouching | None = None  # without it, nodes feel the ground alone
    velocity: Floats | None = None  # (n, 2) m/s at the start; held nodes keep it

    def __post_init__(self) -> None:
        refuse_negative(self, "friction", of="ground")
        if not np.isfinite(self.gravity).all():
            raise ValueError(
                f"gravity is {self.gravity}: give two finite numbers, m/s^2, along x "
                "and y"
            )
        self._refuse_ground_above_rod()
        if self.touching is not None:
            refuse_start_inside(self.touching, self.rod, self.ground)
        n = len(self.rod.nodes)
        if isinstance(self.schedule, Pulses):
            self.schedule.refuse_missing(self.rod.last_limb + 1)
        if isinstance(self.schedule, LeftOfContact):
            self._refuse_missing_limbs()
        if self.load is not None:
            self.load.refuse_unfitting(n, 2)
        self._refuse_missing_edges()
        for turn in self.turning:
            turn.refuse_unheld(self.rod.held)
            if self.ground is not None:
                turn.refuse_in_ground(self.rod.nodes, self.ground)

    def _refuse_missing_edges(self) -> None:
        for follower in self.follower_forces:
            end_edge(self.rod, follower.node)
        for load in self.distributed_loads:
            load.refuse_unfitting(len(self.rod.edges), 2)

    def _refuse_missing_limbs(self) -> None:
        """The contact limb is chosen among all limbs by their edges."""
        known = sorted({*self.rod.edge_limb.tolist()} - {PASSIVE})
        if len(known) < 2 or known != list(range(len(known))):
            raise ValueError(
                f"actuation: the rod has edges of the limbs {known}: number two or "
                "more limbs from 0 on without a gap, or give a table of pulses"
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
