"""Panels for the bar-and-hinge model: cut apart along slits, convex, all one way up."""

from collections.abc import Iterator, Sequence

import numpy as np

from sim.arrays import Floats, Ints
from sim.origami.pattern.drawing import is_convex
from sim.origami.pattern.pattern import panel_edges, polygon_area

Face = Sequence[int]


def one_way_up(vertices: Floats, faces: Sequence[Face]) -> list[list[int]]:
    """Faces with a common sense of rotation; of a drawing in a plane z, all upwards.

    Raises
    ------
    ValueError
        where that is impossible: more than two faces at an edge, or a twisted band
    """
    if np.ptp(vertices[:, 2]) == 0.0:
        return [
            list(face)
            if polygon_area(vertices[list(face)])[2] > 0
            else list(face)[::-1]
            for face in faces
        ]
    beside = _faces_of_edges(faces)
    out: dict[int, list[int]] = {}
    for start in range(len(faces)):
        todo = [start] if start not in out else []
        for first in todo:
            out[first] = list(faces[first])
        while todo:
            one = todo.pop()
            for edge in panel_edges(out[one]):
                for other in beside[min(edge), max(edge)]:
                    if other != one and other not in out:
                        out[other] = _against(out[one], faces[other], edge)
                        todo.append(other)
    return [out[i] for i in range(len(faces))]


def _against(one: Face, other: Face, edge: tuple[int, int]) -> list[int]:
    """The other face in the sense in which it passes the edge against the one."""
    return (
        list(other)[::-1] if _passes(one, edge) == _passes(other, edge) else list(other)
    )


def _passes(face: Face, edge: tuple[int, int]) -> bool:
    a, b = edge
    face = list(face)
    return face[(face.index(a) + 1) % len(face)] == b


def _faces_of_edges(faces: Sequence[Face]) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for number, face in enumerate(faces):
        for a, b in panel_edges(face):
            found.setdefault((min(a, b), max(a, b)), []).append(number)
    for (a, b), beside in found.items():
        if len(beside) > 2:
            raise ValueError(
                f"edge {a}-{b} of the FOLD file has {len(beside)} faces: a sheet has "
                "two at most beside an edge; leave out what lies on it"
            )
    return found


def halved_slits(
    vertices: Floats, faces: Sequence[Face], cuts: set[tuple[int, int]]
) -> tuple[Floats, list[list[int]], set[tuple[int, int]]]:
    """Vertices, faces and cuts with a vertex in the middle of each slit of one cut.

    Both ends of such a slit stay one vertex, so that faces open in between only.
    """
    out, cuts = [list(face) for face in faces], set(cuts)
    apart, origin = cut_apart(faces, cuts, len(vertices))
    for ends, beside in _faces_of_edges(apart).items():
        a, b = sorted(origin[v] for v in ends)
        if len(beside) == 2 and (a, b) in cuts:
            middle = len(vertices)
            vertices = np.vstack([vertices, 0.5 * (vertices[a] + vertices[b])])
            for face in (out[i] for i in beside):
                face.insert(face.index(a if _passes(face, (a, b)) else b) + 1, middle)
            cuts |= {(a, middle), (b, middle)}
    return vertices, out, cuts


def cut_apart(
    faces: Sequence[Face], cuts: set[tuple[int, int]], vertices: int
) -> tuple[list[list[int]], list[int]]:
    """Faces that share no vertex across a cut, and the first vertex of each.

    Around a vertex faces stay together as far as edges that are not cut join them: the
    end of a slit stays one vertex.
    """
    out, origin = [list(face) for face in faces], list(range(vertices))
    beside = _faces_of_edges(faces)
    for v in sorted({vertex for edge in cuts for vertex in edge}):
        fans = _fans([i for i, face in enumerate(faces) if v in face], v, beside, cuts)
        for fan in fans[1:]:
            origin.append(v)
            for i in fan:
                out[i] = [len(origin) - 1 if w == v else w for w in out[i]]
    return out, origin


def _fans(
    own: list[int],
    v: int,
    beside: dict[tuple[int, int], list[int]],
    cuts: set[tuple[int, int]],
) -> list[list[int]]:
    """Faces around a vertex in groups that edges join which are not cut."""
    group = {i: {i} for i in own}
    for edge, faces in beside.items():
        if v in edge and edge not in cuts and len(faces) == 2:
            joined = group[faces[0]] | group[faces[1]]
            for i in joined:
                group[i] = joined
    return [sorted(own) for own in {id(g): g for g in group.values()}.values()]


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
    a, b = edge if _passes(one, edge) else edge[::-1]
    if not _passes(one, (a, b)) or not _passes(other, (b, a)):
        return None
    one, other = list(one), list(other)
    i, j = one.index(b), other.index(a)
    return one[i:] + one[:i] + (other[j + 1 :] + other[:j])[: len(other) - 2]


def parts_of_sheet(faces: Sequence[Face]) -> Ints:
    """(f,) the number of the connected part that each face belongs to."""
    part = np.arange(len(faces))
    for beside in _faces_of_edges(faces).values():
        if len(beside) == 2:
            one, other = part[beside[0]], part[beside[1]]
            part[part == other] = one
    return np.unique(part, return_inverse=True)[1].astype(np.int64)
