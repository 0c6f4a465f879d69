"""Networks of planar rods drawn as curves, where one need not count nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.rod.rod import PASSIVE, Rod, hold, network, small_turns, turning
from sim.rod.rod.sections import Section

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
            raise ValueError(
                "two points of a line in a row are the same: leave one out"
            )
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
        raise ValueError("two points of a curve in a row are the same: leave one out")
    at = np.concatenate([[0.0], np.cumsum(chord)])
    spline = CubicSpline(at, through, bc_type="natural")
    shares = np.linspace(0.0, at[-1], 50 * len(through))
    fine = spline(shares)
    length = np.cumsum([0.0, *np.linalg.norm(np.diff(fine, axis=0), axis=1)])
    ends = [0.0, *np.interp(at[list(stops)], shares, length), length[-1]]
    wanted = [np.zeros(1)]
    for a, b in pairwise(ends):
        wanted.append(np.linspace(a, b, _pieces(b - a, spacing) + 1)[1:])
    return np.asarray(spline(np.interp(np.concatenate(wanted), length, shares)))


def _pieces(length: float, spacing: float) -> int:
    return max(1, round(float(length) / spacing))


@dataclass(eq=False)
class RodDraft:
    """Curves as they are at rest; where two have a point in common they are joined.

    A node of three edges or more, or of two at a corner, is a rigid joint, unless it is
    a hinge, and so is one where a limb ends, where each half edge follows its own;
    bends have the stiffness of `small_turns`, whatever they turn by.

    Attributes
    ----------
    clamps : ends and the stiffness, N m/rad, with which their direction is held
    masses : nodes and kg
    """

    points: list[Point] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    limbs: list[int] = field(default_factory=list)
    hinges: set[int] = field(default_factory=set)
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
        distance = np.linalg.norm(np.array(self.points) - at, axis=1)
        k = int(np.argmin(distance))
        ends = [self.points[j] for edge in self.edges if k in edge for j in edge]
        edge = float(np.linalg.norm(np.subtract(ends, self.points[k]), axis=1).max())
        if not distance[k] <= NEAR * edge:
            x, y = self.points[k]
            raise ValueError(
                f"there is no node at ({at[0]:g}, {at[1]:g}) m: the nearest is "
                f"{distance[k]:.3g} m away, at ({x:g}, {y:g}) m"
            )
        return k

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
        bends = _triples([(n[0], k, n[1]) for k, n in around.items() if len(n) == 2])
        limbs, (i, j, k) = self._limbs_of(bends), points[bends.T]
        e, f = j - i, k - j
        cross = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
        turned = np.degrees(np.arctan2(np.abs(cross), np.sum(e * f, axis=1)))
        bound = np.select([limbs == SEAM, limbs == PASSIVE], [-1.0, CORNER], UNBENT)
        sharp = turned > bound
        plain = ~sharp & ~np.isin(bends[:, 1], list(self.hinges))
        rod = network(
            points, np.array(self.edges), bends[plain], self.sections,
            edge_limb=np.array(self.limbs), bend_limb=limbs[plain],
            joints=sorted({*rigid, *bends[sharp, 1].tolist()} - self.hinges),
        )  # fmt: skip
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

    def _limbs_of(self, bends: Ints) -> Ints:
        """The limb of each bend: that of both its edges, or SEAM where they differ."""
        of = {frozenset(e): k for e, k in zip(self.edges, self.limbs, strict=True)}
        sides = [
            (of[frozenset((i, j))], of[frozenset((j, k))]) for i, j, k in bends.tolist()
        ]
        return np.array([a if a == b else SEAM for a, b in sides], dtype=np.int64)

    def _section_at(self, node: int) -> Section:
        which = next(m for m, edge in enumerate(self.edges) if node in edge)
        return self.sections[which]


def _triples(bends: list[tuple[int, int, int]]) -> Ints:
    return np.array(bends, dtype=np.int64).reshape(-1, 3)


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
            f"a clamp at ({x:g}, {y:g}) m holds an end, but {len(first)} edges meet "
            "there: clamp the free end of a short rod that begins there"
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
