"""Rigid panels with thickness, whose creases are hinges on or between their faces.

Flat, a hinge lies a height above the pattern's plane, along the panels' normals. Panels
that turn about hinges off the plane stay together around a vertex only for some
heights: they close where the moves about all hinges add up to none, which is linear in
the heights. For four creases that fold flat these heights make a linkage of Bennett
(Proc. Lond. Math. Soc. 13, 1914), whose folds are those of the thin sheet: neighbouring
hinges differ in height as the sines of the sectors between them (Chen, Peng and You,
Science 349:396, 2015).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sim.arrays import Floats
from sim.origami.folding.placing import panel_motions
from sim.origami.pattern.pattern import CreasePattern, polygon_area

CLOSES = 1e-6  # opening by height below which heights close


@dataclass(frozen=True, eq=False)
class ThickFolding:
    """Thick panels at given folds.

    Attributes
    ----------
    turn, shift : (p, 3, 3), (p, 3) m of each panel
    opening : m by which the two sides of a hinge are apart at most
    """

    turn: Floats
    shift: Floats
    opening: float


def thick_folding(
    pattern: CreasePattern, folds: Floats, heights: Floats
) -> ThickFolding:
    """Turn panels about their hinges, from the first panel on.

    Parameters
    ----------
    folds, heights : (c,) rad, valleys positive; m, along the normal of the flat panels
    """
    turn, shift = panel_motions(pattern, folds, heights)
    gaps = hinge_gaps(pattern, turn, shift, heights)
    return ThickFolding(turn, shift, float(np.abs(gaps).max(initial=0.0)))


def hinge_gaps(
    pattern: CreasePattern, turn: Floats, shift: Floats, heights: Floats
) -> Floats:
    """(c, 2, 3) m from one panel to the other at the ends of each hinge."""
    first = polygon_area(pattern.vertices[list(pattern.panels[0])])
    normal = first / np.linalg.norm(first)
    out = np.zeros((len(pattern.creases), 2, 3))
    for c, edge in enumerate(pattern.creases):
        one, other = pattern.edge_panels[edge]
        ends = pattern.vertices[pattern.edges[edge]] + heights[c] * normal
        out[c] = ends @ (turn[other] - turn[one]).T + shift[other] - shift[one]
    return out


def closing_heights(pattern: CreasePattern, folds: Sequence[Floats]) -> Floats:
    """(c, k) orthonormal heights with which thick panels close at all of the folds.

    Heights that are the same for all creases are among them: the pattern's plane is
    moved, and nothing else.

    Parameters
    ----------
    folds : (c,) rad each, with which thin panels close
    """
    unit = np.eye(len(pattern.creases))
    rows = []
    for state in folds:
        none = _gaps(pattern, state, np.zeros(len(unit)))
        rows.append(np.array([_gaps(pattern, state, h) - none for h in unit]).T)
    _, sizes, ways = np.linalg.svd(np.concatenate(rows))
    full = np.zeros(len(ways))
    full[: len(sizes)] = sizes
    return np.asarray(ways[full <= CLOSES].T)


def _gaps(pattern: CreasePattern, folds: Floats, heights: Floats) -> Floats:
    turn, shift = panel_motions(pattern, folds, heights)
    return hinge_gaps(pattern, turn, shift, heights).ravel()


def face_heights(
    pattern: CreasePattern, folds: Sequence[Floats], thickness: float
) -> Floats:
    """(c,) m: hinges on the faces that close, as nearly as panels stay together.

    Valleys ask for the face on the side of the normals, mountains for the other; of
    the heights that close at all of the folds these are the nearest to that.
    """
    asked = 0.5 * thickness * np.sign(folds[-1])
    free = closing_heights(pattern, folds)
    return np.asarray(free @ (free.T @ asked))


def panel_spans(pattern: CreasePattern, heights: Floats, thickness: float) -> Floats:
    """(p, 2) m, from where to where each panel reaches along its normal.

    From its lowest hinge to its highest; where these are level, over the thickness on
    both sides of the pattern's plane.
    """
    at = dict(zip(pattern.creases.tolist(), heights.tolist(), strict=True))
    own: list[list[float]] = [[] for _ in pattern.panels]
    for edge, panels in enumerate(pattern.edge_panels):
        if edge in at:
            for panel in panels:
                own[panel].append(at[edge])
    spans = np.array([(min(h, default=0.0), max(h, default=0.0)) for h in own])
    level = np.ptp(spans, axis=1) < CLOSES * thickness
    spans[level] = -0.5 * thickness, 0.5 * thickness
    return spans


def check_cut(pattern: CreasePattern, cut: float) -> None:
    """Refuse a cut (m) after which a side of a panel has no length."""
    shares = []  # of the shortest side of each panel, falling with the cut in line
    for number, panel in enumerate(pattern.panels):
        corners = pattern.vertices[list(panel)]
        normal = polygon_area(corners)
        normal /= np.linalg.norm(normal)
        sides = np.roll(corners, -1, axis=0) - corners
        inner = _cut_back(pattern, number, corners, normal, cut)
        left = np.sum((np.roll(inner, -1, axis=0) - inner) * sides, axis=1)
        shares.append((left / np.sum(sides**2, axis=1)).min())
    least = int(np.argmin(shares))
    if shares[least] <= CLOSES:
        raise ValueError(
            f"a cut of {cut:g} m leaves nothing of panel {least}, which is gone at "
            f"{cut / (1.0 - shares[least]):.3g}: take less"
        )


def panel_solids(pattern: CreasePattern, spans: Floats, cut: float) -> list[Floats]:
    """Of each panel its corners (2 m, 3) m, below and above, of the flat sheet.

    Parameters
    ----------
    cut : m by which the sides along creases are cut back from them
    """
    solids = []
    for number, panel in enumerate(pattern.panels):
        corners = pattern.vertices[list(panel)]
        normal = polygon_area(corners)
        normal /= np.linalg.norm(normal)
        inner = _cut_back(pattern, number, corners, normal, cut)
        solids.append(np.concatenate([inner + z * normal for z in spans[number]]))
    return solids


def _cut_back(
    pattern: CreasePattern, number: int, corners: Floats, normal: Floats, cut: float
) -> Floats:
    """Corners (m, 3) of a panel whose sides along creases are moved inwards."""
    panel, creased = pattern.panels[number], pattern.creased
    after = np.roll(corners, -1, axis=0)
    along = (after - corners) / np.linalg.norm(after - corners, axis=1)[:, None]
    inwards = np.cross(normal, along)
    back = np.array([
        cut * ((min(a, b), max(a, b)) in creased)
        for a, b in zip(panel, (*panel[1:], panel[0]), strict=True)
    ])  # fmt: skip
    out = np.empty_like(corners)
    for k in range(len(panel)):
        sides = np.array([inwards[k - 1], inwards[k], normal])
        moved = np.array([back[k - 1], back[k], 0.0])
        out[k] = corners[k] + np.linalg.solve(sides, moved)
    return out


def clearance(solids: Sequence[Floats], folding: ThickFolding) -> float:
    """Least distance of two panels along a line that parts them best, m.

    Below zero where two run into each other, by how deep; of prisms that are convex
    (separating axes: Gottschalk, Lin and Manocha, SIGGRAPH 1996).
    """
    placed = [
        x @ R.T + t for x, R, t in zip(solids, folding.turn, folding.shift, strict=True)
    ]
    pairs = combinations(placed, 2)
    return min((_parted(one, other) for one, other in pairs), default=np.inf)


def _parted(one: Floats, other: Floats) -> float:
    ways = [_edges(one), _edges(other)]
    axes = [np.cross(sides[:-1], sides[-1]) for sides in ways]
    axes += [sides[-1:] for sides in ways]
    axes += [np.cross(ways[0][:, None], ways[1][None]).reshape(-1, 3)]
    n = np.concatenate(axes)
    size = np.linalg.norm(n, axis=1)
    n = n[size > 1e-9] / size[size > 1e-9, None]
    a, b = one @ n.T, other @ n.T
    apart = np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0))
    return float(apart.max())


def _edges(solid: Floats) -> Floats:
    """(m + 1, 3) directions of the edges of a prism (2 m, 3), across its panel last."""
    m = len(solid) // 2
    base = solid[:m]
    sides = np.concatenate([np.roll(base, -1, axis=0) - base, solid[m:][:1] - base[:1]])
    return np.asarray(sides / np.linalg.norm(sides, axis=1)[:, None])
