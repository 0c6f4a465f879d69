"""From lines to panels for the bar-and-hinge model.

Lines are split, joined and traced around into faces; faces are made convex and put one
way up. `cuts` parts them along slits.

Lines may cross, end on one another and occur twice. Drawings by hand have corners
that miss each other: those closer than `CLOSE` times the drawing's size, and than
`SHORT` times its shortest line, are one vertex.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from sim.core.arrays import Bools, Floats, Ints, connected
from sim.origami.pattern.pattern import panel_edges, panels_of_edges, polygon_area

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
    """Cut lines where they meet, and remove duplicates.

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
    many, group = connected(pairs, len(points))
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
            f"the line from {at} is both mountain and valley: leave one of them out"
        )
    return folded[0] if folded else one


def traced(arrangement: Arranged) -> list[list[int]]:
    """Faces between the lines, counter-clockwise; none where the rim goes all around.

    A face whose lines are all rim is a hole, unless there is no other or one of its
    lines is the outline: that is a piece cut off.
    """
    around = _neighbours(arrangement)
    _check_one_part(arrangement, around)
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
        if _area(arrangement.vertices[face]) > 0:
            faces.append(face)
        else:
            outside |= {(b, a) for a, b in _sides(face)}
    rim = {pair for pair, line in arrangement.lines.items() if line.letter in RIM}
    rim |= {(b, a) for a, b in rim}
    holes = [
        rim.issuperset(own) and outside.isdisjoint(own) for own in map(_sides, faces)
    ]
    solid = [face for face, hole in zip(faces, holes, strict=True) if not hole]
    return solid or faces


def _sides(face: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(face, [*face[1:], face[0]], strict=True))


def _neighbours(arrangement: Arranged) -> dict[int, list[int]]:
    """Of each vertex, the others of its lines by angle; no line ends in a face."""
    near: dict[int, set[int]] = {}
    for a, b in arrangement.lines:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    ends = [v for v, others in near.items() if len(others) == 1]
    while ends:
        a = ends.pop()
        if len(near[a]) != 1:
            continue
        (b,) = near[a]
        letter = arrangement.lines[min(a, b), max(a, b)].letter
        if letter in (*FOLDED, *RIM):
            at = ", ".join(f"{x:.6g}" for x in arrangement.vertices[a])
            raise ValueError(
                f"a line ({letter}) has a free end at ({at}): extend it to another "
                "line, and draw the complete outline of the sheet"
            )
        near[a].clear()
        near[b].discard(a)
        ends.append(b)

    def angle(a: int, b: int) -> float:
        x, y = arrangement.vertices[b] - arrangement.vertices[a]
        return float(np.arctan2(y, x))

    return {
        a: [b for _, b in sorted((angle(a, b), b) for b in others)]
        for a, others in near.items()
        if others
    }


def _check_one_part(arrangement: Arranged, around: Mapping[int, Sequence[int]]) -> None:
    if not around:
        raise ValueError("the lines enclose no area: draw the outline of the sheet too")
    pairs = [(a, b) for a, near in around.items() for b in near]
    _, part = connected(np.array(pairs, dtype=np.int64), max(around) + 1)
    start = next(iter(around))
    apart = [v for v in around if part[v] != part[start]]
    if apart:
        at = ", ".join(f"{x:.6g}" for x in arrangement.vertices[apart[0]])
        raise ValueError(
            f"the lines at ({at}) are not connected to the rest: draw one sheet, and "
            "connect each hole to the lines around it by one non-fold line (J, yellow)"
        )


def _area(corners: Floats) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def is_convex(corners: Floats) -> Bools:
    """Whether each corner of a polygon (m, 2), counter-clockwise, is not reflex."""
    before, after = corners - np.roll(corners, 1, 0), np.roll(corners, -1, 0) - corners
    sizes = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    return np.asarray(_cross(before, after) >= -1e-9 * np.maximum(sizes, 1e-300))


Face = Sequence[int]


def one_way_up(vertices: Floats, faces: Sequence[Face]) -> list[list[int]]:
    """Faces with a common sense of rotation; of a drawing in a plane z, all upwards.

    Raises
    ------
    ValueError
        where that is impossible: more than two faces at an edge, a twisted band, or a
        drawing that is folded flat
    """
    faces_at = faces_of_edges(faces)
    if np.ptp(vertices[:, 2]) == 0.0:
        signs = [polygon_area(vertices[list(face)])[2] > 0.0 for face in faces]
        upwards = [_turned(f, not up) for f, up in zip(faces, signs, strict=True)]
        for edge, two in faces_at.items():
            if len(two) == 2 and len({passes(upwards[i], edge) for i in two}) == 1:
                raise ValueError(
                    f"faces {two[0]} and {two[1]} lie on each other at edge "
                    f"{edge[0]}-{edge[1]}, as if folded flat: give the crease pattern"
                )
        return upwards
    out: dict[int, list[int]] = {}
    for start in range(len(faces)):
        todo = [start] if start not in out else []
        for first in todo:
            out[first] = list(faces[first])
        while todo:
            one = todo.pop()
            for edge in panel_edges(out[one]):
                for other in faces_at[min(edge), max(edge)]:
                    if other != one and other not in out:
                        alike = passes(out[one], edge) == passes(faces[other], edge)
                        out[other] = _turned(faces[other], alike)
                        todo.append(other)
    return [out[i] for i in range(len(faces))]


def _turned(face: Face, over: bool) -> list[int]:
    """The face as it is, or in the other sense."""
    return list(face)[::-1] if over else list(face)


def passes(face: Face, edge: tuple[int, int]) -> bool:
    """Whether the face goes along the edge from its first vertex to its second."""
    a, b = edge
    face = list(face)
    return face[(face.index(a) + 1) % len(face)] == b


def faces_of_edges(faces: Sequence[Face]) -> dict[tuple[int, int], list[int]]:
    """The one or two faces at each edge, which has its lower vertex first."""
    found = panels_of_edges(faces)
    for (a, b), faces_at in found.items():
        if len(faces_at) > 2:
            raise ValueError(
                f"edge {a}-{b} of the FOLD file has {len(faces_at)} faces, but at "
                "most two are possible: remove faces that lie on others"
            )
    return found


def in_convex_parts(
    vertices: Floats, faces: Sequence[Face]
) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Convex panels, and the lines along which faces were divided.

    A face is cut into triangles by its ears, which are joined again as long as they
    stay convex: at most four times as many as there need be.
    """
    panels: list[list[int]] = []
    lines: list[tuple[int, int]] = []
    for number, face in enumerate(faces):
        flat = _in_its_plane(vertices[list(face)])
        parts = [list(range(len(face)))]
        if not is_convex(flat).all():
            parts = _joined(flat, _ears(flat, number))
        panels += [[face[i] for i in part] for part in parts]
        edges = [tuple(sorted(e)) for part in parts for e in panel_edges(part)]
        inner = sorted({e for e in edges if edges.count(e) == 2})
        lines += [(face[a], face[b]) for a, b in inner]
    return panels, [(min(line), max(line)) for line in lines]


def _in_its_plane(corners: Floats) -> Floats:
    """(m, 2) corners (m, 3) of a face, seen from the side from which it is listed."""
    normal = polygon_area(corners)
    normal /= max(float(np.linalg.norm(normal)), 1e-300)
    e = np.eye(3)[np.argmin(np.abs(normal))]
    x = np.cross(e, normal)
    x /= max(float(np.linalg.norm(x)), 1e-300)
    return np.asarray(corners @ np.column_stack([x, np.cross(normal, x)]))


def _ears(flat: Floats, number: int) -> list[list[int]]:
    """Triangles of a polygon, the roundest ear cut off first."""
    left, triangles = list(range(len(flat))), []
    while len(left) > 3:
        quality = {i: _ear(flat, left, i) for i in range(len(left))}
        best = max(quality, key=lambda i: quality[i])
        if quality[best] <= 0.0:
            raise ValueError(
                f"face {number} crosses itself: list its corners in order around it"
            )
        triangles.append([left[best - 1], left[best], left[(best + 1) % len(left)]])
        del left[best]
    return [*triangles, left]


def _ear(flat: Floats, left: list[int], i: int) -> float:
    """How round the triangle at corner i is, 0 where it is none or holds a corner.

    At a slit to a hole corners stand twice; such a pair does not hold itself.
    """
    a, b, c = left[i - 1], left[i], left[(i + 1) % len(left)]
    p, q, r = flat[[a, b, c]]
    sides = np.array([q - p, r - q, p - r])
    area = float(sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0])
    longest = float(np.square(sides).sum(axis=1).max())
    if area <= 1e-9 * longest:
        return 0.0
    others = flat[[v for v in left if v not in (a, b, c)]]
    inside = np.ones(len(others), dtype=np.bool_)
    for start, side in zip((p, q, r), sides, strict=True):
        away = others - start
        turn = side[0] * away[:, 1] - side[1] * away[:, 0]
        inside &= turn > -1e-12 * longest
        inside &= np.abs(away).max(axis=1, initial=0.0) > 0.0
    return 0.0 if inside.any() else area / longest


def _joined(flat: Floats, parts: list[list[int]]) -> list[list[int]]:
    """Parts joined across their lines as long as what comes out is convex."""
    while True:
        pair = next(_joinable(flat, parts), None)
        if pair is None:
            return parts
        i, j, whole = pair
        parts = [part for k, part in enumerate(parts) if k not in (i, j)] + [whole]


def _joinable(
    flat: Floats, parts: list[list[int]]
) -> Iterator[tuple[int, int, list[int]]]:
    """Pairs of parts, and the convex part that both make."""
    for i, one in enumerate(parts):
        for j in range(i + 1, len(parts)):
            shared = sorted(set(one) & set(parts[j]))
            if len(shared) == 2:
                whole = _around(one, parts[j], (shared[0], shared[1]))
                if whole is not None and is_convex(flat[whole]).all():
                    yield i, j, whole


def _around(one: Face, other: Face, edge: tuple[int, int]) -> list[int] | None:
    """Both faces without the edge between them; None if it is no edge of both."""
    a, b = edge if passes(one, edge) else edge[::-1]
    if not passes(one, (a, b)) or not passes(other, (b, a)):
        return None
    one, other = list(one), list(other)
    i, j = one.index(b), other.index(a)
    return one[i:] + one[:i] + (other[j + 1 :] + other[:j])[: len(other) - 2]


def parts_of_sheet(faces: Sequence[Face]) -> int:
    """How many parts of the faces share no edge."""
    shared = [pair for pair in faces_of_edges(faces).values() if len(pair) == 2]
    return connected(np.array(shared, dtype=np.int64).reshape(-1, 2), len(faces))[0]
