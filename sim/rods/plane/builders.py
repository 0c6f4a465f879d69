"""Rods that are built: from curves, the ribbon and the star robot of [Hu20].

`RodDraft` joins lines, arcs and curves to a network and counts its nodes. `Ribbon` is
the closed ribbon of Fig. 2. `star` builds the rolling robot of Figs. 1
and 4, seven limbs in a ring, `jumper` one limb of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.options import Checked, Count, Positive, Requirement
from sim.rods.plane.rod import (
    GRAVITY,
    PASSIVE,
    Rod,
    RodMaterial,
    Section,
    chain,
    hold,
    limbs_of_bends,
    network,
    ring,
    small_turns,
    turning,
)

NEAR = 0.55  # of the longest edge at a node, how far off it may be named
CORNER = 25.0  # degrees, by which a rod of no limb turns at a node that is rigid
UNBENT = 100.0  # degrees, up to which one limb unbends at a corner as on a curve
SEAM = PASSIVE - 1  # in place of the limb of a bend, where its edges have two
SAME = 1e-6  # two points this near, of the size of all, are one node

Point = tuple[float, float]


def along_line(corners: Floats, spacing: float) -> Floats:
    """(n, 2) points on straight pieces between corners, which are among them."""
    pieces = [corners[:1]]
    for a, b in pairwise(corners):
        far = float(np.linalg.norm(b - a))
        if not far:
            raise ValueError("two consecutive points of a line coincide: remove one")
        share = np.linspace(0.0, 1.0, _pieces(far, spacing) + 1)[1:]
        pieces.append(a + share[:, None] * (b - a))
    return np.concatenate(pieces)


def along_arc(
    centre: Point, radius: float, start: float, end: float, spacing: float
) -> Floats:
    """(n, 2) points on an arc from angle `start` to `end`, rad, from the x axis."""
    n = _pieces(radius * abs(end - start), spacing)
    angle = np.linspace(start, end, n + 1)
    return centre + radius * np.column_stack([np.cos(angle), np.sin(angle)])


def along_curve(through: Floats, spacing: float, stops: Sequence[int] = ()) -> Floats:
    """(n, 2) points on a smooth curve: a natural cubic spline by length of chord.

    Parameters
    ----------
    stops : those of `through`, inner ones, that are to be among the points
    """
    from scipy.interpolate import CubicSpline  # slow to import

    chord = np.linalg.norm(np.diff(through, axis=0), axis=1)
    if not chord.all():
        raise ValueError("two consecutive points of a curve coincide: remove one")
    at = np.concatenate([[0.0], np.cumsum(chord)])
    spline = CubicSpline(at, through, bc_type="natural")
    shares = np.linspace(0.0, at[-1], 50 * len(through))
    fine = spline(shares)
    length = np.cumsum([0.0, *np.linalg.norm(np.diff(fine, axis=0), axis=1)])
    ends = [0.0, *np.interp(at[list(stops)], shares, length), length[-1]]
    places = [np.zeros(1)]
    for a, b in pairwise(ends):
        places.append(np.linspace(a, b, _pieces(b - a, spacing) + 1)[1:])
    return np.asarray(spline(np.interp(np.concatenate(places), length, shares)))


def _pieces(length: float, spacing: float) -> int:
    return max(1, round(float(length) / spacing))


def node_near(at: Sequence[float], nodes: Floats, edges: Ints, lengths: Floats) -> int:
    """The node at a place, or half of its longest edge (m,) from it, m."""
    apart = np.linalg.norm(nodes - at, axis=1)
    k = int(np.argmin(apart))
    if not apart[k] <= NEAR * lengths[(edges == k).any(axis=1)].max():
        raise ValueError(
            f"no node lies at {shown(at)} m: the nearest is {apart[k]:.3g} m away, at "
            f"{shown(nodes[k])} m; give the position of a node"
        )
    return k


def shown(at: Floats | Sequence[float]) -> str:
    """A place, to be read."""
    return f"({', '.join(f'{value:g}' for value in at)})"


@dataclass(eq=False)
class RodDraft:
    """Curves as they are at rest; where two have a point in common they are joined.

    A node of three edges or more, or of two at a corner, is a rigid joint, unless it is
    a hinge, and so is one where a limb ends, where each half edge follows its own;
    bends have the stiffness of `small_turns`, whatever they turn by.

    Attributes
    ----------
    hinges : nodes and the spring of each edge against the first, N m/rad
    clamps : ends and the stiffness, N m/rad, with which their direction is held
    masses : nodes and kg
    """

    points: list[Point] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    limbs: list[int] = field(default_factory=list)
    hinges: dict[int, float] = field(default_factory=dict)
    pins: list[int] = field(default_factory=list)
    clamps: list[tuple[int, float]] = field(default_factory=list)
    masses: list[tuple[int, float]] = field(default_factory=list)

    def curve(
        self,
        points: Floats,
        section: Section,
        *,
        limb: int = PASSIVE,
        closed: bool = False,
    ) -> None:
        """A rod through (n, 2) points, m; closed, the last joins the first."""
        nodes = [self._node_or_new((float(x), float(y))) for x, y in points]
        if closed and nodes[0] != nodes[-1]:
            nodes.append(nodes[0])
        added = list(pairwise(nodes))
        self.edges += added
        self.sections += [section] * len(added)
        self.limbs += [limb] * len(added)

    def node(self, at: Point) -> int:
        """The node at a place, or half an edge from it."""
        points, edges = np.array(self.points), np.array(self.edges)
        i, j = points[edges.T]
        return node_near(at, points, edges, np.linalg.norm(j - i, axis=1))

    def _node_or_new(self, at: Point) -> int:
        if self.points:
            distance = np.linalg.norm(np.array(self.points) - at, axis=1)
            k = int(np.argmin(distance))
            if distance[k] <= SAME * max(1e-9, float(distance.max())):
                return k
        self.points.append(at)
        return len(self.points) - 1

    def rod(self) -> Rod:
        """The network, with what holds and loads it."""
        points, around = np.array(self.points), self._around()
        rigid = [k for k, near in around.items() if len(near) > 2]
        triples = [(n[0], k, n[1]) for k, n in around.items() if len(n) == 2]
        bends = np.array(triples, dtype=np.int64).reshape(-1, 3)
        edges, (i, j, k) = np.array(self.edges), points[bends.T]
        limbs = limbs_of_bends(edges, bends, np.array(self.limbs), SEAM)
        e, f = j - i, k - j
        cross = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
        turned = np.degrees(np.arctan2(np.abs(cross), np.sum(e * f, axis=1)))
        bound = np.select([limbs == SEAM, limbs == PASSIVE], [-1.0, CORNER], UNBENT)
        sharp = turned > bound
        plain = ~sharp & ~np.isin(bends[:, 1], list(self.hinges))
        sprung = [
            ((around[k][0], k, other), spring)
            for k, spring in self.hinges.items()
            for other in around[k][1:]
            if spring > 0.0
        ]
        first, all_bends = int(plain.sum()), [*bends[plain], *(b for b, _ in sprung)]
        table = np.array(all_bends, dtype=np.int64).reshape(-1, 3)
        rod = network(
            points, edges, table, self.sections,
            edge_limb=np.array(self.limbs),
            bend_limb=np.append(limbs[plain], [PASSIVE] * len(sprung)),
            joints=sorted({*rigid, *bends[sharp, 1].tolist()} - self.hinges.keys()),
        )  # fmt: skip
        for b, (_, spring) in enumerate(sprung, first):
            rod.bending[b] = spring * rod.voronoi[b]
        for at, stiffness in self.clamps:
            rod = _clamped(rod, at, self._section_at(at), stiffness)
        mass = rod.mass.copy()
        for k, kg in self.masses:
            mass[k] += kg
        return hold(small_turns(replace(rod, mass=mass)), self.pins)

    def all_sections(self) -> list[Section]:
        """Of each edge of `rod`: those behind clamps come last."""
        return self.sections + [self._section_at(at) for at, _ in self.clamps]

    def _around(self) -> dict[int, list[int]]:
        """The neighbours of each node."""
        around: dict[int, list[int]] = {k: [] for k in range(len(self.points))}
        for i, j in self.edges:
            around[i].append(j)
            around[j].append(i)
        return around

    def _section_at(self, node: int) -> Section:
        which = next(m for m, edge in enumerate(self.edges) if node in edge)
        return self.sections[which]


def _clamped(rod: Rod, at: int, section: Section, stiffness: float) -> Rod:
    """The rod with the end `at` held in place and direction.

    A held edge goes on beyond the end, as long as the first and turned as the rod turns
    there. The bend between them stands for half an edge of rod, and for the spring of
    the clamp behind it; limbs do not drive it where the spring is the softer.
    """
    first = np.flatnonzero((rod.edges == at).any(axis=1))
    if len(first) != 1:
        x, y = rod.nodes[at]
        raise ValueError(
            f"a clamp at ({x:g}, {y:g}) m needs a free end, but {len(first)} edges "
            "meet there: add a short rod there and clamp its free end"
        )
    e = int(first[0])
    after = int(rod.edges[e].sum()) - at
    length = float(rod.rest_length[e])
    turned = 0.5 * length * _curvature_behind(rod, at, after)
    c, s = np.cos(turned), np.sin(turned)
    chord = rod.nodes[after] - rod.nodes[at]
    before = rod.nodes[at] - np.array([[c, s], [-s, c]]) @ chord
    nodes = np.vstack([rod.nodes, before])
    bend = np.array([[len(rod.nodes), at, after]])
    half = 0.5 * length
    EI = half / (half / section.bending + 1.0 / stiffness)
    limb = PASSIVE if stiffness * half < section.bending else rod.edge_limb[e]
    plain = len(rod.bends) - len(rod.joints.fold)  # the bends of joints are the last
    return replace(
        rod,
        nodes=nodes,
        mass=np.append(rod.mass, 0.5 * section.line_density * length),
        edges=np.vstack([rod.edges, [len(rod.nodes), at]]),
        rest_length=np.append(rod.rest_length, length),
        stretching=np.append(rod.stretching, section.stretching),
        edge_limb=np.append(rod.edge_limb, PASSIVE),
        bends=np.insert(rod.bends, plain, bend, axis=0),
        voronoi=np.insert(rod.voronoi, plain, half),
        bending=np.insert(rod.bending, plain, EI),
        curvature=np.insert(rod.curvature, plain, 2.0 * turning(nodes, bend)[0] / half),
        bend_limb=np.insert(rod.bend_limb, plain, limb),
        held=np.vstack([hold(rod, [at]).held, [True, True]]),
    )


def _curvature_behind(rod: Rod, at: int, after: int) -> float:
    """Natural curvature of the rod that goes from `at` to `after`, 1/m."""
    for b, (i, j, k) in enumerate(rod.bends.tolist()):
        if j == after and at in (i, k):
            sign = 1.0 if i == at else -1.0
            return sign * float(rod.curvature[b])
    return 0.0


@dataclass(frozen=True)
class Ribbon(Checked):
    """A closed ribbon, of which only Gamma_g = (EI / rho g A)^(1/3) / R counts.

    perimeter : m, 0.3 in the paper; the density and thickness are free, the modulus
    follows from gamma
    """

    of = "ribbon"
    gamma: Positive = 2.0
    nodes: Annotated[Count, Requirement("8 or more", lambda n: n >= 8)] = 100
    perimeter: Positive = 0.3
    density: Positive = 1912.0
    thickness: Positive = 1.0e-3
    width: Positive = 18.0e-3

    @property
    def radius(self) -> float:
        return self.perimeter / (2.0 * np.pi)

    @property
    def rod(self) -> Rod:
        cube = (self.gamma * self.radius) ** 3
        modulus = 12.0 * cube * self.density * GRAVITY / self.thickness**2
        material = RodMaterial(modulus, self.density, self.thickness, self.width)
        return ring(self.radius, self.nodes, material)


def polygon_loss(n: int, turns: float) -> float:
    """Part of its spin that a rigid hoop of n nodes loses in rolling `turns` rounds.

    It turns about one node until the next lands, without a bounce. The moment of its
    momentum about that node is conserved, so each landing leaves (1 + cos(2 pi / n)) /
    2 of the spin, a round 1 - pi^2 / n. A ribbon that lies on many nodes loses less.
    """
    return float(1.0 - (0.5 + 0.5 * np.cos(2.0 * np.pi / n)) ** (n * turns))


def lying_edges(x: Floats, last: int) -> float:
    """How many edges a rod lies flat, from node 0 on, whose node `last` is the last.

    x (n, 2). It leaves what is flat without curvature: the place to which the parabola
    through the curvatures of the next three nodes leads back. 0 where it stands on a
    point.
    """
    if last < 1:
        return 0.0
    e = np.diff(x[last : last + 5], axis=0)
    cross = e[:-1, 0] * e[1:, 1] - e[:-1, 1] * e[1:, 0]
    first, *more = np.abs(np.arctan2(cross, np.sum(e[:-1] * e[1:], axis=1)))
    half = 0.5 * (first - 2.0 * more[0] + more[1])
    slope = more[0] - first - half
    under = max(0.0, slope**2 - 4.0 * half * first)
    return float(max(0.0, last + 1 - 2.0 * first / (slope + np.sqrt(under))))


LIMBS = 7
LOWEST = 4  # limb 5 of Fig. 4, counted from 0, is in contact at the start


@dataclass(frozen=True)
class StarShape(Checked):
    """Lengths of a limb, and how many edges each part has.

    Lengths and the curvature are those of [Hu20], Rolling robot. N = 84 nodes there;
    9 edges of 2.44 mm on the arc and 3 of 2.67 mm on the tail give that number.
    """

    of = "star"
    arc_length: Positive = 22.0e-3  # m
    tail_length: Positive = 8.0e-3  # m
    curvature: Positive = 120.0  # 1/m
    arc_edges: Annotated[Count, Requirement("2 or more", lambda n: n >= 2)] = 9
    tail_edges: Count = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.arc_length * self.curvature < 2.0 * np.pi:
            raise ValueError(
                f"star: arc_length x curvature is {self.arc_length * self.curvature:g} "
                "rad: an arc must stay below a full circle"
            )

    @property
    def nodes_per_limb(self) -> int:
        return self.arc_edges + self.tail_edges

    def refined(self, factor: int) -> "StarShape":
        """The same shape with `factor` times as many edges."""
        arc, tail = self.arc_edges * factor, self.tail_edges * factor
        return replace(self, arc_edges=arc, tail_edges=tail)


def _limb(shape: StarShape, k: int) -> Floats:
    """(arc_edges + tail_edges, 2): joint k, the inside of its arc, its tail.

    The arc bulges inwards, from joint k to joint k + 1 counter-clockwise.
    """
    span = shape.curvature * shape.arc_length
    chord = 2.0 / shape.curvature * np.sin(0.5 * span)
    joint_radius = chord / (2.0 * np.sin(np.pi / LIMBS))
    a = 2.0 * np.pi * (k - LOWEST - 0.5) / LIMBS - 0.5 * np.pi
    middle = a + np.pi / LIMBS  # the direction of the middle of the arc
    centre = joint_radius * np.cos(np.pi / LIMBS) + np.cos(0.5 * span) / shape.curvature
    s = np.linspace(-0.5, 0.5, shape.arc_edges + 1)[:-1] * span
    turn = middle + np.pi - s
    bow = np.column_stack([np.cos(turn), np.sin(turn)]) / shape.curvature
    arc = centre * np.array([np.cos(middle), np.sin(middle)]) + bow
    r = joint_radius + shape.tail_length * (
        np.arange(1, shape.tail_edges + 1) / shape.tail_edges
    )
    tail = r[:, None] * np.array([np.cos(a), np.sin(a)])
    return np.vstack([arc, tail])


def star(shape: StarShape, material: RodMaterial) -> Rod:
    """The robot on two tails; limb k (from 0) is arc k and the tail before it.

    Limbs count counter-clockwise, so that a robot that rolls to +x stands on limb 5,
    6, 7, 1 ... of Fig. 4 (here 4, 5, 6, 0 ...). The joints of three edges are rigid:
    see `sim.rods.plane.rod`.
    """
    n = shape.nodes_per_limb
    nodes = np.vstack([_limb(shape, k) for k in range(LIMBS)])
    nodes[:, 1] -= nodes[:, 1].min()
    edges: list[tuple[int, int]] = []
    bends: list[tuple[int, int, int]] = []
    edge_limb: list[int] = []
    bend_limb: list[int] = []
    for k in range(LIMBS):
        first = k * n
        arc = [*range(first, first + shape.arc_edges), (k + 1) % LIMBS * n]
        tail = [first, *range(first + shape.arc_edges, first + n)]
        for path in (arc, tail):
            edges += pairwise(path)
            bends += zip(path[:-2], path[1:-1], path[2:], strict=True)
        edge_limb += [k] * shape.arc_edges + [PASSIVE] * shape.tail_edges
        bend_limb += [k] * (shape.arc_edges - 1) + [PASSIVE] * (shape.tail_edges - 1)
    joints = [k * n for k in range(LIMBS)]
    rod = network(
        nodes, np.array(edges), np.array(bends), material, joints=joints,
        edge_limb=np.array(edge_limb), bend_limb=np.array(bend_limb),
    )  # fmt: skip
    return small_turns(rod)


def jumper(
    length: float, radius: float, turn: float, n: int, material: RodMaterial
) -> Rod:
    """The jumper of Fig. 7: an actuated arc above a straight foot on the ground.

    The first node is the free end of the arc; the foot begins where the arc has turned
    by `turn` (rad), and takes what is left of `length`.
    """
    if n < 4:
        raise ValueError(f"jumper: nodes is {n}: give 4 or more")
    if not 0.0 < turn < 1.9 * np.pi:
        raise ValueError(
            f"jumper: turn is {turn:g} rad, and the arc would hit the straight part: "
            "stay below 5.9"
        )
    if not 0.0 < radius * turn < length:
        raise ValueError(
            f"jumper: an arc of {radius * turn:g} m uses up the limb of {length:g} m: "
            "choose a smaller radius or turn"
        )
    left = radius * turn - np.linspace(0.0, length, n)  # of the arc; the foot if < 0
    angle = np.maximum(left, 0.0) / radius
    nodes = np.column_stack(
        [-radius * np.sin(angle) - np.minimum(left, 0.0), radius * (1 - np.cos(angle))]
    )
    rod = chain(nodes, material)
    limb = np.where(left > 0.0, 0, PASSIVE)
    return replace(rod, edge_limb=limb[:-1], bend_limb=limb[1:-1])
