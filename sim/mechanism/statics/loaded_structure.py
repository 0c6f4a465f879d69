"""A structure with elastic parts, its loads, and the growth of its parts.

A growth law is strain or turn at rest by a field (temperature, swelling, light or
time), as a table. Between the rows of the table the strain is linear in the field, and
so is its standard uncertainty u, which is one error of the whole table; beyond them
nothing is known. What a rest has of the tables' uncertainty is what each u changes, one
more rest each; squares add up.

The length at rest of thermal links follows temperature. A strut of length L between two
nodes is made of a material that, when free, is lambda times as long as when it was
made. Where struts cross, the material has no direction of its own, and does not
contract: of each strut a node takes the length d. At rest a link is then

    l0 = d + (L - d) lambda,     k = E A / ((L - d) lambda)

long and stiff: its strain is 1 - d/L times that of the material. With d = 0 it is that
of a pin-jointed truss. A strand that is printed straight through nodes keeps more of
its direction there than one that ends at them, so d may differ between struts. The
energy is that of `sim.mechanism.statics.elastic_parts`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sim.core.arrays import Floats, Ints, connected, refuse_first
from sim.mechanism.constraints import (
    NODES,
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
    dot,
    fix,
)
from sim.mechanism.statics.elastic_parts import Elastic
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target

NAMED = 6  # nodes in a message


@dataclass(frozen=True, eq=False)
class LoadedStructure:
    """A structure, what is elastic in it, and what acts on it.

    Attributes
    ----------
    structure : its constraints are rigid, its FIX rows are supports
    force : (n, 3) load on each node, which keeps its direction
    spring : (n,) stiffness by which each node hangs on the target
    """

    structure: Structure
    elastic: Elastic
    force: Floats
    spring: Floats
    target: Target | None = None

    def __post_init__(self) -> None:
        self.elastic.check(self.structure.r0)
        refuse_first(
            ~np.isfinite(self.force).all(axis=1),
            lambda node: f"the load on node {node} is not finite: correct it",
        )
        if not (np.isfinite(self.spring) & (self.spring >= 0.0)).all():
            raise ValueError("springs to the target must have a stiffness of 0 or more")
        if self.spring.any() and self.target is None:
            raise ValueError("springs to a target need a target: add one")

    @property
    def size(self) -> float:
        """Of the structure, its diagonal."""
        diagonal = float(np.linalg.norm(np.ptp(self.structure.r0, axis=0)))
        return diagonal if diagonal > 0.0 else 1.0

    @property
    def stiffness(self) -> float:
        """The largest, force / length."""
        own = self.elastic
        i, j, k, wing = self.structure.r0[own.hinges].transpose(1, 0, 2)
        arm = np.minimum(
            np.linalg.norm(i - j, axis=1), np.linalg.norm(wing - k, axis=1)
        )
        values = (
            np.abs(self.force) / self.size, self.spring, own.link_stiffness,
            own.panels.stiffness, own.hinge_stiffness / arm**2,
        )  # fmt: skip
        return max(float(each.max(initial=0.0)) for each in values) or 1.0


def two_bars(
    height: float = 0.3, stiffness: float = 50.0, load: float = 0.0
) -> LoadedStructure:
    """The truss of von Mises: half span 1, its apex free in the plane xz.

    Parameters
    ----------
    height : of the apex above the supports, at rest
    stiffness : of each bar, force / length
    load : downwards on the apex
    """
    r = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, height]])
    rows = [*fix(r, 0), *fix(r, 1), Constraint(ConstraintKind.FIX, (2, 1), 0.0)]
    bars = np.array([[0, 2], [1, 2]])
    structure = Structure(r, ConstraintTable.of(rows), np.arange(3), ((0, 2), (1, 2)))
    force = np.zeros((3, 3))
    force[2, 2] = -load
    return LoadedStructure(
        structure, Elastic.between(r, bars, stiffness), force, np.zeros(3)
    )


def refuse_free_translation(loaded: LoadedStructure) -> None:
    """Refuse loads that carry away a part that nothing holds.

    A part is whatever is joined by constraints and elastic parts. Along an axis it is
    held by a support along that axis, and by a spring to the target.
    """
    part, held = _parts(loaded), np.zeros((len(loaded.force), 3), dtype=np.bool_)
    table = loaded.structure.constraints
    fixed = table.nodes[table.kind == ConstraintKind.FIX, :2]
    held[fixed[:, 0], fixed[:, 1]] = True
    held[loaded.spring > 0.0] = True
    largest = float(np.abs(loaded.force).max(initial=0.0))
    for p in range(int(part.max()) + 1):
        nodes = np.flatnonzero(part == p)
        free = ~held[nodes].any(axis=0)
        total = np.where(free, loaded.force[nodes].sum(axis=0), 0.0)
        if np.abs(total).max() > 1e-12 * largest:
            axis = int(np.argmax(np.abs(total)))
            raise ValueError(
                f"nothing resists the load of {total[axis]:.4g} on {_names(nodes)} "
                f"along {'xyz'[axis]}: add a support or a spring, or balance the loads"
            )


def _parts(loaded: LoadedStructure) -> Ints:
    """(n,) the part that each node belongs to."""
    n, table = len(loaded.force), loaded.structure.constraints
    groups = [
        row[: NODES[kind]]
        for row, kind in zip(table.nodes, table.kind, strict=True)
        if kind != ConstraintKind.FIX
    ]
    elastic = loaded.elastic
    groups += [*elastic.links, *elastic.hinges, *elastic.panels.nodes]
    pairs = [(group[0], node) for group in groups for node in group]
    return connected(np.array(pairs, dtype=np.int64).reshape(-1, 2), n)[1]


def _names(nodes: Ints) -> str:
    few = ", ".join(map(str, nodes[:NAMED].tolist()))
    more = f" and {len(nodes) - NAMED} more" if len(nodes) > NAMED else ""
    return f"node{'s' * (len(nodes) > 1)} {few}{more}"


@dataclass(frozen=True, eq=False)
class GrowthLaw:
    """Strain of a material, or turn of a hinge, at rest.

    Attributes
    ----------
    field : (q,) ascending, in a unit of its own
    strain, u : (q,) change of length over length, and its standard uncertainty; of a
        hinge its turn, rad
    """

    field: Floats
    strain: Floats
    u: Floats

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[float]],
        name: str = "strain",
        *,
        turn: bool = False,
    ) -> "GrowthLaw":
        """From rows of field, strain and u, or of field, turn and u."""
        what = "turn" if turn else "strain"
        for i, row in enumerate(rows):
            if len(row) != 3 or not np.isfinite(row).all():
                raise ValueError(
                    f"{name}[{i}] is {list(row)}: give field, {what}, uncertainty"
                )
            if not (turn or row[1] > -1.0) or row[2] < 0.0:
                bound = "" if turn else "the strain must be above -1, and "
                raise ValueError(f"{name}[{i}] is {list(row)}: {bound}u 0 or more")
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
        if len(table) < 2 or not (np.diff(table[:, 0]) > 0.0).all():
            raise ValueError(
                f"{name} needs two rows or more; their field must increase"
            )
        return cls(*table.T)

    def at(self, value: float) -> tuple[float, float]:
        """Strain and u at a value of the field."""
        low, high = float(self.field[0]), float(self.field[-1])
        if not low <= value <= high:
            raise ValueError(
                f"the field {value:g} is outside its table, {low:g} to {high:g}: "
                "choose a value within it, or extend the table"
            )
        strain, u = (
            float(np.interp(value, self.field, c)) for c in (self.strain, self.u)
        )
        return strain, u


def _none() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Growth:
    """Parts of one material.

    Attributes
    ----------
    links, hinges, panels : which elastic ones of each
    rigid : rows of the constraints that are rigid links
    law : of the strain of links and panels, or of the turn of hinges
    """

    law: GrowthLaw
    links: Ints = field(default_factory=_none)
    hinges: Ints = field(default_factory=_none)
    panels: Ints = field(default_factory=_none)
    rigid: Ints = field(default_factory=_none)


@dataclass(frozen=True, eq=False)
class GrowingStructure(LoadedStructure):
    """A structure some of whose parts grow; as it is, none has grown.

    Attributes
    ----------
    growths : no part is in two of them
    """

    growths: tuple[Growth, ...] = ()

    def strains(self, value: float) -> tuple[Floats, Floats]:
        """(q,) strain or turn of each growth at a value of the field, and its u."""
        found = np.array([growth.law.at(value) for growth in self.growths])
        strain, u = found.reshape(-1, 2).T
        return strain, u

    def grown(self, strains: Floats) -> LoadedStructure:
        """At the strain or turn (q,) of each growth."""
        elastic = self.elastic
        links, hinges, panels = (
            np.zeros(len(parts))
            for parts in (elastic.links, elastic.hinges, elastic.panels)
        )
        for growth, strain in zip(self.growths, strains, strict=True):
            links[growth.links] = strain
            hinges[growth.hinges] = strain
            panels[growth.panels] = strain
        return LoadedStructure(
            self._with_lengths(strains),
            elastic.grown(links, hinges, panels),
            self.force,
            self.spring,
            self.target,
        )

    def _with_lengths(self, strains: Floats) -> Structure:
        """The structure with rigid links as long as they have grown."""
        table = self.structure.constraints
        square = table.constant.copy()
        for growth, strain in zip(self.growths, strains, strict=True):
            square[growth.rigid] *= (1.0 + strain) ** 2
        return replace(self.structure, constraints=replace(table, constant=square))


def spread(
    quantity: Callable[[Floats], Floats], here: Floats, strains: Floats, u: Floats
) -> Floats:
    """Standard uncertainty of a quantity, from that u (q,) of the strains (q,).

    Parameters
    ----------
    here : the quantity at `strains` themselves
    """
    parts = [
        quantity(strains + u * (np.arange(len(u)) == i)) - here
        for i in np.flatnonzero(u)
    ]
    squares = np.square(np.reshape(parts, (-1, *here.shape)))
    return np.asarray(np.sqrt(squares.sum(axis=0)))


ASIDE = 0.5  # of a bar's length, how far a node that keeps the bar rigid lies off it


@dataclass(frozen=True, eq=False)
class Strut:
    """What links are made of, each by its own values.

    Attributes
    ----------
    stretch : (l,) length of the free material over that when it was made, lambda
    modulus : (l,) E, of cross-sections of area 1
    node_diameter : () or (l,) d, the length of a strut that nodes take
    """

    stretch: Floats
    modulus: Floats
    node_diameter: Floats | float = 0.0

    def __post_init__(self) -> None:
        for name, values in (("stretch", self.stretch), ("modulus", self.modulus)):
            for i in np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))[:1]:
                raise ValueError(f"{name} {values[i]:g} of strut {i} must be positive")
        d = np.ravel(self.node_diameter)
        if not ((d >= 0.0) & (d < np.inf)).all():
            raise ValueError(f"node_diameter {d.min():g} must be 0 or more")


def thermal_links(r: Floats, links: Ints, struts: Strut) -> Elastic:
    """Links between nodes where they were made, `r` (n, 3).

    Parameters
    ----------
    links : (l, 2) nodes
    """
    L = np.linalg.norm(r[links[:, 1]] - r[links[:, 0]], axis=1)
    d = np.broadcast_to(struts.node_diameter, L.shape)
    refuse_first(
        L - d <= 0.0,
        lambda i: (
            f"node_diameter {d[i]:g} of strut {i} must be below its length {L[i]:g}"
        ),
    )
    free = (L - d) * struts.stretch
    stiffness = struts.modulus / free
    return replace(
        Elastic.none(), links=links, link_stiffness=stiffness, rest_length=d + free
    )


@dataclass(frozen=True, eq=False)
class BarredLattice:
    """A flat lattice, one row of nodes held, another a rigid bar that moves and turns.

    Its constraints are set up once and serve all struts. One node is added after the
    others: with it the nodes of the bar, which are on a line, are a rigid body.

    Attributes
    ----------
    structure : of the nodes where they were made, and that one
    links : (l, 2) nodes
    """

    structure: Structure
    links: Ints

    @classmethod
    def of(cls, r: Floats, links: Ints, held: Ints, bar: Ints) -> "BarredLattice":
        """A lattice made at `r` (n, 3), in the plane z = 0; nodes of its two rows."""
        made = np.vstack([r, _beside(r, bar, held)])
        rows = [fix(made, j)[2] for j in range(len(made))]
        rows += [row for j in held.tolist() for row in fix(made, j)[:2]]
        rows += _rigid_in_plane(made, bar, len(r))
        bodies = (tuple(bar.tolist()), *map(tuple, links.tolist()))
        table = ConstraintTable.of(rows)
        return cls(Structure(made, table, np.arange(len(r)), bodies), links)

    def with_struts(self, struts: Strut, shrunk: float = 0.0) -> LoadedStructure:
        """The lattice of these struts, in units of (1 - shrunk).

        In them both rows keep the length they were made with: a rest of links whose
        lengths at rest are all divided by one number is divided by it too.

        Parameters
        ----------
        shrunk : strain by which both rows are shorter than when they were made
        """
        r = self.structure.r0
        links = thermal_links(r, self.links, struts)
        links = replace(links, rest_length=links.rest_length / (1.0 - shrunk))
        nothing = np.zeros_like(r)
        return LoadedStructure(self.structure, links, nothing, nothing[:, 0])


def _beside(r: Floats, bar: Ints, held: Ints) -> Floats:
    """(3,) a place off the line of the bar, on the side away from the lattice."""
    first, last = r[bar[0]], r[bar[-1]]
    along, middle = last - first, (first + last) / 2.0
    across = np.array([-along[1], along[0], 0.0])
    away = np.sign(across @ (middle - r[held].mean(axis=0)))
    return np.asarray(middle + ASIDE * away * across)


def _rigid_in_plane(r: Floats, bar: Ints, aside: int) -> list[Constraint]:
    """Rows that leave a flat body three motions in its plane, none of them twice."""
    a, b = int(bar[0]), int(bar[-1])
    rows = [dist(r, a, b), dist(r, b, aside), dist(r, aside, a)]
    for inner in bar[1:-1].tolist():
        rows += [dot(r, a, inner, a, b), dot(r, a, inner, b, aside)]
    return rows
