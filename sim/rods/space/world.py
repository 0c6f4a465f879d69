"""A rod in space that moves, and what acts on it.

`SpaceLimbs` are actuated as in the plane: eq. (7) of [Hu20]. `scaled` changes what fits
of measured motions find.

`TurningClamps` turn and move held edges in time, carried by tables. Each is turned
about an axis that keeps its direction, through one node of its edge, and moved; its
frame goes with it. Between two times of a table it goes evenly.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.options import Choice
from sim.rods.fluid_drag import Fluid
from sim.rods.plane.actuation import Actuator, Pulses, Schedule, actuate
from sim.rods.plane.elastic_energy import Actuated, Elements, join
from sim.rods.plane.records_and_checkpoints import lowest_limb
from sim.rods.plane.rod import GRAVITY
from sim.rods.plane.world import (
    Damping,
    DistributedLoad,
    EdgeForces,
    FollowerForce,
    NodeLoad,
    edge_forces,
    overlap,
    refuse_unfitting,
)
from sim.rods.prescribed_motion import PrescribedMotion, TurningEdge
from sim.rods.space.assembled_system import SpaceLoads, SpaceSystem, no_loads
from sim.rods.space.contact_detection import (
    REACHED,
    ContactModel,
    LevelGround,
    refuse_overlap,
)
from sim.rods.space.frames import SpaceState, turns
from sim.rods.space.rigid_bodies import HeightField
from sim.rods.space.rod import SpaceElements, SpaceRod, StretchLaw
from sim.rods.space.statics import SpaceSetting, settled
from sim.rods.space.tendon_hinge_friction import DryPlaces, dry_places
from sim.rods.space.tendons import Tendon


@dataclass(frozen=True, eq=False)
class SpaceLimbs:
    """What actuates a rod that was lifted from the plane, or built in space.

    Attributes
    ----------
    edge_limb, bend_limb : (m,), (b,) of each, -1 for none
    plane : elements of the planar rod that was lifted, whose limbs unbend as there. If
        None, a limb that is on unbends about both axes of its section, and keeps the
        twist that it is built with
    """

    edge_limb: Ints
    bend_limb: Ints
    actuator: Actuator = field(default_factory=Actuator)
    plane: Elements | None = None

    @property
    def count(self) -> int:
        """Limbs."""
        last = max(self.edge_limb.max(initial=-1), self.bend_limb.max(initial=-1))
        return int(last) + 1

    def part(self, passive: SpaceElements, time: float, pulse: Floats) -> SpaceElements:
        """Elements as actuated at a time: moduli, and natural curvature.

        Parameters
        ----------
        passive : the rod, no limb actuated
        pulse : (limbs,) s, when each was last switched on; inf if never
        """
        own, edge, bend = self.plane, self.edge_limb, self.bend_limb
        ones = np.ones(self.count + 1 + (0 if own is None else len(own.joint_half)))
        actuated, natural = Actuated(ones, ones.copy()), passive.curvature.copy()
        actuate(time, pulse, self.actuator.law, actuated)
        if own is None:
            natural[:, :2] *= actuated.curvature[bend][:, None]
        else:
            join(own, actuated)
            edge, bend = own.edge_limb, own.bend_limb
            natural[:, 1] = own.curvature * actuated.curvature[bend]
        stiffer = actuated.modulus[bend]
        return passive._replace(
            stretching=passive.stretching * actuated.modulus[edge],
            bending=passive.bending * stiffer[:, None],
            twisting=passive.twisting * stiffer,
            curvature=natural,
        )


@dataclass(frozen=True, eq=False)
class TurningClamps:
    """All clamps of a rod that turn or move."""

    rod: SpaceRod
    clamps: Sequence[TurningEdge]

    def __post_init__(self) -> None:
        for clamp in self.clamps:
            held = self.rod.held[self.rod.edges[clamp.edge]].all()
            clamp.refuse_unless(bool(held and self.rod.held_frames[clamp.edge]))

    @cached_property
    def _edges(self) -> list[int]:
        return [clamp.edge for clamp in self.clamps]

    def _ends(self, clamp: TurningEdge, time: float) -> Floats:
        """(2, 3) m of tail and head."""
        ends = self.rod.nodes[self.rod.edges[clamp.edge]]
        return clamp.motion.placed(ends, time)

    def _at(self, time: float) -> SpaceState:
        """Their edges alone, two nodes each."""
        x = [self._ends(clamp, time) for clamp in self.clamps]
        d = [
            clamp.motion.turned(self.rod.directors[[clamp.edge]], time)
            for clamp in self.clamps
        ]
        return SpaceState(np.concatenate(x), np.concatenate(d), np.empty(0))

    def moved(self, time: float, h: float) -> tuple[Floats, Floats]:
        """(n, 3) m, (m,) rad, in a step of h seconds."""
        before, after = self._at(time), self._at(time + h)
        shift, spun = np.zeros_like(self.rod.nodes), np.zeros(len(self.rod.edges))
        shift[self.rod.edges[self._edges].ravel()] = after.x - before.x
        own = np.arange(2 * len(self.clamps)).reshape(-1, 2)
        spun[self._edges] = turns(before, after, own)
        return shift, spun

    def refuse_within(self, model: ContactModel) -> None:
        """A ValueError if a node of one comes to be within a plane or a body."""
        allowed = REACHED * float(model.radius.min())
        for clamp in self.clamps:
            both = clamp.motion, *(body.motion for body in model.moved)
            times = np.unique(np.concatenate([one.finely for one in both]))
            radius = float(model.radius[clamp.edge])
            found = [
                (radius - float(gap.min()), time, name)
                for time in times.tolist()
                for x in [self._ends(clamp, time)]
                for name, gap in _gaps(model.at(time), x)
            ]
            low, at, name = max(found, default=(0.0, 0.0, ""))
            if low > allowed:
                raise ValueError(
                    f"{name}: a moving clamp or its edge penetrates it by {low:.3g} m "
                    f"at {at:.3g} s: keep the clamp outside"
                )


def _gaps(model: ContactModel, x: Floats) -> Iterator[tuple[str, Floats]]:
    """What touches by name, and (k,) how far from it points x (k, 3) are, m."""
    if isinstance(model.ground, LevelGround):
        normal = np.array(model.ground.normal)
        normal = normal / np.linalg.norm(normal)
        yield "ground", x @ normal - model.ground.height
    for k, body in enumerate(model.bodies):
        name = "ground" if isinstance(body, HeightField) else f"bodies[{k}]"
        yield name, body.distance(x)[0]


class Drive(Protocol):
    """How supports move."""

    def moved(self, time: float, h: float) -> tuple[Floats, Floats]:
        """(n, 3) m, of held nodes, (m,) rad, of held frames, in h seconds."""
        ...


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
    contact : what touches what; None lets rods pass through each other
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
    drive: Drive | None = None
    contact: ContactModel | None = None
    limbs: SpaceLimbs | None = None
    schedule: Schedule | None = None
    load: NodeLoad | None = None
    tendons: tuple[Tendon, ...] = ()
    pulling: Callable[[float], Floats] | None = None
    fluid: Fluid | None = None
    distributed_loads: tuple[DistributedLoad, ...] = ()
    follower_forces: tuple[FollowerForce, ...] = ()

    def __post_init__(self) -> None:
        if self.rod.law is not StretchLaw.HOOKE:
            raise ValueError("motion: stretch law rubber is for statics: use hooke")
        if self.damping.rayleigh:
            raise ValueError("damping: rayleigh works in 2D only: remove it")
        _refuse_unfitting(self)
        if self.contact is not None:
            refuse_overlap(self.rod, self.contact, self.rod.nodes)
            if isinstance(self.drive, TurningClamps):
                self.drive.refuse_within(self.contact)

    @property
    def motions(self) -> list[PrescribedMotion]:
        """Of clamps and bodies."""
        clamps = self.drive.clamps if isinstance(self.drive, TurningClamps) else ()
        bodies = self.contact.moved if self.contact else ()
        own = [clamp.motion for clamp in clamps]
        return own + [body.motion for body in bodies]

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
        on = overlap(self.load.window, time, h) / h
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

    def setting(self, share: float, duration: float) -> SpaceSetting:
        """A share of all loads, and supports, tendons and shapes as far on their way.

        Parameters
        ----------
        duration : of the way, s

        Raises
        ------
        ValueError
            where something acts that has no place in an equilibrium
        """
        only_moving = {
            "a ground or bodies": self.contact,
            "pulses": self.schedule,
            "a load with start or duration": self.load,
            "distributed loads": self.distributed_loads,
            "follower forces": self.follower_forces,
        }
        for what, given in only_moving.items():
            if given:
                raise ValueError(
                    f"an equilibrium in 3D does not support {what}: remove this, or "
                    "simulate a motion with case.rest=false"
                )
        rod, time, loads = self.rod, share * duration, self.loads
        if self.natural is not None:
            rod = replace(rod, curvature=self.natural(time))
        pulling = np.ones(len(self.tendons))
        if self.pulling is not None:
            pulling = self.pulling(time)
        tendons = [
            replace(one, tension=share * part * one.tension)
            for one, part in zip(self.tendons, pulling.tolist(), strict=True)
        ]
        gravity, force = share * loads.gravity, share * loads.force
        loads = replace(loads, gravity=gravity, force=force, tendons=tendons)
        if self.drive is None:
            return settled(rod, loads)
        return SpaceSetting(rod, loads, *self.drive.moved(0.0, time))

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


def limb_in_contact(world: SpaceWorld, x: Floats) -> int:
    """The limb whose actuated edges lie lowest above the ground."""
    assert world.limbs is not None
    edges, limb = world.rod.edges, world.limbs.edge_limb
    ground = world.contact.ground if world.contact else None
    height = x[edges].mean(axis=1) @ np.array((ground or LevelGround()).normal)
    return lowest_limb(height, limb, world.limbs.count)


def _refuse_unfitting(world: SpaceWorld) -> None:
    refuse_unfitting(world, 3)
    if world.schedule is not None and world.limbs is None:
        raise ValueError(
            "actuation: a schedule needs limbs: give limbs, or remove the schedule"
        )
    if world.natural is not None and world.limbs is not None:
        raise ValueError(
            "motion: natural and pulses of limbs exclude each other: remove one"
        )
    if isinstance(world.schedule, Pulses) and world.limbs is not None:
        world.schedule.refuse_missing(world.limbs.count)
    nodes = world.rod.nodes.shape
    shapes = {"force": nodes, "velocity": nodes, "spin": world.rod.edges.shape[:1]}
    for name, shape in shapes.items():
        if (values := getattr(world, name)) is not None:
            _refuse_unless_like(name, values, shape)


def _refuse_unless_like(name: str, values: Floats, shape: tuple[int, ...]) -> None:
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(
            f"motion: {name} has shape {values.shape}: give finite numbers of shape "
            f"{shape}"
        )


class SpaceParameter(Choice):
    """What may be fitted, each as a multiple of what a world has."""

    MODULUS = "modulus"  # of stretching, bending and twisting together
    BETA = "beta"
    ALPHA = "alpha"
    DENSITY = "density"
    GRAVITY = "gravity"
    TENSION = "tension"  # of all tendons
    FRICTION = "friction"  # of contact with a plane

    @property
    def positive(self) -> bool:
        """Whether it makes sense above zero only."""
        return True


def scaled(world: SpaceWorld, times: Mapping[SpaceParameter, float]) -> SpaceWorld:
    """The world with some parameters so many times what they are."""
    by = {one: times.get(one, 1.0) for one in SpaceParameter}
    stiff, dense, pull, tight, rough = (
        by[SpaceParameter(name)]
        for name in ("modulus", "density", "gravity", "tension", "friction")
    )
    rod, damping, model = world.rod, world.damping, world.contact
    rod = replace(
        rod, stretching=stiff * rod.stretching, bending=stiff * rod.bending,
        twisting=stiff * rod.twisting, mass=dense * rod.mass,
        inertia=dense * rod.inertia,
    )  # fmt: skip
    alpha = by[SpaceParameter.ALPHA] * damping.alpha
    damping = replace(damping, alpha=alpha, beta=by[SpaceParameter.BETA] * damping.beta)
    if model is not None:
        model = replace(model, friction=rough * model.friction)
    x, y, z = world.gravity
    return replace(
        world, rod=rod, gravity=(pull * x, pull * y, pull * z), damping=damping,
        contact=model,
        tendons=tuple(replace(t, tension=tight * t.tension) for t in world.tendons),
    )  # fmt: skip
