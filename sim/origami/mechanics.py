"""What designers ask of a folded sheet: stability, modes, stiffness as a plate.

A state of a run: is its equilibrium stable and its material still elastic
(`eigenmodes`, `bending_strain`), what are its softest modes, how stiff is it along a
way (`stiffness_along`)?

A folded sheet that repeats, as the plate that it is from afar (`plate_of`): nodes x of
the sheet, whose periods lie in the plane of x and y, move by

    u = (e_x x + g y / 2,  e_y y + g x / 2,  0)
      + (-(k_x x + k_xy y) z,  -(k_y y + k_xy x) z,  (k_x x^2 + k_y y^2)/2 + k_xy x y)
      + w

with w the same in every cell. To first order, bars and hinges of all cells are strained
alike, as what differs from cell to cell is a rotation. The energy of a cell, least over
w, is A m.C m / 2 of the strains m = (e_x, e_y, g, k_x, k_y, k_xy): first-order
homogenisation (Schenk and Guest, PNAS 110, 2013, have the lengths of a Miura cell by
its fold; Wei et al., Phys. Rev. Lett. 110:215501, 2013, both ratios of Poisson).
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csc_array
from scipy.sparse.linalg import eigsh, spsolve

from sim.core.arrays import Floats, Ints
from sim.core.hinges import slopes_of_hinges
from sim.core.options import is_finite, refuse_missing
from sim.origami.fold_and_load_phases import Fold, Phase
from sim.origami.folding.equilibrium import FoldingProblem, near_at
from sim.origami.folding.flat_state_branching import (
    asked_folds,
    panel_motions,
    rigid_sheet,
)
from sim.origami.folding.fold_simulation import OrigamiStep
from sim.origami.folding.sheet import Sheet, build_problem, hinge_angles
from sim.origami.model.assembly import EquilibriumSystem, assemble
from sim.origami.model.mesh import BarHingeMesh, concentrated_mesh
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_folding import PARTS

DENSE_UP_TO = 900  # unknowns


def stiffness_matrix(system: EquilibriumSystem) -> csc_array:
    """The tangent stiffness as a sparse symmetric matrix, N/m."""
    count = np.diff(system.start)
    row = np.repeat(np.arange(len(count)), count)
    column = np.arange(len(row)) - system.start[row] + system.first[row]
    lower = csc_array((system.values, (row, column)))
    strict = csc_array((system.values * (row > column), (row, column)))
    return csc_array(lower + strict.T)


def tangent_at(
    sheet: Sheet, phase: Phase, step: OrigamiStep
) -> tuple[FoldingProblem, csc_array]:
    """The phase's problem, and the tangent stiffness of its unknowns there, N/m."""
    problem = build_problem(sheet, phase)
    near = near_at(problem, step.x, problem.skin)
    system = assemble(problem.model, near.pairs, problem.ke, step.x, step.angles)
    return problem, stiffness_matrix(system)


def bending_strain(mesh: BarHingeMesh, material: SheetMaterial, x: Floats) -> float:
    """Largest strain in the outer fibre of a crease, t/2 times its curvature.

    A hinge makes its share of the fold over its share of the crease's width.
    """
    folds = mesh.hinge_share > 0
    if not folds.any():
        return 0.0
    turn = np.abs(hinge_angles(mesh, x, folds) - np.pi)
    curvature = turn / (mesh.hinge_share[folds] * material.crease_width)
    return float(0.5 * material.crease_thickness * curvature.max())


def panel_strain(mesh: BarHingeMesh, material: SheetMaterial, x: Floats) -> float:
    """Largest strain in a panel: of a bar, or of the outer fibre where it bends.

    A panel bends about its spokes, over the width W by which their stiffness is set.
    """
    bar = mesh.bar[mesh.bar_of_panel]
    rest, now = (y[bar[:, 1]] - y[bar[:, 0]] for y in (mesh.rest, x))
    moved = now - rest
    green = ((rest + 0.5 * moved) * moved).sum(axis=1)
    length = mesh.bar_length[mesh.bar_of_panel]
    stretched = np.abs(green / length**2).max(initial=0.0)
    spokes = mesh.hinge_crease < 0
    turn = np.abs(hinge_angles(mesh, x, spokes) - hinge_angles(mesh, mesh.rest, spokes))
    panel = np.searchsorted(mesh.centre, mesh.hinge[spokes, 2])
    thickness = material.thicknesses(len(mesh.pattern.panels))[panel]
    bent = 0.5 * thickness * turn / material.crease_width
    return float(max(stretched, bent.max(initial=0.0)))


class Eigenmodes(NamedTuple):
    """The softest ways in which a sheet moves about a state.

    Attributes
    ----------
    values : (k,) N/m, ascending
    shapes : (k, n, 3) moves of the nodes, each of norm 1, zero where they are held
    """

    values: Floats
    shapes: Floats


@dataclass(frozen=True)
class Probe:
    """A force of 1 N, the same on each of some nodes, along a direction.

    Parameters
    ----------
    direction : (3,) of any length
    """

    nodes: Sequence[int]
    direction: Sequence[float]

    def __post_init__(self) -> None:
        way = list(self.direction)
        if len(way) != 3 or not all(map(is_finite, way)) or not any(way):
            raise ValueError(f"a probe has direction {way}: give x, y and z")
        if not self.nodes:
            raise ValueError("a probe has no nodes: name those that carry its force")

    def check(self, nodes: int) -> None:
        """Refuse nodes that a mesh does not have."""
        refuse_missing("a probe names node {}", self.nodes, nodes, "the mesh has nodes")


def eigenmodes(sheet: Sheet, phase: Phase, step: OrigamiStep, count: int) -> Eigenmodes:
    """The smallest eigenvalues of the tangent stiffness, ascending, N/m, and vectors.

    A stable equilibrium has none below zero. The largest move of each is positive.
    As all nodes count alike, values hang on the mesh; where a mode turns about creases
    alone its shape does not.
    """
    problem, K = tangent_at(sheet, phase, step)
    count = min(count, K.shape[0])
    if K.shape[0] <= DENSE_UP_TO:
        values, vectors = eigh(K.toarray(), subset_by_index=(0, count - 1))
    else:
        values, vectors = eigsh(K, k=count, sigma=0.0, v0=np.ones(K.shape[0]))
    order = np.argsort(values)
    shapes = np.array([_spread(problem, vectors[:, i]) for i in order])
    return Eigenmodes(values[order], shapes)


def _spread(problem: FoldingProblem, vector: Floats) -> Floats:
    """(n, 3) moves of the nodes from those of the unknowns, its sign settled."""
    unknown = problem.model.unknown
    vector = vector * np.sign(vector[np.argmax(np.abs(vector))])
    return np.where(unknown >= 0, vector[unknown], 0.0)


def stiffness_along(
    sheet: Sheet, phase: Phase, step: OrigamiStep, probe: Probe
) -> float:
    """Force by the mean move of the probe's nodes along it, to first order, N/m.

    1 / (P . K^-1 P) with P the force of the probe; nodes are free to move otherwise.
    """
    problem, K = tangent_at(sheet, phase, step)
    way = np.asarray(probe.direction, dtype=np.float64)
    share = way / np.linalg.norm(way) / len(probe.nodes)
    P = np.zeros(K.shape[0])
    for node in probe.nodes:
        rows = problem.model.unknown[node]
        P[rows[rows >= 0]] += share[rows >= 0]
    if not P.any():
        return np.inf
    return float(1.0 / (P @ spsolve(K, P)))


SAME = 1e-5  # of the sheet's size: how far nodes of two cells may differ

Pair = Sequence[int]


@dataclass(frozen=True, eq=False)
class PlateStiffness:
    """How a sheet resists strain of its plane and curvature.

    Attributes
    ----------
    C : (6, 6) energy per area is half of m.C m; N/m for strains, N m for curvatures
    periods : (2,) m, lengths of the periods
    """

    C: Floats
    periods: Floats

    @property
    def compliance(self) -> Floats:
        """(6, 6) inverse of C."""
        size = 1.0 / np.sqrt(np.diag(self.C))
        inner = np.linalg.inv(self.C * np.outer(size, size))
        return np.asarray(inner * np.outer(size, size))

    def poisson(self) -> tuple[float, float]:
        """-e_y / e_x under a pull along x alone, and -k_y / k_x under its bending."""
        S = self.compliance
        return float(-S[1, 0] / S[0, 0]), float(-S[4, 3] / S[3, 3])

    def moduli(self) -> Floats:
        """(4,) pull by strain along x and y, N/m; moment by curvature, N m."""
        return np.asarray(1.0 / np.diag(self.compliance)[[0, 1, 3, 4]])


@dataclass(frozen=True, eq=False)
class FoldedCell:
    """A sheet of rigid panels, folded, its periods along x and in the plane of x and y.

    Attributes
    ----------
    folds : (c,) rad
    pattern : as it is folded, without stress
    periods : (2, 2) m, x and y of each
    """

    folds: Floats
    pattern: CreasePattern
    periods: Floats


def folded_cells(
    pattern: CreasePattern,
    material: SheetMaterial,
    fold: Fold,
    periods: Sequence[Pair],
) -> Iterator[FoldedCell]:
    """Yield the sheet at equal parts of its fold, without stress.

    Parameters
    ----------
    fold : how far in how many increments
    periods : two pairs of vertices, each with the same places in neighbouring cells

    Raises
    ------
    ValueError
        where rigid panels do not fold so, or what is folded does not repeat.
    """
    mesh = concentrated_mesh(pattern, material)
    rigid = rigid_sheet(mesh, asked_folds(mesh, fold))
    if rigid is None:
        raise ValueError("the pattern is folded at rest, or has no inner vertex: give "
                         "a flat sheet with inner vertices")  # fmt: skip
    finer = -(-PARTS // fold.increments)
    for part, state in enumerate(rigid.path(finer * fold.increments), 1):
        if state.open_vertices:
            raise ValueError(
                f"rigid panels do not close around vertex {state.open_vertices[0]}: "
                "choose a rigidly foldable pattern"
            )
        if part % finer == 0:
            yield _folded(pattern, state.folds, periods)


def _folded(
    pattern: CreasePattern, folds: Floats, periods: Sequence[Pair]
) -> FoldedCell:
    R, t = panel_motions(pattern, folds)
    x = np.empty_like(pattern.vertices)
    for panel, corners in enumerate(pattern.panels):
        x[list(corners)] = pattern.vertices[list(corners)] @ R[panel].T + t[panel]
    a, b = (x[j] - x[i] for i, j in periods)
    _check_repeats(pattern.vertices, x, periods)
    e1, e3 = a / np.linalg.norm(a), np.cross(a, b)
    e3 /= np.linalg.norm(e3)
    frame = np.array([e1, np.cross(e3, e1), e3])
    x = (x - x.mean(axis=0)) @ frame.T
    x[:, 2] -= 0.5 * (x[:, 2].min() + x[:, 2].max())
    lattice = np.array([frame @ a, frame @ b])[:, :2]
    return FoldedCell(folds, replace(pattern, vertices=x, assignment=()), lattice)


def _check_repeats(flat: Floats, folded: Floats, periods: Sequence[Pair]) -> None:
    """Refuse a sheet whose vertices a period apart are so no more."""
    limit = SAME * float(np.ptp(flat, axis=0).max())
    for i, j in periods:
        way = flat[j] - flat[i]
        gaps = np.linalg.norm(flat[None] - flat[:, None] - way, axis=2)
        one, other = np.nonzero(gaps < limit)
        off = folded[other] - folded[one] - (folded[j] - folded[i])
        worst = int(np.argmax(np.linalg.norm(off, axis=1)))
        if np.linalg.norm(off[worst]) > limit:
            raise ValueError(
                f"the sheet is not periodic: after folding, vertices {one[worst]} and "
                f"{other[worst]} differ in distance or direction from {i} and {j}; "
                "name vertices one period apart, in a sheet that stays straight"
            )


def plate_of(cell: FoldedCell, material: SheetMaterial) -> PlateStiffness:
    """The stiffness of the plate, its panels and creases those of `material`.

    Raises
    ------
    ValueError
        where the sheet is smaller than a cell and a panel around it.
    """
    mesh = concentrated_mesh(cell.pattern, material)
    group = _groups(mesh.rest, cell.periods)
    _check_inside(cell.pattern, group, mesh.rest, cell.periods)
    rows = [
        (k, nodes, slopes)
        for elements in (_bars(mesh), _hinges(mesh))
        for k, nodes, slopes in _one_cell(elements, group, mesh.rest, cell.periods)
    ]
    macro = _macroscopic(mesh.rest)
    count = int(group.max()) + 1
    B, stiffness = np.zeros((len(rows), 3 * count + 6)), np.zeros(len(rows))
    for row, (k, nodes, slopes) in enumerate(rows):
        stiffness[row] = k
        for node, slope in zip(nodes, slopes.reshape(-1, 3), strict=True):
            B[row, 3 * group[node] : 3 * group[node] + 3] += slope
            B[row, 3 * count :] += slope @ macro[node]
    B = B[:, 3:]  # one node stays: all may move alike
    weighted = B * np.sqrt(stiffness)[:, None]
    inner, outer = weighted[:, :-6], weighted[:, -6:]
    size = np.linalg.norm(inner, axis=0)
    w = np.linalg.lstsq(inner / size, outer, rcond=1e-13)[0]
    left = outer - (inner / size) @ w
    area = abs(float(np.linalg.det(cell.periods)))
    return PlateStiffness(
        left.T @ left / area, np.asarray(np.linalg.norm(cell.periods, axis=1))
    )


Element = tuple[float, Ints, Floats]


def _bars(mesh: BarHingeMesh) -> list[Element]:
    """Energy by half the square of the strain, J; nodes; slopes of the strain, 1/m."""
    one, other = mesh.rest[mesh.bar[:, 0]], mesh.rest[mesh.bar[:, 1]]
    along = (other - one) / mesh.bar_length[:, None] ** 2
    k = mesh.bar_stiffness * mesh.bar_length
    return list(zip(k.tolist(), mesh.bar, np.hstack([-along, along]), strict=True))


def _hinges(mesh: BarHingeMesh) -> list[Element]:
    """Energy by half the square of the angle, J; nodes; slopes of the angle, 1/m."""
    slopes = slopes_of_hinges(mesh.hinge, mesh.rest)[1]
    return list(zip(mesh.hinge_stiffness.tolist(), mesh.hinge, slopes, strict=True))


def _cell_place(x: Floats, periods: Floats) -> tuple[float, ...]:
    """A place (3,) as it is in the first cell."""
    share = np.linalg.solve(periods.T, x[:2])
    size = float(np.abs(periods).max())
    inside = share - np.floor(share + SAME)
    return (*np.round(inside, 4).tolist(), round(float(x[2]) / size, 4))


def _groups(rest: Floats, periods: Floats) -> Ints:
    """(n,) number of each node among those of one cell."""
    seen: dict[tuple[float, ...], int] = {}
    places = [_cell_place(x, periods) for x in rest]
    return np.array([seen.setdefault(place, len(seen)) for place in places])


def _one_cell(
    elements: Sequence[Element], group: Ints, rest: Floats, periods: Floats
) -> list[Element]:
    """The stiffest of those that are the same in several cells.

    On the rim of the sheet a bar belongs to one panel in place of two.
    """
    best: dict[Hashable, Element] = {}
    for element in elements:
        k, nodes, _ = element
        middle = _cell_place(rest[nodes].mean(axis=0), periods)
        key = (tuple(sorted(group[nodes].tolist())), middle)
        if key not in best or k > best[key][0]:
            best[key] = element
    return list(best.values())


def _check_inside(
    pattern: CreasePattern, group: Ints, rest: Floats, periods: Floats
) -> None:
    """Refuse a sheet in which a crease of the cell is on the rim only."""
    inside: dict[Hashable, bool] = {}
    for (a, b), panels in zip(pattern.edges, pattern.edge_panels, strict=True):
        middle = _cell_place(rest[[a, b]].mean(axis=0), periods)
        key = (tuple(sorted(group[[a, b]].tolist())), middle)
        inside[key] = inside.get(key, False) or len(panels) == 2
    if not all(inside.values()):
        raise ValueError(
            "no cell of the sheet is surrounded by panels: add rows and columns"
        )


def _macroscopic(x: Floats) -> Floats:
    """(n, 3, 6) moves of nodes by each of the strains and curvatures."""
    out = np.zeros((len(x), 3, 6))
    X, Y, Z = x.T
    out[:, 0, 0], out[:, 1, 1] = X, Y
    out[:, 0, 2], out[:, 1, 2] = 0.5 * Y, 0.5 * X
    out[:, 0, 3], out[:, 2, 3] = -X * Z, 0.5 * X**2
    out[:, 1, 4], out[:, 2, 4] = -Y * Z, 0.5 * Y**2
    out[:, 0, 5], out[:, 1, 5], out[:, 2, 5] = -Y * Z, -X * Z, X * Y
    return out
