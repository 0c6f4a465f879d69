"""Folds of rigid panels: what closes, and the way from the flat sheet to what is asked.

Around every inner vertex the folds keep the product of eq. (1.1) of [ZF19] at I
(`closure_error`); around a hole or slit panels come back to their place as well as to
their direction (`hole_errors`). From folds that do not, Newton steps that are shortest
in the stiffness of the creases lead to folds that do; no crease leaves the side it is
to fold to (`RigidSheet`). At small folds the closure is linear in the sheet's plane and
quadratic across it: both are met from the first fold on. Towards the folds asked for
the way goes along the motions of rigid panels, as Tachi has it (Simulation of rigid
origami, Origami 4, 2009).
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu
from scipy.spatial.transform import Rotation

from sim.core.arrays import Bools, Floats, Ints, cross
from sim.origami.pattern.pattern import CreasePattern, polygon_area


def closure_error(sectors: Floats, folds: Floats) -> float:
    """Norm of R_1 R_2 ... R_n - I around a vertex.

    R_i folds about crease i and turns through the sector that follows it. The product
    is I where rigid panels close around the vertex; that is necessary for a rigid
    folding, not sufficient: panels may still pass through each other.

    Parameters
    ----------
    sectors : (n,) angle of the panel after each crease, rad
    folds : (n,) fold of each crease, rad, zero when flat, valleys positive
    """
    product, _ = _around(folds[None], sectors[None])
    return float(np.linalg.norm(product[0] - np.eye(3)))


def vertex_fans(pattern: CreasePattern) -> dict[int, tuple[list[int], Floats]]:
    """By inner vertex: the edges around it in order, the sector after each (rad)."""
    number = {tuple(ends): e for e, ends in enumerate(pattern.edges.tolist())}
    out = {}
    for v, around in following(pattern).items():
        edges: list[int] = []
        sectors: list[float] = []
        w = start = next(iter(around))
        while w in around and (w != start or not sectors):
            edges.append(number[min(v, w), max(v, w)])
            last, w = w, around[w]
            sectors.append(_angle(pattern.vertices[[last, v, w]]))
        if w == start:
            out[v] = edges, np.array(sectors)
    return out


def following(pattern: CreasePattern) -> dict[int, dict[int, int]]:
    """By vertex and the one that follows in a panel: the one before it there."""
    after: dict[int, dict[int, int]] = {}
    for panel in pattern.panels:
        for i, v in enumerate(panel):
            after.setdefault(v, {})[panel[(i + 1) % len(panel)]] = panel[i - 1]
    return after


def closure_errors(pattern: CreasePattern) -> dict[int, float]:
    """Error of eq. (1.1) at each vertex inside a pattern, for its assigned folds."""
    if not len(pattern.assignment):
        raise ValueError("the pattern has no assigned folds to check: assign them")
    folds = np.pi * np.asarray(pattern.assignment, dtype=np.float64)
    return {
        v: closure_error(sectors, folds[edges])
        for v, (edges, sectors) in vertex_fans(pattern).items()
    }


def _angle(x: Floats) -> float:
    """Angle at the middle one of three positions (3, 3), rad."""
    a, b = x[0] - x[1], x[2] - x[1]
    across = cross(a, b)
    return float(np.arctan2(np.sqrt(across @ across), a @ b))


class Hole(NamedTuple):
    """The k creases that lead away from the rim of a hole, in order around it.

    Attributes
    ----------
    vertex : one of the rim
    crease : (k,) numbers among the creases of the pattern
    at, along : (k, 3) their vertices on the rim, over the sheet's size, and directions
    """

    vertex: int
    crease: Ints
    at: Floats
    along: Floats

    def carried(self, folds: Floats) -> tuple[Floats, Floats, Floats]:
        """What a panel is moved by if it is carried around, (0, 0, 0) staying at rest.

        The product of the turns about all creases as they lie in the flat sheet.

        Parameters
        ----------
        folds : of all creases of the pattern, rad

        Returns
        -------
        rotation (3, 3), shift (3,) over the sheet's size, slopes (6, k) of both
        """
        R, t, slopes = np.eye(3), np.zeros(3), np.empty((6, len(self.crease)))
        turns = Rotation.from_rotvec(folds[self.crease][:, None] * self.along)
        for i, turn in enumerate(turns.as_matrix()):
            axis, place = R @ self.along[i], R @ self.at[i] + t
            slopes[:, i] = [*axis, *cross(place, axis)]
            t = t + R @ (self.at[i] - turn @ self.at[i])
            R = R @ turn
        slopes[3:] -= cross(t, slopes[:3].T).T
        return R, t, slopes


def holes(pattern: CreasePattern) -> list[Hole]:
    """Those with creases at their rims."""
    creases = enumerate(pattern.edges[pattern.creases].tolist())
    number = {(a, b): c for c, (a, b) in creases}
    out = []
    for edges in hole_fans(pattern):
        folding = [e for e in edges if (min(e), max(e)) in number]
        if folding:
            at, far = (pattern.vertices[list(v)] for v in zip(*folding, strict=True))
            along = (far - at) / np.linalg.norm(far - at, axis=1)[:, None]
            crease = np.array([number[min(e), max(e)] for e in folding])
            out.append(Hole(folding[0][0], crease, at / pattern.size, along))
    return out


def hole_errors(pattern: CreasePattern) -> list[tuple[int, float]]:
    """A vertex of each rim of a flat pattern, and what its assigned folds leave open.

    That is the norm of R - I and of the shift over the sheet's size.
    """
    if np.ptp(pattern.vertices[:, 2]) > 0.0:
        return []
    folds = np.pi * np.asarray(pattern.assignment, dtype=np.float64)[pattern.creases]
    out = []
    for hole in holes(pattern):
        R, shift, _ = hole.carried(folds)
        left = np.vstack([R - np.eye(3), shift])
        out.append((hole.vertex, float(np.linalg.norm(left))))
    return out


def hole_fans(pattern: CreasePattern) -> list[list[tuple[int, int]]]:
    """By hole or slit: the edges that lead away from its rim, in order around it.

    Each by its vertex on the rim and its other one. The rim that encloses the largest
    area is the outline.
    """
    after = following(pattern)
    sides = {(v, w) for v, around in after.items() for w in around}
    free = {(v, w) for v, w in sides if (w, v) not in sides}
    found = []
    while free:
        v, w = start = min(free)
        rim, edges = [], list[tuple[int, int]]()
        while (v, w) in free:
            free.discard((v, w))
            rim.append(v)
            while (w := after[v][w]) in after[v]:
                edges.append((v, w))
            v, w = w, v
        assert (v, w) == start  # rims are closed
        area = polygon_area(pattern.vertices[rim])
        found.append((float(np.linalg.norm(area)), edges))
    found.sort(key=lambda one: one[0])
    return [edges for _, edges in found[:-1]]


CLOSED = 1e-8  # rotation that is left around a vertex, rad
DRAWN = 0.01  # rad by which sectors may be off: as much times fold^2 stays open
SLOW = 0.5  # of the rotation left, after which a step brings a drawing no nearer
MOST_STEPS = 40  # of Newton's method
LONGEST = 0.3  # step of a fold, rad
LEAST = 1e-10  # damping of J J^T
PARTS = 20  # of the way from the flat sheet
RELAXATIONS = 3  # steps along the motions of rigid panels in each part
STUCK = 0.01  # share of its fold below which a crease has not left the flat sheet
FIRST = 0.02  # part of the way at which a flat sheet is left
# of folds drawn at random where those asked for lead back to the flat sheet
STARTS = 30
SPREAD = 1.0  # of the logarithms of such folds


@dataclass(frozen=True, eq=False)
class _Fans:
    """Vertices with the same number k of creases.

    Attributes
    ----------
    row : (m,) numbers of the vertices among the inner ones
    crease : (m, k) creases around each, in order; -1 never
    sector : (m, k) rad
    """

    row: Ints
    crease: Ints
    sector: Floats


@dataclass(frozen=True, eq=False)
class RigidFolds:
    """Folds that rigid panels can have.

    Attributes
    ----------
    folds : (c,) rad
    open_vertices : those that do not close, or do not fold, with every crease on the
        side asked for
    """

    folds: Floats
    open_vertices: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RigidSheet:
    """A flat pattern with rigid panels, its folds on the sides asked for.

    Parameters
    ----------
    asked : (c,) folds, rad, valleys positive; nan where a crease may turn either way
    stiffness : (c,) of the creases
    """

    pattern: CreasePattern
    asked: Floats
    stiffness: Floats

    @cached_property
    def vertices(self) -> list[int]:
        """Inner vertices, by number, and one of each hole: turning, then shift."""
        holes = [hole.vertex for hole in self._holes for _ in range(2)]
        return [*self._around, *holes]

    @cached_property
    def _holes(self) -> list[Hole]:
        return holes(self.pattern)

    @cached_property
    def _around(self) -> dict[int, tuple[list[int], Floats]]:
        return vertex_fans(self.pattern)

    @cached_property
    def _fans(self) -> list[_Fans]:
        column = np.full(len(self.pattern.edges), -1)
        column[self.pattern.creases] = np.arange(len(self.pattern.creases))
        rows = []
        for i, (edges, sectors) in enumerate(self._around.values()):
            creases, between = _creased(column[edges], sectors)
            if len(creases):
                rows.append((len(creases), i, creases, between))
        rows.sort(key=lambda row: row[:2])
        out = []
        for _, group in groupby(rows, key=lambda row: row[0]):
            _, row, crease, sector = zip(*group, strict=True)
            out.append(_Fans(np.array(row), np.array(crease), np.array(sector)))
        return out

    @cached_property
    def _sides(self) -> tuple[Floats, Floats]:
        """The least and the largest fold of each crease."""
        low = np.where(self.asked > 0, 0.0, -np.pi)
        return low, np.where(self.asked < 0, 0.0, np.pi)

    @property
    def aim(self) -> Floats:
        """(c,) folds asked for; zero where none is."""
        return np.nan_to_num(self.asked, nan=0.0)

    def closure(self, folds: Floats) -> tuple[Floats, csc_array]:
        """(v, 3) rotation left around each vertex, rad, and its slopes (3 v, c).

        Of a hole the row after it has the shift, over the sheet's size.
        """
        out = np.zeros((len(self.vertices), 3))
        rows, columns, values = [], [], []
        for fans in self._fans:
            rotation, axes = _around(folds[fans.crease], fans.sector)
            out[fans.row] = Rotation.from_matrix(rotation).as_rotvec()
            for c in range(3):
                rows.append(np.broadcast_to(3 * fans.row[:, None] + c, axes.shape[:2]))
                columns.append(fans.crease)
                values.append(axes[:, :, c])
        for i, hole in enumerate(self._holes):
            first = len(self._around) + 2 * i
            R, out[first + 1], slopes = hole.carried(folds)
            out[first] = Rotation.from_matrix(R).as_rotvec()
            of_first = 3 * first + np.arange(6)[:, None]
            rows.append(np.broadcast_to(of_first, slopes.shape))
            columns.append(np.broadcast_to(hole.crease, slopes.shape))
            values.append(slopes)
        table = [np.concatenate([v.ravel() for v in part] or [np.zeros(0)])
                 for part in (values, rows, columns)]  # fmt: skip
        value, row, column = table
        places = row.astype(np.int64), column.astype(np.int64)
        return out, csc_array((value, places), (3 * len(out), len(folds)))

    def closed(self, folds: Floats) -> RigidFolds:
        """The closest folds that close around all vertices, none on its wrong side."""
        low, high = self._sides
        folds = np.clip(folds, low, high)
        near, last = None, np.inf
        for _ in range(MOST_STEPS):
            left, J = self.closure(folds)
            most = float(np.abs(left).max(initial=0.0))
            if near is not None and most > SLOW * last:
                return RigidFolds(near, ())
            if most < CLOSED:
                return RigidFolds(folds, ())
            near, last = (None if self._open(left, folds) else folds), most
            step = self._shortest(J, left.ravel(), folds)
            step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
            folds = np.clip(folds + step, low, high)
        return RigidFolds(folds, self._open(self.closure(folds)[0], folds))

    def _open(self, left: Floats, folds: Floats) -> tuple[int, ...]:
        """Vertices that stay open by more than what a drawing is off, worst first.

        Sectors that are off by an angle leave that angle times the folds squared.
        """
        sizes = np.abs(left).max(axis=1)
        bent = self._most(np.abs(folds))
        sizes[sizes <= np.maximum(DRAWN * np.minimum(bent, 1.0) ** 2, CLOSED)] = 0.0
        worst = np.argsort(-sizes)[: np.count_nonzero(sizes)]
        return tuple(self.vertices[i] for i in worst)

    def _most(self, values: Floats | Bools) -> Floats:
        """(v,) largest of values (c,) among the creases of each vertex."""
        out = np.zeros(len(self.vertices))
        for fans in self._fans:
            out[fans.row] = values[fans.crease].max(axis=1)
        for i, hole in enumerate(self._holes):
            out[len(self._around) + 2 * i :][:2] = values[hole.crease].max()
        return out

    def _shortest(self, J: csc_array, left: Floats, folds: Floats) -> Floats:
        """Solve J d = -left; creases that would leave their side stay as they are."""
        low, high = self._sides
        soft = 1.0 / self.stiffness
        for _ in range(len(folds)):
            d = soft * (J.T @ _solved(J, soft, -left, folds))
            leaving = _leaving(folds, d, low, high) & (soft > 0)
            if not leaving.any():
                return np.asarray(d)
            soft = np.where(leaving, 0.0, soft)
        return np.zeros(len(folds))

    def nearer(self, folds: Floats, aim: Floats) -> RigidFolds:
        """One step from closed folds towards the aim along motions of rigid panels."""
        _, J = self.closure(folds)
        low, high = self._sides
        soft = 1.0 / self.stiffness
        d = aim - folds
        soft = np.where(_leaving(folds, d, low, high), 0.0, soft)
        d = np.where(soft > 0, d, 0.0)
        along = d - soft * (J.T @ _solved(J, soft, J @ d, folds))
        return self.closed(folds + along)

    def path(self, parts: int = PARTS) -> list[RigidFolds]:
        """Folds after 1, 2, ... `parts` equal parts of what is asked for.

        The last may differ from what is asked for: rigid panels come no nearer along
        this way. It ends early where a vertex does not close.
        """
        out = [self.left_to(1.0 / parts)]
        for part in range(2, parts + 1):
            if out[-1].open_vertices:
                break
            state = self.closed(out[-1].folds * part / (part - 1))
            for _ in range(RELAXATIONS):
                if state.open_vertices:
                    break
                state = self.nearer(state.folds, self.aim * part / parts)
            out.append(state)
        return out

    def left_to(self, part: float = FIRST) -> RigidFolds:
        """Where the flat sheet is left to; open at vertices of creases that stay flat.

        Flat folds always close: a vertex that leads back to them does not fold. Equal
        folds may lie midway between two ways to fold: others are tried, seed 0.
        """
        first = self._off_flat(self.closed(part * self.aim), part)
        if not first.open_vertices:
            return first
        rng = np.random.default_rng(0)
        for _ in range(STARTS):
            spread = np.exp(SPREAD * rng.standard_normal(len(self.aim)))
            near = self._in_proportion(part * spread * self.aim, part)
            state = self._off_flat(self.closed(near), part)
            if not state.open_vertices:
                return state
        return first

    def _off_flat(self, state: RigidFolds, part: float) -> RigidFolds:
        """The same, open at vertices of creases that stay flat."""
        flat = np.abs(state.folds) < STUCK * part * np.abs(self.aim)
        stuck = [v for v, any_flat in zip(self.vertices, self._most(flat), strict=True)
                 if any_flat]  # fmt: skip
        return RigidFolds(state.folds, state.open_vertices or tuple(stuck))

    def _in_proportion(self, folds: Floats, part: float) -> Floats:
        """Folds that close: Newton steps in logarithms, which keep signs and size."""
        size = part * float(np.linalg.norm(self.aim))
        for _ in range(MOST_STEPS):
            folds = folds * (size / float(np.linalg.norm(folds)))
            left, J = self.closure(folds)
            if float(np.abs(left).max(initial=0.0)) < CLOSED:
                break
            y = _solved(J, folds**2, -left.ravel(), folds)
            folds = folds * np.exp(np.clip(folds * (J.T @ y), -1.0, 1.0))
        return folds


def _creased(crease: Ints, sectors: Floats) -> tuple[Ints, Floats]:
    """Creases around a vertex and the sectors between them.

    Parameters
    ----------
    crease : (k,) around a vertex, -1 where an edge only divides a panel
    sectors : (k,) after each, rad
    """
    folds = np.flatnonzero(crease >= 0)
    if not len(folds):
        return crease[folds], sectors[folds]
    along = np.roll(np.arange(len(crease)), -folds[0])
    between = np.add.reduceat(sectors[along], np.flatnonzero(crease[along] >= 0))
    return crease[folds], between


def _leaving(folds: Floats, step: Floats, low: Floats, high: Floats) -> Bools:
    """Which folds are at the end of their side, and would go past it."""
    return np.asarray(((folds <= low) & (step < 0)) | ((folds >= high) & (step > 0)))


def _solved(J: csc_array, soft: Floats, right: Floats, folds: Floats) -> Floats:
    """Solve (J S J^T) y = right, S the inverse stiffness.

    Damped, since rows of J depend on each other in many patterns, in drawings nearly.
    """
    if not J.shape[0]:
        return np.zeros(0)
    square = csc_array(J @ diags_array(soft) @ J.T)
    damping = (DRAWN * min(float(np.abs(folds).max()), 1.0)) ** 2 + LEAST
    damped = square + damping * float(soft.max()) * diags_array(np.ones(J.shape[0]))
    return np.asarray(splu(csc_array(damped)).solve(right))


def _around(folds: Floats, sectors: Floats) -> tuple[Floats, Floats]:
    """Products (m, 3, 3) of eq. (1.1), and the axes (m, k, 3) of the creases."""
    m, k = folds.shape
    rotation = np.broadcast_to(np.eye(3), (m, 3, 3)).copy()
    axes = np.empty((m, k, 3))
    for i in range(k):
        axes[:, i] = rotation[:, :, 0]
        rotation = _turned(rotation, folds[:, i], 1, 2)
        rotation = _turned(rotation, sectors[:, i], 0, 1)
    return rotation, axes


def _turned(rotation: Floats, angle: Floats, a: int, b: int) -> Floats:
    """Rotations (m, 3, 3) times one in the plane of axes a and b."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    out = rotation.copy()
    out[:, :, a] = c * rotation[:, :, a] + s * rotation[:, :, b]
    out[:, :, b] = c * rotation[:, :, b] - s * rotation[:, :, a]
    return out
