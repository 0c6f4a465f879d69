"""A rod or a network of rods of one's own, node by node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from pipeline.cases.moved_most import ToldLengths
from pipeline.cases.record import State, Summary
from pipeline.cases.rod_end import end_in_plane, end_in_space
from pipeline.cases.rod_record import RodRecorder, moving, refuse_times, rod_state
from pipeline.cases.space_motion import SpaceMotionRecorder, moving_in_space
from sim.arrays import Floats, Ints
from sim.rod.actuation.actuation import Actuator, Schedule
from sim.rod.contact.ground import Ground
from sim.rod.contact.touching import PlaneTouching
from sim.rod.gravity import GRAVITY
from sim.rod.moving.from_plane import half_thickness, in_space
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.rod.rod import PASSIVE, Rod, RodMaterial, hold, network, pieces_of
from sim.rod.stepping.options import CONSERVING, StepOptions
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.surroundings import DistributedLoad, Fluid, FollowerForce
from sim.rod.stepping.turning import TurningEnd
from sim.rod.stepping.world import Damping, NodeLoad, World

Rows = Sequence[Sequence[float]]


@dataclass(frozen=True, eq=False)
class OwnRodCase:
    """Nodes as they are at rest; what joins them; what acts on them.

    nodes : [[x, y], ...], m
    edges : [[i, j], ...]; without them, each node is joined to the next
    bends : [[before, at, after], ...]; without them, at every node of two edges
    joints : nodes at which all edges are joined rigidly, without bends of their own
    limbs : of each edge, the limb that is actuated with it, -1 for none; a bend
        belongs to a limb if both its edges do
    held : nodes that do not move
    dimension : 2, or 3: the same rod is free to leave its plane, and has the twist and
        the bending across it of its material's section
    touching : edges feel the ground, rods feel rods and themselves; then the edges may
        make several rods. Without it nodes feel the ground alone
    """

    nodes: Rows
    edges: Sequence[Sequence[int]] | None = None
    bends: Sequence[Sequence[int]] | None = None
    joints: Sequence[int] = ()
    limbs: Sequence[int] | None = None
    held: Sequence[int] = ()
    material: RodMaterial = field(default_factory=RodMaterial)
    ground: Ground | None = None
    touching: PlaneTouching | None = None
    friction: float = 0.8
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    schedule: Schedule | None = None
    actuator: Actuator = field(default_factory=Actuator)
    damping: Damping = field(default_factory=Damping)
    load: NodeLoad | None = None
    fluid: Fluid | None = None
    distributed_loads: Sequence[DistributedLoad] = ()
    follower_forces: Sequence[FollowerForce] = ()
    turning: Sequence[TurningEnd] = ()
    duration: float = 1.0
    every: int = 10
    options: StepOptions = CONSERVING
    dimension: int = 2

    def __post_init__(self) -> None:
        refuse_times(self.duration, self.every)
        if self.dimension not in (2, 3):
            raise ValueError(f"dimension is {self.dimension}: choose 2 or 3")
        _ = self.space_world if self.dimension == 3 else self.world

    @cached_property
    def world(self) -> World:
        gravity = _table("gravity", [self.gravity], 2)[0]
        return World(
            self._rod(),
            self.ground,
            self.friction,
            gravity=(float(gravity[0]), float(gravity[1])),
            damping=self.damping,
            actuator=self.actuator,
            schedule=self.schedule,
            load=self.load,
            fluid=self.fluid,
            distributed_loads=tuple(self.distributed_loads),
            follower_forces=tuple(self.follower_forces),
            turning=tuple(self.turning),
            touching=self.touching,
        )

    @cached_property
    def space_world(self) -> SpaceWorld:
        """The same in space, in the plane z = 0 at the start."""
        return in_space(self.world, self.material)

    @property
    def radii(self) -> Floats:
        """Half the thickness of each edge, m."""
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
        limbs = [PASSIVE] * len(edges) if self.limbs is None else self.limbs
        edge_limb, bend_limb = _actuated(edges, bends, limbs)
        rod = network(
            nodes, edges, bends, self.material,
            edge_limb=edge_limb, bend_limb=bend_limb, joints=rigid,
            pieces=pieces_of(n, edges) if self.touching else 1,
        )  # fmt: skip
        held = _those_of("held", self.held, n)
        return hold(rod, held) if held else rod

    def steps(self) -> Iterator[Any]:
        return self._steps(None)

    def _steps(self, state: State | None) -> Iterator[Any]:
        if self.dimension == 3:
            return moving_in_space(self, state)
        return moving(self, state)

    def continued(
        self, state: State
    ) -> tuple[RodRecorder | SpaceMotionRecorder, Iterator[Any]]:
        return self.recorder(), self._steps(state)

    def recorder(self) -> RodRecorder | SpaceMotionRecorder:
        if self.dimension == 3:
            return SpaceMotionRecorder(self, self._ends_in_space)
        state = partial(rod_state, self)
        return RodRecorder(self, "duration", self._ends, state=state)

    def _ends(self, last: RodStep) -> Summary:
        return end_in_plane(self.world, last, ToldLengths(), "case.duration")

    def _ends_in_space(self, last: SpaceMotionStep) -> Summary:
        return end_in_space(self.space_world, last, ToldLengths(), "case.duration")


def _table(name: str, rows: Sequence[Sequence[float]], columns: int) -> Floats:
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != columns or len(table) == 0:
        raise ValueError(f"{name} must be a list of {columns} numbers each")
    return table


def _those_of(name: str, nodes: Sequence[int], n: int) -> list[int]:
    for k in nodes:
        if type(k) is not int or not 0 <= k < n:
            raise ValueError(f"{name}: there is no node {k}: choose 0 to {n - 1}")
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


def _actuated(edges: Ints, bends: Ints, limbs: Sequence[int]) -> tuple[Ints, Ints]:
    """The limb of each edge, and of each bend: that of both its edges."""
    m = len(edges)
    sound = len(limbs) == m and all(type(k) is int and k >= PASSIVE for k in limbs)
    if not sound:
        raise ValueError(
            f"limbs are {list(limbs)}: give one for each of the {m} edges, -1 for none"
        )
    of = {frozenset(e): k for e, k in zip(edges.tolist(), limbs, strict=True)}
    sides = [
        (of.get(frozenset((i, j)), PASSIVE), of.get(frozenset((j, k)), PASSIVE))
        for i, j, k in bends.tolist()
    ]
    bend_limb = [a if a == b else PASSIVE for a, b in sides]
    return np.array(limbs, dtype=np.int64), np.array(bend_limb, dtype=np.int64)
