"""Crease patterns in the dialects of other programs, hostile ones among them."""

import codecs
import json
import random
from collections.abc import Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

FOLDED, REFUSED = {"folded"}, {"refused"}
OPEN = {"not rigidly foldable"}

Line = tuple[float, float, float, float, str]
Drawing = tuple[Sequence[tuple[float, ...]], list[tuple[int, int, str]]]


class Dialect(NamedTuple):
    """A file, and its panels, the folds of its creases and its size in m."""

    text: str | bytes
    panels: int
    folds: list[float]
    size: float


class Foreign(NamedTuple):
    """A file, the part of its folds, and how it must end."""

    text: str | bytes
    ends: set[str]
    fraction: float = 0.5
    more: tuple[str, ...] = ()


def fold(drawing: Drawing, **more: Any) -> str:
    vertices, edges = drawing
    document = {
        "vertices_coords": [list(v) for v in vertices],
        "edges_vertices": [edge[:2] for edge in edges],
        "edges_assignment": [edge[2] for edge in edges],
        "frame_unit": "mm",
    }
    return json.dumps(document | more)


def strip(lengths: Sequence[float], folds: str) -> Drawing:
    x = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    n = len(x)
    across = [(i, n + i, t) for i, t in enumerate(f"B{folds}B")]
    along = [(i + j, i + j + 1, "B") for i in range(n - 1) for j in (0, n)]
    return [(t, y) for y in (0.0, 20.0) for t in x], along + across


def ring(left: float, right: float) -> Drawing:
    """A square with a hole; a crease through either arm at its height."""
    corners = [(0, 0), (60, 0), (60, 60), (0, 60), (20, 20), (40, 20), (40, 40),
               (20, 40), (0, left), (20, left), (40, right), (60, right)]  # fmt: skip
    around = [(0, 1), (1, 11), (11, 2), (2, 3), (3, 8), (8, 0), (4, 5), (5, 10),
              (10, 6), (6, 7), (7, 9), (9, 4)]  # fmt: skip
    return corners, [*((a, b, "B") for a, b in around), (8, 9, "V"), (10, 11, "V")]


def arc(pieces: int = 10) -> Drawing:
    """A crease along a quarter of a circle, rulings across it that stay flat."""
    m = pieces + 1
    at = [pi / 2 * i / pieces for i in range(m)]
    places = [(r * cos(a), r * sin(a)) for r in (20.0, 30.0, 40.0) for a in at]
    edges = [(r * m + i, r * m + i + 1, t) for r, t in enumerate("BMB")
             for i in range(pieces)]  # fmt: skip
    rulings = ["B", *"F" * (pieces - 1), "B"]
    edges += [(r * m + i, r * m + m + i, rulings[i]) for i in range(m) for r in (0, 1)]
    return places, edges


def miura(off: float = 0.0) -> list[Line]:
    """Three by three panels of 20; their corners `off` at most."""
    draw = random.Random(3)

    def at(i: int, j: int) -> tuple[float, float]:
        return 20.0 * i + (8.0 if j % 2 else 0.0), 20.0 * j

    def shaken(place: tuple[float, float]) -> list[float]:
        return [coordinate + off * draw.choice((-1, 0, 1)) for coordinate in place]

    lines = []
    for j in range(4):
        for i in range(3):
            letter = "B" if j in (0, 3) else "VM"[(i + j) % 2]
            lines.append((*shaken(at(i, j)), *shaken(at(i + 1, j)), letter))
            letter = "B" if i == 0 else "MV"[i % 2]
            if j < 3:
                lines.append((*shaken(at(i, j)), *shaken(at(i, j + 1)), letter))
    for j in range(3):
        lines.append((*shaken(at(3, j)), *shaken(at(3, j + 1)), "B"))
    return lines


PLAIN = {"B": "black", "M": "red", "V": "blue"}
PERCENT = {"B": "rgb(0%,0%,0%)", "M": "rgb(100%,0%,0%)", "V": "rgb(0%, 0%, 100%)"}
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:i="http://www.inkscape.org/x" '
    'width="80mm" height="80mm" viewBox="0 0 80 80">'
)
SHEET = '<rect width="40" height="20" stroke="#000" fill="none"/>'
CREASE = '<line stroke="red" x1="20" y1="0" x2="20" y2="20"/>'


def svg(
    lines: Sequence[Line], before: str = "", colours: dict[str, str] = PLAIN
) -> str:
    drawn = (
        f'<line stroke="{colours[t]}" x1="{a:.3f}" y1="{b:.3f}" x2="{c:.3f}" '
        f'y2="{d:.3f}"/>'
        for a, b, c, d, t in lines
    )
    return f"{SVG}{before}{''.join(drawn)}</svg>"


def inkscape(lines: Sequence[Line]) -> str:
    drawn = (
        f'<path style="fill:none;stroke:{PLAIN[t]};stroke-width:0.26px;'
        f'stroke-opacity:1" d="m {a},{b} {c - a},{d - b}" i:nodetypes="cc"/>'
        for a, b, c, d, t in lines
    )
    head = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    layer = '<g i:groupmode="layer" transform="translate(-20.1,33.3)">'
    return f"{head}{SVG}<defs/>{layer}{''.join(drawn)}</g></svg>"


def illustrator(lines: Sequence[Line]) -> str:
    rules = "".join(
        f".st{k}{{fill:none;stroke:{c};stroke-miterlimit:10;}}"
        for k, c in enumerate(("#000000", "#FF0000", "#0000FF"))
    )
    drawn = (
        f'<polyline class="st{"BMV".index(t)}" points="{a:g},{b:g} {c:g},{d:g} "/>'
        for a, b, c, d, t in lines
    )
    style = f'<style type="text/css">{rules}</style>'
    return f"{SVG.replace('mm', 'px')}{style}{''.join(drawn)}</svg>"


HINGE = strip([20, 20], "V")
NOTES = (
    '<g i:label="notes" style="display:none"><path style="stroke:#ff0000" '
    'd="m 0,3 60,40"/></g><g display="none"><circle stroke="red" r="3"/></g>'
    '<g visibility="hidden"><line stroke="red" x2="40" y2="40"/></g>'
)
WINDOW = (
    '<rect width="60" height="60" stroke="#000" fill="none"/>'
    '<rect x="20" y="20" width="20" height="20" stroke="blue" fill="none"/>'
    '<path d="M20 20L40 40M40 20L20 40" stroke="lime"/>'
    '<path d="M0 0L20 20" stroke="yellow"/>'
)
DISC = " ".join(f"{30 * cos(pi * i / 32)},{30 * sin(pi * i / 32)}" for i in range(64))
SOUP = {
    "vertices_coords": [[0, 0], [20, 0], [20, 20], [0, 20],
                        [20, 0], [40, 0], [40, 20], [20, 20]],
    "faces_vertices": [[0, 1, 2, 3], [4, 5, 6, 7]],
    "edges_vertices": [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]],
    "edges_assignment": ["B", "V", "B", "B", "B", "B", "B", "V"],
}  # fmt: skip
FRAME = {
    "frame_classes": ["foldedForm"],
    "frame_inherit": True,
    "frame_parent": 0,
    "vertices_coords": [[0, 0, 0], [20, 0, 0], [20, 0, 20],
                        [0, 20, 0], [20, 20, 0], [20, 20, 20]],
}  # fmt: skip
THIN = ("case.material.panel_thickness=1e-6", "case.material.crease_thickness=1e-7")
WIDE = f'<?xml version="1.0" encoding="UTF-16"?>{SVG}{SHEET}{CREASE}</svg>'

SIGNS = [-1.0, 1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1]  # of the Miura's twelve creases
DIALECTS = {
    "inkscape.svg": Dialect(inkscape(miura()), 9, SIGNS, 0.068),
    "hidden_layers.svg": Dialect(svg(miura(), NOTES), 9, SIGNS, 0.068),
    "cairo.svg": Dialect(svg(miura(), "", PERCENT), 9, SIGNS, 0.068),
    "illustrator.svg": Dialect(illustrator(miura()), 9, SIGNS, 0.1),  # no unit
    "creases_twice.svg": Dialect(svg([*miura(), *miura()]), 9, SIGNS, 0.068),
    "pieces.svg": Dialect(
        f'{SVG}{SHEET}<polyline points="20,0 20,12" stroke="blue"/>'
        '<polyline points="20,5 20,20" stroke="blue"/></svg>', 2, [1.0] * 3, 0.04
    ),
    "terse_path.svg": Dialect(
        f'{SVG}<path stroke="black" d="M0,0h4e1v20H0z"/>'
        '<path stroke="rgb(255, 0, 0)" d="M1.e1.0l0-0v20"/>'
        '<path stroke="rgb(0,0,255)" d="M30,20V0"/></svg>', 3, [-1.0, 1.0], 0.04
    ),
    "utf16.svg": Dialect(
        codecs.BOM_UTF16_LE + WIDE.encode("utf-16-le"), 2, [-1.0], 0.04
    ),
    "bom.fold": Dialect(codecs.BOM_UTF8 + fold(HINGE).encode(), 2, [1.0], 0.04),
    "frames.fold": Dialect(fold(HINGE, file_frames=[FRAME]), 2, [1.0], 0.04),
}  # fmt: skip
FOREIGN = {
    "rounded_corners.svg": Foreign(svg(miura(0.005)), FOLDED, 0.6),
    "zero_angles.fold": Foreign(fold(HINGE, edges_foldAngle=[0] * 7), REFUSED),
    "soup.fold": Foreign(json.dumps(SOUP), REFUSED),
    # drawings that are no sheet
    "overshoot.svg": Foreign(
        f'{SVG}{SHEET}<path stroke="red" d="M20-.8V20.8"/></svg>', REFUSED
    ),
    "open_rim.svg": Foreign(
        f'{SVG}<polyline points="0,0 40,0 40,20 0,20 0,.8" stroke="#000"/>{CREASE}'
        "</svg>", REFUSED
    ),
    "two_sheets.svg": Foreign(
        f'{SVG}{SHEET}{CREASE}<g transform="translate(50)">{SHEET}{CREASE}</g></svg>',
        REFUSED,
    ),
    "in_line.fold": Foreign(
        fold(([(0, 0), (9, 0), (20, 0)], [(0, 1, "B"), (1, 2, "V"), (2, 0, "B")])),
        REFUSED,
    ),
    # sizes
    "far_away.fold": Foreign(
        fold(([(x + 1e8, y) for x, y in HINGE[0]], HINGE[1])), REFUSED
    ),
    "half_as_far.fold": Foreign(
        fold(([(x + 2e6, y) for x, y in HINGE[0]], HINGE[1])), FOLDED
    ),
    "micro.fold": Foreign(fold(HINGE, frame_unit="um"), REFUSED),
    "micro_thin.fold": Foreign(fold(HINGE, frame_unit="um"), REFUSED, 0.9, THIN),
    "micro_fine.fold": Foreign(
        fold(HINGE, frame_unit="um"), FOLDED, 0.9,
        (*THIN, "case.phases.0.tolerance=7e-14"),
    ),
    "sliver.fold": Foreign(fold(strip([20, 0.05, 20], "VM")), FOLDED),
    # holes, cuts, curves
    "window.svg": Foreign(f"{SVG}{WINDOW}</svg>", FOLDED),
    "disc.svg": Foreign(
        f'{SVG}<polygon points="{DISC}" stroke="black" fill="none"/>'
        '<line stroke="red" x1="-30" x2="30"/></svg>', FOLDED, 0.8
    ),
    "ring_in_line.fold": Foreign(fold(ring(30, 30)), FOLDED),
    "ring_off_line.fold": Foreign(fold(ring(26, 34)), OPEN),
    "curved.fold": Foreign(fold(arc()), FOLDED, 0.3),  # rulings bend by 4.6 degrees
    "curved_far.fold": Foreign(fold(arc()), OPEN, 0.6),  # and here by 12
}  # fmt: skip
