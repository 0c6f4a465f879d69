"""FOLD files (1.1 and 1.2) as plain data: crease patterns in, folded frames out.

Letters of edges_assignment: M mountain, V valley, F flat, U unassigned, B boundary,
C cut, J join. Fold angles are in degrees, valleys positive.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sim.arrays import Floats
from sim.choice import Choice
from sim.hinges import hinge_angle
from sim.origami.pattern.pattern import CreasePattern

CREATOR = "morphtrack"
LETTERS = {"M": -1.0, "V": 1.0, "F": 0.0, "B": 0.0, "C": 0.0, "J": 0.0}


class Unassigned(Choice):
    """What becomes of an edge that is neither mountain nor valley."""

    REFUSE = "refuse"
    FLAT = "flat"


def read_pattern(
    document: Mapping[str, Any], *, scale: float, unassigned: Unassigned
) -> CreasePattern:
    """The crease pattern of a FOLD file.

    Parameters
    ----------
    scale : m per unit of the file
    unassigned : whether edges with letter U stay flat or are refused
    """
    for name in ("vertices_coords", "faces_vertices"):
        if not document.get(name):
            raise ValueError(
                f"the FOLD file has no {name}: export it with its faces from the "
                "program that drew it"
            )
    coords = document["vertices_coords"]
    vertices = np.zeros((len(coords), 3))
    for i, position in enumerate(coords):
        if len(position) not in (2, 3):
            raise ValueError(
                f"vertex {i} of the FOLD file has {len(position)} coordinates: "
                "give two or three"
            )
        vertices[i, : len(position)] = position
    flat = CreasePattern(
        scale * vertices, _turned_up(vertices, document["faces_vertices"])
    )
    return CreasePattern(
        flat.vertices, flat.panels, _assignment(document, flat, unassigned)
    )


def _turned_up(vertices: Floats, faces: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Faces of a flat drawing, those listed clockwise turned round."""
    if np.ptp(vertices[:, 2]) > 0:
        return list(faces)
    out = []
    for face in faces:
        x, y = vertices[list(face), 0], vertices[list(face), 1]
        area = x @ np.roll(y, -1) - y @ np.roll(x, -1)
        out.append(face if area > 0 else face[::-1])
    return out


def _assignment(
    document: Mapping[str, Any], pattern: CreasePattern, unassigned: Unassigned
) -> Floats:
    """(e,) fold of each edge in units of pi: its angle, or that of its letter."""
    out = np.zeros(len(pattern.edges))
    edges = document.get("edges_vertices", [])
    letters = document.get("edges_assignment", [])
    degrees = document.get("edges_foldAngle", [])
    given = {(min(a, b), max(a, b)): i for i, (a, b) in enumerate(edges)}
    _check_folds(given, letters, degrees, pattern)
    for crease in pattern.creases:
        a, b = (int(v) for v in pattern.edges[crease])
        i = given.get((a, b), -1)
        angle = degrees[i] if 0 <= i < len(degrees) else None
        letter = letters[i] if 0 <= i < len(letters) else "U"
        if angle is not None:
            out[crease] = angle / 180.0
        elif letter in LETTERS:
            out[crease] = LETTERS[letter]
        elif letter != "U":
            raise ValueError(
                f"edge {a}-{b} of the FOLD file has assignment {letter!r}: use one of "
                "M, V, F, U, B, C, J"
            )
        elif unassigned is Unassigned.REFUSE:
            raise ValueError(
                f"edge {a}-{b} of the FOLD file has neither fold angle nor assignment: "
                "assign it, or choose unassigned 'flat'"
            )
    return out


def _check_folds(
    given: Mapping[tuple[int, int], int],
    letters: Sequence[str],
    degrees: Sequence[float | None],
    pattern: CreasePattern,
) -> None:
    """Refuse an edge that is to fold but has no panel on both of its sides."""
    joining = {tuple(ends) for ends in pattern.edges[pattern.creases].tolist()}
    for (a, b), i in given.items():
        letter = letters[i] if i < len(letters) else "U"
        angle = degrees[i] if i < len(degrees) else None
        if (letter in ("M", "V") or angle) and (a, b) not in joining:
            raise ValueError(
                f"edge {a}-{b} of the FOLD file folds ({letter}), but does not join "
                "two panels: add the faces beside it, or assign it B"
            )


def _letters(pattern: CreasePattern, folds: Floats) -> list[str]:
    """An assignment for each edge: B on the boundary, else by the sign of its fold."""
    creased = set(pattern.creases.tolist())
    signs = {0: "F", 1: "V", -1: "M"}
    return [
        signs[int(np.sign(fold))] if edge in creased else "B"
        for edge, fold in enumerate(folds)
    ]


def pattern_document(pattern: CreasePattern) -> dict[str, Any]:
    """A crease pattern as a FOLD file."""
    assigned = np.asarray(pattern.assignment, dtype=np.float64)
    folds = assigned if len(assigned) else np.zeros(len(pattern.edges))
    return {
        "file_spec": 1.2,
        "file_creator": CREATOR,
        "file_classes": ["singleModel"],
        "frame_classes": ["creasePattern"],
        "frame_unit": "m",
        "vertices_coords": pattern.vertices.tolist(),
        "edges_vertices": pattern.edges.tolist(),
        "edges_assignment": _letters(pattern, folds),
        "edges_foldAngle": (180.0 * folds).tolist(),
        "faces_vertices": [list(panel) for panel in pattern.panels],
    }


def folded_document(
    rest: Floats, triangles: Sequence[Sequence[int]], frames: Floats
) -> dict[str, Any]:
    """The mesh of a folded sheet as a FOLD file, one frame an increment.

    Parameters
    ----------
    rest : (n, 3) m, the flat mesh
    triangles : (t, 3)
    frames : (k, n, 3) m
    """
    mesh = CreasePattern(rest, [[int(v) for v in t] for t in triangles])
    first = _frame(mesh, frames[0])
    return {
        "file_spec": 1.2,
        "file_creator": CREATOR,
        "file_classes": ["animation"],
        "edges_vertices": mesh.edges.tolist(),
        "faces_vertices": [list(panel) for panel in mesh.panels],
        **first,
        "file_frames": [
            {"frame_parent": 0, "frame_inherit": True, **_frame(mesh, x)}
            for x in frames[1:]
        ],
    }


def _frame(mesh: CreasePattern, x: Floats) -> dict[str, Any]:
    degrees = fold_angles(mesh, x)
    return {
        "frame_classes": ["foldedForm"],
        "frame_unit": "m",
        "vertices_coords": x.tolist(),
        "edges_assignment": _letters(mesh, degrees),
        "edges_foldAngle": degrees.tolist(),
    }


def fold_angles(mesh: CreasePattern, x: Floats) -> Floats:
    """(e,) fold angle at each edge between triangles, degrees, valleys positive."""
    out = np.zeros(len(mesh.edges))
    for edge in mesh.creases:
        a, b = mesh.edges[edge]
        one, two = (mesh.panels[p] for p in mesh.edge_panels[edge])
        i, k = (next(v for v in t if v not in (a, b)) for t in (one, two))
        forward = (one.index(b) - one.index(a)) % len(one) == 1
        nodes = [i, b, a, k] if forward else [i, a, b, k]
        out[edge] = np.degrees(hinge_angle(x[nodes]) - np.pi)
    return out
