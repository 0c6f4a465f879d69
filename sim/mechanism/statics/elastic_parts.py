"""Elastic links, hinges and panels: their energy, its slope and its curvature.

    link   U = k/2 (l - l0)^2              l the distance of two nodes
    hinge  U = k/2 (theta - theta0)^2      theta as in `sim.core.hinges`, pi when flat
    panel  see below

The tension of a link is k (l - l0), positive when it is stretched; the moment of a
hinge is k (theta - theta0), positive where its angle is larger than at rest. [dJ23] has
rigid links and free joints only, and names stiffness as a next step (Discussion).

Angles have no jump at half or whole turns: of all values that differ by 2 pi the one
closest to the angle before is taken.

Panels are triangles in plane stress, whose shape at rest may grow. With e = [r_b - r_a,
r_c - r_a] the sides in space, (3, 2), and D those at rest in the panel's own plane, (2,
2), the deformation gradient is F = e D^-1, and

    G = (F^T F - I) / 2,    U = V E / (2 (1 - nu^2)) ((1 - nu) G : G + nu (tr G)^2),

the constant strain triangle of a St. Venant-Kirchhoff material (Bonet and Wood,
Nonlinear Continuum Mechanics, 2008, ch. 9), V = area x thickness at rest. With q =
(G11, G22, 2 G12) each strain is a quadratic form in the nine coordinates x, q_k = x .
M_k x / 2 + const, and so U has the curvature V (B^T C B + sum_k sigma_k M_k) with B =
dq/dx and sigma = C q. A panel alone does not resist bending: hinges between panels do.

In a hinged sheet triangles share their sides, which are hinges. A sheet with b nodes on
its rim bends in b - 3 ways as long as its sides are rigid.
"""

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats, Ints, refuse_first
from sim.core.hinges import hinge_angle, slopes_of_hinges
from sim.core.options import is_count, is_positive
from sim.mechanism.constraints import ConstraintKind, ConstraintTable
from sim.mechanism.structure import Structure

SIDES = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])  # of the three corners


def _none(*shape: int) -> Floats:
    return np.empty((0, *shape))


@dataclass(frozen=True, eq=False)
class Panels:
    """Triangles of sheet.

    Attributes
    ----------
    nodes : (p, 3)
    rest : (p, 2, 2) D, sides at rest as columns
    modulus, poisson, thickness : (p,) E, nu, length
    """

    nodes: Ints = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))
    rest: Floats = field(default_factory=lambda: _none(2, 2))
    modulus: Floats = field(default_factory=_none)
    poisson: Floats = field(default_factory=_none)
    thickness: Floats = field(default_factory=_none)

    def __post_init__(self) -> None:
        stiff = np.isfinite(self.stiffness) & (self.stiffness > 0.0)
        refuse_first(
            ~stiff,
            lambda i: f"modulus and thickness of panel {i} must be positive and finite",
        )
        refuse_first(
            ~((self.poisson > -1.0) & (self.poisson < 1.0)),
            lambda i: (
                f"Poisson's ratio {self.poisson[i]:g} of panel {i} must be in (-1, 1)"
            ),
        )
        refuse_first(
            ~(np.linalg.det(self.rest) > 0.0),
            lambda i: (
                f"panel {i} has no area at rest: move a corner, or limit its strain"
            ),
        )

    @classmethod
    def between(
        cls,
        r: Floats,
        nodes: Ints,
        modulus: Floats | float,
        poisson: Floats | float,
        thickness: Floats | float,
    ) -> "Panels":
        """At rest in `r` (n, 3); all alike, or each by its own numbers."""
        u, v = (r[nodes[:, i]] - r[nodes[:, 0]] for i in (1, 2))
        along = np.linalg.norm(u, axis=1)
        least = np.maximum(along, 1e-300)  # corners at one place are refused below
        shift = np.einsum("pi,pi->p", u, v) / least
        height = np.linalg.norm(np.cross(u, v), axis=1) / least
        rest = np.array([[along, shift], [np.zeros(len(u)), height]])
        each = (
            np.broadcast_to(np.asarray(x, dtype=np.float64), len(nodes)).copy()
            for x in (modulus, poisson, thickness)
        )
        return cls(nodes, rest.transpose(2, 0, 1).copy(), *each)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def stiffness(self) -> Floats:
        """(p,) E t, force / length."""
        return np.asarray(self.modulus * self.thickness)

    def grown(self, strain: Floats) -> "Panels":
        """The same with sides at rest longer by the strain (p,) in every direction."""
        rest = self.rest * (1.0 + strain)[:, None, None]
        return Panels(self.nodes, rest, self.modulus, self.poisson, self.thickness)

    def scaled(self, m: float) -> "Panels":
        """The same in a unit of length that is 1 / m of theirs."""
        return Panels(
            self.nodes,
            m * self.rest,
            self.modulus / m**2,
            self.poisson,
            m * self.thickness,
        )

    @cached_property
    def forms(self) -> Floats:
        """(p, 3, 3, 3) of q_k in the corners: M_k is the same for each axis."""
        P = np.einsum("pab,ai->pbi", np.linalg.inv(self.rest), SIDES)
        first, other = P[:, 0], P[:, 1]
        mixed = first[:, :, None] * other[:, None, :]
        return np.stack(
            [
                first[:, :, None] * first[:, None, :],
                other[:, :, None] * other[:, None, :],
                mixed + mixed.transpose(0, 2, 1),
            ],
            axis=1,
        )

    @cached_property
    def material(self) -> Floats:
        """(p, 3, 3) V C."""
        nu, C = self.poisson, np.zeros((len(self), 3, 3))
        C[:, 0, 0] = C[:, 1, 1] = 1.0
        C[:, 0, 1] = C[:, 1, 0] = nu
        C[:, 2, 2] = 0.5 * (1.0 - nu)
        area = 0.5 * np.linalg.det(self.rest)
        return np.asarray((area * self.stiffness / (1.0 - nu**2))[:, None, None] * C)

    def _corners(self, r: Floats) -> Floats:
        """(p, 3, 3) from the first of each: of whole coordinates rounding counts by the
        square of their size over the side."""
        return np.asarray(r[self.nodes] - r[self.nodes[:, :1]])

    def strain(self, r: Floats) -> Floats:
        """(p, 3) G11, G22, 2 G12 at `r` (n, 3)."""
        x = self._corners(r)
        square = np.einsum("pkij,pia,pja->pk", self.forms, x, x)
        return np.asarray(0.5 * (square - [1.0, 1.0, 0.0]))

    def stretched(self, r: Floats) -> "StretchedPanels":
        """Strains, forces and stiffness at `r` (n, 3)."""
        if not len(self):
            return StretchedPanels(
                _none(3), _none(3), _none(3, 9), 0.0, _none(9, 9), _none(9, 9)
            )
        q, M = self.strain(r), self.forms
        slope = np.einsum("pkij,pja->pkia", M, self._corners(r)).reshape(-1, 3, 9)
        force = np.einsum("pkl,pl->pk", self.material, q)
        along = np.einsum("pki,pkl,plj->pij", slope, self.material, slope)
        bent, tensile = (
            np.einsum("pk,pkij,ab->piajb", s, M, np.eye(3)).reshape(-1, 9, 9)
            for s in (force, _tension(force))
        )
        energy = 0.5 * float(np.einsum("pk,pk->", force, q))
        return StretchedPanels(q, force, slope, energy, along + bent, along + tensile)


class StretchedPanels(NamedTuple):
    """Panels at one configuration.

    Attributes
    ----------
    strain, force : (p, 3) q, and V sigma
    slope : (p, 3, 9) of q in the corners
    curvature, convex : (p, 9, 9) of the energy, and without what can be negative
    """

    strain: Floats
    force: Floats
    slope: Floats
    energy: float
    curvature: Floats
    convex: Floats

    @property
    def on_corners(self) -> Floats:
        """(p, 9) gradient of the energy of each panel."""
        return np.asarray(np.einsum("pk,pki->pi", self.force, self.slope))


def _tension(force: Floats) -> Floats:
    """The part of stresses (p, 3) with no negative principal value."""
    half, apart = 0.5 * (force[:, 0] + force[:, 1]), 0.5 * (force[:, 0] - force[:, 1])
    radius = np.hypot(apart, force[:, 2])
    least, most = half - radius, half + radius
    share = np.where(
        radius > 0.0,
        (np.maximum(most, 0.0) - np.maximum(least, 0.0))
        / np.maximum(2 * radius, 1e-300),
        0.0,
    )
    middle = 0.5 * (np.maximum(most, 0.0) + np.maximum(least, 0.0))
    part: Floats = np.stack(
        [middle + share * apart, middle - share * apart, share * force[:, 2]], axis=1
    )
    return part


@dataclass(frozen=True, eq=False)
class Elastic:
    """What is elastic in a structure.

    Attributes
    ----------
    links : (l, 2) the nodes of each link
    link_stiffness, rest_length : (l,) force / length, length
    hinges : (h, 4) nodes i, j, k, l of each hinge: j-k the axis, i and l the wings
    hinge_stiffness, rest_angle : (h,) moment / rad, rad
    panels : in plane stress
    """

    links: Ints
    link_stiffness: Floats
    rest_length: Floats
    hinges: Ints
    hinge_stiffness: Floats
    rest_angle: Floats
    panels: Panels = field(default_factory=Panels)

    def __post_init__(self) -> None:
        for name, stiffness in (
            ("link", self.link_stiffness),
            ("hinge", self.hinge_stiffness),
        ):
            for i in np.flatnonzero(~(np.isfinite(stiffness) & (stiffness > 0.0)))[:1]:
                raise ValueError(
                    f"stiffness {stiffness[i]} of elastic {name} {i} must be positive"
                )
        refuse_first(
            ~(np.isfinite(self.rest_length) & (self.rest_length >= 0)),
            lambda i: (
                f"rest length {self.rest_length[i]} of elastic link {i} is negative"
            ),
        )
        refuse_first(
            ~np.isfinite(self.rest_angle),
            lambda i: (
                f"rest angle {self.rest_angle[i]} of elastic hinge {i} must be finite"
            ),
        )

    @classmethod
    def none(cls) -> "Elastic":
        """Nothing elastic."""
        return cls.between(np.empty((0, 3)), np.empty((0, 2), np.int64), 1.0)

    @classmethod
    def between(
        cls,
        r: Floats,
        links: Ints,
        link_stiffness: float,
        hinges: Ints | None = None,
        hinge_stiffness: float = 1.0,
    ) -> "Elastic":
        """Links and hinges that are at rest in `r` (n, 3)."""
        if hinges is None:
            hinges = np.empty((0, 4), dtype=np.int64)
        return cls(
            links,
            np.full(len(links), float(link_stiffness)),
            np.linalg.norm(r[links[:, 1]] - r[links[:, 0]], axis=1),
            hinges,
            np.full(len(hinges), float(hinge_stiffness)),
            angles_of(hinges, r),
        )

    def grown(
        self,
        links: Floats | float = 0.0,
        hinges: Floats | float = 0.0,
        panels: Floats | float = 0.0,
    ) -> "Elastic":
        """The same with other lengths and angles at rest.

        Parameters
        ----------
        links, panels : strain of each, change of length over length
        hinges : turn of each, rad
        """
        return replace(
            self,
            rest_length=self.rest_length * (1.0 + np.asarray(links)),
            rest_angle=self.rest_angle + np.asarray(hinges),
            panels=self.panels.grown(np.broadcast_to(panels, len(self.panels))),
        )

    def add_forces(
        self, out: Floats, links: Floats, hinges: Floats, panels: Floats
    ) -> None:
        """Add forces (l, 6), (h, 12), (p, 9) of the parts on their nodes to `out`."""
        parts = (self.links, links), (self.hinges, hinges), (self.panels.nodes, panels)
        for nodes, forces in parts:
            if len(nodes):
                np.add.at(out, nodes, forces.reshape(*nodes.shape, 3))

    @cached_property
    def places(self) -> tuple[Ints, Ints]:
        """Of the entries that `Deformed.curvature` gives."""
        return elastic_entries(self.links, self.hinges, self.panels.nodes)

    def check(self, r: Floats) -> None:
        """Refuse nodes that are not there, and hinges without an angle in `r`."""
        parts = {"link": self.links, "hinge": self.hinges, "panel": self.panels.nodes}
        for name, elements in parts.items():
            _check_nodes(name, elements, len(r))
        apart = np.linalg.norm(r[self.links[:, 1]] - r[self.links[:, 0]], axis=1)
        refuse_first(
            (apart == 0.0) & (self.rest_length > 0.0),
            lambda i: (
                f"elastic link {i} joins nodes that coincide: give it the rest length 0"
            ),
        )
        for i, (a, j, k, b) in enumerate(self.hinges.tolist()):
            axis, size = r[k] - r[j], np.ptp(r, axis=0).max()
            for wing in (a, b):
                area = np.linalg.norm(np.cross(axis, r[wing] - r[j]))
                if not area > 1e-9 * size * np.linalg.norm(axis):
                    raise ValueError(
                        f"elastic hinge {i} has node {wing} on its axis {j}-{k}: "
                        "choose a node off the axis"
                    )


def _check_nodes(name: str, elements: Ints, n: int) -> None:
    for i, nodes in enumerate(elements.tolist()):
        if not all(0 <= node < n for node in nodes):
            raise ValueError(
                f"elastic {name} {i} names a node outside 0 to {n - 1}: correct it"
            )
        if len(set(nodes)) < len(nodes):
            raise ValueError(f"elastic {name} {i} names a node twice: name others")


@dataclass(frozen=True, eq=False)
class Deformed:
    """The elastic parts at one configuration.

    Attributes
    ----------
    length, tension : (l,)
    angle, moment : (h,) angles are continued from one configuration to the next
    energy : of all of them
    gradient : (n, 3) of the energy
    link_slope, hinge_slope : (l, 6), (h, 12) of lengths and angles in their nodes
    hinge_bend : (h, 12, 12) second derivatives of the angles
    panels : strains and forces of the panels
    """

    elastic: Elastic
    length: Floats
    tension: Floats
    angle: Floats
    moment: Floats
    energy: float
    gradient: Floats
    link_slope: Floats
    hinge_slope: Floats
    hinge_bend: Floats
    panels: StretchedPanels

    @cached_property
    def curvature(self) -> Floats:
        """Entries of the second derivative; see `elastic_entries`."""
        along, about = self._stiff
        bending = self.moment[:, None, None] * self.hinge_bend
        panels = self.panels.curvature
        return _lowers(along + self._turning, about + bending, panels)

    @cached_property
    def convex(self) -> Floats:
        """The same without the parts that can be negative."""
        along, about = self._stiff
        tensile = (self.tension > 0.0)[:, None, None] * self._turning
        return _lowers(along + tensile, about, self.panels.convex)

    @cached_property
    def _stiff(self) -> tuple[Floats, Floats]:
        """(l, 6, 6), (h, 12, 12) against changes of length and angle."""
        own = self.elastic
        return (
            _outer(own.link_stiffness, self.link_slope),
            _outer(own.hinge_stiffness, self.hinge_slope),
        )

    @cached_property
    def _turning(self) -> Floats:
        """(l, 6, 6) against turns of links."""
        e = self.link_slope[:, 3:]
        across = np.eye(3) - e[:, :, None] * e[:, None, :]
        pull = _pull_per_length(self.elastic, self.length, self.tension)
        across *= pull[:, None, None]
        return across[:, AXES[:, None], AXES] * SIGNS


AXES = np.tile(np.arange(3), 2)  # of the coordinates of a link
SIGNS = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.ones((3, 3)))  # of its two ends
lower_triangle = cache(np.tril_indices)


def elastic_entries(*elements: Ints) -> tuple[Ints, Ints]:
    """Places of the entries that `Deformed.curvature` gives, in a matrix (3n, 3n).

    Of links, hinges and panels, by their nodes (e, 2), (e, 4) and (e, 3).
    The lower triangle of every element's own matrix, moved to the lower triangle of
    the whole.
    """
    rows, cols = [], []
    for nodes in elements:
        width = 3 * nodes.shape[1]
        unknowns = (3 * nodes[:, :, None] + np.arange(3)).reshape(-1, width)
        i, j = lower_triangle(width)
        a, b = unknowns[:, i], unknowns[:, j]
        rows.append(np.maximum(a, b).ravel())
        cols.append(np.minimum(a, b).ravel())
    return np.concatenate(rows), np.concatenate(cols)


def angles_of(hinges: Ints, r: Floats, before: Floats | None = None) -> Floats:
    """(h,) angles of the hinges, those closest to `before`."""
    angle = np.array([hinge_angle(r[nodes]) for nodes in hinges])
    if before is None or len(angle) == 0:
        return angle
    turn = 2.0 * np.pi
    return np.asarray(angle + turn * np.round((before - angle) / turn))


def deform(elastic: Elastic, r: Floats, before: Floats) -> Deformed:
    """Forces, energy and stiffness at `r` (n, 3).

    Parameters
    ----------
    before : (h,) angles at a configuration close by
    """
    d = r[elastic.links[:, 1]] - r[elastic.links[:, 0]]
    length = np.linalg.norm(d, axis=1)
    e = d / np.maximum(length, 1e-300)[:, None]
    tension = elastic.link_stiffness * (length - elastic.rest_length)
    link_slope = np.concatenate([-e, e], axis=1)
    angle, hinge_slope, hessian = slopes_of_hinges(elastic.hinges, r)
    if len(angle):
        angle += 2.0 * np.pi * np.round((before - angle) / (2.0 * np.pi))
    moment = elastic.hinge_stiffness * (angle - elastic.rest_angle)
    gradient, panels = np.zeros_like(r), elastic.panels.stretched(r)
    pull, turn_back = tension[:, None] * link_slope, moment[:, None] * hinge_slope
    elastic.add_forces(gradient, pull, turn_back, panels.on_corners)
    return Deformed(
        elastic,
        length,
        tension,
        angle,
        moment,
        0.5 * float(tension @ (length - elastic.rest_length))
        + 0.5 * float(moment @ (angle - elastic.rest_angle))
        + panels.energy,
        gradient,
        link_slope,
        hinge_slope,
        hessian,
        panels,
    )


def _pull_per_length(elastic: Elastic, length: Floats, tension: Floats) -> Floats:
    """Tension over length; the stiffness where a link of no rest length has none."""
    ratio: Floats = tension / np.maximum(length, 1e-300)
    return np.where(elastic.rest_length == 0.0, elastic.link_stiffness, ratio)


def _outer(weight: Floats, slope: Floats) -> Floats:
    return np.asarray(weight[:, None, None] * slope[:, :, None] * slope[:, None, :])


def _lowers(*parts: Floats) -> Floats:
    """Lower triangles, one after the other."""
    each = [
        part[:, *lower_triangle(part.shape[1])].ravel() for part in parts if len(part)
    ]
    return np.concatenate([np.empty(0), *each])


def hinged_sheet(rows: int, columns: int, *, side: float = 1.0) -> Structure:
    """Rows of equilateral triangles in the plane z = 0, about the origin.

    Parameters
    ----------
    rows, columns : strips of triangles, and sides along each
    side : length, the case's unit
    """
    if not (is_count(rows) and is_count(columns)):
        raise ValueError(
            f"a sheet has {rows} rows and {columns} columns: give at least 1 of each"
        )
    if not is_positive(side):
        raise ValueError(f"side {side} of a sheet must be positive")
    j, i = np.divmod(np.arange((rows + 1) * (columns + 1)), columns + 1)
    x, y = i + 0.5 * (j % 2), np.sqrt(0.75) * j
    r0 = side * np.column_stack([x - x.mean(), y - y.mean(), np.zeros(len(x))])
    bodies: list[tuple[int, int, int]] = []
    for row in range(rows):
        for column in range(columns):
            a = row * (columns + 1) + column
            b, c, d = a + 1, a + columns + 1, a + columns + 2
            halves = ((a, b, c), (b, d, c)) if row % 2 == 0 else ((a, d, c), (a, b, d))
            bodies += halves
    faces = np.array(bodies)
    ends = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    table = ConstraintTable.links(r0, np.unique(ends, axis=0))
    return Structure(r0, table, np.arange(len(r0)), tuple(bodies))


def hinges_between(bodies: tuple[tuple[int, ...], ...]) -> Ints:
    """(h, 4) wing, axis, axis, wing of each two triangles that share a side."""
    wings: dict[tuple[int, int], list[int]] = {}
    found = []
    for body in bodies:
        if len(body) != 3:
            continue
        for turn in range(3):
            a, b, wing = body[turn], body[(turn + 1) % 3], body[(turn + 2) % 3]
            side = (min(a, b), max(a, b))
            for other in wings.setdefault(side, []):
                found.append((other, *side, wing))
            wings[side].append(wing)
    return np.array(found, dtype=np.int64).reshape(-1, 4)


def soft_links(structure: Structure, stiffness: float) -> tuple[Structure, Elastic]:
    """The structure without its links, and these as elastic ones."""
    table = structure.constraints
    links = table.kind == ConstraintKind.DIST
    elastic = Elastic.between(structure.r0, table.nodes[links, :2], stiffness)
    lengths = np.sqrt(table.constant[links])
    without = replace(structure, constraints=table.only(~links))
    return without, replace(elastic, rest_length=lengths)


def rigid_links(structure: Structure, elastic: Elastic) -> tuple[Structure, Elastic]:
    """The structure with the elastic links made rigid, and the hinges that remain."""
    links = replace(
        ConstraintTable.links(structure.r0, elastic.links),
        constant=elastic.rest_length**2,
    )
    joined = structure.constraints.followed_by(links)
    nothing: Floats = np.empty(0)
    hinges = replace(
        elastic,
        links=elastic.links[:0],
        link_stiffness=nothing,
        rest_length=nothing,
    )
    return replace(structure, constraints=joined), hinges
