"""Faces of a crease pattern that is drawn as lines: split, joined, traced around.

Lines may cross, end on one another and be drawn twice. Drawings by hand have corners
that miss each other: those closer than `CLOSE` times the drawing's size, and than
`SHORT` times its shortest line, are one vertex.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from sim.arrays import Bools, Floats, Ints

CLOSE = 2e-3  # share of the drawing's size within which corners are one
SHORT = 0.1  # share of its shortest line
RIM = ("B", "C")  # letters of lines on one side of which there may be no sheet
FOLDED = ("M", "V")


class DrawnLine(NamedTuple):
    """What a line is: the letter of its assignment, and its fold in degrees or None."""

    letter: str
    angle: float | None = None


class Arranged(NamedTuple):
    """Lines that meet at vertices only.

    Attributes
    ----------
    vertices : (v, 2)
    lines : by their two vertices, the lower number first
    """

    vertices: Floats
    lines: dict[tuple[int, int], DrawnLine]


def arranged(points: Floats, ends: Ints, lines: Sequence[DrawnLine]) -> Arranged:
    """Cut lines where they meet, and take those that are drawn twice once.

    Parameters
    ----------
    points : (p, 2)
    ends : (l, 2) points of each line
    """
    a, b = points[ends[:, 0]], points[ends[:, 1]]
    close = close_of(a, b)
    vertices, number = merged(np.vstack([points, _crossings(a, b, close)]), close)
    found: dict[tuple[int, int], DrawnLine] = {}
    for (first, last), line in zip(number[ends].tolist(), lines, strict=True):
        on = _on_the_way(vertices, first, last, close)
        for one, other in itertools.pairwise(on):
            pair = (min(one, other), max(one, other))
            found[pair] = _of_two(found.get(pair, line), line, vertices[list(pair)])
    return Arranged(vertices, found)


def close_of(a: Floats, b: Floats) -> float:
    """Within what distance corners of lines from a to b (l, d) are one."""
    shortest = float(np.linalg.norm(b - a, axis=1).min())
    size = float(np.ptp(np.vstack([a, b]), axis=0).max())
    return min(CLOSE * size, SHORT * shortest)


def _crossings(a: Floats, b: Floats, close: float) -> Floats:
    """(c, 2) where lines from a to b (l, 2) cross within both."""
    d, found = b - a, [np.empty((0, 2))]
    for i in range(len(a)):
        side = _cross(d[i], d[i + 1 :])
        apart = a[i + 1 :] - a[i]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            t = _cross(apart, d[i + 1 :]) / side
            s = _cross(apart, d[i]) / side
        within = (t > 0) & (t < 1) & (s > 0) & (s < 1)
        within &= np.abs(side) > close * np.linalg.norm(d[i])
        found.append(a[i] + t[within, None] * d[i])
    return np.concatenate(found)


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def merged(points: Floats, close: float) -> tuple[Floats, Ints]:
    """Vertices (v, d) of points (p, d) that are close, and the vertex of each point."""
    pairs = cKDTree(points).query_pairs(close, output_type="ndarray")
    n = len(points)
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    many, group = connected_components(graph, directed=False)
    _, first, label = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # vertices in the order of the points
    number: Ints = order[label].astype(np.int64)
    vertices = np.zeros((many, points.shape[1]))
    np.add.at(vertices, number, points)
    return vertices / np.bincount(number)[:, None], number


def _on_the_way(vertices: Floats, a: int, b: int, close: float) -> list[int]:
    """Vertices on the line from a to b, both ends among them, in order."""
    d = vertices[b] - vertices[a]
    length = float(np.linalg.norm(d))
    if a == b or length <= close:
        return []
    away = vertices - vertices[a]
    along = away @ d / length
    near = np.abs(_cross(d, away)) / length <= close
    inside = near & (along > close) & (along < length - close)
    between = np.flatnonzero(inside)
    return [a, *between[np.argsort(along[between])].tolist(), b]


def _of_two(one: DrawnLine, other: DrawnLine, place: Floats) -> DrawnLine:
    """Of two lines at one place, the rim, else the fold; two folds must be one."""
    for line in (one, other):
        if line.letter in RIM:
            return line
    folded = [line for line in (one, other) if line.letter in FOLDED]
    if len({line.letter for line in folded}) > 1:
        at = " to ".join(f"({x:.6g}, {y:.6g})" for x, y in place)
        raise ValueError(
            f"the line from {at} is drawn as mountain and as valley: leave one of them "
            "out"
        )
    return folded[0] if folded else one


def traced(drawn: Arranged) -> list[list[int]]:
    """Faces between the lines, counter-clockwise; none where the rim goes all around.

    A face whose lines are all rim is a hole, unless there is no other or one of its
    lines is the outline: that is a piece cut off.
    """
    around = _neighbours(drawn)
    _check_one_part(drawn, around)
    faces, outside = [], set()
    left = {(a, b) for a, near in around.items() for b in near}
    while left:
        start = min(left)
        face, (a, b) = [start[0]], start
        while True:
            left.discard((a, b))
            near = around[b]
            a, b = b, near[near.index(a) - 1]
            if (a, b) == start:
                break
            face.append(a)
        if _area(drawn.vertices[face]) > 0:
            faces.append(face)
        else:
            outside |= {(b, a) for a, b in _sides(face)}
    holes = [
        _is_hole(face, drawn.lines) and outside.isdisjoint(_sides(face))
        for face in faces
    ]
    solid = [face for face, hole in zip(faces, holes, strict=True) if not hole]
    return solid or faces


def _sides(face: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(face, [*face[1:], face[0]], strict=True))


def _neighbours(drawn: Arranged) -> dict[int, list[int]]:
    """Of each vertex, the others of its lines by angle; no line ends in a face."""
    near: dict[int, set[int]] = {}
    for a, b in drawn.lines:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    ends = [v for v, others in near.items() if len(others) == 1]
    while ends:
        a = ends.pop()
        if len(near[a]) != 1:
            continue
        (b,) = near[a]
        letter = drawn.lines[min(a, b), max(a, b)].letter
        if letter in (*FOLDED, *RIM):
            at = ", ".join(f"{x:.6g}" for x in drawn.vertices[a])
            raise ValueError(
                f"a line ({letter}) ends at ({at}) with nothing to meet: draw it to "
                "another line, and the rim of the sheet all around"
            )
        near[a].clear()
        near[b].discard(a)
        ends.append(b)

    def angle(a: int, b: int) -> float:
        x, y = drawn.vertices[b] - drawn.vertices[a]
        return float(np.arctan2(y, x))

    return {
        a: [b for _, b in sorted((angle(a, b), b) for b in others)]
        for a, others in near.items()
        if others
    }


def _check_one_part(drawn: Arranged, around: Mapping[int, Sequence[int]]) -> None:
    if not around:
        raise ValueError("the lines enclose nothing: draw the rim of the sheet as well")
    start = next(iter(around))
    seen, todo = {start}, [start]
    while todo:
        for b in around[todo.pop()]:
            if b not in seen:
                seen.add(b)
                todo.append(b)
    apart = [v for v in around if v not in seen]
    if apart:
        at = ", ".join(f"{x:.6g}" for x in drawn.vertices[apart[0]])
        raise ValueError(
            f"the lines at ({at}) touch no others: draw one sheet, and from each "
            "hole one line that is no fold (J, yellow) to the lines around it"
        )


def _area(corners: Floats) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def _is_hole(face: Sequence[int], lines: Mapping[tuple[int, int], DrawnLine]) -> bool:
    return all(lines[min(p), max(p)].letter in RIM for p in _sides(face))


def is_convex(corners: Floats) -> Bools:
    """Whether each corner of a polygon (m, 2), counter-clockwise, is not reflex."""
    before, after = corners - np.roll(corners, 1, 0), np.roll(corners, -1, 0) - corners
    sizes = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    convex: Bools = _cross(before, after) >= -1e-9 * np.maximum(sizes, 1e-300)
    return convex
