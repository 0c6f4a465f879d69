"""Crease patterns of known kind, each with what says its end: theorem or closed form.

Ends were written down before any of them was folded. A vertex folds along its mountains
and valleys, rigid panels, from the flat sheet if three creases of one sign, less than
180 degrees apart, or two lines of one sign, meet a crease of the other (Abel et al.,
J. Comput. Geom. 7, 2016, 171: bird's foot); else not.
"""

import json
from collections.abc import Sequence
from math import cos, pi, radians, sin, sqrt, tan
from typing import NamedTuple

import numpy as np

from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.pattern import CreasePattern
from tests.sim.origami.drawn_patterns import Line, as_edges, polyline, rim, vertex

FOLDED, CONTACT = {"folded"}, {"stopped by contact"}
STIFF = {
    "not rigidly foldable",
    "snapped to the wrong assignment",
}  # of it panels decide, not theory
OPEN = {"not rigidly foldable"}


class Known(NamedTuple):
    """A FOLD file, the part of its folds, how it must end, and why."""

    text: str
    fraction: float
    ends: set[str]
    why: str
    more: tuple[str, ...] = ()


def around(sectors: Sequence[float], letters: str) -> str:
    """Creases from the middle of a square of 10 cm, a sector in degrees after each."""
    return as_edges(vertex([sum(sectors[:k]) for k in range(len(sectors))], letters))


def strip(lengths: Sequence[float], letters: str, lean: float = 0.0) -> str:
    """Panels in a row, mm, 20 wide; creases lean by so much from rim to rim."""
    at = [sum(lengths[: k + 1]) for k in range(len(lengths))]
    creases = [
        (x, 0.0, x + lean, 20.0, e) for x, e in zip(at[:-1], letters, strict=True)
    ]
    return as_edges([*rim(0, 0, at[-1], 20), *creases], frame_unit="mm")


def net(sides: int, height: float) -> str:
    """A regular polygon of side 20 mm with a triangle of this height on each side."""
    corner, tip = 10 / sin(pi / sides), 10 / tan(pi / sides) + height
    inner = [(corner * cos(a), corner * sin(a))
             for a in (2 * pi * k / sides for k in range(sides + 1))]  # fmt: skip
    lines = polyline(inner, "V")
    for k in range(sides):
        middle = pi * (2 * k + 1) / sides
        out = (tip * cos(middle), tip * sin(middle))
        lines += polyline([inner[k], out, inner[k + 1]], "B")
    return as_edges(lines, frame_unit="mm")


def tongue(length: float) -> str:
    """Two panels of 30 mm; 10 mm from their crease a tongue, cut free, folds up."""
    cut = [(10.0, 10.0), (10.0 + length, 10.0), (10.0 + length, 20.0), (10.0, 20.0)]
    lines = [*rim(-30, 0, 30, 30), (0, 0, 0, 30, "V"), (10, 10, 10, 20, "V")]
    lines.append((0, 10, 10, 10, "J"))
    return as_edges([*lines, *polyline(cut, "C")], frame_unit="mm")


def pop_up(middle: float) -> str:
    """A card and a strip between slits, folded 25 above its crease and 15 below.

    The strip's own crease is `middle` above that of the card, mm.
    """
    lines = rim(0, -40, 60, 50)
    lines += [(x, -15, x, 25, "C") for x in (20, 40)]
    lines += [(0, 0, 20, 0, "V"), (40, 0, 60, 0, "V")]
    lines += [(20, y, 40, y, e) for y, e in ((25, "V"), (middle, "M"), (-15, "V"))]
    return as_edges(lines, frame_unit="mm")


def zigzags(shifts: Sequence[float], along: Sequence[str], cut: bool = False) -> str:
    """Three rows of panels 20 mm high; zigzag k leans by shifts[k] in every row.

    `along` are the signs of the straight lines, a letter for each piece.
    """

    def at(j: int, k: int) -> tuple[float, float]:
        return 25.0 * k + (shifts[k] if j % 2 else 0.0), 20.0 * j

    lines, last = [], len(shifts) - 1
    for j in range(4):
        for k in range(last):
            letter = "B" if j in (0, 3) else along[j - 1][k]
            if cut and (j, k) == (1, 1):
                letter = "C"
            lines.append((*at(j, k), *at(j, k + 1), letter))
    for j in range(3):
        for k in range(last + 1):
            letter = "B" if k in (0, last) else "MV"[k % 2]
            lines.append((*at(j, k), *at(j + 1, k), letter))
    return as_edges(lines, frame_unit="mm")


def joined_vertices() -> str:
    """Two vertices with a crease in common, no sectors of which are alike."""
    a, b = (35.0, 30.0), (65.0, 32.0)
    ends = [(*a, 0, 5), (*a, 0, 50), (*a, 40, 60), (*b, 100, 10), (*b, 100, 55)]
    letters = "VVMVV"
    lines: list[Line] = [(*end, e) for end, e in zip(ends, letters, strict=True)]
    return as_edges(
        [*rim(0, 0, 100, 60), *lines, (*a, *b, "V"), (*b, 60, 0, "M")],
        frame_unit="mm",
    )


def turned(signs: str) -> str:
    """A square twist with mountains and valleys so around its square.

    Pleat k is a parallelogram on side k of the square; its creases are assigned as
    panels that fold flat ask it by the big-little-big lemma.
    """
    side, flap, angle = 0.02, 0.03, np.radians(45.0)
    at = np.radians(45.0 + 90.0 * np.arange(4))
    P = side / np.sqrt(2.0) * np.column_stack([np.cos(at), np.sin(at), 0.0 * at])
    after = np.roll(P, -1, axis=0)
    along = (after - P) / side
    across = np.column_stack([along[:, 1], -along[:, 0], 0.0 * at])
    out = flap * (np.cos(angle) * along + np.sin(angle) * across)
    places = [P, P + out, after + out, P + out + np.roll(out, 1, axis=0)]
    panels = [[0, 1, 2, 3]]
    panels += [[k, 4 + k, 8 + k, (k + 1) % 4] for k in range(4)]
    panels += [[k, 8 + (k - 1) % 4, 12 + k, 4 + k] for k in range(4)]
    flat = CreasePattern(np.concatenate(places), panels)
    fold: dict[frozenset[int], float] = {}
    for k, sign in enumerate({"M": -1.0, "V": 1.0}[letter] for letter in signs):
        end = (k + 1) % 4
        fold |= {frozenset((k, end)): sign, frozenset((k, 4 + k)): -sign,
                 frozenset((end, 8 + k)): sign}  # fmt: skip
    folds = [fold.get(frozenset(ends), 0.0) for ends in flat.edges.tolist()]
    return json.dumps(
        pattern_document(CreasePattern(flat.vertices, flat.panels, folds))
    )


def cone() -> str:
    """Panels of 50, 90, 110, 50 degrees around a point, a gap before the first."""
    at = [radians(a) for a in (0, 50, 140, 250, 300)]
    ring = [(40 * cos(a), 40 * sin(a)) for a in at]
    middle = (40 * cos(radians(195)), 40 * sin(radians(195)))
    outline = [(0.0, 0.0), *ring[:3], middle, *ring[3:], (0.0, 0.0)]
    creases: list[Line] = [(0.0, 0.0, *ring[k], "V") for k in (1, 2, 3)]
    return as_edges([*polyline(outline, "B"), *creases], frame_unit="mm")


def corner() -> str:
    """Three faces of a cube at its corner, as they stand, to open by half."""
    s = 20.0
    document = {
        "frame_classes": ["foldedForm"], "frame_unit": "mm",
        "vertices_coords": [[0, 0, 0], [s, 0, 0], [0, s, 0], [0, 0, s], [s, s, 0],
                            [0, s, s], [s, 0, s]],
        "faces_vertices": [[0, 1, 4, 2], [0, 2, 5, 3], [0, 3, 6, 1]],
        "edges_vertices": [[0, 1], [0, 2], [0, 3]],
        "edges_assignment": ["V", "V", "V"],
    }  # fmt: skip
    return json.dumps(document)


UNEVEN = (40.0, 75.0, 140.0, 105.0)  # alternate sectors add up to 180 (Kawasaki)
ALONG = ("MVMV", "VMVM")  # the odd one of four between acute sectors
LEAN = (6.0, 10.0, 4.0, 12.0, 8.0)

THEORY = {
    # single creases and strips: no vertex, plane geometry of a chain
    "oblique": Known(strip([20, 30], "V", 12.0), 0.95, FOLDED, "one crease"),
    "gate": Known(strip([10, 25, 10], "VV"), 0.95, FOLDED, "leaves 5 mm apart"),
    "spiral": Known(
        strip([10, 14, 18, 22, 26, 30], "V" * 5), 0.5, FOLDED,
        "at right angles the chain winds outwards, 8 mm from itself",
    ),
    "spiral too far": Known(
        strip([10, 14, 18, 22, 26, 30], "V" * 5), 0.75, CONTACT,
        "from 125 degrees on the chain crosses itself",
    ),
    # nets: closed forms of pyramids
    "tetrahedron": Known(net(3, 10 * sqrt(3)), 0.55, FOLDED, "closes at 109.5 degrees"),
    "tetrahedron too far": Known(net(3, 10 * sqrt(3)), 0.75, CONTACT, "109.5 of 135"),
    "pyramid": Known(
        net(5, 20 / tan(pi / 5)), 0.8, CONTACT, "closes at 120 degrees: cos = -1/2"
    ),
    "short tongue": Known(
        tongue(5), 0.7, FOLDED, "meets the panel where cos = -h / 2 L: never"
    ),
    "long tongue": Known(
        tongue(15), 0.75, CONTACT, "meets the panel where cos = -h / 2 L: 109 degrees"
    ),
    "cone": Known(cone(), 0.55, FOLDED, "arcs on a sphere, 7 degrees apart"),
    "cone too far": Known(cone(), 0.85, CONTACT, "arcs cross from 125 degrees on"),
    # vertices of four
    "odd one before the least sector": Known(
        around(UNEVEN, "MVVV"), 0.7, FOLDED, "Kawasaki, and bird's foot"
    ),
    "odd one after the least sector": Known(
        around(UNEVEN, "VMVV"), 0.7, FOLDED, "Kawasaki, and bird's foot"
    ),
    "odd one beyond": Known(
        around(UNEVEN, "VVMV"), 0.5, STIFF, "big-little-big (Justin); no bird's foot"
    ),
    "odd one opposite": Known(
        around(UNEVEN, "VVVM"), 0.5, STIFF, "big-little-big (Justin); no bird's foot"
    ),
    "not flat-foldable, far": Known(
        around([97, 100.5, 64, 98.5], "VVMV"), 0.5, FOLDED, "bird's foot"
    ),
    "not flat-foldable": Known(
        around([65, 95, 110, 90], "VMVV"), 0.25, FOLDED, "no Kawasaki, but bird's foot"
    ),
    "signs alternate": Known(
        around([50, 70, 130, 110], "MVMV"), 0.5, STIFF, "Maekawa; no three of a sign"
    ),
    "lines that cross": Known(
        around([60, 120, 60, 120], "VVVM"), 0.5, STIFF,
        "flat-foldable one line after the other only; no bird's foot",
    ),
    "half a plane": Known(
        around([60, 50, 50, 200], "VMVV"), 0.5, STIFF, "a sector above 180 degrees"
    ),
    # of three, five, six, eight
    "slit": Known(
        as_edges(vertex([35, 135, 255, 315], "VMVC")), 0.4, FOLDED,
        "a cut from where three creases meet to the rim leaves no closure",
    ),
    "five": Known(
        around([60, 80, 80, 80, 60], "MVVVV"), 0.4, FOLDED, "bird's foot, even sides"
    ),
    "five, mountains in a row": Known(
        around([20, 25, 30, 150, 135], "MMMVV"), 0.4, STIFF, "no bird's foot"
    ),
    "mountains here, valleys there": Known(
        around([40, 40, 90, 45, 60, 85], "MMMVVV"), 0.4, STIFF,
        "speeds of folds cannot even cancel to first order",
    ),
    "eight, alternate": Known(
        around([45] * 8, "MV" * 4), 0.3, FOLDED, "waterbomb of Hanna et al. (2014)"
    ),
    "eight valleys": Known(around([45] * 8, "V" * 8), 0.4, STIFF, "one sign alone"),
    # several vertices
    "joined": Known(
        joined_vertices(), 0.25, FOLDED, "a tree of vertices, each with a bird's foot"
    ),
    "zigzags of their own": Known(
        zigzags(LEAN, ALONG), 0.6, FOLDED,
        "tan ratios hang on the zigzag alone: every line folds alike",
    ),
    "zigzags, cut": Known(
        zigzags(LEAN, ALONG, cut=True), 0.6, FOLDED, "a cut takes closure away"
    ),
    "odd ones between obtuse sectors": Known(
        zigzags(LEAN, ALONG[::-1]), 0.5, STIFF, "no bird's foot"
    ),
    "lines of one sign": Known(
        zigzags(LEAN, ("VVVV", "VVVV")), 0.5, STIFF, "no vertex has three and one"
    ),
    "thick zigzags": Known(
        zigzags((8.0,) * 5, ALONG), 0.97, CONTACT, "panels of 4 mm do not close",
        ("++case.contact.thickness=4e-3",),
    ),
    "pop-up": Known(pop_up(10.0), 0.5, FOLDED, "a parallelogram"),
    "pop-up askew": Known(pop_up(-5.0), 0.4, FOLDED, "a four-bar, folds unalike"),
    "square twist": Known(
        turned("MMVV"), 0.4, FOLDED, "signs of sides change twice (Evans et al. 2015)"
    ),
    "square twist, sides alternate": Known(
        turned("MVMV"), 0.5, STIFF, "signs of sides change four times"
    ),
    "corner of a cube": Known(corner(), 0.2, OPEN, "a trihedral corner is rigid"),
}  # fmt: skip
