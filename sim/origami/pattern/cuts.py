"""Cuts in a sheet: faces part along a cut, and stay one at the ends of a slit."""

from collections.abc import Sequence

import numpy as np

from sim.core.arrays import Floats, connected
from sim.origami.pattern.panels import Face, faces_of_edges, passes


def halved_slits(
    vertices: Floats, faces: Sequence[Face], cuts: set[tuple[int, int]]
) -> tuple[Floats, list[list[int]], set[tuple[int, int]]]:
    """Vertices, faces and cuts with a vertex in the middle of each slit of one cut.

    Both ends of such a slit stay one vertex, so that faces open in between only.
    """
    out, cuts = [list(face) for face in faces], set(cuts)
    apart, origin = cut_apart(faces, cuts, len(vertices))
    for ends, faces_at in faces_of_edges(apart).items():
        a, b = sorted(origin[v] for v in ends)
        if len(faces_at) == 2 and (a, b) in cuts:
            middle = len(vertices)
            vertices = np.vstack([vertices, 0.5 * (vertices[a] + vertices[b])])
            for face in (out[i] for i in faces_at):
                face.insert(face.index(a if passes(face, (a, b)) else b) + 1, middle)
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
    faces_at = faces_of_edges(faces)
    for v in sorted({vertex for edge in cuts for vertex in edge}):
        own = [i for i, face in enumerate(faces) if v in face]
        for fan in _fans(own, v, faces_at, cuts)[1:]:
            origin.append(v)
            for i in fan:
                out[i] = [len(origin) - 1 if w == v else w for w in out[i]]
    return out, origin


def _fans(
    own: list[int],
    v: int,
    faces_at: dict[tuple[int, int], list[int]],
    cuts: set[tuple[int, int]],
) -> list[list[int]]:
    """Faces around a vertex in groups that edges join which are not cut."""
    at_edges = [two for edge, two in faces_at.items() if v in edge and edge not in cuts]
    joined = np.array([two for two in at_edges if len(two) == 2], dtype=np.int64)
    group = connected(joined.reshape(-1, 2), max(own) + 1)[1][own].tolist()
    return [
        [i for i, g in zip(own, group, strict=True) if g == of]
        for of in dict.fromkeys(group)
    ]
