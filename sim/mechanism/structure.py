"""A structure: nodes and the constraints between them ([dJ23], Methods).

Its parts may have volume (`sim.contact.bodies_that_may_meet`). `same_places` finds
nodes at one place that nothing ties together: most often one node, written twice.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial import KDTree

from sim.contact.bodies_that_may_meet import Solids
from sim.core.arrays import Floats, Ints, refuse_first
from sim.core.options import refuse_missing
from sim.mechanism.constraints import NODES, ConstraintKind, ConstraintTable
from sim.mechanism.ranges import Ranges

LARGEST = 1e90  # coordinate, whose cube is still a number


@dataclass(frozen=True, eq=False)
class Structure:
    """Nodes at their initial places, constraints, and which nodes lead.

    Attributes
    ----------
    r0 : (n, 3) initial node positions
    constraints : k of them have a multiplier
    leading : nodes that move to the target; the others follow
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
        return np.asarray(np.einsum("ij,ij->i", d, u) / np.einsum("ij,ij->i", u, u))

    def with_constants(self, constant: Floats) -> "Structure":
        """The same with other constants (q,) of its constraints."""
        return replace(self, constraints=replace(self.constraints, constant=constant))


def _check_nodes(r0: Floats) -> None:
    if r0.ndim != 2 or r0.shape[1] != 3 or len(r0) == 0:
        raise ValueError(f"nodes have shape {r0.shape}: give each node as [x, y, z]")
    _check_coordinates("node", r0)


def _check_coordinates(name: str, points: Floats) -> None:
    refuse_first(
        ~(np.abs(points) < LARGEST).all(axis=1),
        lambda i: f"{name} {i} is at {points[i].tolist()}: give finite coordinates",
    )


def _check_constraints(r0: Floats, table: ConstraintTable) -> None:
    n, nodes, constant = len(r0), table.nodes, table.constant
    size = float(np.ptp(r0, axis=0).max())
    used = np.arange(6) < NODES[table.kind][:, None]
    refuse_first(
        (used & ((nodes < 0) | (nodes >= n))).any(axis=1),
        lambda i: f"{table.name(i)} names a node outside 0 to {n - 1}: correct it",
    )
    refuse_first(
        ~np.isfinite(constant),
        lambda i: f"{table.name(i)} has the constant {constant[i]}: it must be finite",
    )
    link = table.kind == ConstraintKind.DIST
    refuse_first(
        link & (constant < 0.0),
        lambda i: f"{table.name(i)} has the negative squared length {constant[i]:g}",
    )
    refuse_first(
        link & ((constant <= 1e-24 * size**2) | (nodes[:, 0] == nodes[:, 1])),
        lambda i: f"{table.name(i)} has length zero: merge its nodes, or use `coin`",
    )
    _check_loops(table)
    _check_edges(r0, table, size)


def _check_loops(table: ConstraintTable) -> None:
    """No edge from a node to itself."""
    for head in (1, 3, 5):
        used = (head < NODES[table.kind]) & (table.kind != ConstraintKind.FIX)
        ends = table.nodes[:, head]
        for i in np.flatnonzero(used & (ends == table.nodes[:, head - 1])).tolist():
            raise ValueError(f"{table.name(i)} joins node {ends[i]} to itself")


def _check_edges(r0: Floats, table: ConstraintTable, size: float) -> None:
    """Links and lines need nodes that are apart, planes three that are not in line."""
    ends: Floats = r0[table.nodes.clip(0, len(r0) - 1)]
    d, u, v = (ends[:, head] - ends[:, head - 1] for head in (1, 3, 5))
    link, line = (table.kind == k for k in (ConstraintKind.DIST, ConstraintKind.PAR))
    refuse_first(
        link & (np.linalg.norm(d, axis=1) <= 1e-12 * size),
        lambda i: f"{table.name(i)} has a length, but its nodes coincide: move one",
    )
    refuse_first(
        line & (np.linalg.norm(u, axis=1) <= 1e-12 * size),
        lambda i: f"{table.name(i)} has a line through coincident nodes: choose others",
    )
    area = np.linalg.norm(np.cross(u, v), axis=1)
    most = np.maximum(np.square(u).sum(axis=1), np.square(v).sum(axis=1))
    refuse_first(
        (table.kind == ConstraintKind.TRIPLE) & (area <= 1e-9 * most),
        lambda i: (
            f"{table.name(i)} has a plane whose nodes are on one line: choose others"
        ),
    )


def _check_leading(r0: Floats, leading: Ints, goals: Floats | None) -> None:
    refuse_missing("leading node {} does not exist", leading.tolist(), len(r0))
    if len(np.unique(leading)) != len(leading):
        raise ValueError("a leading node is named twice: name each once")
    if goals is None:
        return
    if goals.shape != (len(leading), 3):
        raise ValueError(
            f"goals have shape {goals.shape}, not {(len(leading), 3)}: give one for "
            "each leading node"
        )
    _check_coordinates("goal", goals)


def with_solids(
    structure: Structure,
    *,
    ball_radius: float = 0.0,
    link_radius: float = 0.0,
    thickness: float = 0.0,
) -> Structure:
    """The structure as it is printed: spheres at nodes, rods for links, panels.

    Parameters
    ----------
    ball_radius : of the spheres at all nodes, zero for none
    link_radius : of the capsules around bodies of two nodes, zero for none
    thickness : of the panels in bodies of three nodes, zero for none
    """
    solids = Solids()
    if ball_radius != 0.0:
        solids = solids.with_spheres(len(structure.r0), ball_radius)
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


NEAR = 1e-4  # of the structure's size: nodes this close are drawn to be one


def same_places(structure: Structure) -> list[tuple[int, int]]:
    """Pairs of nodes at nearly one place that no row and no joint connects."""
    r, table = structure.r0, structure.constraints
    size = float(np.ptp(r, axis=0).max())
    pairs = {(int(a), int(b)) for a, b in KDTree(r).query_pairs(NEAR * size)}
    if not pairs:
        return []
    tied: dict[str, set[int]] = {}
    for i, kind in enumerate(table.kind):
        name = table.owners[i] if table.owners and table.owners[i] else f"row {i}"
        used = 1 if kind == ConstraintKind.FIX else NODES[kind]
        tied.setdefault(name, set()).update(table.nodes[i, :used].tolist())
    together = list(tied.values())
    return sorted(p for p in pairs if not any(set(p) <= nodes for nodes in together))


def same_places_in_words(structure: Structure) -> str:
    """The same as one line with the remedy; empty where there are none."""
    found = same_places(structure)
    if not found:
        return ""
    a, b = found[0]
    others = len(found) - 1
    more = f" and {others} more pair{'s' * (others > 1)}" if others else ""
    gap = float(np.linalg.norm(structure.r0[a] - structure.r0[b]))
    where = f"are {gap:.2g} apart" if gap else "coincide"
    return (
        f"nodes {a} and {b}{more} {where} but are not connected: use one number for "
        "both, or connect them by spherical or coin"
    )
