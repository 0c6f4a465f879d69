"""Heat in a sheet: along panels and creases, and through the air beside them to where
it is as warm as the surroundings.

After Zhu and Filipov (Int. J. Mech. Sci. 202-203, 2021): linear triangles along the
sheet, and at each node a column of air slices on either face, as deep as air takes to
reach the surroundings. With T the rise of temperature at nodes and between slices, P
the power and T_a the rise of the surroundings,

    C dT/dt + K T = P + g T_a.

All is as in the flat sheet: that folded panels come near each other or a substrate
changes no air. Triangles may be divided for the heat alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import coo_array, csc_array, diags_array
from scipy.sparse.linalg import splu

from sim.arrays import Bools, Floats, Ints
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.limits import is_count, is_finite, refuse_negative, refuse_unless_positive
from sim.origami.model.laminate import Laminate
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh

GAMMA = 1.0 - np.sqrt(0.5)  # of Alexander's step (SIAM J. Numer. Anal. 14, 1977)
FIRST_STEPS, MOST_STEPS = 4, 2**14  # of a span of time
CHANGE = 1e-5  # of the largest rise, by which half as long steps may change it


class AirRim(Choice):
    """Where air spreads aside: at free edges, or around each triangle, as published."""

    FREE = "free"
    TRIANGLE = "triangle"


@dataclass(frozen=True)
class HeatTransfer:
    """What a heated sheet is made of, and what is around it.

    Parameters
    ----------
    laminate : plies of the creases that curl
    panel_conductivity, crease_conductivity, air_conductivity : W/(m K)
    panel_capacity, crease_capacity, air_capacity : heat by volume, J/(m^3 K)
    air_depth : from either face to where air is as warm as the surroundings, m
    air_slices : into which that depth is divided
    air_spread : angle by which the columns widen, degrees
    air_rim : whose edges let them widen; around each triangle the loss grows as
        triangles are divided
    creases : those made of plies; all where nothing is given
    turned : creases whose plies lie the other way up; those assigned as mountains where
        nothing is given
    held : panels that are kept as warm as the surroundings
    divided : how often triangles are divided into four
    """

    laminate: Laminate
    panel_conductivity: float
    crease_conductivity: float
    air_depth: float
    panel_capacity: float = 0.0
    crease_capacity: float = 0.0
    air_capacity: float = 0.0
    air_conductivity: float = 0.026
    air_slices: int = 10
    air_spread: float = 0.0
    air_rim: AirRim | str = AirRim.FREE
    creases: Sequence[int] = ()
    turned: Sequence[int] | None = None
    held: Sequence[int] = ()
    divided: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "air_rim", AirRim(self.air_rim))
        refuse_unless_positive(
            self, "panel_conductivity", "crease_conductivity", "air_conductivity",
            "air_depth",
        )  # fmt: skip
        refuse_negative(self, "panel_capacity", "crease_capacity", "air_capacity")
        if not is_count(self.air_slices):
            raise ValueError(f"air_slices is {self.air_slices}: give 1 or more")
        if not is_finite(self.air_spread) or not 0.0 <= self.air_spread < 90.0:
            raise ValueError(f"air_spread is {self.air_spread}: give 0 to below 90")
        if not is_count(self.divided, least=0) or self.divided > 6:
            raise ValueError(f"divided is {self.divided}: give a whole number, 0 to 6")


@dataclass(frozen=True, eq=False)
class HeatModel:
    """The matrices of a sheet's heat; rows are nodes, then the air above them.

    Attributes
    ----------
    K : (u, u) conductance, W/K
    C : (u,) capacity, J/K
    air : (u,) conductance to the surroundings, W/K
    held : (u,) as warm as the surroundings
    heated : (e, u) share of an edge's power that each row takes
    turn : (h, u) change of each rest angle per kelvin of each row, rad/K
    """

    K: csc_array
    C: Floats
    air: Floats
    held: Bools
    heated: csc_array
    turn: csc_array

    def rest_turns(self, rise: Floats) -> Floats:
        """(h,) rad by which rest angles differ from those of the cold sheet."""
        return np.asarray(self.turn @ rise)

    @property
    def curls(self) -> Bools:
        """(h,) hinges of creases that are made of plies."""
        return np.asarray(abs(self.turn).sum(axis=1) > 0)

    def power(self, of_edges: Floats) -> Floats:
        """(u,) W that each row takes, of the power (e,) of each edge."""
        return np.asarray(self.heated.T @ of_edges)

    def steady(self, power: Floats, surroundings: float) -> Floats:
        """(u,) K at which as much heat leaves as comes in."""
        free = ~self.held
        rise = np.full(len(free), float(surroundings))
        right = power + surroundings * self.air - self.K @ (self.held * rise)
        K = self.K[free][:, free]
        rise[free] = splu(csc_array(K)).solve(right[free])
        return rise

    def after(
        self, rise: Floats, power: Floats, surroundings: float, span: float
    ) -> Floats:
        """(u,) K after a span of time (s) with constant power.

        Steps are halved until that changes no rise by more than `CHANGE`.

        Raises
        ------
        NotConvergedError
        """
        start = np.where(self.held, surroundings, rise)
        steps, last = FIRST_STEPS, self._stepped(start, power, surroundings, span, 2)
        while steps <= MOST_STEPS:
            here = self._stepped(start, power, surroundings, span, steps)
            scale = max(np.abs(here).max(), np.abs(start).max())
            if np.abs(here - last).max() <= CHANGE * scale:
                return here
            steps, last = 2 * steps, here
        raise NotConvergedError(
            f"temperatures after {span:g} s still change with {MOST_STEPS} steps: "
            "take more increments",
            best=last,
        )

    def _stepped(
        self, rise: Floats, power: Floats, surroundings: float, span: float, count: int
    ) -> Floats:
        """After equal steps, of second order and damping what is fast."""
        free, h = ~self.held, span / count
        right = (power + surroundings * self.air - self.K @ (self.held * rise))[free]
        K = csc_array(self.K[free][:, free])
        solve = splu(csc_array(diags_array(self.C[free]) + GAMMA * h * K)).solve
        T = rise[free]
        for _ in range(count):
            first = solve(right - K @ T)
            second = solve(right - K @ (T + h * (1.0 - GAMMA) * first))
            T = T + h * ((1.0 - GAMMA) * first + GAMMA * second)
        out = rise.copy()
        out[free] = T
        return out


@dataclass(eq=False)
class _Triangles:
    """Triangles of a mesh and lines on their sides, perhaps divided.

    Attributes
    ----------
    node, of : (t, 3), (t,) what each triangle is made of
    line, line_of : (q, 2), (q,) hinge that each line is part of
    """

    x: Floats
    node: Ints
    of: Ints
    line: Ints
    line_of: Ints
    area: Floats = field(init=False)

    def __post_init__(self) -> None:
        a, b, c = (self.x[self.node[:, i]] for i in range(3))
        self.area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)

    def divided(self) -> "_Triangles":
        """Each in four, with a node in the middle of every side."""
        sides = np.sort(self.node[:, [[0, 1], [1, 2], [2, 0]]], axis=2)
        ends, which = np.unique(sides.reshape(-1, 2), axis=0, return_inverse=True)
        m = len(self.x) + which.reshape(-1, 3)
        a, b, c = self.node.T
        four = [(a, m[:, 0], m[:, 2]), (m[:, 0], b, m[:, 1]),
                (m[:, 2], m[:, 1], c), (m[:, 0], m[:, 1], m[:, 2])]  # fmt: skip
        node = np.concatenate([np.column_stack(part) for part in four])
        x = np.vstack([self.x, self.x[ends].mean(axis=1)])
        low, high = np.sort(self.line, axis=1).T
        key = np.searchsorted(ends @ [len(self.x), 1], low * len(self.x) + high)
        middle = len(self.x) + key
        line = np.concatenate(
            [np.column_stack([low, middle]), np.column_stack([middle, high])]
        )
        of, line_of = np.tile(self.of, 4), np.tile(self.line_of, 2)
        return _Triangles(x, node, of, line, line_of)

    def along(self, hinges: int) -> csc_array:
        """(h, n) mean over each hinge's line."""
        a, b = self.line.T
        length = np.linalg.norm(self.x[b] - self.x[a], axis=1)
        share = 0.5 * length / np.bincount(self.line_of, length, hinges)[self.line_of]
        at = (np.repeat(self.line_of, 2), self.line.ravel())
        shape = (hinges, len(self.x))
        return csc_array(coo_array((np.repeat(share, 2), at), shape=shape))

    def edges(self) -> tuple[Ints, Ints]:
        """(3t, 2) sides, and how many triangles have each."""
        sides = np.sort(self.node[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
        _, which, count = np.unique(
            sides, axis=0, return_inverse=True, return_counts=True
        )
        return sides, count[which.ravel()]


def heat_model(
    mesh: BarHingeMesh, material: SheetMaterial, transfer: HeatTransfer
) -> HeatModel:
    """The matrices of a mesh; creases without a width take heat along their line."""
    transfer.laminate.check(material)
    lines = np.flatnonzero(mesh.hinge_share > 0)
    parts = _Triangles(mesh.rest, mesh.triangle, mesh.triangle_panel,
                       mesh.hinge[lines, 1:3], lines)  # fmt: skip
    for _ in range(transfer.divided):
        parts = parts.divided()
    panels = len(mesh.pattern.panels)
    _check_numbers("held", transfer.held, range(panels))
    _check_numbers("creases", transfer.creases, mesh.pattern.creases.tolist())
    _check_numbers("turned", transfer.turned or (), mesh.pattern.creases.tolist())
    thick = np.append(material.thicknesses(panels), material.crease_thickness)
    kind = np.minimum(parts.of, panels)
    conducts = np.append(np.full(panels, transfer.panel_conductivity),
                         transfer.crease_conductivity)  # fmt: skip
    stores = np.append(np.full(panels, transfer.panel_capacity),
                       transfer.crease_capacity)  # fmt: skip
    along = _along_sheet(parts, (conducts * thick)[kind])
    columns = _columns(parts, transfer)
    K, air = _with_air(along, columns, transfer)
    C = _stored(parts, (stores * thick)[kind], columns, transfer)
    held = np.zeros(len(air), dtype=bool)
    held[parts.node[np.isin(parts.of, transfer.held)].ravel()] = True
    curl = transfer.laminate.curl() * material.crease_width
    turn = curl * mesh.hinge_share * _ways(mesh, transfer)
    along_lines = parts.along(len(turn))
    means = _widened(along_lines, len(air))
    heated = _widened(_heated(mesh, parts, along_lines), len(air))
    return HeatModel(K, C, air, held, heated, csc_array(diags_array(turn) @ means))


def _widened(rows: csc_array, columns: int) -> csc_array:
    """The same with columns of zeros, for the air."""
    out = coo_array(rows)
    return csc_array(coo_array((out.data, out.coords), shape=(rows.shape[0], columns)))


def _check_numbers(name: str, given: Sequence[int], there: Sequence[int]) -> None:
    for number in given:
        if number not in there:
            raise ValueError(f"{name} names {number}: give some of {list(there)}")


def _along_sheet(parts: _Triangles, sheet: Floats) -> csc_array:
    """(n, n) conductance of linear triangles; sheet (t,) conductivity by thickness."""
    x, n = parts.x[parts.node], len(parts.x)
    opposite = x[:, [2, 0, 1]] - x[:, [1, 2, 0]]
    each = np.einsum("tid,tjd->tij", opposite, opposite)
    each *= (sheet / (4.0 * parts.area))[:, None, None]
    rows, columns = np.repeat(parts.node, 3, axis=1), np.tile(parts.node, 3)
    at = (rows.ravel(), columns.ravel())
    return csc_array(coo_array((each.ravel(), at), shape=(n, n)))


def _columns(parts: _Triangles, transfer: HeatTransfer) -> list[Floats]:
    """(n,) area of the air at each node, of both faces, slice by slice."""
    n = len(parts.x)
    face = np.bincount(parts.node.ravel(), np.repeat(parts.area, 3) / 1.5, n)
    sides, count = parts.edges()
    length = np.linalg.norm(parts.x[sides[:, 0]] - parts.x[sides[:, 1]], axis=1)
    if transfer.air_rim is AirRim.FREE:
        weight = np.repeat(length * (count == 1), 2)
        rim = np.bincount(sides.ravel(), weight, n)
    else:
        around = np.repeat(length.reshape(-1, 3).sum(axis=1), 3) / 1.5
        rim = np.bincount(parts.node.ravel(), around, n)
    slices = transfer.air_slices
    away = (np.arange(slices) + 0.5) / slices * transfer.air_depth
    widening = away * np.tan(np.radians(transfer.air_spread))
    return [face + wide * rim for wide in widening]


def _with_air(
    along: csc_array, columns: list[Floats], transfer: HeatTransfer
) -> tuple[csc_array, Floats]:
    """Conductance of sheet and air (u, u), and that to the surroundings (u,)."""
    n, slices = along.shape[0], len(columns)
    across = transfer.air_conductivity * slices / transfer.air_depth
    g = across * np.concatenate(columns)
    inner, u = g[:-n], len(g)
    diagonal = g + np.concatenate([np.zeros(n), inner])
    numbers = np.arange(u)
    sheet = coo_array(along)
    values = np.concatenate([sheet.data, diagonal, -inner, -inner])
    row = np.concatenate([sheet.coords[0], numbers, numbers[:-n], numbers[n:]])
    column = np.concatenate([sheet.coords[1], numbers, numbers[n:], numbers[:-n]])
    air = np.where(numbers < u - n, 0.0, g)
    return csc_array(coo_array((values, (row, column)), shape=(u, u))), air


def _stored(
    parts: _Triangles, sheet: Floats, columns: list[Floats], transfer: HeatTransfer
) -> Floats:
    """(u,) capacity of nodes and air; sheet (t,) capacity by area."""
    n, slices = len(parts.x), len(columns)
    out = np.zeros((slices + 1, n))
    each = np.repeat(sheet * parts.area / 3.0, 3)
    out[0] = np.bincount(parts.node.ravel(), each, n)
    half = 0.5 * transfer.air_capacity * transfer.air_depth / slices
    out[:-1] += half * np.array(columns)
    out[1:] += half * np.array(columns)
    return np.asarray(out[:-1].ravel())


def _ways(mesh: BarHingeMesh, transfer: HeatTransfer) -> Floats:
    """(h,) 1 where a crease has its plies as given, -1 turned over, 0 without plies."""
    way = np.ones(len(mesh.pattern.edges) + 1)
    if transfer.turned is not None:
        way[list(transfer.turned)] = -1.0
    elif len(mesh.pattern.assignment):
        way[:-1][np.asarray(mesh.pattern.assignment) < 0] = -1.0
    if transfer.creases:
        way[np.setdiff1d(np.arange(len(way)), transfer.creases)] = 0.0
    return np.asarray(way[mesh.hinge_crease])


def _heated(mesh: BarHingeMesh, parts: _Triangles, along: csc_array) -> csc_array:
    """(e, n) shares of each edge's power: by area, or by length without a width."""
    panels, edges = len(mesh.pattern.panels), len(mesh.pattern.edges)
    own = parts.of >= panels
    if not own.any():
        lines = np.flatnonzero(mesh.hinge_share > 0)
        at = (mesh.hinge_crease[lines], np.arange(len(lines)))
        shape = (edges, len(lines))
        pick = csc_array(coo_array((np.ones(len(lines)), at), shape=shape))
        return csc_array(pick @ along[lines])
    edge = mesh.pattern.creases[parts.of[own] - panels]
    weight = parts.area[own] / 3.0
    weight = weight / np.bincount(edge, 3.0 * weight, edges)[edge]
    at = (np.repeat(edge, 3), parts.node[own].ravel())
    shape = (edges, len(parts.x))
    return csc_array(coo_array((np.repeat(weight, 3), at), shape=shape))
