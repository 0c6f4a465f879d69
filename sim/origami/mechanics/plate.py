"""A folded sheet that repeats, as the plate that it is from afar.

Nodes x of the sheet, whose periods lie in the plane of x and y, move by

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

import numpy as np

from sim.arrays import Floats, Ints
from sim.hinges import hinge_slopes
from sim.origami.folding.leaving import asked_folds, rigid_sheet
from sim.origami.folding.placing import panel_motions
from sim.origami.loading.phases import Fold
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_path import PARTS

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
        raise ValueError("the pattern is folded as drawn, or has no inner vertex: none "
                         "is folded here but flat sheets")  # fmt: skip
    finer = -(-PARTS // fold.increments)
    for part, state in enumerate(rigid.path(finer * fold.increments), 1):
        if state.open_vertices:
            raise ValueError(
                f"rigid panels do not close around vertex {state.open_vertices[0]}: a "
                "plate is made of rigid folds"
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
                f"vertices {one[worst]} and {other[worst]} are not as far apart as "
                f"{i} and {j} once folded: name vertices one period apart, of a sheet "
                "that stays straight"
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
    out = []
    for nodes, length, EA in zip(mesh.bar, mesh.bar_length, mesh.bar_stiffness,
                                 strict=True):  # fmt: skip
        along = (mesh.rest[nodes[1]] - mesh.rest[nodes[0]]) / length**2
        out.append((float(EA * length), nodes, np.concatenate([-along, along])))
    return out


def _hinges(mesh: BarHingeMesh) -> list[Element]:
    """Energy by half the square of the angle, J; nodes; slopes of the angle, 1/m."""
    out = []
    for nodes, k in zip(mesh.hinge, mesh.hinge_stiffness, strict=True):
        slopes = np.empty(12)
        hinge_slopes(mesh.rest[nodes], slopes, np.empty((12, 12)), np.empty((6, 3, 3)))
        out.append((float(k), nodes, slopes))
    return out


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
            "the sheet shows no whole cell with a panel around it: give it more rows "
            "and columns"
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
