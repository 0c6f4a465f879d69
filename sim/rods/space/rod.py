"""Rods in space as nodes, edges with a material frame each, and bends between edges.

The frame of an edge is its tangent t and two directors d1, d2 = t x d1 of its section
(Bergou et al., ACM TOG 27 (2008); 29 (2010)). A bend has the turning of its edges about
both directors and about the tangent. In the plane z = 0 with d2 along z it is the
planar rod of [Hu20].

Cross-sections (`disc`, `tube`, `rectangle`) with a material give stiffness and inertia.
`SpaceElements` are the arrays of a rod that compiled loops read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Checked, Choice, Positive
from sim.rods.plane.rod import (
    PoissonRatio,
    refuse_bad_lengths,
    refuse_unless_positive_all,
    refuse_unless_there,
)
from sim.rods.space.frames import (
    SpaceState,
    edge_lengths,
    edge_tangents,
    of_runs,
    run_ends,
    start,
    turning,
)

TERMS = 40  # of the series for a rectangle's torsion: 1e-9 of it is left out


class RodSection(NamedTuple):
    """Moments of an area about its material axes d1 and d2.

    Attributes
    ----------
    area : m^2
    second : about d1 and about d2, m^4
    torsion : J of Saint-Venant, m^4
    """

    area: float
    second: tuple[float, float]
    torsion: float

    @property
    def polar(self) -> float:
        """m^4."""
        return self.second[0] + self.second[1]


def disc(radius: float) -> RodSection:
    """A full circle, radius in m."""
    if not radius > 0.0:
        raise ValueError(f"section: radius must be positive, not {radius:g}")
    return tube(radius, 0.0)


def tube(radius: float, bore: float) -> RodSection:
    """A circle with a hole in its middle, radii in m; without one, a full circle."""
    if not 0.0 <= bore < radius:
        raise ValueError(
            f"section: the bore radius {bore:g} m is not smaller than the outer radius "
            f"{radius:g} m: make it smaller"
        )
    second = 0.25 * np.pi * (radius**4 - bore**4)
    area = np.pi * (radius**2 - bore**2)
    return RodSection(area, (second, second), 2.0 * second)


def rectangle(along_1: float, along_2: float) -> RodSection:
    """A rectangle with its sides, m, along d1 and d2.

    Torsion by Timoshenko and Goodier, Theory of Elasticity, eq. (160).
    """
    for side in (along_1, along_2):
        if not side > 0.0:
            raise ValueError(f"section: side must be positive, not {side:g}")
    b, a = sorted((along_1, along_2))
    odd = 2.0 * np.arange(TERMS) + 1.0
    series = np.sum(np.tanh(0.5 * np.pi * odd * a / b) / odd**5)
    torsion = a * b**3 / 3.0 * (1.0 - 192.0 * b / (np.pi**5 * a) * series)
    second = along_1 * along_2**3 / 12.0, along_2 * along_1**3 / 12.0
    return RodSection(along_1 * along_2, second, float(torsion))


@dataclass(frozen=True)
class SpaceMaterial(Checked):
    """Linear and isotropic: Pa, kg/m^3."""

    of = "material"
    modulus: Positive
    density: Positive
    poisson: PoissonRatio = 0.5

    @property
    def shear(self) -> float:
        """G, Pa."""
        return self.modulus / (2.0 * (1.0 + self.poisson))


ACROSS = 1e-6  # of a director, which may be along its edge
FOLDED = 1e-9  # 1 + cos of the angle between two edges that turn back


class StretchLaw(Choice):
    """How stiffness follows stretch."""

    HOOKE = "hooke"  # not at all, as in the plane
    RUBBER = "rubber"  # incompressible and neo-Hookean, sections grow and shrink


@dataclass(frozen=True, eq=False)
class SpaceRod:
    """A rod or network of rods, at rest where its strains are the natural ones.

    Attributes
    ----------
    nodes : (n, 3) m, start positions
    directors : (m, 3) d1 of each edge, of unit length and across it
    edges : (m, 2) nodes of each edge, from tail to head
    bends : (b, 2) runs that meet at a node: edge e, or m + e, edge e backwards. Along
        a rod the head of the first is the tail of the second
    rest_length : (m,) m
    voronoi : (b,) m, the length of rod that a bend stands for
    stretching : (m,) EA, N
    bending : (b, 2) EI about d1 and d2, N m^2
    twisting : (b,) GJ, N m^2
    curvature : (b, 3) natural, about d1, d2 and t, 1/m
    mass : (n,) kg
    inertia : (m,) of edges about themselves, kg m^2
    held : (n, 3) coordinates that stay
    held_frames : (m,) edges whose frame does not turn about the edge
    hinges : (k, 2) edges that meet at a node and turn about an axis there
    axes : (k, 2, 3, 3) in the frame (t, d1, d2) of both: the axis, and two across it
    hinge_stiffness : (k, 3) N m that keep their axes together, from leaning towards
        either of the two across, and N m/rad about them
    law : how stiffness follows stretch
    hinge_friction : (k,) N m, moments about their axes that dry hinges turn by at least
    """

    nodes: Floats
    directors: Floats
    edges: Ints
    bends: Ints
    rest_length: Floats
    voronoi: Floats
    stretching: Floats
    bending: Floats
    twisting: Floats
    curvature: Floats
    mass: Floats
    inertia: Floats
    held: Bools
    held_frames: Bools
    hinges: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    axes: Floats = field(default_factory=lambda: np.empty((0, 2, 3, 3)))
    hinge_stiffness: Floats = field(default_factory=lambda: np.empty((0, 3)))
    law: StretchLaw = StretchLaw.HOOKE
    hinge_friction: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        _refuse_bad_edges(self.nodes, self.edges, self.rest_length)
        _refuse_bad_bends(self.nodes, self.edges, self.bends)
        _refuse_bad_directors(self)
        for b in np.flatnonzero(~np.isfinite(self.curvature).all(axis=1)).tolist():
            raise ValueError(
                f"rod: curvature of bend {b} must be finite, not {self.curvature[b]}"
            )
        refuse_unless_positive_all(
            self, "stretching", "bending", "twisting", "mass", "inertia", "voronoi"
        )

    @property
    def state(self) -> SpaceState:
        """Nodes and frames at the start."""
        return start(self.nodes, self.directors, self.edges, self.bends)

    @property
    def pairs(self) -> Ints:
        """(b + k, 2) runs of bends, then edges of hinges."""
        return np.vstack([self.bends, self.hinges])

    @property
    def length(self) -> float:
        """At rest, of all edges, m."""
        return float(self.rest_length.sum())


def _refuse_bad_edges(nodes: Floats, edges: Ints, rest_length: Floats) -> None:
    refuse_unless_there(edges, "edge", "node", len(nodes))
    refuse_bad_lengths(nodes, edges, rest_length)


def _refuse_bad_directors(rod: SpaceRod) -> None:
    along = np.sum(rod.directors * edge_tangents(rod.nodes, rod.edges), axis=1)
    size = np.linalg.norm(rod.directors, axis=1)
    fine = (np.abs(along) <= ACROSS) & (np.abs(size - 1.0) <= ACROSS)
    for k in np.flatnonzero(~fine).tolist():
        raise ValueError(
            f"rod: the director {rod.directors[k]} of edge {k} has the component "
            f"{along[k]:.3g} along it: give a unit vector normal to it"
        )


def _refuse_bad_bends(nodes: Floats, edges: Ints, bends: Ints) -> None:
    number, way = of_runs(bends, len(edges))
    backwards = (bends >= len(edges)) & (bends < 2 * len(edges))
    there = np.where(backwards, number, bends)
    refuse_unless_there(there, "bend", "edge", len(edges))
    t = edge_tangents(nodes, edges)
    for b, ((tail, end), (begin, head)) in enumerate(run_ends(edges, bends).tolist()):
        (e, f), (one, other) = number[b].tolist(), way[b]
        if not {tail, end} & {begin, head}:
            raise ValueError(
                f"rod: bend {b}: edge {e} ends at node {end}, edge {f} begins at node "
                f"{begin}: name edges that follow each other"
            )
        if 1.0 + one * other * (t[e] @ t[f]) <= FOLDED:
            at = ", ".join(f"{value:g}" for value in nodes[end])
            raise ValueError(
                f"rod: bend {b} at node {end}, ({at}) m, turns back by 180 degrees: "
                f"move node {head}"
            )


def carried_directors(nodes: Floats, edges: Ints, first: Floats) -> Floats:
    """(m, 3) d1 of a chain, from that of its first edge without twist.

    Parameters
    ----------
    first : (3,) any vector with a part across the first edge
    """
    t = edge_tangents(nodes, edges)
    d = first - (first @ t[0]) * t[0]
    size = float(np.linalg.norm(d))
    if not size > 1e-6 * float(np.linalg.norm(first)):
        raise ValueError(
            f"rod: the first director {first} is parallel to the first edge: change it"
        )
    found = [d / size]
    for a, b in pairwise(t):
        d = found[-1]
        found.append(d - (d @ b) / (1.0 + a @ b) * (a + b))
    return np.array(found)


def through(
    nodes: Floats,
    material: SpaceMaterial,
    sections: RodSection | Sequence[RodSection],
    *,
    first: Sequence[float] = (0.0, 1.0, 0.0),
    closed: bool = False,
    law: StretchLaw = StretchLaw.HOOKE,
) -> SpaceRod:
    """One rod through the nodes in their order, at rest in their shape, untwisted.

    Parameters
    ----------
    nodes : (n, 3) m
    sections : of all edges, or of each
    first : d1 of the first edge, made to be across it
    closed : the last node is joined to the first; what twist closing leaves is natural
    """
    nodes = np.ascontiguousarray(nodes, dtype=np.float64)
    if nodes.ndim != 2 or nodes.shape[1] != 3:
        raise ValueError(f"rod: nodes have the shape {nodes.shape}: give rows of x y z")
    n = len(nodes)
    edges, bends = _chain(n, closed)
    m = len(edges)
    length = edge_lengths(nodes, edges)
    _refuse_bad_edges(nodes, edges, length)
    _refuse_bad_bends(nodes, edges, bends)
    each = [sections] * m if isinstance(sections, RodSection) else list(sections)
    if len(each) != m:
        raise ValueError(f"rod: {len(each)} sections for {m} edges: give one per edge")
    EI = material.modulus * np.array([s.second for s in each])
    GJ = material.shear * np.array([s.torsion for s in each])
    directors = carried_directors(nodes, edges, np.asarray(first, dtype=np.float64))
    voronoi = 0.5 * (length[bends[:, 0]] + length[bends[:, 1]])
    state = start(nodes, directors, edges, bends)
    half = 0.5 * material.density * np.array([s.area for s in each]) * length
    return SpaceRod(
        nodes=nodes,
        directors=directors,
        edges=edges,
        bends=bends,
        rest_length=length,
        voronoi=voronoi,
        stretching=material.modulus * np.array([s.area for s in each]),
        bending=0.5 * EI[bends].sum(axis=1),
        twisting=0.5 * GJ[bends].sum(axis=1),
        curvature=turning(state, edges, bends) / voronoi[:, None],
        mass=np.bincount(edges.T.ravel(), np.tile(half, 2), n).astype(np.float64),
        inertia=material.density * np.array([s.polar for s in each]) * length,
        held=np.zeros((n, 3), dtype=np.bool_),
        held_frames=np.zeros(m, dtype=np.bool_),
        law=law,
    )


def _chain(n: int, closed: bool) -> tuple[Ints, Ints]:
    """Edges (m, 2) from node to node, and bends (b, 2) from edge to edge."""
    if n < 3:
        raise ValueError(f"rod: a chain needs 3 nodes or more, not {n}")
    m = n if closed else n - 1
    k = np.arange(m)
    edges = np.column_stack([k, (k + 1) % n])
    k = np.arange(m if closed else m - 1)
    return edges, np.column_stack([k, (k + 1) % m])


def together(*rods: SpaceRod) -> SpaceRod:
    """Several rods as one, whose nodes, edges and bends follow each other."""
    laws = {rod.law.value for rod in rods}
    if len(laws) > 1:
        raise ValueError(f"rods: stretch laws are {sorted(laws)}: give all the same")
    nodes = np.cumsum([0, *(len(rod.nodes) for rod in rods)])
    edges = np.cumsum([0, *(len(rod.edges) for rod in rods)])
    joined = {
        name: np.concatenate([getattr(rod, name) for rod in rods])
        for name in (one.name for one in fields(SpaceRod) if one.name != "law")
    }
    for name, first in (("edges", nodes), ("hinges", edges)):
        own = [getattr(rod, name) + k for rod, k in zip(rods, first[:-1], strict=True)]
        joined[name] = np.concatenate(own)
    joined["bends"] = np.concatenate(
        [
            rod.bends
            + np.where(rod.bends < len(rod.edges), k, k + edges[-1] - len(rod.edges))
            for rod, k in zip(rods, edges[:-1], strict=True)
        ]
    )
    return SpaceRod(**joined, law=rods[0].law)


def strains_at_rest(rod: SpaceRod) -> Floats:
    """(b, 3) strains of a rod in its present shape, 1/m."""
    found = turning(rod.state, rod.edges, rod.bends)
    return np.asarray(found / rod.voronoi[:, None])


def clamped(rod: SpaceRod, *edges: int) -> SpaceRod:
    """The rod with both nodes and the frame of each of these edges held."""
    refuse_unless_there(np.array([edges]).T, "clamp", "edge", len(rod.edges))
    held, frames = rod.held.copy(), rod.held_frames.copy()
    chosen = list(edges)
    held[rod.edges[chosen].ravel()] = True
    frames[chosen] = True
    return replace(rod, held=held, held_frames=frames)


class SpaceElements(NamedTuple):
    """What the compiled loops read of a rod; names as in `SpaceRod`.

    Attributes
    ----------
    hinge_rest : (k, 3) natural strains of hinges, see `sim.rods.space.elastic_energy`
    """

    edges: Ints
    bends: Ints
    rest: Floats
    voronoi: Floats
    stretching: Floats
    bending: Floats
    twisting: Floats
    curvature: Floats
    hinges: Ints
    axes: Floats
    hinge_stiffness: Floats
    hinge_rest: Floats
    rubber: bool


def space_elements(rod: SpaceRod) -> SpaceElements:
    """The arrays of `rod`."""

    alike: dict[str, Any] = {
        name: np.ascontiguousarray(getattr(rod, name))
        for name in SpaceElements._fields
        if hasattr(rod, name)
    }
    return SpaceElements(
        **alike,
        rest=np.ascontiguousarray(rod.rest_length, dtype=np.float64),
        hinge_rest=np.zeros((len(rod.hinges), 3)),
        rubber=rod.law is StretchLaw.RUBBER,
    )


def copied(part: SpaceElements) -> SpaceElements:
    """Elements with arrays of their own."""
    arrays = {k: v.copy() for k, v in part._asdict().items() if k != "rubber"}
    return part._replace(**arrays)


def refill(own: SpaceElements, given: SpaceElements) -> None:
    """The arrays of one <- those of the other."""
    for array, values in zip(own[:-1], given[:-1], strict=True):
        array[...] = values
