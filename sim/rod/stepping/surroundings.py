"""Forces spread along a rod: drag in a fluid, loads per length, loads that turn.

Drag is that of resistive-force theory (Gray and Hancock, J. Exp. Biol. 32, 1955): a
piece of rod feels -(c_t t t^T + c_n (1 - t t^T)) v per length, whatever the others do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple, Protocol

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.limits import refuse_negative, refuse_unless_finite

ALWAYS = (0.0, np.inf)


class Edged(Protocol):
    """A rod in the plane or in space."""

    @property
    def nodes(self) -> Floats: ...
    @property
    def edges(self) -> Ints: ...
    @property
    def rest_length(self) -> Floats: ...
    @property
    def held(self) -> Bools: ...


@dataclass(frozen=True)
class Fluid:
    """A fluid at rest, N s/m^2 along a rod and across it; it has no buoyancy."""

    along: float
    across: float

    def __post_init__(self) -> None:
        refuse_negative(self, "along", "across", of="fluid")


@dataclass(frozen=True, eq=False)
class DistributedLoad:
    """A force per length of edges, for a time.

    Attributes
    ----------
    edges : by their numbers
    force : N/m of the length at rest; it keeps its direction
    along, across : N/m of the present length, which turn with each edge; across is to
        the left of its way, in space along d1: a pressure times the width it acts on
    start, duration : s
    """

    edges: list[int]
    force: tuple[float, ...] = (0.0, 0.0)
    along: float = 0.0
    across: float = 0.0
    start: float = 0.0
    duration: float = np.inf

    def __post_init__(self) -> None:
        if not all(type(edge) is int for edge in self.edges):
            raise ValueError(
                f"distributed load: edges are {self.edges}: give whole numbers"
            )
        shape = np.shape(self.force)
        if shape not in ((2,), (3,)) or not np.isfinite(self.force).all():
            raise ValueError(
                f"distributed load: force is {self.force}: give two finite numbers, "
                "N/m, or three in space"
            )
        refuse_unless_finite(self, "along", "across", "start", of="distributed load")
        _refuse_duration(self.duration, "distributed load")

    def refuse_unfitting(self, edges: int, dimension: int) -> None:
        """Edges that a rod does not have, and a third number in the plane."""
        for k in self.edges:
            if not 0 <= k < edges:
                raise ValueError(
                    f"distributed load: there is no edge {k}: choose 0 to {edges - 1}"
                )
        if len(self.force) > dimension:
            raise ValueError(
                f"distributed load: force is {self.force}: give two numbers in the "
                "plane"
            )


@dataclass(frozen=True, eq=False)
class FollowerForce:
    """A force on an end of a rod that turns with its last edge, for a time.

    Attributes
    ----------
    node : the end
    along, across : N, out of the rod and to the left of this; in space along d1 as the
        end of a rod has it, and against it where a rod begins
    start, duration : s
    """

    node: int
    along: float
    across: float = 0.0
    start: float = 0.0
    duration: float = np.inf

    def __post_init__(self) -> None:
        if type(self.node) is not int:
            raise ValueError(
                f"follower force: node is {self.node}: give a whole number"
            )
        refuse_unless_finite(self, "along", "across", "start", of="follower force")
        _refuse_duration(self.duration, "follower force")


def _refuse_duration(duration: object, of: str) -> None:
    if not (isinstance(duration, Real) and float(duration) >= 0.0):
        raise ValueError(f"{of}: duration is {duration}: give 0 or more")


class EdgeForces(NamedTuple):
    """What the compiled loop reads of them: k rows, each of an edge, or none.

    Attributes
    ----------
    ends : (k, 2) nodes of the edge
    share : (k, 2) how much of the force each of them gets
    force : (k, 4) N along x and y; and along and across the edge, N, or N/m where it is
        to be multiplied by the length; (k, 5) in space, along z too
    by_length : (k,) whether it is
    window : (k, 2) s, between which times
    drag : (k, 2) N s/m along and across the edge, on each of its nodes
    """

    ends: Ints
    share: Floats
    force: Floats
    by_length: Bools
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
            rows.append((edge, half, np.zeros(4), False, ALWAYS, drag))
    for load in loads:
        window = load.start, load.start + load.duration
        for k in load.edges:
            force = np.array([0.0] * d + [load.along, load.across])
            force[: len(load.force)] = rod.rest_length[k] * np.array(load.force)
            rows.append((rod.edges[k], half, force, True, window, none))
    for follower in follower_forces:
        window = follower.start, follower.start + follower.duration
        beside = rod.edges[end_edge(rod, follower.node)]
        inner = int(beside.sum()) - follower.node
        force = np.array([0.0] * d + [follower.along, follower.across])
        ends = inner, follower.node
        rows.append((ends, (0.0, 1.0), force, False, window, none))
    parts = list(zip(*rows, strict=True)) if rows else [()] * 6
    return EdgeForces(
        np.array(parts[0], dtype=np.int64).reshape(-1, 2),
        np.array(parts[1], dtype=np.float64).reshape(-1, 2),
        np.array(parts[2], dtype=np.float64).reshape(-1, d + 2),
        np.array(parts[3], dtype=np.bool_),
        np.array(parts[4], dtype=np.float64).reshape(-1, 2),
        np.array(parts[5], dtype=np.float64).reshape(-1, 2),
    )


def end_edge(rod: Edged, node: int) -> int:
    """The only edge at an end of a rod."""
    last = len(rod.nodes) - 1
    if not 0 <= node <= last:
        raise ValueError(f"follower force: there is no node {node}: choose 0 to {last}")
    at = np.flatnonzero((rod.edges == node).any(axis=1))
    if (many := len(at)) != 1:
        where = ", ".join(f"{value:g}" for value in rod.nodes[node])
        raise ValueError(
            f"a follower force at ({where}) m acts on a free end, but {many} "
            "edges meet there: end a rod there"
        )
    return int(at[0])
