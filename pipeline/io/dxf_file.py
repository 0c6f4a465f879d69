"""DXF drawings as entries of structure files and as creases, by ezdxf.

Straight lines are read: LINE, LWPOLYLINE, POLYLINE, 3DFACE, in blocks too. Arcs,
circles and splines are refused by name; texts, dimensions, hatches and whatever is on a
layer that is off or frozen are left out.

A mechanism: a line, and each piece of an open polyline, is a link; a closed polyline or
face is a rigid body; a POINT on an end holds it. Ends are one node within the distance
of `sim.origami.pattern.panels`. A drawing in one z is planar. $INSUNITS is the unit.

A crease pattern: the letter of a line is that of its layer's name (mountain, valley,
border, cut, join, unassigned, auxiliary, or their first letters; or with mountain,
valley, border or cut among its words, as Mountain_folds), else that of its colour, as
in SVG. Black on a layer that says nothing (but 0) is refused where names say creases.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline.io.crease_lines import Stroke, letter_of, stroke_entries
from pipeline.io.reader_interface import not_installed
from sim.core.arrays import Floats
from sim.origami.pattern.panels import close_of, merged

UNITS = {1: "inch", 4: "mm", 5: "cm", 6: "m"}  # of $INSUNITS
FOLD_UNITS = {"inch": "in", "mm": "mm", "cm": "cm", "m": "m"}
CURVES = ("ARC", "CIRCLE", "ELLIPSE", "SPLINE", "HELIX")
LEFT_OUT = (
    "TEXT", "MTEXT", "ATTDEF", "DIMENSION", "ARC_DIMENSION", "LEADER", "MULTILEADER",
    "HATCH", "VIEWPORT", "XLINE", "RAY", "IMAGE", "WIPEOUT", "TOLERANCE",
)  # fmt: skip
LAYERS = {
    "mountain": "M", "valley": "V", "border": "B", "boundary": "B", "rim": "B",
    "cut": "C", "join": "J", "unassigned": "U", "auxiliary": "", "aux": "",
    "m": "M", "v": "V", "b": "B", "c": "C", "j": "J", "u": "U", "a": "",
}  # fmt: skip
WORDS = ("mountain", "valley", "border", "cut")  # in a longer name, or with an s


class DxfPiece(NamedTuple):
    """Straight pieces in a row, (k, 3) corners; a closed one ends at its first."""

    corners: Floats
    closed: bool
    layer: str
    colour: tuple[int, int, int]

    @property
    def ends(self) -> list[tuple[Floats, Floats]]:
        whole = [*self.corners, self.corners[0]] if self.closed else list(self.corners)
        return list(pairwise(whole))


class DxfDrawing(NamedTuple):
    """What a drawing shows; its unit is None where it names none that is read."""

    pieces: list[DxfPiece]
    points: Floats  # (p, 3)
    unit: str | None


def dxf_structure(path: str) -> dict[str, Any]:
    """The entries of a structure file for the mechanism of a drawing."""
    drawing = read_dxf(path)
    lines = [line for piece in drawing.pieces for line in piece.ends]
    ends = np.array(lines).reshape(-1, 2, 3)
    nodes, number = _one_node_each(ends, drawing.points)
    links, bodies, at = [], [], 0
    for piece in drawing.pieces:
        own = number[2 * at : 2 * (at + len(piece.ends))].reshape(-1, 2).tolist()
        at += len(piece.ends)
        if piece.closed:
            bodies.append([first for first, _ in own])
        else:
            links += [sorted(pair) for pair in own]
    flat = not np.ptp(nodes[:, 2]) > 0.0
    entries = {
        "nodes": nodes.tolist(),
        "links": sorted(map(list, {tuple(link) for link in links})),
        "bodies": bodies,
        "fixed": sorted(set(number[2 * len(lines) :].tolist())),
    }
    unit = {"unit": drawing.unit} if drawing.unit else {}
    return entries | ({"planar": "z"} if flat else {}) | unit


def dxf_creases(path: str) -> dict[str, Any]:
    """The entries of a FOLD file for the crease pattern of a drawing."""
    drawing = read_dxf(path)
    strokes = []
    _check_layers(drawing.pieces)
    for piece in drawing.pieces:
        letter = _letter(piece)
        if letter:
            strokes += [
                Stroke((a[0], a[1]), (b[0], b[1]), letter) for a, b in piece.ends
            ]
    depth = np.ptp([corner[2] for piece in drawing.pieces for corner in piece.corners])
    if depth > 0.0:
        raise ValueError(
            f"the drawing is {depth:.3g} deep along z: draw the crease pattern flat"
        )
    unit = {"frame_unit": FOLD_UNITS[drawing.unit]} if drawing.unit else {}
    return stroke_entries(strokes, "lines of the sheet") | unit


def read_dxf(path: str) -> DxfDrawing:
    """The straight lines and points of a drawing's model space.

    Raises
    ------
    ValueError
        where ezdxf is not installed, the file is no DXF, or it shows what is not read
    """
    pieces, points = [], []
    try:
        document = _document(path)
        for entity in _shown(document, document.modelspace()):
            if entity.dxftype() == "POINT":
                points.append(np.array(entity.dxf.location))
            else:
                pieces.append(_piece(document, entity))
    except ValueError:
        raise
    except Exception as error:
        raise _damaged(error) from error
    if not pieces:
        raise ValueError("the drawing has no lines in its model space: draw them there")
    everywhere = np.vstack([*(piece.corners for piece in pieces), *points])
    if not np.isfinite(everywhere).all():
        raise ValueError("the drawing has coordinates nan or inf: export it again")
    named = b"$INSUNITS" in Path(path).read_bytes()  # else ezdxf takes metres
    unit = UNITS.get(int(document.header.get("$INSUNITS", 0))) if named else None
    return DxfDrawing(pieces, np.array(points).reshape(-1, 3), unit)


def _document(path: str) -> Any:
    """The drawing as it stands: damaged numbers are refused, not mended."""
    try:
        ezdxf = import_module("ezdxf")
    except ImportError:
        problem = not_installed("DXF", "ezdxf", "save the drawing as SVG")
        raise ValueError(problem) from None
    if not Path(path).is_file():
        raise ValueError("the file does not exist: give the path of a drawing")
    try:
        return ezdxf.readfile(path)
    except ValueError as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> ValueError:
    return ValueError(f"the file is not DXF ({type(error).__name__}): export it again")


def _shown(document: Any, entities: Iterable[Any]) -> Iterator[Any]:
    """Entities that are lines or points, those of blocks among them."""
    decompose = import_module("ezdxf.disassemble").recursive_decompose
    for entity in entities:
        kind, known = entity.dxftype(), entity.dxf.is_supported("layer")
        layer = entity.dxf.layer if known else "0"
        if layer in document.layers:
            of = document.layers.get(layer)
            if of.is_off() or of.is_frozen():
                continue
        if kind in LEFT_OUT:
            continue
        if kind == "INSERT":
            yield from _shown(document, decompose([entity]))
        elif kind in ("LINE", "LWPOLYLINE", "POLYLINE", "3DFACE", "POINT"):
            yield entity
        else:
            curve = kind in CURVES
            raise ValueError(
                f"the drawing has a {kind} on layer {layer!r}: "
                f"{'make it a polyline, or turn' if curve else 'turn'} its layer off"
            )


def _piece(document: Any, entity: Any) -> DxfPiece:
    kind, layer = entity.dxftype(), entity.dxf.layer
    if kind == "POLYLINE" and not (entity.is_2d_polyline or entity.is_3d_polyline):
        raise ValueError("the drawing has a mesh: turn its layer off")
    line = import_module("ezdxf.path").make_path(entity)
    if line.has_curves:
        raise ValueError(
            f"the drawing has a polyline with arcs on layer {layer!r}: make it straight"
        )
    places = np.array([tuple(place) for place in line.control_vertices()])
    if len(places) < 2 or not np.diff(places, axis=0).any(axis=1).all():
        raise ValueError(
            f"the drawing has a {kind} of length 0 on layer {layer!r}: leave it out"
        )
    closed = len(places) > 3 and bool(line.is_closed)
    return DxfPiece(
        places[:-1] if closed else places, closed, layer, _colour(document, entity)
    )


def _colour(document: Any, entity: Any) -> tuple[int, int, int]:
    """Red, green and blue; that of the layer unless the line has its own."""
    rgb, index = entity.rgb, int(entity.dxf.color)
    if rgb is None and index == 256 and entity.dxf.layer in document.layers:
        layer = document.layers.get(entity.dxf.layer)
        rgb, index = layer.rgb, int(layer.color)
    if rgb is None and index in (0, 7, 256):  # white on black, black on white
        return 0, 0, 0
    if rgb is None:
        rgb = import_module("ezdxf.colors").aci2rgb(index)
    red, green, blue = map(int, rgb)
    return red, green, blue


def _letter(piece: DxfPiece) -> str | None:
    """The assignment by the layer's name, else by the colour."""
    found = _letter_of_layer(piece.layer)
    if found is not None:
        return found
    return letter_of(
        piece.colour, f"{piece.colour} on layer {piece.layer!r}", "the drawing"
    )


def _letter_of_layer(layer: str) -> str | None:
    """The assignment that a layer's name says, None where it says none."""
    name = layer.strip().lower()
    if name in LAYERS:
        return LAYERS[name]
    words = {word.removesuffix("s") for word in re.split(r"[_\-\s]+", name)}
    kinds = [LAYERS[word] for word in WORDS if word in words]
    if len(kinds) > 1:
        raise ValueError(
            f"the drawing's layer {layer!r} matches two crease types: use only one of "
            f"the words {', '.join(WORDS)} in its name"
        )
    return kinds[0] if kinds else None


def _check_layers(pieces: Sequence[DxfPiece]) -> None:
    """Refuse black lines on a layer that says nothing where names say creases."""
    if not {_letter_of_layer(piece.layer) for piece in pieces} & {"M", "V"}:
        return
    for piece in pieces:
        if piece.colour != (0, 0, 0) or piece.layer == "0":
            continue
        if _letter_of_layer(piece.layer) is None:
            many = sum(len(one.ends) for one in pieces if one.layer == piece.layer)
            raise ValueError(
                f"the drawing has {many} black line{'s' * (many > 1)} on layer "
                f"{piece.layer!r}, of unknown crease type: name the layer after one of "
                f"{', '.join(WORDS)}, or use the type's colour on layer 0"
            )


def _one_node_each(ends: Floats, points: Floats) -> tuple[Floats, Any]:
    """Nodes (n, 3), and that of each end (2 l,) and then of each point."""
    close = close_of(ends[:, 0], ends[:, 1])
    places = np.vstack([ends.reshape(-1, 3), points])
    nodes, number = merged(places, close)
    many = int(number[: 2 * len(ends)].max(initial=-1)) + 1
    for place, node in zip(points, number[2 * len(ends) :], strict=True):
        if node >= many:
            at = ", ".join(f"{x:g}" for x in place)
            raise ValueError(
                f"the drawing has a POINT at ({at}), where no line ends: put it on a "
                "node, to fix that node"
            )
    return nodes, number
