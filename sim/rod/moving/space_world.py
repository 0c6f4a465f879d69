"""A rod in space that moves, and what acts on it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.actuation.actuation import Pulses, Schedule
from sim.rod.gravity import GRAVITY
from sim.rod.moving.dry import DryPlaces, dry_places
from sim.rod.moving.touching import LevelGround, Touching, refuse_overlap
from sim.rod.moving.turning_clamps import TurningClamps
from sim.rod.space.elements import SpaceElements
from sim.rod.space.limbs import DrawnLimbs, SpaceLimbs
from sim.rod.space.loads import SpaceLoads, no_loads
from sim.rod.space.space_rod import SpaceRod, StretchLaw
from sim.rod.space.system import SpaceSystem
from sim.rod.space.tendons import Tendon
from sim.rod.stepping.surroundings import (
    DistributedLoad,
    EdgeForces,
    Fluid,
    FollowerForce,
    edge_forces,
    end_edge,
)
from sim.rod.stepping.world import Damping, NodeLoad


@dataclass(frozen=True, eq=False)
class MovingSupports:
    """How supports move: evenly, for a time.

    Attributes
    ----------
    velocity : (n, 3) of held nodes, m/s
    spin : (m,) of held frames about their edges, rad/s
    start, end : s
    """

    velocity: Floats
    spin: Floats
    start: float = 0.0
    end: float = np.inf

    def moved(self, time: float, h: float) -> tuple[Floats, Floats]:
        """(n, 3) m, (m,) rad, in a step of h seconds."""
        on = max(0.0, min(self.end, time + h) - max(self.start, time))
        return on * self.velocity, on * self.spin


@dataclass(frozen=True, eq=False)
class SpaceWorld:
    """A rod and what acts on it.

    Attributes
    ----------
    gravity : m/s^2
    force : (n, 3) on nodes, N
    natural : (b, 3) natural curvature and twist by time, 1/m; the rod's own if None
    velocity, spin : (n, 3) m/s, (m,) rad/s at the start
    drive : of what is held
    touching : contact; None lets rods pass through each other
    limbs, schedule : what actuates a rod as in the plane, and when
    load : on nodes for a time
    tendons : within the rod
    pulling : (tendons,) shares of their tensions by time; 1 if None
    fluid : at rest, that resists
    distributed_loads, follower_forces : spread along edges, and turning with ends
    """

    rod: SpaceRod
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY)
    damping: Damping = field(default_factory=lambda: Damping(beta=0.0))
    force: Floats | None = None
    natural: Callable[[float], Floats] | None = None
    velocity: Floats | None = None
    spin: Floats | None = None
    drive: MovingSupports | TurningClamps | None = None
    touching: Touching | None = None
    limbs: SpaceLimbs | DrawnLimbs | None = None
    schedule: Schedule | None = None
    load: NodeLoad | None = None
    tendons: tuple[Tendon, ...] = ()
    pulling: Callable[[float], Floats] | None = None
    fluid: Fluid | None = None
    distributed_loads: tuple[DistributedLoad, ...] = ()
    follower_forces: tuple[FollowerForce, ...] = ()

    def __post_init__(self) -> None:
        if np.shape(self.gravity) != (3,) or not np.isfinite(self.gravity).all():
            raise ValueError(
                f"gravity is {self.gravity}: give three finite numbers, m/s^2"
            )
        if self.rod.law is not StretchLaw.HOOKE:
            raise ValueError("motion: the stretch law is rubber: choose hooke")
        if self.damping.rayleigh:
            raise ValueError("damping: rayleigh is of the plane only: leave it out")
        _refuse_unfitting(self)
        if self.touching is not None:
            refuse_overlap(self.rod, self.touching, self.rod.nodes)
            if isinstance(self.drive, TurningClamps):
                self.drive.refuse_within(self.touching)

    @cached_property
    def system(self) -> SpaceSystem:
        return SpaceSystem(self.rod, self.loads)

    @cached_property
    def dry(self) -> DryPlaces | None:
        """Where it has friction within; None where nothing rubs."""
        return dry_places(self.system)

    @cached_property
    def loads(self) -> SpaceLoads:
        force = np.zeros_like(self.rod.nodes) if self.force is None else self.force
        gravity = np.array(self.gravity, dtype=np.float64)
        return replace(
            no_loads(self.rod), gravity=gravity, force=force, tendons=self.tendons
        )

    @cached_property
    def inertia(self) -> Floats:
        """(3 n + m,) kg, kg m^2."""
        return np.concatenate([np.repeat(self.rod.mass, 3), self.rod.inertia])

    @cached_property
    def pull(self) -> Floats:
        """(3 n + m,) of weight and forces, N."""
        on_nodes = self.loads.on_nodes(self.rod).ravel()
        return np.concatenate([on_nodes, np.zeros(len(self.rod.edges))])

    def loaded(self, time: float, h: float) -> Floats:
        """(3 n + m,) `pull`, and the mean of `load` over a step from `time`, N."""
        if self.load is None:
            return self.pull
        start, end = self.load.start, self.load.start + self.load.duration
        on = max(0.0, min(end, time + h) - max(start, time)) / h
        force = np.zeros_like(self.rod.nodes)
        of = self.load.force  # two numbers are along x and y
        force[self.load.nodes, : len(of)] = on * np.array(of)
        total = self.pull.copy()
        total[: force.size] += force.ravel()
        return total

    @cached_property
    def along(self) -> EdgeForces:
        """Loads of edges."""
        return edge_forces(self.rod, None, self.distributed_loads, self.follower_forces)

    @cached_property
    def loaded_edges(self) -> Ints:
        """(k,) the edge of each of them."""
        of = {frozenset(ends): e for e, ends in enumerate(self.rod.edges.tolist())}
        found = [of[frozenset(ends)] for ends in self.along.ends.tolist()]
        return np.array(found, dtype=np.int64)

    def part(self, time: float, pulse: Floats) -> SpaceElements:
        """Elements as actuated at a time.

        Parameters
        ----------
        pulse : (limbs,) s, when each was last switched on; inf if never
        """
        own = self.system.part
        if self.limbs is not None:
            return self.limbs.part(own, time, pulse)
        if self.natural is None:
            return own
        found = np.ascontiguousarray(self.natural(time), dtype=np.float64)
        _refuse_unless_like("natural curvature", found, self.rod.curvature.shape)
        return own._replace(curvature=found)


def lowest_limb(world: SpaceWorld, x: Floats) -> int:
    """The limb whose actuated edges lie lowest above the ground."""
    assert world.limbs is not None
    edges, limb = world.rod.edges, world.limbs.edge_limb
    ground = world.touching.ground if world.touching else None
    height = x[edges].mean(axis=1) @ np.array((ground or LevelGround()).normal)
    return int(np.argmin([height[limb == k].mean() for k in range(world.limbs.count)]))


def _refuse_unfitting(world: SpaceWorld) -> None:
    nodes, edges = world.rod.nodes.shape, (len(world.rod.edges),)
    given: list[tuple[str, Floats | None, tuple[int, ...]]] = [
        ("force", world.force, nodes),
        ("velocity", world.velocity, nodes),
        ("spin", world.spin, edges),
    ]
    if world.load is not None:
        world.load.refuse_unfitting(nodes[0], 3)
    for load in world.distributed_loads:
        load.refuse_unfitting(edges[0], 3)
    for follower in world.follower_forces:
        end_edge(world.rod, follower.node)
    if world.schedule is not None and world.limbs is None:
        raise ValueError(
            "actuation: a schedule needs limbs: give them, or leave it out"
        )
    if world.natural is not None and world.limbs is not None:
        raise ValueError(
            "motion: natural, and pulses of limbs, both actuate: leave one out"
        )
    if isinstance(world.schedule, Pulses) and world.limbs is not None:
        world.schedule.refuse_missing(world.limbs.count)
    if isinstance(world.drive, MovingSupports):
        given.append(("drive: velocity", world.drive.velocity, nodes))
        given.append(("drive: spin", world.drive.spin, edges))
    for name, values, shape in given:
        if values is not None:
            _refuse_unless_like(name, values, shape)


def _refuse_unless_like(name: str, values: Floats, shape: tuple[int, ...]) -> None:
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(
            f"motion: {name} of shape {values.shape}: give finite numbers of {shape}"
        )
