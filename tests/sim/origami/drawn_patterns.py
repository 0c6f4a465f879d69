"""Crease patterns as other programs write them, drawn here by formulas of their own."""

import itertools
import json
from collections.abc import Sequence
from math import cos, pi, sin, sqrt
from typing import Any

Line = tuple[float, float, float, float, str]
CP_KINDS = {"B": 1, "M": 2, "V": 3, "A": 4}
COLOURS = {
    "B": "#000000", "M": "#ff0000", "V": "#00f", "C": "rgb(0,255,0)", "J": "yellow",
    "U": "#FF00FF",
}  # fmt: skip


def rim(x0: float, y0: float, x1: float, y1: float) -> list[Line]:
    corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return [
        (*a, *b, "B") for a, b in zip(corners, corners[1:] + corners[:1], strict=True)
    ]


def polyline(points: Sequence[tuple[float, float]], letter: str) -> list[Line]:
    return [(*a, *b, letter) for a, b in itertools.pairwise(points)]


def as_cp(lines: Sequence[Line]) -> str:
    return "".join(f"{CP_KINDS[e]} {a} {b} {c} {d}\n" for a, b, c, d, e in lines)


def as_svg(lines: Sequence[Line], before: str = "", after: str = "") -> str:
    drawn = "".join(
        f'<line stroke="{COLOURS[e]}" x1="{a}" y1="{b}" x2="{c}" y2="{d}"/>\n'
        for a, b, c, d, e in lines
    )
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    return f"{head}{before}{drawn}{after}</svg>"


def as_edges(lines: Sequence[Line], **more: Any) -> str:
    """A FOLD file of vertices and edges, no faces; each corner once."""
    places = sorted(
        {(round(x, 9), round(y, 9)) for s in lines for x, y in (s[:2], s[2:4])}
    )
    number = {place: i for i, place in enumerate(places)}
    ends = [
        [number[round(a, 9), round(b, 9)], number[round(c, 9), round(d, 9)]]
        for a, b, c, d, _ in lines
    ]
    return json.dumps(
        {
            "file_spec": 1.1,
            "file_creator": "a drawing",
            "frame_classes": ["creasePattern"],
            "vertices_coords": [list(place) for place in places],
            "edges_vertices": ends,
            "edges_assignment": [line[4] for line in lines],
            **more,
        }
    )


def waterbomb_base() -> list[Line]:
    return [
        *rim(-200, -200, 200, 200),
        (-200, -200, 200, 200, "V"),
        (-200, 200, 200, -200, "V"),
        (-200, 0, 200, 0, "M"),
        (-150, -200, -150, 200, "A"),
    ]


def square_twist() -> list[Line]:
    """A square turned within a square, four pleats to the sides."""
    lines, c, s = rim(0, 0, 6, 6), 3.0, sqrt(0.5)
    square = [
        (c + s * cos(a), c + s * sin(a)) for a in (0.3 + k * pi / 2 for k in range(4))
    ]
    ways = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    for k in range(4):
        a, b = square[k], square[(k + 1) % 4]
        lines.append((*a, *b, "V"))
        for corner, letter in ((a, "M"), (square[k - 1], "V")):
            x, y = corner
            dx, dy = ways[k]
            reach = {(1, 0): 6 - x, (0, 1): 6 - y, (-1, 0): x, (0, -1): y}[ways[k]]
            lines.append((x, y, x + reach * dx, y + reach * dy, letter))
    return lines


def zigzag(rows: int, columns: int) -> list[Line]:
    """Miura-ori, its lines drawn from rim to rim."""
    lines = []
    for j in range(rows + 1):
        letter = "B" if j in (0, rows) else "MV"[j % 2]
        points = [(float(i), j + 0.3 * (i % 2)) for i in range(columns + 1)]
        lines += polyline(points, letter)
    for i in range(columns + 1):
        for j in range(rows):
            y = j + 0.3 * (i % 2)
            edge = i in (0, columns)
            lines.append((i, y, i, y + 1.0, "B" if edge else "MV"[(i + j) % 2]))
    return lines


def yoshimura() -> list[Line]:
    lines = rim(0, 0, 4, 3)
    for j in range(1, 3):
        lines.append((0, j, 4, j, "V"))
    for i in range(-3, 5):
        for slope in (1.0, -1.0):
            points = [(i + k, k if slope > 0 else 3 - k) for k in range(4)]
            inside = [(x, y) for x, y in points if 0 <= x <= 4]
            if len(inside) > 1:
                lines += [(*inside[0], *inside[-1], "M")]
    return lines


def hypar() -> list[Line]:
    lines = rim(-4, -4, 4, 4)
    for k in (1, 2, 3):
        lines += [(*line[:4], "MV"[k % 2]) for line in rim(-k, -k, k, k)]
    return [*lines, (-4, -4, 4, 4, "J"), (-4, 4, 4, -4, "J")]


def curved_crease(pieces: int = 12) -> tuple[list[Line], str]:
    """An arc across a strip, with rulings; the arc as a polyline element."""
    xs = [6.0 * i / pieces for i in range(pieces + 1)]
    arc = [(x, 2.0 + 0.08 * (x - 3.0) ** 2) for x in xs]
    rulings = [(x, end, x, y, "J") for x, y in arc[1:-1] for end in (0.0, 4.0)]
    points = " ".join(f"{x},{y}" for x, y in arc)
    drawn = f'<polyline style="fill:none;stroke:red;opacity:0.4" points="{points}"/>'
    return [*rim(0, 0, 6, 4), *rulings], drawn


def vertex(angles: Sequence[float], letters: str) -> list[Line]:
    """Creases from the middle of a square at these angles in degrees."""
    lines = rim(-1, -1, 1, 1)
    for angle, letter in zip(angles, letters, strict=True):
        x, y = cos(angle * pi / 180), sin(angle * pi / 180)
        reach = 1.0 / max(abs(x), abs(y))
        lines.append((0.0, 0.0, reach * x, reach * y, letter))
    return lines


def slit_sheet() -> list[Line]:
    """Two slits and a strip between them that folds out."""
    return [
        *rim(0, 0, 4, 4),
        (1, 1, 1, 3, "C"),
        (3, 1, 3, 3, "C"),
        (1, 1, 3, 1, "V"),
        (1, 2, 3, 2, "M"),
        (1, 3, 3, 3, "V"),
        (0, 2, 1, 2, "V"),
        (3, 2, 4, 2, "V"),
    ]


def window() -> list[Line]:
    """A frame around a hole, folded at its corners."""
    lines = [*rim(0, 0, 6, 6), *rim(2, 2, 4, 4)]
    ends = ((0, 0, 2, 2), (6, 0, 4, 2), (6, 6, 4, 4), (0, 6, 2, 4))
    return lines + [(*end, "VMVM"[k]) for k, end in enumerate(ends)]


def cube_net() -> dict[str, Any]:
    """Six squares in a cross, as faces with fold angles, listed clockwise."""
    cells = [(1, 0), (1, 1), (1, 2), (1, 3), (0, 1), (2, 1)]
    places: dict[tuple[int, int], int] = {}
    faces = [
        [places.setdefault(p, len(places)) for p in
         ((x, y), (x, y + 1), (x + 1, y + 1), (x + 1, y))]
        for x, y in cells
    ]  # fmt: skip
    edges = sorted({tuple(sorted((f[k], f[k - 1]))) for f in faces for k in range(4)})
    count = [
        sum(tuple(sorted((f[k], f[k - 1]))) == e for f in faces for k in range(4))
        for e in edges
    ]
    return {
        "file_spec": 1.1,
        "frame_unit": "cm",
        "vertices_coords": [[float(x), float(y)] for x, y in places],
        "edges_vertices": [list(e) for e in edges],
        "edges_assignment": ["V" if c == 2 else "B" for c in count],
        "edges_foldAngle": [80.0 if c == 2 else None for c in count],
        "faces_vertices": faces,
    }


def corner_sheet() -> dict[str, Any]:
    """An L of one piece with a flap on it: a face that is not convex."""
    return {
        "file_spec": 1.2,
        "vertices_coords": [
            [0, 0],
            [4, 0],
            [4, 2],
            [2, 2],
            [2, 4],
            [0, 4],
            [6, 0],
            [6, 2],
        ],
        "edges_vertices": [[1, 2], [0, 1]],
        "edges_assignment": ["V", "B"],
        "edges_foldAngle": [120, 0],
        "faces_vertices": [[0, 1, 2, 3, 4, 5], [2, 1, 6, 7]],
    }


def pointed_star(points: int = 8) -> dict[str, Any]:
    """One face of many corners, every second one drawn in, with flaps in the gaps.

    A flap is joined to the star along one of its sides and cut along the other.
    """
    radius = [2.0 if k % 2 == 0 else 1.2 for k in range(2 * points)]
    ring = [
        [r * cos(pi * k / points), r * sin(pi * k / points)]
        for k, r in enumerate(radius)
    ]
    flaps = [[2 * k, 2 * k + 1, (2 * k + 2) % (2 * points)] for k in range(points)]
    inward = [[f[2], f[1], f[0]] for f in flaps]
    return {
        "vertices_coords": ring,
        "faces_vertices": [list(range(2 * points)), *inward],
        "edges_vertices": [[f[0], f[1]] for f in flaps] + [[f[1], f[2]] for f in flaps],
        "edges_assignment": ["V"] * points + ["C"] * points,
        "edges_foldAngle": [30.0] * points + [0.0] * points,
    }


def in_frames() -> dict[str, Any]:
    """The folded form first, the crease pattern in a frame that inherits its edges."""
    return {
        "file_spec": 1.1,
        "file_classes": ["multiModel"],
        "frame_classes": ["foldedForm"],
        "vertices_coords": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.2, 0, 0.6],
                            [0.2, 1, 0.6]],
        "edges_vertices": [[1, 2], [0, 1]],
        "edges_assignment": ["V", "B"],
        "faces_vertices": [[0, 1, 2, 3], [1, 4, 5, 2]],
        "file_frames": [
            {
                "frame_parent": 0,
                "frame_inherit": True,
                "frame_classes": ["creasePattern"],
                "frame_unit": "in",
                "vertices_coords": [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1]],
            }
        ],
    }  # fmt: skip


def folded_form() -> dict[str, Any]:
    """Two squares at an angle, in mm; one of them is listed the other way round."""
    content = in_frames()
    del content["file_frames"]
    content["frame_unit"] = "mm"
    content["vertices_coords"] = [
        [50 * x for x in p] for p in content["vertices_coords"]
    ]
    content["faces_vertices"][1].reverse()
    return content


def pleats() -> str:
    """A fan of pleats in a turned and scaled group, as a path and lines."""
    lines = "".join(
        f'<path d="M {x} 0 v 3" style="stroke:{"#F00" if x % 2 else "#0000FF"}"/>'
        for x in range(1, 6)
    )
    box = '<path stroke="black" fill="none" d="M0,0 h6 v3 L 0 3 Z"/>'
    other = '<circle r="2" stroke="#123456"/><text stroke="gray">a note</text>'
    placed = '<g transform="rotate(30) scale(2.5) translate(1,1)">'
    return as_svg([], before=f"{placed}{box}{lines}</g>{other}")


def files() -> dict[str, str]:
    """Patterns, by the names of their files."""
    arc, drawn = curved_crease()
    return {
        "waterbomb_base.cp": as_cp(waterbomb_base()),
        "yoshimura.cp": as_cp(yoshimura()),
        "miura.fold": as_edges(zigzag(3, 4)),
        "square_twist.svg": as_svg(square_twist()),
        "hypar.svg": as_svg(hypar()),
        "curved_crease.svg": as_svg(arc, after=drawn),
        "pleats.svg": pleats(),
        "window.svg": as_svg(window()),
        "slits.fold": as_edges(slit_sheet()),
        "slits.svg": as_svg(slit_sheet()),
        "cube_net.fold": json.dumps(cube_net()),
        "corner.fold": json.dumps(corner_sheet()),
        "star.fold": json.dumps(pointed_star()),
        "frames.fold": json.dumps(in_frames()),
        "folded.fold": json.dumps(folded_form()),
    }
