"""Rods and networks of rods with sections and joints: the structure of [Hu20], Fig. 1a.

Nodes are joined by edges, which stretch; pairs of edges that meet at a node form
bends. The shape in which a rod is built is its rest shape.

Sections tell what a rod weighs and resists, of its size and material.

Joints are nodes at which several rods are joined rigidly. Such a node turns as one
body. Each rod that begins there bends over its first half edge, with a stiffness k of
about 2 EI / l, between the middle of that edge and the node. As the node's own angle
costs nothing, it is the one of least energy (a star of springs as a mesh), which leaves

    U = 1/2 sum over pairs of k_i k_j / (k_1 + k_2 + ...) (phi_ij - rest_ij)^2

with the angle phi_ij from edge i on to edge j: a bend of each pair of edges. E and kbar
of an actuated limb change k_i, and what its half edge adds to the angle at rest:

    rest_ij = kink + turn_i kbar_i / kbar_i0 + turn_j kbar_j / kbar_j0.

[Hu20] has a bend for two of the three pairs, and does not say which length they have.
A pair that folds back is measured from the reversed first edge, as tan(phi / 2) is
infinite at 180 degrees.

The moment in a rod is largest at its joints. Half an edge there and whole ones between
are the trapezoidal rule for its energy, by which an arc of 9 edges is 2 % too soft. So
the half edge counts 5 / 12 of its edge, k = 12 EI / 5 l, and the next bend a
twelfth more: Gregory's rule, of fourth order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints, connected
from sim.core.options import Checked, NotNegative, Positive, Requirement, is_finite

PoissonRatio = Annotated[
    float,
    Requirement("above -1, up to 0.5", lambda nu: is_finite(nu) and -1.0 < nu <= 0.5),
]


@dataclass(frozen=True)
class RoundSection(Checked):
    """A round rod, or a tube where it has a bore."""

    of = "section"
    modulus: Positive  # Pa
    density: Positive  # kg/m^3
    diameter: Positive  # m
    bore: NotNegative = 0.0  # m, diameter of the hole

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.bore < self.diameter:
            raise ValueError(
                f"section: the bore of {self.bore:g} m is not smaller than the "
                f"diameter of {self.diameter:g} m: make it smaller"
            )

    @property
    def thickness(self) -> float:
        """m, in the plane of motion."""
        return self.diameter

    @property
    def area(self) -> float:
        """A, m^2."""
        return 0.25 * np.pi * (self.diameter**2 - self.bore**2)

    @property
    def stretching(self) -> float:
        return self.modulus * self.area

    @property
    def bending(self) -> float:
        return self.modulus * np.pi * (self.diameter**4 - self.bore**4) / 64.0

    @property
    def line_density(self) -> float:
        return self.density * self.area


class Joints(NamedTuple):
    """The bends at rigid nodes: the last p bends of a rod.

    Attributes
    ----------
    fold : (p,) -1 where a bend is measured from its reversed first edge, else 1
    half : (p, m) N m, k of the two edges of the bend, then of the others at its node;
        0 where there are no more
    limb : (p, m) of these edges
    turn : (p, 2) what the two half edges add to the turning 2 tan(phi / 2) at rest
    """

    fold: Floats
    half: Floats
    limb: Ints
    turn: Floats


END, NEXT = 5.0 / 12.0, 1.0 / 12.0  # of the edge at a joint
NONE = Joints(np.empty(0), np.empty((0, 2)), np.empty((0, 2), int), np.empty((0, 2)))


def edges_by_nodes(edges: Ints) -> dict[frozenset[int], int]:
    """The number of each edge (m, 2) by its two nodes."""
    return {frozenset(ends): e for e, ends in enumerate(edges.tolist())}


def edges_of_bends(edges: Ints, bends: Ints) -> Ints:
    """(b, 2) the edges before and after each bend; -1 for one that is not there."""
    of = edges_by_nodes(edges)
    sides = [
        [of.get(frozenset(pair), -1) for pair in ((i, j), (j, k))]
        for i, j, k in bends.tolist()
    ]
    return np.array(sides, dtype=np.int64).reshape(-1, 2)


def limbs_of_bends(edges: Ints, bends: Ints, limbs: Ints, other: int) -> Ints:
    """(b,) the limb of both edges of each bend, of limbs (m,); `other` for two limbs.

    An edge that is not there has no limb.
    """
    first, second = np.append(limbs, PASSIVE)[edges_of_bends(edges, bends).T]
    return np.asarray(np.where(first == second, first, other))


def pairs_at(nodes: Floats, edges: Ints, at: Sequence[int]) -> tuple[Ints, Floats]:
    """(p, 3) a bend of each pair of edges at the nodes `at`, and whether it folds."""
    bends: list[tuple[int, int, int]] = []
    for node in at:
        other = [int(a + b) - node for a, b in edges.tolist() if node in (a, b)]
        if len(other) < 2:
            raise ValueError(
                f"joints: node {node} has under 2 edges ({len(other)}): choose another"
            )
        bends += [(i, node, k) for i, k in combinations(other, 2)]
    table = np.array(bends, dtype=np.int64).reshape(-1, 3)
    e = nodes[table[:, 1]] - nodes[table[:, 0]]
    f = nodes[table[:, 2]] - nodes[table[:, 1]]
    return table, np.where(np.sum(e * f, axis=1) < 0.0, -1.0, 1.0)


def joined(
    rod: "Rod", EI: Floats, pairs: Ints, fold: Floats, tan: Floats
) -> Joints:  # fmt: skip
    """Stiffness and share of the half edges at each pair, which at rest has `tan`.

    Parameters
    ----------
    rod : the rods between joints, whose edges have the stiffness EI (m,), N m^2
    """
    edge_of = edges_by_nodes(rod.edges)
    natural = _curvature_towards(rod)
    around: dict[int, list[int]] = {}
    for i, j in rod.edges.tolist():
        around.setdefault(i, []).append(j)
        around.setdefault(j, []).append(i)
    most = max((len(around[j]) for j in pairs[:, 1].tolist()), default=2)
    half, limb = np.zeros((len(pairs), most)), np.full((len(pairs), most), -1)
    turn = np.zeros((len(pairs), 2))
    slope = 1.0 + tan**2  # of 2 tan(phi / 2) in phi
    for p, (i, j, k) in enumerate(pairs.tolist()):
        others = [i, k, *(n for n in around[j] if n not in (i, k))]
        row = [edge_of[frozenset((j, n))] for n in others]
        end = np.array([END if (n, j) in natural else 0.5 for n in others])
        stiffness = EI[row] / (end * rod.rest_length[row])
        half[p, : len(row)] = stiffness / slope[p] ** 2
        limb[p, : len(row)] = rod.edge_limb[row]
        share = [natural.get((i, j), 0.0), -natural.get((k, j), 0.0)]
        turn[p] = slope[p] * 0.5 * rod.rest_length[row[:2]] * share
    return Joints(fold, half, limb, turn)


def lengths_at_joints(
    nodes: Floats, bends: Ints, voronoi: Floats, at: Sequence[int]
) -> Floats:
    """(b,) the lengths that bends stand for, with joints at the nodes `at`, m."""
    longer = voronoi.copy()
    for end in (0, 2):
        edge = np.linalg.norm(nodes[bends[:, end]] - nodes[bends[:, 1]], axis=1)
        longer += np.where(np.isin(bends[:, end], at), NEXT * edge, 0.0)
    return longer


def _curvature_towards(rod: "Rod") -> dict[tuple[int, int], float]:
    """Natural curvature of the rod along its edge from one node to the next."""
    found: dict[tuple[int, int], float] = {}
    for (i, j, k), value in zip(
        rod.bends.tolist(), rod.curvature.tolist(), strict=True
    ):
        for before, after, sign in ((j, k, 1.0), (j, i, -1.0)):
            found.setdefault((before, after), sign * value)
    return found


PASSIVE = -1  # the limb of an edge or bend that no actuator drives


@dataclass(frozen=True)
class RodMaterial(Checked):
    """A ribbon of rectangular section; the defaults are those of the star robot.

    Young's modulus and thickness are not in the text of [Hu20]: 3 MPa and 2 mm are
    stated assumptions. The width is that of Fig. 4, the density that of the text.
    """

    of = "material"
    modulus: Positive = 3.0e6  # Pa
    density: Positive = 1912.0  # kg/m^3
    thickness: Positive = 2.0e-3  # m, in the plane of motion
    width: Positive = 18.0e-3  # m, out of the plane

    @property
    def stretching(self) -> float:
        """EA, N."""
        return self.modulus * self.thickness * self.width

    @property
    def bending(self) -> float:
        """EI, N m^2."""
        return self.modulus * self.width * self.thickness**3 / 12.0

    @property
    def line_density(self) -> float:
        """rho A, kg/m."""
        return self.density * self.thickness * self.width


Section = RodMaterial | RoundSection


@dataclass(frozen=True, eq=False)
class Rod:
    """Nodes, edges and bends with their stiffness.

    Attributes
    ----------
    nodes : (n, 2) m, start positions
    mass : (n,) kg
    edges : (m, 2) nodes of each edge
    rest_length : (m,) m
    stretching : (m,) EA, N
    bends : (b, 3) the node before, at, and after each bend
    voronoi : (b,) m, the length of rod that a bend stands for
    bending : (b,) EI, N m^2
    curvature : (b,) 1/m, natural curvature, positive to the left
    edge_limb, bend_limb : (m,), (b,) the limb whose actuator drives it, or PASSIVE
    held : (n, 2) coordinates whose velocity is prescribed
    joints : the last of the bends, those at rigid nodes: `voronoi` and `bending` are
        such that EI / dl is their stiffness where no limb is actuated
    pieces : how many rods these are, none joined to another
    """

    nodes: Floats
    mass: Floats
    edges: Ints
    rest_length: Floats
    stretching: Floats
    bends: Ints
    voronoi: Floats
    bending: Floats
    curvature: Floats
    edge_limb: Ints
    bend_limb: Ints
    held: Bools
    joints: Joints = NONE
    pieces: int = 1

    def __post_init__(self) -> None:
        _refuse_bad_edges(self.nodes, self.edges, self.rest_length)
        _refuse_broken_chain(len(self.nodes), self.edges, self.pieces)
        _refuse_bad_bends(self.edges, self.bends)
        refuse_unless_positive_all(self, "mass", "stretching", "bending")

    @property
    def last_limb(self) -> int:
        """The highest number of a limb with an actuator; -1 if there is none."""
        return int(max(self.edge_limb.max(initial=-1), self.bend_limb.max(initial=-1)))


def refuse_unless_positive_all(rod: object, *names: str) -> None:
    """A ValueError unless all numbers of these arrays are positive and finite."""
    for name in names:
        values = np.asarray(getattr(rod, name))
        fine = (values > 0.0) & np.isfinite(values)
        if not fine.all():
            k = np.unravel_index(int(np.argmin(fine)), fine.shape)
            raise ValueError(
                f"rod: {name}[{int(k[0])}] must be positive, not {values[k]:g}"
            )


def refuse_unless_there(named: Ints, by: str, kind: str, count: int) -> None:
    """Tell the first of (k, 1 or 2) numbers that no node or edge has."""
    for k, side in np.argwhere((named < 0) | (named >= count)).tolist():
        raise ValueError(
            f"rod: {by} {k} names {kind} {named[k, side]}, but {kind}s are numbered "
            f"0 to {count - 1}"
        )


def refuse_bad_lengths(nodes: Floats, edges: Ints, rest_length: Floats) -> None:
    """A ValueError unless nodes are somewhere, and edges and their rests have lengths.

    Parameters
    ----------
    nodes : (n, 2 or 3) m
    """
    if not np.isfinite(nodes).all():
        k = int(np.argmin(np.isfinite(nodes).all(axis=1)))
        raise ValueError(f"rod: node {k} is at {nodes[k]}: give finite coordinates")
    length = np.linalg.norm(nodes[edges[:, 1]] - nodes[edges[:, 0]], axis=1)
    for k in np.flatnonzero(~((length > 0.0) & (rest_length > 0.0))).tolist():
        i, j = edges[k]
        raise ValueError(
            f"rod: edge {k} between nodes {i} and {j} has length {length[k]:g} m and "
            f"rest length {rest_length[k]:g} m: move the nodes apart or merge them"
        )


def _refuse_bad_edges(nodes: Floats, edges: Ints, rest_length: Floats) -> None:
    if not len(edges):
        raise ValueError("rod: it has no edges: add edges between nodes")
    refuse_unless_there(edges, "edge", "node", len(nodes))
    refuse_bad_lengths(nodes, edges, rest_length)
    _refuse_double_edges(edges)


def _refuse_double_edges(edges: Ints) -> None:
    ends = np.sort(edges, axis=1)
    _, first, which = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    earlier = first[which.ravel()]
    for k in np.flatnonzero(earlier < np.arange(len(edges))).tolist():
        i, j = edges[k]
        raise ValueError(
            f"rod: edges {earlier[k]} and {k} both join nodes {i} and {j}: leave one "
            "out"
        )


def _refuse_broken_chain(n: int, edges: Ints, count: int) -> None:
    pieces, piece = connected(edges, n)
    if count > 1 and pieces != count:
        raise ValueError(f"rod: the edges form {pieces} separate rods, not {count}")
    if pieces > count:
        k = int(np.argmax(piece != piece[0]))
        raise ValueError(
            f"rod: the chain is broken, node {k} is not connected to node 0 "
            f"({pieces} pieces): add the missing edge"
        )


def pieces_of(n: int, edges: Ints) -> int:
    """How many rods the edges (m, 2) make of n nodes."""
    return connected(edges, n)[0]


def _refuse_bad_bends(edges: Ints, bends: Ints) -> None:
    known = edges_by_nodes(edges).keys()
    for b, (i, j, k) in enumerate(bends.tolist()):
        if i == k or not {frozenset((i, j)), frozenset((j, k))} <= known:
            raise ValueError(
                f"rod: bend {b} at nodes {i}, {j}, {k} does not follow two edges: "
                "name three nodes in a row"
            )


def _refuse_folded_bends(nodes: Floats, bends: Ints) -> None:
    """Where a rod turns back on itself, its natural curvature is infinite."""
    e = nodes[bends[:, 1]] - nodes[bends[:, 0]]
    f = nodes[bends[:, 2]] - nodes[bends[:, 1]]
    product = np.linalg.norm(e, axis=1) * np.linalg.norm(f, axis=1)
    folded = product + np.sum(e * f, axis=1) <= 1e-12 * product
    for b in np.flatnonzero(folded).tolist():
        i, j, k = bends[b]
        raise ValueError(
            f"rod: bend {b} at nodes {i}, {j}, {k} turns back by 180 degrees: move "
            f"node {k}"
        )


def turning(nodes: Floats, bends: Ints, fold: Floats | float = 1.0) -> Floats:
    """(b,) tan(phi/2) of the turning angle phi at each bend, smooth up to 180 deg.

    fold : (b,) -1 where phi is counted from the reversed first edge
    """
    e = np.multiply(fold, (nodes[bends[:, 1]] - nodes[bends[:, 0]]).T).T
    f = nodes[bends[:, 2]] - nodes[bends[:, 1]]
    cross = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    product = np.linalg.norm(e, axis=1) * np.linalg.norm(f, axis=1)
    return np.asarray(cross / (product + np.sum(e * f, axis=1)))


def network(
    nodes: Floats,
    edges: Ints,
    bends: Ints,
    section: Section | Sequence[Section],
    *,
    edge_limb: Ints | None = None,
    bend_limb: Ints | None = None,
    joints: Sequence[int] = (),
    pieces: int = 1,
) -> Rod:
    """A rod network at rest in the shape of `nodes`; natural curvature is its own.

    section : of all edges, or of each; a bend between two has both halves in series
    joints : nodes at which all edges are joined rigidly; `bends` has none of theirs
    """
    m = len(edges)
    own = list(section) if isinstance(section, Sequence) else [section] * m
    length = np.linalg.norm(nodes[edges[:, 1]] - nodes[edges[:, 0]], axis=1)
    _refuse_bad_edges(nodes, edges, length)
    _refuse_folded_bends(nodes, bends)
    mass = np.zeros(len(nodes))
    density = np.array([s.line_density for s in own])
    for end in range(2):
        np.add.at(mass, edges[:, end], 0.5 * density * length)
    EI, b = np.array([s.bending for s in own]), len(bends)
    e = np.linalg.norm(nodes[bends[:, 1]] - nodes[bends[:, 0]], axis=1)
    f = np.linalg.norm(nodes[bends[:, 2]] - nodes[bends[:, 1]], axis=1)
    voronoi = 0.5 * (e + f)
    rod = Rod(
        nodes=nodes,
        mass=mass,
        edges=edges,
        rest_length=length,
        stretching=np.array([s.stretching for s in own]),
        bends=bends,
        voronoi=voronoi,
        bending=_in_series(edges, bends, EI, e, f),
        curvature=2.0 * turning(nodes, bends) / voronoi,
        edge_limb=np.full(m, PASSIVE) if edge_limb is None else edge_limb,
        bend_limb=np.full(b, PASSIVE) if bend_limb is None else bend_limb,
        held=np.zeros((len(nodes), 2), dtype=np.bool_),
        pieces=pieces,
    )
    return _with_joints(rod, EI, joints) if len(joints) else rod


def _in_series(
    edges: Ints, bends: Ints, EI: Floats, before: Floats, after: Floats
) -> Floats:
    """(b,) EI of bends between edges of stiffness `EI` (m,), half of each in series."""
    first, second = EI[edges_of_bends(edges, bends).T]
    both = (before + after) / (before / first + after / second)
    return np.asarray(np.where(first == second, first, both))


def _with_joints(rod: Rod, EI: Floats, at: Sequence[int]) -> Rod:
    """The rod with a bend of each pair of edges at the nodes `at`."""
    for b in np.flatnonzero(np.isin(rod.bends[:, 1], at)):
        raise ValueError(
            f"rod: bend {b} is at node {rod.bends[b, 1]}, a joint: leave it out"
        )
    pairs, fold = pairs_at(rod.nodes, rod.edges, at)
    tan = turning(rod.nodes, pairs, fold)
    joints = joined(rod, EI, pairs, fold, tan)
    reference = EI[0]  # a joint's stiffness is EI / voronoi, whatever EI
    k = joints.half
    voronoi = reference / (k[:, 0] * k[:, 1] / k.sum(axis=1))
    longer = lengths_at_joints(rod.nodes, rod.bends, rod.voronoi, at)
    curvature = rod.curvature * rod.voronoi / longer
    return replace(
        rod,
        bends=np.vstack([rod.bends, pairs]),
        voronoi=np.concatenate([longer, voronoi]),
        bending=np.concatenate([rod.bending, np.full(len(pairs), reference)]),
        curvature=np.concatenate([curvature, 2.0 * tan / voronoi]),
        bend_limb=np.concatenate([rod.bend_limb, np.full(len(pairs), PASSIVE)]),
        joints=joints,
    )


def chain(nodes: Floats, material: RodMaterial, *, closed: bool = False) -> Rod:
    """One rod through the nodes in their order; closed, the last joins the first.

    Parameters
    ----------
    nodes : (n, 2) m
    """
    n = len(nodes)
    if n < 3:
        raise ValueError(f"rod: a chain needs 3 nodes or more, not {n}")
    k = np.arange(n if closed else n - 1)
    edges = np.column_stack([k, (k + 1) % n])
    k = np.arange(n if closed else n - 2)
    bends = np.column_stack([k, (k + 1) % n, (k + 2) % n])
    return network(nodes, edges, bends, material)


def cantilever(length: float, n: int, material: RodMaterial) -> Rod:
    """A straight rod, n nodes, the first two held: a clamped beam of this length.

    The bend at node 1 stands for half an edge on either side of it, so the clamp of
    the continuous beam is in the middle of the first edge.
    """
    edge = length / (n - 1.5)
    x = edge * (np.arange(n) - 0.5)
    rod = chain(np.column_stack([x, np.zeros(n)]), material)
    return hold(rod, [0, 1])


def small_turns(rod: Rod) -> Rod:
    """The rod with the bending stiffness that its natural turning asks for.

    About a natural turning angle phi, k = 2 tan(phi/2) / dl grows with
    1 + tan^2(phi/2) instead of 1, so a discrete curved rod is too stiff by the square
    of that. [Hu20] leaves this error, which vanishes with dl^2; here it is divided out.
    The bends of joints are so already.
    """
    tan = 0.5 * rod.curvature * rod.voronoi
    tan[len(tan) - len(rod.joints.fold) :] = 0.0
    return replace(rod, bending=rod.bending / (1.0 + tan**2) ** 2)


def ring(radius: float, n: int, material: RodMaterial) -> Rod:
    """A closed ring of n nodes whose perimeter is 2 pi radius; node 0 is the lowest.

    Its stiffness is that of `small_turns`.
    """
    edge = 2.0 * np.pi * radius / n
    outer = edge / (2.0 * np.sin(np.pi / n))
    angle = 2.0 * np.pi * np.arange(n) / n - 0.5 * np.pi
    nodes = outer * np.column_stack([np.cos(angle), np.sin(angle) + 1.0])
    return small_turns(chain(nodes, material, closed=True))


def hold(rod: Rod, nodes: list[int]) -> Rod:
    """The rod with both coordinates of the given nodes held."""
    held = rod.held.copy()
    held[nodes] = True
    return replace(rod, held=held)


def moved(rod: Rod, *, by: Floats, angle: float = 0.0) -> Rod:
    """The rod turned about the origin by `angle` (rad), then shifted `by` (2,) m."""
    c, s = np.cos(angle), np.sin(angle)
    return replace(rod, nodes=rod.nodes @ np.array([[c, s], [-s, c]]) + by)


GRAVITY = 9.81  # m/s^2
