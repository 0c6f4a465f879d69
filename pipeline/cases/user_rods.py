"""Rods and robots of users: node by node, or from a rod file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pipeline.cases.record import (
    LengthUnit,
    Recorder,
    Row,
    State,
    Summary,
    attributes,
)
from pipeline.cases.rod_record import MovingRod, user_end
from pipeline.io.rod_file import DrawnRod, read_rod
from pipeline.io.rod_places import in_unit
from sim.core.arrays import Floats, Ints
from sim.core.options import Count, Positive, refuse_missing
from sim.rods.fluid_drag import Fluid
from sim.rods.plane.actuation import Actuator, Schedule
from sim.rods.plane.contact_geometry import EdgeContact
from sim.rods.plane.ground import Ground
from sim.rods.plane.markers import Marker
from sim.rods.plane.options import CONSERVING, StepOptions
from sim.rods.plane.rod import (
    GRAVITY,
    PASSIVE,
    Rod,
    RodMaterial,
    hold,
    limbs_of_bends,
    network,
    pieces_of,
)
from sim.rods.plane.statics import loaded_slowly, refuse_what_has_no_rest
from sim.rods.plane.world import (
    Damping,
    DistributedLoad,
    FollowerForce,
    NodeLoad,
    World,
)
from sim.rods.prescribed_motion import TurningEdge

if TYPE_CHECKING:  # slow to import, and no need of a planar run
    from pipeline.io.rod_file_in_space import SpaceRobot
    from sim.rods.space.statics import SpaceSetting
    from sim.rods.space.world import SpaceWorld

Rows = Sequence[Sequence[float]]
FEWEST_STEPS = 5  # of a run without a warning


@dataclass(frozen=True, eq=False, kw_only=True)
class UserRod(MovingRod):
    """A rod of a user, in SI units unless its file has another; it ends in words.

    Attributes
    ----------
    rest : find the equilibrium that it comes to, without a motion
    load_steps : to the equilibrium; in the plane on a ground always one
    friction : coefficient
    actuator : how a limb unbends after a pulse: the law of [Hu20], eq. (7)
    damping : of bending and stretching
    every : steps between two records
    options : time step, integrator and tolerances
    """

    friction: float = 0.8
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    every: Count = 10
    options: StepOptions = CONSERVING
    rest: bool = False
    load_steps: Count = 10
    dimension: int = 2
    edge_contact: EdgeContact | None = None

    @property
    def in_space(self) -> bool:
        return self.dimension == 3

    @property
    def lengths(self) -> LengthUnit:
        """The unit of places in messages."""
        return LengthUnit()

    def check(self: Any) -> None:
        """Refuse settings that do not fit; the world is made, which checks itself."""
        if self.dimension not in (2, 3):
            raise ValueError(f"dimension is {self.dimension}: choose 2 or 3")
        if self.rest and self.in_space:
            self.setting(0.0)
        elif self.rest:
            if self.world.schedule is not None:
                raise ValueError(
                    "pulses work in motions only: remove them, or set case.rest=false"
                )
            refuse_what_has_no_rest(self.world, minimum=self.is_potential)
        _ = self.moved_world

    @property
    def moved_world(self: Any) -> "World | SpaceWorld":
        """That of the plane or of space."""
        world: World | SpaceWorld = self.space_world if self.in_space else self.world
        return world

    @property
    def stop(self) -> str:  # type: ignore[override]
        return "equilibrium" if self.rest else "duration"

    def setting(self: Any, share: float) -> "SpaceSetting":
        """Of an equilibrium in space, by the share of the way to it."""
        found: SpaceSetting = self.space_world.setting(share, self.duration)
        return found

    @property
    def is_potential(self: Any) -> bool:
        """Whether all loads have an energy, so that stability can be told by it."""
        spread = self.world.distributed_loads
        turning = any(load.along or load.across for load in spread)
        return not (turning or self.world.follower_forces)

    def steps(self: Any, state: State | None = None) -> Iterator[Any]:
        if self.in_space:
            from pipeline.cases.rod_in_space_record import moved_in_space
            from sim.rods.space.statics import followed

            if self.rest:
                yield from followed(self.setting, self.load_steps)
            else:
                yield from moved_in_space(self, state)
        elif not self.rest:
            yield from super().steps(state)
        else:
            count = 1 if self.world.ground else self.load_steps
            minimum = self.is_potential
            yield from loaded_slowly(self.world, count, minimum=minimum)

    def columns(self, step: Any) -> Row:
        return attributes(step, "share") if self.rest and not self.in_space else {}

    def recorder(self) -> Recorder[Any, Any]:
        if not self.in_space:
            return super().recorder()
        from pipeline.cases.rod_in_space_record import (
            SpaceMotionRecorder,
            SpaceRecorder,
        )

        return SpaceRecorder(self) if self.rest else SpaceMotionRecorder(self)

    def ends(self, last: Any) -> Summary:
        if self.rest and self.in_space:
            last = last[-1].rest
        world, lengths, limits = self.moved_world, self.lengths, self.limits
        end = user_end(world, last, lengths, limits, rests=self.rest)
        if self.rest and not self.in_space and last.snaps:
            shares = " and ".join(f"{share:.4g}" for share in last.snaps)
            end["snaps"] = f"at {shares} of the loads"
        return end

    @property
    def limits(self: Any) -> list[str]:
        """Warnings of a step that is too long for the run."""
        steps = self.duration / self.options.h
        if self.rest or steps >= FEWEST_STEPS or self.options.accuracy > 0.0:
            return []
        h = 0.01 * self.duration
        return [
            f"the run has {np.ceil(steps):.0f} steps, fewer than {FEWEST_STEPS}: set "
            f"case.options.h to {h:.2g} s or less"
        ]


@dataclass(frozen=True, eq=False)
class OwnRodCase(UserRod):
    """Nodes as they are at rest; what joins them; what acts on them.

    Attributes
    ----------
    nodes : [[x, y], ...], m
    edges : [[i, j], ...]; without them, each node is joined to the next
    bends : [[before, at, after], ...]; without them, at every node of two edges
    joints : nodes at which all edges are joined rigidly, without bends of their own
    limbs : of each edge, the limb that is actuated with it, -1 for none; a bend
        belongs to a limb if both its edges do
    held : nodes that do not move
    dimension : 2, or 3: the same rod is free to leave its plane, and has the twist and
        the bending across it of its material's section
    edge_contact : edges feel the ground, rods feel rods and themselves; then the edges
        may make several rods. Without it nodes feel the ground alone
    material : modulus, Pa, density, kg/m^3, thickness and width, m
    ground : height over x
    gravity : m/s^2
    schedule : which limb is switched on when
    load : a force on nodes, N
    fluid : drag
    distributed_loads : N/m
    follower_forces : on ends, turning with them
    turning : edges that are turned
    duration : s
    """

    nodes: Rows
    edges: Sequence[Sequence[int]] | None = None
    bends: Sequence[Sequence[int]] | None = None
    joints: Sequence[int] = ()
    limbs: Sequence[int] | None = None
    held: Sequence[int] = ()
    material: RodMaterial = field(default_factory=RodMaterial)
    ground: Ground | None = None
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    schedule: Schedule | None = None
    load: NodeLoad | None = None
    fluid: Fluid | None = None
    distributed_loads: Sequence[DistributedLoad] = ()
    follower_forces: Sequence[FollowerForce] = ()
    turning: Sequence[TurningEdge] = ()
    duration: Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check()

    @cached_property
    def world(self) -> World:
        x, y = _table("gravity", [self.gravity], 2)[0].tolist()
        given = attributes(self, "friction", "damping", "actuator", "edge_contact")
        given |= attributes(self, "ground", "schedule", "load", "fluid")
        for name in ("distributed_loads", "follower_forces", "turning"):
            given[name] = tuple(getattr(self, name))
        return World(self._rod(), gravity=(x, y), **given)

    @cached_property
    def space_world(self) -> "SpaceWorld":
        """The same in space, in the plane z = 0 at the start."""
        from sim.rods.space.from_plane import in_space

        return in_space(self.world, self.material)

    @property
    def radii(self) -> Floats:
        """Half the thickness of each edge, m."""
        from sim.rods.space.from_plane import half_thickness

        return half_thickness(len(self.space_world.rod.edges), self.material)

    def _rod(self) -> Rod:
        nodes = _table("nodes", self.nodes, 2)
        n = len(nodes)
        chain = [[i, i + 1] for i in range(n - 1)]
        edges = _numbers_of_nodes(
            "edges", chain if self.edges is None else self.edges, 2, n
        )
        rigid = _those_of("joints", self.joints, n)
        found = [bend for bend in _bends_of(edges, n) if bend[1] not in rigid]
        bends = _numbers_of_nodes(
            "bends", found if self.bends is None else self.bends, 3, n
        )
        limbs = _limbs(self.limbs, len(edges))
        rod = network(
            nodes, edges, bends, self.material, edge_limb=limbs, joints=rigid,
            bend_limb=limbs_of_bends(edges, bends, limbs, PASSIVE),
            pieces=pieces_of(n, edges) if self.edge_contact else 1,
        )  # fmt: skip
        held = _those_of("held", self.held, n)
        return hold(rod, held) if held else rod


def _table(name: str, rows: Sequence[Sequence[float]], columns: int) -> Floats:
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != columns or len(table) == 0:
        raise ValueError(f"{name} must be a list of rows of {columns} numbers")
    return table


def _those_of(name: str, nodes: Sequence[int], n: int) -> list[int]:
    refuse_missing(f"{name}: node {{}} does not exist", nodes, n, "choose")
    return list(nodes)


def _numbers_of_nodes(name: str, rows: Rows, columns: int, n: int) -> Ints:
    if len(rows) == 0:
        return np.empty((0, columns), dtype=np.int64)
    table = _table(name, rows, columns)
    for k, row in enumerate(table):
        if not all(value.is_integer() and 0 <= value < n for value in row.tolist()):
            raise ValueError(
                f"{name}[{k}] is {list(rows[k])}: name nodes from 0 to {n - 1}"
            )
    return table.astype(np.int64)


def _bends_of(edges: Ints, n: int) -> list[list[int]]:
    """A bend at every node of two edges."""
    around: list[list[int]] = [[] for _ in range(n)]
    for i, j in edges.tolist():
        around[i].append(j)
        around[j].append(i)
    return [[a[0], node, a[1]] for node, a in enumerate(around) if len(a) == 2]


def _limbs(limbs: Sequence[int] | None, m: int) -> Ints:
    """The limb of each of m edges."""
    own = [PASSIVE] * m if limbs is None else list(limbs)
    if len(own) != m or not all(type(k) is int and k >= PASSIVE for k in own):
        raise ValueError(
            f"limbs are {own}: give one for each of the {m} edges, -1 for none"
        )
    return np.array(own, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RodFileCase(UserRod):
    """A file of `pipeline.io.rod_file`, and how it is stepped.

    Attributes
    ----------
    duration : s, in place of the file's duration
    refinement : by which every spacing of the file is divided
    dimension : 2, or 3: rods of the plane are free to leave it; a file may be in space
        by itself
    edge_contact : in the plane, edges feel the ground, rods feel rods and themselves;
        in space they do where there is a ground, or bodies
    path : robot file
    """

    of: ClassVar[str] = "rod file"
    path: str
    duration: Positive | None = None
    refinement: Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        content = self._content
        if self.duration is None:
            object.__setattr__(self, "duration", content.duration)
        try:
            self.check()
        except ValueError as error:
            raise ValueError(
                f"{self.path}: {in_unit(str(error), content.unit, content.metres)}"
            ) from None

    @cached_property
    def _content(self) -> "DrawnRod | SpaceRobot":
        return read_rod(self.path, self.refinement)

    @property
    def in_space(self) -> bool:
        return self.dimension == 3 or not isinstance(self._content, DrawnRod)

    @cached_property
    def world(self) -> World:
        content = self._content
        assert isinstance(content, DrawnRod)  # one in space has a world in space alone
        given = attributes(self, "friction", "damping", "actuator", "edge_contact")
        return World(**content.world, **given)

    @cached_property
    def space_world(self) -> "SpaceWorld":
        """Of rods of the plane the same, in the plane z = 0 at the start."""
        from sim.rods.space.contact_detection import OverlapError
        from sim.rods.space.from_plane import OF_THE_PLANE, in_space
        from sim.rods.space.world import SpaceLimbs, SpaceWorld

        content = self._content
        if isinstance(content, DrawnRod):
            if content.sprung:
                raise ValueError(
                    "hinges: springs of planar files work in 2D only: set "
                    "`dimension: 3` in the file and give each hinge an `axis`"
                )
            return in_space(self.world, content.sections)
        if self.edge_contact is not None:
            raise ValueError(OF_THE_PLANE)
        contact = content.contact_model(self.friction)
        limbs = content.limbs and SpaceLimbs(*content.limbs, self.actuator)
        try:
            return SpaceWorld(
                damping=self.damping, contact=contact, limbs=limbs, **content.world
            )
        except OverlapError as error:
            raise ValueError(content.overlap(error)) from None

    @property
    def radii(self) -> Floats:
        """Half the thickness of each edge, m."""
        content = self._content
        if not isinstance(content, DrawnRod):
            return content.radii
        from sim.rods.space.from_plane import half_thickness

        return half_thickness(len(content.sections), content.sections)

    @property
    def limits(self) -> list[str]:
        return [*super().limits, *self._content.limits]

    @property
    def markers(self) -> dict[str, Marker]:
        """Those of the file, by their columns of steps.csv, in space."""
        return self._content.markers.weighted(self.space_world.rod.nodes)

    def columns(self, step: Any) -> Row:
        """Where the markers are; rods lifted into space keep their nodes' numbers."""
        return {**super().columns(step), **self._content.markers.columns(step.x)}

    @property
    def lengths(self) -> LengthUnit:
        return LengthUnit(self._content.unit, self._content.metres, by_place=True)
