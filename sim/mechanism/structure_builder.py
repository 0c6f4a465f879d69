"""Structures built from links, rigid bodies, and joints between bodies.

A row of a body is taken only where it says something that the rows of its own nodes do
not say yet. So bodies may share nodes, lie in one plane or be held, and no row is one
too many within a body; `sim.mechanism.mobility` names rows that
a closed loop repeats.

Rows are compared to first order at the initial nodes: what is known of the motion of a
group of nodes is stored as orthonormal rows, and a constraint says more where its
gradient is not among them ([dJ23], Methods, Mobility).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeVar

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.options import refuse_missing
from sim.mechanism import joints
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import (
    ROWS,
    Constraint,
    ConstraintTable,
    dist,
    dot,
    fix,
)
from sim.mechanism.shape_measures import rigid_motions
from sim.mechanism.structure import Structure

ALWAYS = -1  # group of a row that is taken in any case
NEW = 1e-7  # share of a row at right angles to others from which it says more

IN_LINE = 1e-9  # height of a body's nodes over their line, over its length

Gradient = tuple[Ints, Floats]  # nodes (p,) and rows (q, p, 3) of a constraint


def gradients_of(r: Floats, rows: Sequence[Constraint]) -> list[Gradient]:
    """Of each constraint, without its multiplier."""
    made = Structure(r, ConstraintTable.of(rows), np.arange(len(r)))
    system = system_of(made)
    linear = linearise(system, state(made), eliminate=True)
    first = made.constraints.first_row
    order = np.argsort(system.block_row, kind="stable")
    bounds = np.searchsorted(system.block_row[order], first)
    found = []
    for i, row in enumerate(rows):
        chosen = order[bounds[i] : bounds[i + 1]]
        chosen = chosen[system.block_node[chosen] < len(r)]
        place = np.unique(system.block_node[chosen])
        slopes = np.zeros((ROWS[row.kind], len(place), 3))
        at = np.searchsorted(place, system.block_node[chosen])
        np.add.at(slopes, (system.block_row[chosen] - first[i], at), linear.B[chosen])
        found.append((place, slopes))
    return found


@dataclass(eq=False)
class Spans:
    """What is known of the motion of each group's nodes, as orthonormal rows."""

    r: Floats
    groups: list[tuple[Ints, list[Ints]]]
    new: float = NEW
    repeated: float = 0.0  # largest share of a row that says nothing new
    _group: int = ALWAYS
    _basis: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def says_more(
        self,
        group: int,
        place: Ints,
        slopes: Floats,
        known: dict[int, list[int]],
        gradients: list[Gradient],
    ) -> bool:
        """Whether a constraint raises the rank; what it says is known from then on."""
        if group != self._group:
            self._group = group
            self._basis = self._begin(known, gradients)
        return self._add(spread(self.groups[group][0], place, slopes))

    def _begin(self, known: dict[int, list[int]], gradients: list[Gradient]) -> Floats:
        """Rows of the group's own nodes, and what it shares with rigid bodies."""
        nodes, common = self.groups[self._group]
        self._basis = np.empty((0, 3 * len(nodes)))
        for shared in common:
            motions = rigid_motions(self.r[shared])
            left = np.linalg.svd(motions, full_matrices=True)[0]
            rows = left[:, motions.shape[1] :].T.reshape(-1, len(shared), 3)
            self._add(spread(nodes, shared, rows))
        within = {i for node in nodes.tolist() for i in known[node]}
        for i in sorted(within):
            place, slopes = gradients[i]
            if np.isin(place, nodes).all():
                self._add(spread(nodes, place, slopes))
        return self._basis

    def _add(self, rows: Floats) -> bool:
        """Whether rows (q, p) say more than the basis, which they join."""
        more = False
        for row in rows:
            size = float(np.linalg.norm(row))
            if size == 0.0:
                continue
            rest = row / size
            for _ in range(2):  # once more, for what rounding left
                rest = rest - self._basis.T @ (self._basis @ rest)
            left = float(np.linalg.norm(rest))
            if left > self.new:
                self._basis = np.vstack([self._basis, rest / left])
                more = True
            else:
                self.repeated = max(self.repeated, left)
        return more


def spread(nodes: Ints, place: Ints, slopes: Floats) -> Floats:
    """(q, 3p) rows over all nodes of a group, which are sorted."""
    rows = np.zeros((len(slopes), len(nodes), 3))
    rows[:, np.searchsorted(nodes, place)] = slopes
    return rows.reshape(len(slopes), -1)


Pair = tuple[int, int]
Side = TypeVar("Side", bound=tuple[int, ...])
Other = TypeVar("Other", bound=tuple[int, ...])
JOINTS = (
    "hinge", "spherical", "universal", "cylindrical", "prismatic", "plane_point",
    "line_point", "parallel_plane_line", "parallel_planes", "planar", "fixed",
    "limited",
)  # fmt: skip


class DraftRow(NamedTuple):
    """A constraint, whose it is, and the group within which it must say more."""

    owner: str
    constraint: Constraint
    group: int = ALWAYS


@dataclass(eq=False)
class Draft:
    """A structure while it is put together; every method gives the draft back.

    Parameters
    ----------
    nodes : (n, 3) initial positions; limited distances add nodes of their own
    precision : last digit of rounded positions: what is in line, or repeated, but for
        ten of it counts as so

    Attributes
    ----------
    bodies : nodes of each rigid body; joints may add to them
    turns : the joints that bodies turn about in common nodes, by these nodes
    sides : of each joint by its name, the bodies on either side
    misfit : length by which omitted rows differ from others, 0 but for rounding
    """

    nodes: Floats | Sequence[Sequence[float]]
    precision: float = 0.0
    bodies: list[list[int]] = field(default_factory=list, init=False)
    turns: dict[frozenset[int], str] = field(default_factory=dict, init=False)
    sides: dict[str, tuple[set[int], set[int]]] = field(
        default_factory=dict, init=False
    )
    misfit: float = field(default=0.0, init=False)
    _rows: list[DraftRow] = field(default_factory=list, init=False)
    _groups: list[tuple[Ints, list[Ints]]] = field(default_factory=list, init=False)
    _links: list[list[int]] = field(default_factory=list, init=False)
    _joints: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.r = np.array(self.nodes, dtype=np.float64).reshape(-1, 3)

    @property
    def _rounding(self) -> float:
        """Of the positions, over the size of the structure."""
        size = float(np.ptp(self.r, axis=0).max(initial=0.0))
        return 10.0 * self.precision / size if size > 0.0 else 0.0

    def rows(self, owner: str, constraints: Iterable[Constraint]) -> Self:
        """Elementary constraints under a name; an empty one leaves them their own."""
        self._rows += [DraftRow(owner, constraint) for constraint in constraints]
        return self

    def held(self, node: int, axes: str = "xyz") -> Self:
        """Hold a node where it is, along the axes that are named."""
        self._check(node)
        rows = fix(self.r, node)
        return self.rows("", [rows["xyz".index(axis)] for axis in dict.fromkeys(axes)])

    def link(self, a: int, b: int, length: float | None = None) -> Self:
        """Fig. 4b of [dJ23]: as long as its nodes are apart, unless given."""
        self._check(a, b)
        row = dist(self.r, a, b)
        if length is not None:
            row = row._replace(constant=length**2)
        self._links.append([a, b])
        return self.rows(f"link {a}-{b}", [row])

    def body(self, *nodes: int) -> Self:
        """Fig. 4c, d of [dJ23]: nodes that move as one; two are a link."""
        self._check(*nodes)
        if len(set(nodes)) < max(2, len(nodes)):
            raise ValueError(f"a body has the nodes {list(nodes)}: name two or more")
        self.bodies.append([])
        return self._with(len(self.bodies) - 1, nodes, f"body {len(self.bodies) - 1}")

    def hinge(
        self,
        axis: Pair,
        other: Pair | None = None,
        bodies: Pair | None = None,
    ) -> Self:
        """Fig. 4m: both nodes of the axis join both bodies, or two axes fall in one.

        Parameters
        ----------
        axis : two nodes on the axis
        other : two nodes of the second body laid on them; none where the nodes are
            common
        bodies : which two, by number
        """
        self._check_axis(axis)
        if other is not None:
            self._check_axis(other)
            return self._joint("hinge", joints.hinge(axis, other), bodies, axis, other)
        return self._shared("hinge", axis, bodies)

    def spherical(
        self, at: int, other: int | None = None, bodies: Pair | None = None
    ) -> Self:
        """Fig. 4k: one node joins both bodies, or two nodes fall together.

        Parameters
        ----------
        at : the node
        other : node of the second body at the same place; none where the node is common
        bodies : which two, by number
        """
        if other is None:
            return self._shared("spherical", (at,), bodies)
        rows = joints.spherical(at, other)
        return self._joint("spherical", rows, bodies, (at,), (other,))

    def universal(self, axis: Pair, other: Pair, bodies: Pair | None = None) -> Self:
        """Fig. 4l: axes that meet at their first nodes, which may be one node.

        Parameters
        ----------
        axis : two nodes of the first body
        other : two of the second; its first is where that of `axis` is
        bodies : which two, by number
        """
        if axis[0] == other[0]:
            rows = [dot(self.r, *axis, *other)]
        else:
            rows = joints.universal(self.r, axis, other)
        return self._joint("universal", rows, bodies, axis, other)

    def cylindrical(self, axis: Pair, other: Pair, bodies: Pair | None = None) -> Self:
        """Fig. 4j: slides along a line of the other body and turns about it.

        Parameters
        ----------
        axis : two nodes of the first body
        other : two of the second on this line
        bodies : which two, by number
        """
        rows = joints.cylindrical(axis, other)
        return self._joint("cylindrical", rows, bodies, axis, other)

    def prismatic(
        self, guide: joints.Plane, slider: joints.Plane, bodies: Pair | None = None
    ) -> Self:
        """Fig. 4g: slides along the first two nodes of the guide.

        Parameters
        ----------
        guide : i, j, k of the first body: the slide is along i to j, k is off this line
        slider : p, q, s of the second: p and q on the line, s off it
        bodies : which two, by number
        """
        return self._joint_of("prismatic", joints.prismatic, bodies, guide, slider)

    def plane_point(self, plane: joints.Plane, point: int) -> Self:
        """Fig. 4e: a node stays at its height over a plane.

        Parameters
        ----------
        plane : three nodes
        point : the node that keeps its height
        """
        self._check(*plane, point)
        rows = joints.plane_point(self.r, plane, point)
        return self._joint("plane_point", rows, None, plane, (point,))

    def line_point(self, line: Pair, point: int) -> Self:
        """Fig. 4f: a node stays on a line.

        Parameters
        ----------
        line : two nodes
        point : the node that stays on the line
        """
        self._check(*line, point)
        rows = joints.line_point(line, point)
        return self._joint("line_point", rows, None, line, (point,))

    def parallel_plane_line(self, plane: joints.Plane, line: Pair) -> Self:
        """Fig. 4h: a line keeps its slope against a plane.

        Parameters
        ----------
        plane : three nodes
        line : two nodes
        """
        return self._joint_of(
            "parallel_plane_line", joints.parallel_plane_line, None, plane, line
        )

    def parallel_planes(
        self, plane: joints.Plane, other: joints.Plane, bodies: Pair | None = None
    ) -> Self:
        """Fig. 4i: two planes stay parallel, at any distance.

        Parameters
        ----------
        plane : three nodes of the first body
        other : three of the second
        bodies : which two, by number
        """
        return self._joint_of(
            "parallel_planes", joints.parallel_planes, bodies, plane, other
        )

    def planar(
        self, plane: joints.Plane, other: joints.Plane, bodies: Pair | None = None
    ) -> Self:
        """Fig. 4i in its other reading: a body slides on a plane.

        Parameters
        ----------
        plane : three nodes of the first body
        other : three of the second
        bodies : which two, by number
        """
        return self._joint_of("planar", joints.planar_contact, bodies, plane, other)

    def fixed(
        self,
        plane: joints.Plane | None = None,
        other: joints.Plane | None = None,
        bodies: Pair | None = None,
    ) -> Self:
        """Two bodies become one; of two planes, the first nodes are at one place.

        Parameters
        ----------
        plane : three nodes of the first body
        other : three of the second
        bodies : which two, by number
        """
        if plane is not None and other is not None:
            return self._joint_of("fixed", joints.fixed, bodies, plane, other)
        first, second = self._both(bodies)
        return self._shared(
            "fixed", (*self.bodies[first], *self.bodies[second]), bodies
        )

    def limited(self, nodes: Pair, least: float, most: float) -> Self:
        """Two nodes between two distances, by one node more: [dJ23], Discussion.

        Parameters
        ----------
        nodes : the two
        least, most : distance
        """
        self._check(*nodes)
        place, rows = joints.limited(
            self.r, *nodes, least=least, most=most, extra=len(self.r)
        )
        self.r = np.vstack([self.r, place])
        return self._joint("limited", rows)

    def structure(
        self, leading: Sequence[int] | None = None, goals: Floats | None = None
    ) -> Structure:
        """The structure; all given nodes lead by default."""
        rows = self._independent()
        rows.sort(key=lambda row: row.constraint.kind)
        owners = tuple(row.owner for row in rows)
        first = range(len(np.array(self.nodes))) if leading is None else leading
        within = [set(body) for body in self.bodies]
        links = [
            pair for pair in self._links if not any(set(pair) <= b for b in within)
        ]
        return Structure(
            self.r,
            ConstraintTable.of([row.constraint for row in rows], owners),
            np.array(first, dtype=np.int64),
            tuple(map(tuple, self.bodies + links)),
            goals,
        )

    def _check(self, *nodes: int) -> None:
        refuse_missing("node {} does not exist", nodes, len(self.r))

    def _check_axis(self, axis: Pair) -> None:
        """An axis goes through two nodes that are apart."""
        self._check(*axis)
        a, b = axis
        if a == b or not (self.r[a] - self.r[b]).any():
            raise ValueError(
                f"the nodes of the axis {list(axis)} coincide: name two that are "
                "apart; in a planar mechanism let the bodies share a node instead"
            )

    def _both(self, bodies: Pair | None) -> Pair:
        if bodies is None:
            raise ValueError(
                "a joint needs `bodies` (the two that it connects) or `other` (what it "
                "is joined to)"
            )
        refuse_missing(
            "unknown body {}", bodies, len(self.bodies), "the structure has bodies"
        )
        if bodies[0] == bodies[1]:
            raise ValueError(f"body {bodies[0]} is joined to itself: name two bodies")
        return bodies

    def _shared(self, kind: str, nodes: Sequence[int], bodies: Pair | None) -> Self:
        """A joint of nodes that belong to both bodies."""
        self._check(*nodes)
        name = f"{kind} {self._joints}"
        for body in self._both(bodies):
            self._with(body, nodes, name)
        self.turns[frozenset(nodes)] = name
        if bodies is not None:
            self.sides[name] = {bodies[0]}, {bodies[1]}
        self._joints += 1
        return self

    def _joint_of(
        self,
        kind: str,
        rows: Callable[[Floats, Side, Other], Sequence[Constraint]],
        bodies: Pair | None,
        side: Side,
        other: Other,
    ) -> Self:
        """A joint whose rows follow from where the nodes of both sides are."""
        self._check(*side, *other)
        return self._joint(kind, rows(self.r, side, other), bodies, side, other)

    def _joint(
        self,
        kind: str,
        rows: Sequence[Constraint],
        bodies: Pair | None = None,
        *sides: Sequence[int],
    ) -> Self:
        """A joint of rows; its sides become part of the bodies that are named."""
        name = f"{kind} {self._joints}"
        for side in sides:
            self._check(*side)
        if bodies is not None:
            for body, side in zip(self._both(bodies), sides, strict=True):
                self._with(body, side, name)
        if sides:
            self.sides[name] = self._with_all(sides[0]), self._with_all(sides[1])
        self.rows(name, rows)
        self._joints += 1
        return self

    def _with_all(self, nodes: Iterable[int]) -> set[int]:
        """The bodies that have all of these nodes."""
        own = set(nodes)
        return {k for k, body in enumerate(self.bodies) if own <= set(body)}

    def joint_between(self, one: Iterable[int], other: Iterable[int]) -> str:
        """The only joint of bodies with all of these nodes, or "" where none is."""
        first, second = self._with_all(one), self._with_all(other)
        found = [
            name
            for name, (a, b) in self.sides.items()
            if (a & first and b & second) or (a & second and b & first)
        ]
        return found[0] if len(found) == 1 else ""

    def _with(self, body: int, nodes: Iterable[int], owner: str) -> Self:
        """A body with more nodes; its rows are thinned out in the end."""
        before = self.bodies[body]
        more = [node for node in dict.fromkeys(nodes) if node not in before]
        if not more:
            return self
        own = before + more
        others = [other for i, other in enumerate(self.bodies) if i != body]
        common = [np.intersect1d(own, other) for other in [before, *others] if other]
        self._groups.append((np.sort(own), [c for c in common if len(c) > 1]))
        self._rows += [
            DraftRow(owner, row, len(self._groups) - 1)
            for row in _rigid(self.r, own, max(IN_LINE, self._rounding))
        ]
        self.bodies[body] = own
        return self

    def _independent(self) -> list[DraftRow]:
        """The rows without those that say nothing new within their body."""
        if not self._groups:
            return list(self._rows)
        gradients = gradients_of(self.r, [row.constraint for row in self._rows])
        known: dict[int, list[int]] = defaultdict(list)  # chosen rows of a node
        chosen_rows, spans = [], Spans(self.r, self._groups, max(NEW, self._rounding))
        in_order = sorted(enumerate(self._rows), key=lambda one: one[1].group)
        for i, row in in_order:
            place, slopes = gradients[i]
            if row.group != ALWAYS and not spans.says_more(
                row.group, place, slopes, known, gradients
            ):
                continue
            chosen_rows.append(row)
            for node in place.tolist():
                known[node].append(i)
        if spans.repeated > NEW:
            self.misfit = spans.repeated * float(np.ptp(self.r, axis=0).max())
        return chosen_rows


def _rigid(r: Floats, nodes: Sequence[int], in_line: float) -> list[Constraint]:
    """Rows that hold nodes together, in line, in a plane or in space."""
    a = nodes[0]
    b = max(nodes, key=lambda i: float(np.linalg.norm(r[i] - r[a])))
    along = r[b] - r[a]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise ValueError(f"nodes {list(nodes)} of a body coincide: move one")
    area = {i: float(np.linalg.norm(np.cross(r[i] - r[a], along))) for i in nodes}
    c = max(nodes, key=lambda i: area[i])
    if area[c] > in_line * length**2:
        others = [i for i in nodes if i not in (a, b, c)]
        return joints.rigid(r, (a, b, c, *others))
    rows = [dist(r, a, b)]
    for i in nodes:
        if i not in (a, b):
            rows += [*joints.line_point((a, b), i), dot(r, a, i, a, b)]
    return rows
