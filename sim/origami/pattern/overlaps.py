"""Where convex polygons overlap, and where lines run through them, to a tolerance."""

import numpy as np

from sim.arrays import Floats

Polygon = list[tuple[float, float]]


def counterclockwise(corners: Floats) -> Polygon:
    """Corners (m, 2) of a convex polygon in mathematical order."""
    x, y = corners.T
    area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
    ordered = corners if area > 0 else corners[::-1]
    return [(float(a), float(b)) for a, b in ordered]


def clipped(one: Polygon, other: Polygon) -> Polygon:
    """What two convex polygons share (Sutherland and Hodgman, CACM 17, 1974)."""
    out = one
    for (ax, ay), (bx, by) in zip(other, other[1:] + other[:1], strict=True):
        if not out:
            return out
        side = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for x, y in out]
        kept: Polygon = []
        for k, here in enumerate(out):
            before, was, now = out[k - 1], side[k - 1], side[k]
            if (was > 0) != (now > 0) and was != now:
                s = was / (was - now)
                kept.append((before[0] + s * (here[0] - before[0]),
                             before[1] + s * (here[1] - before[1])))  # fmt: skip
            if now > 0:
                kept.append(here)
        out = kept
    return out


def area(polygon: Polygon) -> float:
    """Of a polygon in mathematical order."""
    pairs = zip(polygon, polygon[1:] + polygon[:1], strict=True)
    return 0.5 * sum(ax * by - bx * ay for (ax, ay), (bx, by) in pairs)


def runs_inside(line: Floats, polygon: Polygon, near: float) -> bool:
    """Whether a part of a line (2, 2) longer than `near` is that deep in a polygon."""
    a, b = line
    low, high = 0.0, 1.0
    for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        inward = np.array([p[1] - q[1], q[0] - p[0]])
        inward /= np.linalg.norm(inward)
        begin, end = inward @ (a - p) - near, inward @ (b - p) - near
        if begin <= 0 and end <= 0:
            return False
        if begin * end < 0:
            at = begin / (begin - end)
            low, high = (max(low, at), high) if begin < 0 else (low, min(high, at))
    return float((high - low) * np.linalg.norm(b - a)) > near


def share_length(one: Floats, other: Floats, near: float) -> bool:
    """Whether two lines (2, 2) lie on each other along more than `near`."""
    u = one[1] - one[0]
    length = float(np.linalg.norm(u))
    u = u / length
    away = other - one[0]
    if np.abs(away @ np.array([-u[1], u[0]])).max() > near:
        return False
    along = np.sort(away @ u)
    return bool(min(along[1], length) - max(along[0], 0.0) > near)
