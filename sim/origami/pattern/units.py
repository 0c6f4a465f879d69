"""Single units: a vertex of several creases, a Kresling cell."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats
from sim.limits import is_positive
from sim.origami.pattern.pattern import CreasePattern


def _check(unit: str, **lengths: float) -> None:
    for name, value in lengths.items():
        if not is_positive(value):
            raise ValueError(f"{name} of the {unit} must be positive, not {value}")


def vertex(sectors: Sequence[float], *, radius: float) -> CreasePattern:
    """Triangles and quadrilaterals around vertex 0, between creases of equal length.

    Crease k leads to vertex k + 1, sector k lies after it; a sector of 90 degrees or
    more is a quadrilateral. Creases are not assigned.

    Parameters
    ----------
    sectors : degrees, 360 in all
    radius : length of the creases, m
    """
    _check("vertex", radius=radius)
    given = np.array(sectors, dtype=np.float64)
    if len(given) < 3 or not (given > 0).all() or abs(given.sum() - 360.0) > 1e-9:
        raise ValueError(
            f"sectors of the vertex are {list(sectors)}: give three or more positive "
            "ones, 360 degrees in all"
        )
    if given.max() >= 180.0:
        raise ValueError(f"a sector of {given.max():g} degrees is not below 180")
    angles = np.concatenate([[0.0], np.cumsum(given)[:-1]])
    places = [(0.0, 0.0), *(_on_circle(radius, a) for a in angles)]
    panels: list[list[int]] = []
    for k, sector in enumerate(given):
        panel = [0, k + 1, (k + 1) % len(given) + 1]
        if sector >= 90.0:
            middle = _on_circle(radius, angles[k] + 0.5 * sector)
            panel.insert(2, len(places))
            places.append(middle)
        panels.append(panel)
    return CreasePattern(_flat(places), panels)


def _on_circle(radius: float, degrees: float) -> tuple[float, float]:
    angle = np.radians(degrees)
    return float(radius * np.cos(angle)), float(radius * np.sin(angle))


def _flat(places: Sequence[tuple[float, float]]) -> Floats:
    return np.column_stack([np.array(places), np.zeros(len(places))])


def kresling(
    sides: int, *, radius: float, height: float, twist: float
) -> CreasePattern:
    """A cell between two polygons, the upper turned; each side has two triangles.

    Vertices 0 to n - 1 are below, n to 2 n - 1 above; the last panel is the upper
    polygon. Mountains lead from vertex k to n + k, valleys on to n + k + 1; the cell is
    given as it stands, without stress.

    Parameters
    ----------
    radius, height : of the polygons' corners, between the polygons, m
    twist : of the upper polygon about the axis, degrees
    """
    _check("Kresling cell", radius=radius, height=height)
    if sides < 3:
        raise ValueError(f"a Kresling cell has 3 sides or more, not {sides}")
    step = 360.0 / sides
    below = [(*_on_circle(radius, k * step), 0.0) for k in range(sides)]
    above = [(*_on_circle(radius, k * step + twist), height) for k in range(sides)]
    panels: list[list[int]] = []
    for k in range(sides):
        after = (k + 1) % sides
        panels += [[k, after, sides + after], [k, sides + after, sides + k]]
    panels.append(list(range(sides, 2 * sides)))
    return CreasePattern(np.array(below + above), panels)
