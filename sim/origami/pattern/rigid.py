"""Rigid closure of a vertex: eq. (1.1) of [ZF19]."""

import numpy as np

from sim.arrays import Floats, cross
from sim.origami.pattern.pattern import CreasePattern


def _about_x(angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _about_z(angle: float) -> Floats:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


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
    product = np.eye(3)
    for sector, fold in zip(sectors, folds, strict=True):
        product = product @ _about_x(fold) @ _about_z(sector)
    return float(np.linalg.norm(product - np.eye(3)))


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
        raise ValueError("the pattern assigns no folds: nothing tells how it closes")
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
