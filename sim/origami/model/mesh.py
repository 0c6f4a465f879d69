"""Nodes, bars, hinges and triangles of a pattern: what the solvers work on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sim.arrays import Bools, Floats, Ints, cross
from sim.origami.pattern.pattern import CreasePattern, polygon_area


@dataclass(frozen=True, eq=False)
class BarHingeMesh:
    """A bar-and-hinge model.

    Attributes
    ----------
    rest : (n, 3) m, unstrained node positions
    bar, bar_length, bar_stiffness : (b, 2), (b,) m, (b,) N
    bar_of_panel : (b,) whether a bar stretches a panel rather than a crease
    hinge, hinge_stiffness : (h, 4), (h,) N m
    hinge_crease : (h,) number of the edge that a hinge folds, -1 inside a panel
    hinge_share : (h,) part of the crease's fold that this hinge makes
    corner, corner_panel : (p,) the nodes at panel corners, panel by panel
    centre : (q,) the node in the middle of each panel
    triangle, triangle_panel : (t, 3), (t,) those of panels, then those of creases,
        which count on as panels of their own
    tag : (n, 2) vertices of the pattern that a node stems from, -1 for none; centres
        have a number of their own
    """

    pattern: CreasePattern
    rest: Floats
    bar: Ints
    bar_length: Floats
    bar_stiffness: Floats
    bar_of_panel: Bools
    hinge: Ints
    hinge_stiffness: Floats
    hinge_crease: Ints
    hinge_share: Floats
    corner: Ints
    corner_panel: Ints
    centre: Ints
    triangle: Ints
    triangle_panel: Ints
    tag: Ints

    @property
    def panel_triangles(self) -> int:
        """How many of the triangles belong to panels; they come first."""
        return int(np.count_nonzero(self.triangle_panel < len(self.pattern.panels)))

    def corner_node(self, panel: int, vertex: int) -> int:
        """Node at a corner of a panel, by the vertex of the pattern."""
        own = self.corner[self.corner_panel == panel]
        return int(own[list(self.pattern.panels[panel]).index(vertex)])

    def adjusted(self, rest: Floats | Sequence[Sequence[float]]) -> "BarHingeMesh":
        """The same model with its nodes moved by hand; stiffness stays as it is.

        The examples of [ZF19] repair their corners in this way after meshing.
        """
        rest = np.array(rest, dtype=np.float64)
        if rest.shape != self.rest.shape:
            raise ValueError(
                f"{len(rest)} node positions are given for {len(self.rest)} nodes: "
                "give x, y and z of each node of the mesh"
            )
        return replace(self, rest=rest)


@dataclass(eq=False)
class MeshBuilder:
    """A mesh while it is put together."""

    pattern: CreasePattern
    rest: list[Floats] = field(default_factory=list)
    tag: list[tuple[int, int]] = field(default_factory=list)
    bar: list[tuple[int, int]] = field(default_factory=list)
    bar_length: list[float] = field(default_factory=list)
    bar_stiffness: list[float] = field(default_factory=list)
    bar_of_panel: list[bool] = field(default_factory=list)
    hinge: list[tuple[int, int, int, int]] = field(default_factory=list)
    hinge_stiffness: list[float] = field(default_factory=list)
    hinge_crease: list[int] = field(default_factory=list)
    hinge_share: list[float] = field(default_factory=list)
    triangle: list[tuple[int, int, int]] = field(default_factory=list)
    triangle_panel: list[int] = field(default_factory=list)

    def add_node(self, position: Floats, first: int, second: int = -1) -> int:
        """Number of a new node with these tags."""
        self.rest.append(np.asarray(position, dtype=np.float64))
        self.tag.append((first, second))
        return len(self.rest) - 1

    def add_bar(self, i: int, j: int, length: float, EA: float, *, panel: bool) -> None:
        """A bar between two nodes, the lower number first."""
        self.bar.append((min(i, j), max(i, j)))
        self.bar_length.append(length)
        self.bar_stiffness.append(EA)
        self.bar_of_panel.append(panel)

    def add_hinge(
        self,
        nodes: tuple[int, int, int, int],
        stiffness: float,
        *,
        normal: Floats,
        crease: int = -1,
        share: float = 0.0,
    ) -> None:
        """A hinge whose angle grows above pi as the wings rise along `normal`."""
        i, j, k, wing = nodes
        ij, jk = self.rest[j] - self.rest[i], self.rest[k] - self.rest[j]
        if cross(ij, jk) @ normal > 0:
            i, wing = wing, i
        self.hinge.append((i, j, k, wing))
        self.hinge_stiffness.append(stiffness)
        self.hinge_crease.append(crease)
        self.hinge_share.append(share)

    def length(self, i: int, j: int) -> float:
        """Distance of two nodes, m."""
        return float(np.linalg.norm(self.rest[i] - self.rest[j]))

    def normal(self, panel: int) -> Floats:
        """Area vector of a panel."""
        return polygon_area(self.pattern.vertices[list(self.pattern.panels[panel])])

    def mesh(self, corner: Ints, corner_panel: Ints, centre: Ints) -> BarHingeMesh:
        """The finished model."""

        def table(rows: Sequence[Sequence[int]], width: int) -> Ints:
            return np.array(rows, dtype=np.int64).reshape(-1, width)

        return BarHingeMesh(
            pattern=self.pattern,
            rest=np.array(self.rest),
            bar=table(self.bar, 2),
            bar_length=np.array(self.bar_length),
            bar_stiffness=np.array(self.bar_stiffness),
            bar_of_panel=np.array(self.bar_of_panel, dtype=bool),
            hinge=table(self.hinge, 4),
            hinge_stiffness=np.array(self.hinge_stiffness),
            hinge_crease=np.array(self.hinge_crease, dtype=np.int64),
            hinge_share=np.array(self.hinge_share),
            corner=corner,
            corner_panel=corner_panel,
            centre=centre,
            triangle=table(self.triangle, 3),
            triangle_panel=np.array(self.triangle_panel, dtype=np.int64),
            tag=table(self.tag, 2),
        )


def fan_lengths(corners: Floats) -> tuple[float, float]:
    """Area (m^2) of a panel and the total length (m) of its rim and its spokes."""
    rim = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1).sum()
    spokes = np.linalg.norm(corners - corners.mean(axis=0), axis=1).sum()
    return float(np.linalg.norm(polygon_area(corners))), float(rim + spokes)
