"""Patterns by their measures.

Sheets that repeat (Miura, Yoshimura and waterbomb, with assignments), strips, single
units (a vertex of several creases, a Kresling cell), and a shallow pyramid, which snaps
from one side to the other.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from sim.core.arrays import Floats
from sim.core.options import is_positive
from sim.origami.pattern.pattern import CreasePattern

VALLEY, MOUNTAIN = 1.0, -1.0

Rule = Callable[[Floats, Floats], float]


def _check(rows: int, columns: int, **lengths: float) -> None:
    if rows < 1 or columns < 1:
        raise ValueError(f"a sheet of {rows} x {columns} is empty: give 1 or more")
    _check_lengths(**lengths)


def _check_lengths(**lengths: float) -> None:
    for name, value in lengths.items():
        if not is_positive(value):
            raise ValueError(f"{name} must be positive, not {value}")


def _assigned(pattern: CreasePattern, fold: Rule) -> CreasePattern:
    """The pattern with fold(one end, other end) on its creases."""
    folds = np.zeros(len(pattern.edges))
    for crease in pattern.creases:
        a, b = pattern.edges[crease]
        folds[crease] = fold(pattern.vertices[a], pattern.vertices[b])
    return CreasePattern(pattern.vertices, pattern.panels, folds)


def strip(lengths: Sequence[float], width: float) -> CreasePattern:
    """Rectangles in a row along x, their creases along y not assigned.

    Parameters
    ----------
    lengths, width : of each rectangle along x, and of all along y, m
    """
    own = {f"length {number}": length for number, length in enumerate(lengths)}
    _check(1, len(lengths), width=width, **own)
    x = np.concatenate([[0.0], np.cumsum(lengths)])
    low = np.column_stack([x, 0 * x, 0 * x])
    high = low + np.array([0.0, width, 0.0])
    n = len(x)
    panels = [[k, k + 1, n + k + 1, n + k] for k in range(n - 1)]
    return CreasePattern(np.vstack([low, high]), panels)


def miura(
    rows: int, columns: int, *, width: float, height: float, angle: float
) -> CreasePattern:
    """Parallelograms: straight creases along rows, zigzag creases across them.

    Each zigzag is all mountain or all valley, in turn; straight creases change at
    every zigzag, such that the odd one of four lies between the acute corners.

    Parameters
    ----------
    width, height : sides of a parallelogram, m
    angle : its acute corner, degrees
    """
    _check(rows, columns, width=width, height=height)
    if not 0 < angle < 90:
        raise ValueError(f"angle must lie between 0 and 90 degrees, not {angle}")
    shift = height * math.cos(math.radians(angle))
    rise = height * math.sin(math.radians(angle))
    grid = [
        [c * width + (r % 2) * shift, r * rise, 0.0]
        for r in range(rows + 1)
        for c in range(columns + 1)
    ]
    across = columns + 1
    panels = [
        [
            r * across + c,
            r * across + c + 1,
            (r + 1) * across + c + 1,
            (r + 1) * across + c,
        ]
        for r in range(rows)
        for c in range(columns)
    ]

    def fold(a: Floats, b: Floats) -> float:
        r = round(a[1] / rise)
        c = round((min(a[0], b[0]) - (r % 2) * shift) / width)
        if round(b[1] / rise) != r:
            c = round((a[0] - (r % 2) * shift) / width)
            return VALLEY if c % 2 == 0 else MOUNTAIN
        return VALLEY if (c + r) % 2 == 1 else MOUNTAIN

    return _assigned(CreasePattern(np.array(grid), panels), fold)


def yoshimura(rows: int, columns: int, *, width: float, height: float) -> CreasePattern:
    """Triangles: valleys along the rows, mountains across; rows are staggered.

    Parameters
    ----------
    width, height : base and height of a triangle, m
    """
    _check(rows, columns, width=width, height=height)
    across = columns + 1
    grid = [
        [c * width + (r % 2) * 0.5 * width, r * height, 0.0]
        for r in range(rows + 1)
        for c in range(across)
    ]
    panels: list[Sequence[int]] = []
    for r in range(rows):
        for c in range(columns):
            a, b = r * across + c, r * across + c + 1
            d, e = a + across, b + across
            panels += [[a, b, d], [b, e, d]] if r % 2 == 0 else [[a, e, d], [a, b, e]]

    def fold(a: Floats, b: Floats) -> float:
        return VALLEY if abs(a[1] - b[1]) < 0.5 * height else MOUNTAIN

    return _assigned(CreasePattern(np.array(grid), panels), fold)


def waterbomb(rows: int, columns: int, *, side: float) -> CreasePattern:
    """Squares of six triangles around a centre; columns are staggered by half a side.

    Diagonals are valleys, all other creases mountains.
    """
    _check(rows, columns, side=side)
    half = 0.5 * side
    numbers: dict[tuple[int, int], int] = {}

    def at(i: int, j: int) -> int:
        return numbers.setdefault((i, j), len(numbers))

    panels: list[Sequence[int]] = []
    for column in range(columns):
        for row in range(rows):
            x, y = 2 * column, 2 * row + column % 2
            middle = at(x + 1, y + 1)
            ring = [(0, 0), (2, 0), (2, 1), (2, 2), (0, 2), (0, 1)]
            around = [at(x + i, y + j) for i, j in ring]
            after = [*around[1:], around[0]]
            panels += [[a, b, middle] for a, b in zip(around, after, strict=True)]
    grid = [[half * i, half * j, 0.0] for i, j in numbers]

    def fold(a: Floats, b: Floats) -> float:
        x, y = abs(a - b)[:2]
        return VALLEY if min(x, y) > 0.1 * half else MOUNTAIN

    return _assigned(CreasePattern(np.array(grid), panels), fold)


def vertex(sectors: Sequence[float], *, radius: float) -> CreasePattern:
    """Triangles and quadrilaterals around vertex 0, between creases of equal length.

    Crease k leads to vertex k + 1, sector k lies after it; a sector of 90 degrees or
    more is a quadrilateral. Creases are not assigned.

    Parameters
    ----------
    sectors : degrees, 360 in all
    radius : length of the creases, m
    """
    _check_lengths(radius=radius)
    given = np.array(sectors, dtype=np.float64)
    if len(given) < 3 or not (given > 0).all() or abs(given.sum() - 360.0) > 1e-9:
        raise ValueError(
            f"sectors of the vertex are {list(sectors)}: give three or more positive "
            "angles that sum to 360 degrees"
        )
    if given.max() >= 180.0:
        raise ValueError(f"every sector must be below 180 degrees, not {given.max():g}")
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
    return CreasePattern(np.column_stack([places, np.zeros(len(places))]), panels)


def _on_circle(radius: float, degrees: float) -> tuple[float, float]:
    angle = np.radians(degrees)
    return float(radius * np.cos(angle)), float(radius * np.sin(angle))


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
    _check_lengths(radius=radius, height=height)
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


def pyramid(sides: int, *, radius: float, height: float) -> CreasePattern:
    """Triangles around an apex, vertex 0; the others are the corners of the base.

    Parameters
    ----------
    radius, height : of the corners from the axis, of the apex above them, m
    """
    if sides < 3:
        raise ValueError(f"a pyramid has 3 sides or more, not {sides}")
    _check_lengths(radius=radius, height=height)
    angle = 2.0 * np.pi / sides * np.arange(sides)
    base = radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    panels = [(0, i + 1, (i + 1) % sides + 1) for i in range(sides)]
    return CreasePattern(np.vstack([[0.0, 0.0, height], base]), panels)
