"""FOLD files (1.1 and 1.2) as plain data: crease patterns in, folded frames out.

Letters of edges_assignment: M mountain, V valley, F flat, U unassigned, B boundary,
C cut, J join. Fold angles are in degrees, valleys positive. What programs leave open is
settled so:

    frame     that which is asked for; else the first that says creasePattern, else the
              first with vertices; what it inherits is filled in
    faces     where there are none, they are traced between the edges
              (`sim.origami.pattern.panels`)
    cuts      an edge C, or B between two faces, cuts the sheet apart there; its lips
              feel no contact at the vertices that were one (`sim.origami.pattern.cuts`)
    joins     an edge J bends as a panel does; faces that are not convex are divided by
              such edges
    lengths   frame_unit; a file without one is as large as `LARGEST`
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sim.core.arrays import Floats
from sim.core.hinges import hinge_angle
from sim.core.options import Choice
from sim.origami.pattern.cuts import cut_apart, halved_slits
from sim.origami.pattern.panels import (
    DrawnLine,
    arranged,
    in_convex_parts,
    one_way_up,
    parts_of_sheet,
    traced,
)
from sim.origami.pattern.pattern import CreasePattern, panel_edges, polygon_area

CREATOR = "morphtrack"
LETTERS = {"M": -1.0, "V": 1.0, "F": 0.0, "B": 0.0, "C": 0.0, "J": 0.0}
METRES = {
    "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9, "in": 0.0254,
    "ft": 0.3048, "pt": 0.0254 / 72,
}  # fmt: skip
UNIT = "unit"  # in place of a unit that is not named
LARGEST = 0.1  # m, longest side of a pattern whose file names no unit
NO_UNIT = (
    f"its file states no unit, so its longest side is taken as {1e3 * LARGEST:g} mm: "
    "give pattern.scale in m per unit"
)
PLANE = 1e-9  # thickness of what is in a plane, over its size
FARTHEST = 1e5  # sizes of a sheet from (0, 0): places are known to 1e-11 of its size

Pair = tuple[int, int]


class Unassigned(Choice):
    """What becomes of an edge that is neither mountain nor valley."""

    REFUSE = "refuse"
    FLAT = "flat"


def read_pattern(
    document: Mapping[str, Any],
    *,
    scale: float | None,
    unassigned: Unassigned,
    frame: int | None = None,
) -> CreasePattern:
    """The crease pattern of a FOLD file.

    Parameters
    ----------
    scale : m per unit of the file; that of its frame_unit where nothing is given
    unassigned : whether edges with letter U stay flat or are refused
    frame : number of the frame, 0 for the file's own entries
    """
    content = _frame_of(document, frame)
    vertices = _vertices(content)
    lines = _lines(content, len(vertices))
    if content.get("faces_vertices"):
        given = _faces(content, len(vertices))
        vertices = _turned_flat(vertices, polygon_area(vertices[list(given[0])]))
        faces = one_way_up(vertices, given)
    else:
        vertices = _turned_flat(vertices, np.ones(3))
        vertices, lines, faces = _traced(vertices, lines)
    _check_folds(vertices, lines, faces)
    cut = {pair for pair, line in lines.items() if line.letter in ("B", "C")}
    vertices, faces, cut = halved_slits(vertices, faces, cut)
    faces, origin = cut_apart(faces, cut, len(vertices))
    _check_one_sheet(faces)
    panels, divided = in_convex_parts(vertices[origin], faces)
    used = np.unique(np.concatenate(panels))  # a vertex of no face would hang free
    number = {v: i for i, v in enumerate(used.tolist())}
    origin = [origin[v] for v in number]
    _check_near(vertices[origin])
    m = _metres(content, scale, vertices[origin])
    flat = CreasePattern(
        m * vertices[origin],
        [[number[v] for v in panel] for panel in panels],
        unit=(m, m),
        unit_stated=scale is not None or content.get("frame_unit", UNIT) != UNIT,
    )
    joined = [(number[a], number[b]) for a, b in divided]
    creases: list[Pair] = [(a, b) for a, b in flat.edges[flat.creases].tolist()]
    letters = [
        lines.get(_sorted(origin, pair), DrawnLine("U")).letter for pair in creases
    ]
    joined += [pair for pair, own in zip(creases, letters, strict=True) if own == "J"]
    first: dict[int, int] = {}
    tags = [first.setdefault(v, i) for i, v in enumerate(origin)]
    pattern = replace(flat, joined=joined, tags=tags if len(first) < len(tags) else ())
    return replace(pattern, assignment=_assignment(lines, origin, pattern, unassigned))


def _turned_flat(vertices: Floats, up: Floats) -> Floats:
    """Vertices of any one plane in a plane z, with `up` (3,) upwards; others as given.

    x stays along x, and in a plane that is seen along x, y along x.
    """
    from_middle = vertices - vertices.mean(axis=0)
    axes, sizes, _ = np.linalg.svd(from_middle.T, full_matrices=False)
    if len(sizes) < 3 or sizes[2] > PLANE * sizes[0] or not np.ptp(vertices[:, 2]):
        return vertices
    normal = axes[:, 2] * (1.0 if axes[:, 2] @ up >= 0.0 else -1.0)
    along = np.eye(3)[int(abs(normal[0]) > 1.0 - PLANE)]
    along -= (along @ normal) * normal
    along /= np.linalg.norm(along)
    flat = vertices @ np.column_stack([along, np.cross(normal, along)])
    return np.column_stack([flat, np.zeros(len(flat))])


def _check_near(vertices: Floats) -> None:
    """Refuse a sheet so far from (0, 0) that its places are known too coarsely."""
    size, far = float(np.ptp(vertices, axis=0).max()), float(np.abs(vertices).max())
    if size < np.finfo(float).tiny:
        raise ValueError(f"the sheet is only {size:.3g} long: enlarge its coordinates")
    if far > FARTHEST * size:
        raise ValueError(
            f"the sheet is {size:.3g} long and {far:.3g} from (0, 0), in units of the "
            "file: move it there"
        )


def _check_one_sheet(faces: Sequence[Sequence[int]]) -> None:
    many = parts_of_sheet(faces)
    if many > 1:
        raise ValueError(
            f"the sheet has {many} parts that share no edge: keep one part, or join "
            "them by edges other than cuts"
        )


def _frame_of(document: Mapping[str, Any], number: int | None) -> Mapping[str, Any]:
    """One frame with what it inherits."""
    frames = [document, *document.get("file_frames", [])]
    if number is not None:
        if not 0 <= number < len(frames):
            raise ValueError(
                f"frame {number} does not exist: give one of 0 to {len(frames) - 1}"
            )
        return _inherited(frames, number)
    whole = [_inherited(frames, i) for i in range(len(frames))]
    with_vertices = [frame for frame in whole if frame.get("vertices_coords")]
    flat = [f for f in with_vertices if "creasePattern" in f.get("frame_classes", ())]
    return (flat or with_vertices or whole)[0]


def _inherited(frames: Sequence[Mapping[str, Any]], number: int) -> Mapping[str, Any]:
    """A frame over its parents, as far as it inherits."""
    chain: list[Mapping[str, Any]] = []
    at: int = number
    while True:
        chain.append(frames[at])
        if at == 0 or not frames[at].get("frame_inherit"):
            break
        at = frames[at].get("frame_parent", 0)
        if not 0 <= at < len(frames) or len(chain) > len(frames):
            raise ValueError(
                f"frame {number} inherits from frame {at}, which does not exist or "
                "inherits from it: correct frame_parent"
            )
    return {key: value for one in reversed(chain) for key, value in one.items()}


def _vertices(content: Mapping[str, Any]) -> Floats:
    coords = content.get("vertices_coords")
    if not coords:
        raise ValueError(
            "the FOLD file has no vertices_coords: export it with its coordinates from "
            "the program that drew it"
        )
    vertices = np.zeros((len(coords), 3))
    for i, position in enumerate(coords):
        if len(position) not in (2, 3):
            raise ValueError(
                f"vertex {i} of the FOLD file has {len(position)} coordinates: "
                "give 2 or 3"
            )
        vertices[i, : len(position)] = position
    return vertices


def _lines(content: Mapping[str, Any], vertices: int) -> dict[Pair, DrawnLine]:
    """What each edge is, by its vertices."""
    letters = content.get("edges_assignment", [])
    degrees = content.get("edges_foldAngle", [])
    edges = len(content.get("edges_vertices", []))
    if edges and len(letters) not in (0, edges):
        raise ValueError(
            f"edges_assignment has {len(letters)} entries for {edges} edges: give one "
            "for each, or leave it out"
        )
    lines: dict[Pair, DrawnLine] = {}
    for i, (a, b) in enumerate(content.get("edges_vertices", [])):
        letter = letters[i] if i < len(letters) and letters[i] is not None else "U"
        angle = degrees[i] if i < len(degrees) else None
        letter = letter.upper()
        if letter not in LETTERS and letter != "U":
            raise ValueError(
                f"edge {a}-{b} of the FOLD file has assignment {letter!r}: use one of "
                "M, V, F, U, B, C, J"
            )
        if not (0 <= a < vertices and 0 <= b < vertices):
            raise ValueError(
                f"edge {a}-{b} names a vertex outside 0 to {vertices - 1}: correct it"
            )
        if angle and letter in ("M", "V") and angle * LETTERS[letter] < 0.0:
            raise ValueError(
                f"edge {a}-{b} is assigned {letter} and has the fold angle {angle:g}: "
                "mountains fold by negative angles, valleys by positive: correct one"
            )
        pair = (min(a, b), max(a, b))
        line = DrawnLine(letter, angle)
        if a == b or lines.get(pair, line) != line:
            what = "joins a vertex to itself" if a == b else (
                f"is listed twice, as {lines[pair].letter} and as {letter}, or with "
                "two angles"
            )  # fmt: skip
            raise ValueError(f"edge {a}-{b} of the FOLD file {what}: leave one out")
        lines[pair] = line
    return lines


def _faces(content: Mapping[str, Any], vertices: int) -> list[Sequence[int]]:
    """Faces as given, those listed twice once."""
    faces = {frozenset(face): face for face in content["faces_vertices"]}
    for number, face in enumerate(content["faces_vertices"]):
        bad = [v for v in face if not 0 <= v < vertices]
        if bad or len(set(face)) < max(len(face), 3):
            why = f"names vertex {bad[0]}" if bad else "repeats a corner or has under 3"
            raise ValueError(
                f"face {number} {why}: {list(face)}; give three or more different "
                f"vertices from 0 to {vertices - 1}"
            )
    return list(faces.values())


def _traced(
    vertices: Floats, lines: Mapping[Pair, DrawnLine]
) -> tuple[Floats, dict[Pair, DrawnLine], list[list[int]]]:
    """Vertices, lines and faces of a drawing that gives lines alone."""
    if not lines:
        raise ValueError(
            "the FOLD file has neither faces_vertices nor edges_vertices: export it "
            "again with one of them"
        )
    if np.ptp(vertices[:, 2]) > 0.0:
        raise ValueError(
            "the FOLD file has no faces_vertices, and its vertices are not in a plane: "
            "export it with its faces, or export the flat pattern"
        )
    arrangement = arranged(vertices[:, :2], np.array(list(lines)), list(lines.values()))
    flat = np.column_stack([arrangement.vertices, np.zeros(len(arrangement.vertices))])
    return flat, arrangement.lines, traced(arrangement)


def _metres(content: Mapping[str, Any], scale: float | None, vertices: Floats) -> float:
    """m per unit of the file."""
    if scale is not None:
        if not 0.0 < scale < np.inf:
            raise ValueError(f"scale is {scale}: give m per unit of the file")
        return scale
    unit = content.get("frame_unit", UNIT)
    if unit in METRES:
        return METRES[unit]
    if unit != UNIT:
        raise ValueError(
            f"frame_unit is {unit!r}: give one of {', '.join(METRES)}, or set `scale`"
        )
    size = float(np.ptp(vertices, axis=0).max())
    return LARGEST / size if size > 0.0 else 1.0


def _sorted(origin: Sequence[int], pair: Pair) -> Pair:
    a, b = origin[pair[0]], origin[pair[1]]
    return min(a, b), max(a, b)


def _assignment(
    lines: Mapping[Pair, DrawnLine],
    origin: Sequence[int],
    pattern: CreasePattern,
    unassigned: Unassigned,
) -> Floats:
    """(e,) fold of each edge in units of pi: its angle, or that of its letter."""
    out = np.zeros(len(pattern.edges))
    for crease in pattern.creases:
        ends = pattern.edges[crease].tolist()
        a, b = _sorted(origin, (ends[0], ends[1]))
        line = lines.get((a, b), DrawnLine("U"))
        if line.angle is not None:
            out[crease] = line.angle / 180.0
        elif line.letter in LETTERS:
            out[crease] = LETTERS[line.letter]
        elif unassigned is Unassigned.REFUSE:
            raise ValueError(
                f"edge {a}-{b} of the FOLD file with ends at {pattern.place(ends[0])} "
                f"and at {pattern.place(ends[1])} has neither fold angle nor "
                "assignment: assign it M or V, or leave all such edges flat by "
                "case.pattern.unassigned=flat"
            )
    return out


def _check_folds(
    vertices: Floats,
    lines: Mapping[Pair, DrawnLine],
    faces: Sequence[Sequence[int]],
) -> None:
    """Refuse an edge that is to fold but has no panel on both of its sides."""
    count: dict[Pair, int] = {}
    for face in faces:
        for a, b in panel_edges(face):
            count[min(a, b), max(a, b)] = count.get((min(a, b), max(a, b)), 0) + 1
    for (a, b), (letter, angle) in lines.items():
        if (letter in ("M", "V") or angle) and count.get((a, b), 0) < 2:
            ends = " and at ".join(
                f"({x:.5g}, {y:.5g})" for x, y in vertices[[a, b], :2]
            )
            raise ValueError(
                f"edge {a}-{b} of the FOLD file with ends at {ends} folds ({letter}), "
                "but does not join two panels: add both faces, or assign it B"
            )


def _letters(pattern: CreasePattern, folds: Floats) -> list[str]:
    """An assignment for each edge: B on the boundary, else by the sign of its fold."""
    signs = {0: "F", 1: "V", -1: "M"}
    letters = ["B"] * len(folds)
    for edge in pattern.joints.tolist():
        letters[edge] = "J"
    for edge in pattern.creases.tolist():
        letters[edge] = signs[int(np.sign(folds[edge]))]
    return letters


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
        **({} if pattern.unit_stated else {"frame_description": NO_UNIT}),
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
