"""A pattern folded flat: where its panels come to lie, and whether its vertices can.

At a vertex inside the sheet panels close where every other sector adds up to 180
degrees (Kawasaki), and fold where mountains and valleys differ by two (Maekawa).
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from sim.arrays import Bools, Floats
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid import vertex_fans

CLOSED = 1e-6  # rad, and of the sheet's size: how far what closes may be open
FULL = 1e-9  # of a fold: how far from 0 or 180 degrees it may be


class NotFlatFoldableError(ValueError):
    """A pattern that cannot lie flat as it is assigned; the message says where."""


@dataclass(frozen=True, eq=False)
class FlatFolding:
    """Where the panels of a pattern lie when it is folded flat.

    Attributes
    ----------
    panels : of each its corners (m, 2) m, as its first panel lies
    up : (p,) whether a panel shows the side that the first one shows
    """

    pattern: CreasePattern
    panels: tuple[Floats, ...]
    up: Bools

    @property
    def places(self) -> Floats:
        """(v, 2) m of the vertices, which all panels at them agree on."""
        out = np.zeros((len(self.pattern.vertices), 2))
        for corners, there in zip(self.pattern.panels, self.panels, strict=True):
            out[list(corners)] = there
        return out


def flat_folding(pattern: CreasePattern) -> FlatFolding:
    """Fold a flat pattern flat along its assignment, which is checked vertex by vertex.

    Raises
    ------
    NotFlatFoldableError
        where a crease is folded in part, or a vertex does not close or not fold.
    """
    vertices = pattern.vertices
    if np.ptp(vertices[:, 2]) > CLOSED * pattern.size:
        raise NotFlatFoldableError("the pattern is not in a plane: draw it flat")
    fold = _folds(pattern)
    _check_vertices(pattern, fold)
    count = len(pattern.panels)
    turn, shift = np.zeros((count, 2, 2)), np.zeros((count, 2))
    turn[0], placed, ahead = np.eye(2), {0}, deque([0])
    beside: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for edge, panels in enumerate(pattern.edge_panels):
        if len(panels) == 2:
            beside[panels[0]].append((panels[1], edge))
            beside[panels[1]].append((panels[0], edge))
    while ahead:
        here = ahead.popleft()
        for other, edge in beside[here]:
            if other not in placed:
                M, t = _mirror(vertices[pattern.edges[edge], :2], bool(fold[edge]))
                turn[other], shift[other] = turn[here] @ M, turn[here] @ t + shift[here]
                placed.add(other)
                ahead.append(other)
    if len(placed) < count:
        raise NotFlatFoldableError("the sheet is in several parts: leave all but one")
    placed_panels = tuple(
        vertices[list(panel), :2] @ turn[k].T + shift[k]
        for k, panel in enumerate(pattern.panels)
    )
    return FlatFolding(pattern, placed_panels, np.linalg.det(turn) > 0)


def _mirror(line: Floats, folded: bool) -> tuple[Floats, Floats]:
    """Turn (2, 2) and shift (2,) of what lies beyond a line (2, 2)."""
    if not folded:
        return np.eye(2), np.zeros(2)
    a, b = line
    u = (b - a) / np.linalg.norm(b - a)
    M = 2.0 * np.outer(u, u) - np.eye(2)
    return M, a - M @ a


def _folds(pattern: CreasePattern) -> Floats:
    """(e,) -1 for mountains, 1 for valleys, 0 for what stays flat."""
    if not len(pattern.assignment):
        raise NotFlatFoldableError("the pattern assigns no folds: say M and V")
    fold = np.asarray(pattern.assignment, dtype=np.float64)
    for edge in pattern.creases:
        if min(abs(fold[edge]), abs(abs(fold[edge]) - 1.0)) > FULL:
            raise NotFlatFoldableError(
                f"{pattern.crease_name(edge)} folds by {180 * fold[edge]:g} degrees: a "
                "flat folding has 0, 180 and -180"
            )
    return np.round(fold)


def _check_vertices(pattern: CreasePattern, fold: Floats) -> None:
    for v, (edges, sectors) in vertex_fans(pattern).items():
        signs = fold[edges]
        folded = np.flatnonzero(signs)
        if not len(folded):
            continue
        if len(folded) % 2:
            raise NotFlatFoldableError(
                f"vertex {v} has {len(folded)} creases: an odd number cannot fold flat"
            )
        along = np.roll(sectors, -folded[0])
        between = np.add.reduceat(along, folded - folded[0])
        open_by = abs(between[::2].sum() - between[1::2].sum())
        if open_by > CLOSED:
            raise NotFlatFoldableError(
                f"vertex {v}: every other sector adds up to "
                f"{np.degrees(between[::2].sum()):g} and "
                f"{np.degrees(between[1::2].sum()):g} degrees, not to 180 (Kawasaki)"
            )
        valleys, mountains = int((signs > 0).sum()), int((signs < 0).sum())
        if abs(valleys - mountains) != 2:
            raise NotFlatFoldableError(
                f"vertex {v} has {mountains} mountains and {valleys} valleys: they "
                "must differ by 2 (Maekawa)"
            )
