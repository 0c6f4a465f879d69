"""A structure: nodes and the constraints between them ([dJ23], Methods)."""

from dataclasses import dataclass, field, replace

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.structure.constraints import NODES, ConstraintKind, ConstraintTable
from sim.morph.structure.ranges import Ranges
from sim.morph.structure.solids import Solids

LARGEST = 1e90  # coordinate, whose cube is still a number


@dataclass(frozen=True, eq=False)
class Structure:
    """Nodes at their initial places, constraints, and which nodes lead.

    Attributes
    ----------
    r0 : (n, 3) initial node positions
    constraints : k of them have a multiplier
    leading : nodes that are drawn to the target; the others follow
    bodies : sets of nodes whose mutual distances are constant; a link is one of two
    goals : (leading, 3) where the leading nodes shall go, if no target says so
    solids : bodies that cannot pass through each other
    ranges : links and joints that move between limits
    """

    r0: Floats
    constraints: ConstraintTable
    leading: Ints
    bodies: tuple[tuple[int, ...], ...] = ()
    goals: Floats | None = field(default=None)
    solids: Solids = field(default_factory=Solids)
    ranges: Ranges = field(default_factory=Ranges)

    def __post_init__(self) -> None:
        _check_nodes(self.r0)
        _check_constraints(self.r0, self.constraints)
        _check_leading(self.r0, self.leading, self.goals)
        self.solids.check(self.r0)
        self.ranges.check(len(self.r0))

    @property
    def is_limited(self) -> bool:
        """Whether bodies or ranges are in its way."""
        return len(self.solids) > 0 or len(self.ranges) > 0

    @property
    def lam0(self) -> Floats:
        """(k,) multipliers of the initial configuration, eq. (3)."""
        nodes = self.constraints.nodes[self.constraints.kind == ConstraintKind.PAR]
        d = self.r0[nodes[:, 1]] - self.r0[nodes[:, 0]]
        u = self.r0[nodes[:, 3]] - self.r0[nodes[:, 2]]
        lam: Floats = np.einsum("ij,ij->i", d, u) / np.einsum("ij,ij->i", u, u)
        return lam

    def with_constants(self, constant: Floats) -> "Structure":
        """The same with other constants (q,) of its constraints."""
        return replace(self, constraints=replace(self.constraints, constant=constant))


def _check_nodes(r0: Floats) -> None:
    if r0.ndim != 2 or r0.shape[1] != 3 or len(r0) == 0:
        raise ValueError(f"nodes have shape {r0.shape}: give each node as [x, y, z]")
    _check_coordinates("node", r0)


def _check_coordinates(name: str, points: Floats) -> None:
    bad = np.flatnonzero(~(np.abs(points) < LARGEST).all(axis=1))
    if len(bad):
        raise ValueError(
            f"{name} {bad[0]} is at {points[bad[0]].tolist()}: coordinates must be "
            f"finite, and below {LARGEST:g}"
        )


def _check_constraints(r0: Floats, table: ConstraintTable) -> None:
    n = len(r0)
    size = float(np.ptp(r0, axis=0).max())
    used = np.arange(6) < NODES[table.kind][:, None]
    bad = np.flatnonzero((used & ((table.nodes < 0) | (table.nodes >= n))).any(axis=1))
    if len(bad):
        raise ValueError(
            f"{table.name(bad[0])} names a node that is not there: "
            f"the structure has nodes 0 to {n - 1}"
        )
    bad = np.flatnonzero(~np.isfinite(table.constant))
    if len(bad):
        raise ValueError(
            f"{table.name(bad[0])} has the constant {table.constant[bad[0]]}: "
            "it must be finite"
        )
    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    below = links[table.constant[links] < 0.0]
    if len(below):
        raise ValueError(
            f"{table.name(below[0])} has the length squared "
            f"{table.constant[below[0]]:g}: it must be positive"
        )
    ends = table.nodes[links, :2]
    flat = (table.constant[links] <= 1e-24 * size**2) | (ends[:, 0] == ends[:, 1])
    if flat.any():
        i = links[np.flatnonzero(flat)[0]]
        raise ValueError(
            f"{table.name(i)} has length zero: merge its nodes, or join them by coin"
        )
    _check_loops(table)
    _check_edges(r0, table, size)


def _check_loops(table: ConstraintTable) -> None:
    """No edge from a node to itself."""
    for head in (1, 3, 5):
        used = (head < NODES[table.kind]) & (table.kind != ConstraintKind.FIX)
        same = table.nodes[:, head] == table.nodes[:, head - 1]
        bad = np.flatnonzero(used & same)
        if len(bad):
            raise ValueError(
                f"{table.name(bad[0])} joins node {table.nodes[bad[0], head]} to "
                "itself: name two different nodes"
            )


def _check_edges(r0: Floats, table: ConstraintTable, size: float) -> None:
    """Links and lines need nodes that are apart, planes three that are not in line."""

    def edge(chosen: Ints, head: int) -> Floats:
        ends: Floats = r0[table.nodes[chosen]]
        return ends[:, head] - ends[:, head - 1]

    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    short = links[np.linalg.norm(edge(links, 1), axis=1) <= 1e-12 * size]
    if len(short):
        raise ValueError(
            f"{table.name(short[0])} has its nodes at one place and a length: "
            "move one of them, or join them by coin"
        )
    lines = np.flatnonzero(table.kind == ConstraintKind.PAR)
    short = lines[np.linalg.norm(edge(lines, 3), axis=1) <= 1e-12 * size]
    if len(short):
        raise ValueError(
            f"{table.name(short[0])} has a line through coincident nodes: "
            "choose two nodes that are apart"
        )
    planes = np.flatnonzero(table.kind == ConstraintKind.TRIPLE)
    u, v = edge(planes, 3), edge(planes, 5)
    area = np.linalg.norm(np.cross(u, v), axis=1)
    most = np.maximum(np.square(u).sum(axis=1), np.square(v).sum(axis=1))
    flat = planes[area <= 1e-9 * most]
    if len(flat):
        raise ValueError(
            f"{table.name(flat[0])} has a plane whose nodes are on one line: "
            "choose three that are not"
        )


def _check_leading(r0: Floats, leading: Ints, goals: Floats | None) -> None:
    bad = leading[(leading < 0) | (leading >= len(r0))]
    if len(bad):
        raise ValueError(
            f"leading node {bad[0]} is not there: "
            f"the structure has nodes 0 to {len(r0) - 1}"
        )
    if len(np.unique(leading)) != len(leading):
        raise ValueError("a leading node is named twice: name each once")
    if goals is None:
        return
    if goals.shape != (len(leading), 3):
        raise ValueError(
            f"{len(goals)} goals for {len(leading)} leading nodes: give one [x, y, z] "
            "for each leading node"
        )
    _check_coordinates("goal", goals)


def with_solids(
    structure: Structure,
    *,
    ball_radius: float = 0.0,
    link_radius: float = 0.0,
    thickness: float = 0.0,
) -> Structure:
    """The structure as it is printed: balls at nodes, rods for links, panels.

    Parameters
    ----------
    ball_radius : of the balls at all nodes, zero for none
    link_radius : of the capsules around bodies of two nodes, zero for none
    thickness : of the panels in bodies of three nodes, zero for none
    """
    solids = Solids()
    if ball_radius != 0.0:
        solids = solids.with_balls(len(structure.r0), ball_radius)
    bars = [body for body in structure.bodies if len(body) == 2 and link_radius != 0.0]
    panels = [body for body in structure.bodies if len(body) == 3 and thickness != 0.0]
    return replace(
        structure,
        solids=replace(
            solids,
            capsule=np.array(bars, dtype=np.int64).reshape(-1, 2),
            capsule_radius=np.full(len(bars), link_radius),
            panel=np.array(panels, dtype=np.int64).reshape(-1, 3),
            panel_thickness=np.full(len(panels), thickness),
        ),
    )
