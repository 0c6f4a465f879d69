"""A crease pattern: vertices, panels, and the edges numbered by the panels.

`largest_panel_held` gives supports that hold it and strain nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np

from sim.core.arrays import Floats, Ints, cross, refuse_first
from sim.core.options import refuse_missing

FLAT = 1e-3  # of a panel's size: how far its corners may be off its plane


@dataclass(frozen=True, eq=False)
class CreasePattern:
    """Panels with a common sense of rotation, their normals to the same side.

    Edges are numbered in the order in which the panels first meet them, from a
    panel's first corner to its last, then corner to corner. An edge of two panels
    is a crease.

    Parameters
    ----------
    vertices : (v, 3) m
    panels : corners of each panel in order, numbers of vertices counted from zero
    assignment : (e,) fold of each edge in units of pi when it is folded in full:
        above 0 a valley, below 0 a mountain
    joined : creases, by their vertices, that only divide a panel: they bend as it does
    unit : m per unit of the file it was read from, along x and y (negative where y
        points down there); None for others
    unit_stated : whether the file, or who reads it, says so; else it is assumed
    tags : (v,) vertices that a cut made of one have the number of one of them, and feel
        no contact there; their own where nothing is given
    """

    vertices: Floats
    panels: Sequence[Sequence[int]]
    assignment: Floats | Sequence[float] = ()
    joined: Sequence[tuple[int, int]] = ()
    tags: Sequence[int] = ()
    unit: tuple[float, float] | None = None
    unit_stated: bool = True

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=np.float64)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "panels", tuple(tuple(p) for p in self.panels))
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not len(vertices):
            raise ValueError(
                f"vertices have shape {vertices.shape}: give x, y and z of each"
            )
        refuse_first(
            ~np.isfinite(vertices).all(axis=1),
            lambda i: f"vertex {i} is not at a finite position: correct it",
        )
        if not self.panels:
            raise ValueError("the pattern has no panels: add faces")
        for number, panel in enumerate(self.panels):
            self._check_panel(number, panel)
        self._check_orientation()
        self._check_assignment()

    def _check_assignment(self) -> None:
        if len(self.assignment) not in (0, len(self.edges)):
            raise ValueError(
                f"{len(self.assignment)} edges are assigned, but the pattern has "
                f"{len(self.edges)}: give a fold for each"
            )
        for (a, b), fold in zip(self.edges, self.assignment, strict=False):
            if not -1 <= fold <= 1:
                raise ValueError(
                    f"fold {180 * fold:g} degrees of edge {a}-{b} must be within -180 "
                    "to 180"
                )

    def _check_panel(self, number: int, panel: Sequence[int]) -> None:
        if len(panel) < 3 or len(set(panel)) < len(panel):
            raise ValueError(
                f"panel {number} has corners {list(panel)}: give 3 or more, each once"
            )
        named = f"panel {number} names vertex {{}}"
        refuse_missing(named, panel, len(self.vertices), "the pattern has vertices")
        corners = self.vertices[list(panel)]
        area = np.linalg.norm(polygon_area(corners))
        longest = np.ptp(corners, axis=0).max()
        if area < 1e-9 * longest**2:
            raise ValueError(
                f"panel {number} has no area ({area:.1e} m2): move or merge its corners"
            )

    def _check_orientation(self) -> None:
        seen: dict[tuple[int, int], int] = {}
        for number, panel in enumerate(self.panels):
            for a, b in zip(panel, (*panel[1:], panel[0]), strict=True):
                if (a, b) in seen:
                    raise ValueError(
                        f"panels {seen[a, b]} and {number} pass edge {a}-{b} in the "
                        f"same direction: reverse the corners of panel {number}"
                    )
                seen[a, b] = number

    def place(self, vertex: int) -> str:
        """Where a vertex is as the file has it; in m where there is none."""
        x, y = self.vertices[vertex, :2] / (self.unit or (1.0, 1.0))
        return f"({0.0 + x:.5g}, {0.0 + y:.5g})" + ("" if self.unit else " m")

    def crease_name(self, edge: int) -> str:
        """A crease in words: its number and its vertices, as in folds.csv."""
        a, b = self.edges[edge]
        return f"crease {edge} ({a}-{b})"

    def tag(self, vertex: int) -> int:
        """The number of the vertex before the sheet was cut."""
        return self.tags[vertex] if self.tags else vertex

    def check_flat(self) -> None:
        """Refuse panels whose corners are off their plane by more than `FLAT`.

        Raises
        ------
        ValueError
            with the panel and the corner that is off the farthest
        """
        for number, panel in enumerate(self.panels):
            corners = self.vertices[list(panel)]
            normal = polygon_area(corners)
            heights = (corners - corners.mean(axis=0)) @ normal / np.linalg.norm(normal)
            worst = int(np.argmax(np.abs(heights)))
            if abs(heights[worst]) > FLAT * np.ptp(corners, axis=0).max():
                raise ValueError(
                    f"panel {number} is not flat: vertex {panel[worst]} is "
                    f"{abs(heights[worst]):.1e} m off its plane; move it there, or "
                    "divide the panel into triangles"
                )

    @cached_property
    def edges(self) -> Ints:
        """(e, 2) vertices of each edge, the lower number first."""
        return np.array(list(self._edge_panels), dtype=np.int64)

    @cached_property
    def edge_panels(self) -> tuple[tuple[int, ...], ...]:
        """One panel for each boundary edge, two for each crease."""
        return tuple(tuple(panels) for panels in self._edge_panels.values())

    @cached_property
    def creases(self) -> Ints:
        """Numbers of the edges that are creases."""
        return np.setdiff1d(self._shared, self.joints)

    @cached_property
    def creased(self) -> frozenset[tuple[int, int]]:
        """The vertices of each crease, the lower number first."""
        return frozenset((a, b) for a, b in self.edges[self.creases].tolist())

    @cached_property
    def joints(self) -> Ints:
        """Numbers of the edges that only divide a panel."""
        inner = {(min(line), max(line)) for line in self.joined}
        edges = self.edges.tolist() if inner else []
        own = [e for e in self._shared.tolist() if inner and tuple(edges[e]) in inner]
        return np.array(own, dtype=np.int64)

    @cached_property
    def _shared(self) -> Ints:
        shared = [e for e, panels in enumerate(self.edge_panels) if len(panels) == 2]
        return np.array(shared, dtype=np.int64)

    @cached_property
    def _edge_panels(self) -> dict[tuple[int, int], list[int]]:
        return panels_of_edges(self.panels)

    @cached_property
    def size(self) -> float:
        """Largest extent of the pattern, m."""
        return float(np.ptp(self.vertices, axis=0).max())


def panel_edges(panel: Sequence[int]) -> list[tuple[int, int]]:
    """Edges of a panel in the order of their numbers: first to last, then around."""
    around = list(pairwise(panel))
    return [(panel[0], panel[-1]), *around]


def panels_of_edges(
    panels: Sequence[Sequence[int]],
) -> dict[tuple[int, int], list[int]]:
    """Panels of each edge, by its vertices, the lower number first."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, panel in enumerate(panels):
        for a, b in panel_edges(panel):
            found.setdefault((min(a, b), max(a, b)), []).append(number)
    return found


def polygon_area(corners: Floats) -> Floats:
    """Area vector (3,) of a polygon with corners (m, 3), m^2."""
    spokes = corners - corners.mean(axis=0)
    ahead = np.concatenate([spokes[1:], spokes[:1]])
    return np.asarray(0.5 * cross(spokes, ahead).sum(axis=0))


Row = tuple[int, int, int, int]


def largest_panel(pattern: CreasePattern) -> int:
    """Its number; of equally large panels the first."""
    normals = [polygon_area(pattern.vertices[list(p)]) for p in pattern.panels]
    areas = np.linalg.norm(normals, axis=1)
    return int(np.argmax(np.round(areas / areas.max(), 9)))  # not by rounding


def largest_panel_held(pattern: CreasePattern) -> list[Row]:
    """Six supports at three corners of the largest panel, rows (vertex, x, y, z).

    The first is held in x, y and z, the second along the panel across the line to the
    first and out of the panel, the third out of the panel: the panel cannot move, and
    its corners are free to come closer to each other. They are those that span the
    largest triangle.
    """
    panel = pattern.panels[largest_panel(pattern)]
    normal = polygon_area(pattern.vertices[list(panel)])
    size = float(np.linalg.norm(normal))

    def spanned(corners: tuple[int, ...]) -> float:
        a, b, c = pattern.vertices[list(corners)]
        return round(float(np.linalg.norm(np.cross(b - a, c - a))) / size, 9)

    a, b, c = max(combinations(panel, 3), key=spanned)
    out = int(np.argmax(np.abs(normal)))
    along = np.abs(pattern.vertices[b] - pattern.vertices[a])
    along[out] = np.inf
    across = int(np.argmin(along))
    held = {a: {0, 1, 2}, b: {out, across}, c: {out}}
    return [(v, 0 in on, 1 in on, 2 in on) for v, on in held.items()]
