"""Links whose length at rest follows temperature, held between two stiff bars.

A strut of length L between two nodes is made of a material that, when free, is lambda
times as long as when it was made. Where struts cross, the material has no direction of
its own, and does not contract: of each strut a node takes the length d. At rest a link
is then

    l0 = d + (L - d) lambda,     k = E A / ((L - d) lambda)

long and stiff: its strain is 1 - d/L times that of the material. With d = 0 it is that
of a pin-jointed truss. A strand that is printed straight through nodes keeps more of
its direction there than one that ends at them, so d may differ between struts. The
energy is that of `sim.morph.statics.elastic`.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.statics.elastic import Elastic
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.structure.constraints import Constraint, ConstraintTable, dist, dot
from sim.morph.structure.constraints import ConstraintKind as Kind
from sim.morph.structure.structure import Structure

ASIDE = 0.5  # of a bar's length, how far a node that keeps the bar rigid lies off it


@dataclass(frozen=True, eq=False)
class Strut:
    """What links are made of, each by its own values.

    Attributes
    ----------
    stretch : (l,) length of the free material over that when it was made, lambda
    modulus : (l,) E, force / length^2
    area : of the cross-section, length^2
    node_diameter : () or (l,) d, the length of a strut that nodes take
    """

    stretch: Floats
    modulus: Floats
    area: float = 1.0
    node_diameter: Floats | float = 0.0

    def __post_init__(self) -> None:
        for name, values in (("stretch", self.stretch), ("modulus", self.modulus)):
            bad = np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))
            if len(bad):
                raise ValueError(
                    f"{name} of strut {bad[0]} is {values[bad[0]]:g}: give a positive, "
                    "finite number"
                )
        d = np.ravel(self.node_diameter)
        if not ((d >= 0.0) & (d < np.inf)).all() or not 0.0 < self.area < np.inf:
            raise ValueError(
                f"node_diameter {d.min():g} must be 0 or more, and area {self.area:g} "
                "positive"
            )


def thermal_links(r: Floats, links: Ints, struts: Strut) -> Elastic:
    """Links between nodes where they were made, `r` (n, 3).

    Parameters
    ----------
    links : (l, 2) nodes
    """
    L = np.linalg.norm(r[links[:, 1]] - r[links[:, 0]], axis=1)
    d = np.broadcast_to(struts.node_diameter, L.shape)
    short = np.flatnonzero(L - d <= 0.0)
    if len(short):
        raise ValueError(
            f"strut {short[0]} is {L[short[0]]:g} long and its nodes take "
            f"{d[short[0]]:g} of it: give a smaller node_diameter"
        )
    free = (L - d) * struts.stretch
    nothing = Elastic.none()
    return Elastic(
        links,
        struts.modulus * struts.area / free,
        d + free,
        nothing.hinges,
        nothing.hinge_stiffness,
        nothing.rest_angle,
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
        rows = [_fix(made, j, 2) for j in range(len(made))]
        rows += [_fix(made, int(j), axis) for j in held for axis in (0, 1)]
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
    place: Floats = middle + ASIDE * away * across
    return place


def _rigid_in_plane(r: Floats, bar: Ints, aside: int) -> list[Constraint]:
    """Rows that leave a flat body three motions in its plane, none of them twice."""
    a, b = int(bar[0]), int(bar[-1])
    rows = [dist(r, a, b), dist(r, b, aside), dist(r, aside, a)]
    for inner in bar[1:-1].tolist():
        rows += [dot(r, a, inner, a, b), dot(r, a, inner, b, aside)]
    return rows


def _fix(r: Floats, node: int, axis: int) -> Constraint:
    return Constraint(Kind.FIX, (node, axis), float(r[node, axis]))
