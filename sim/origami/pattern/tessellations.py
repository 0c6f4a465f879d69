"""Patterns that repeat: Miura, Yoshimura and waterbomb, with assignments; strips."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from sim.arrays import Floats
from sim.origami.pattern.pattern import CreasePattern

VALLEY, MOUNTAIN = 1.0, -1.0

Rule = Callable[[Floats, Floats], float]


def _check(rows: int, columns: int, **lengths: float) -> None:
    if rows < 1 or columns < 1:
        raise ValueError(f"a sheet of {rows} x {columns} is empty: give 1 or more")
    for name, value in lengths.items():
        if not 0 < value < math.inf:
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
    _check(1, len(lengths), width=width)
    for number, length in enumerate(lengths):
        _check(1, 1, **{f"length {number}": length})
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
