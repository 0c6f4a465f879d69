"""Crease patterns as lines: CP and SVG files as entries of a FOLD file.

A CP file (ORIPA, Oriedita, Box Pleating Studio) has a line each: kind x1 y1 x2 y2, with
1 for the border, 2 for mountains, 3 for valleys; 4 is auxiliary and left out.

An SVG file has colours as Origami Simulator reads them: mountains red, valleys blue,
border black, cuts green, lines that only divide a panel yellow, undriven creases
magenta; greys, white and what is hidden are left out, other colours refused. The
opacity of a mountain or valley is its fold over 180 degrees. Strokes and opacities are
in attributes, in a style, or in a <style>; a class without a stroke is refused.
Lines, polylines, polygons, rectangles and paths of straight pieces are read, in groups
and copies (<use>) with transforms; y is turned upwards: the visible side stays up.

In a <style>, selectors are a tag, a class, an id or *, joined (line.fold) and listed
with commas; of several the one with more ids, then classes, then tags wins, then the
later. They stand over attributes of the element and under its own style [CSS Cascade,
section 6]. What else chooses, as a place in the tree or a state, is refused where it
says a stroke.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from PIL.ImageColor import getrgb

from sim.core.arrays import Floats
from sim.origami.pattern.fold_format import METRES

SIMPLE = re.compile(r"(\*|[\w-]+)?((?:[.#][\w-]+)*)")
RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
AT_RULE = re.compile(r"@[\w-]+[^{};]*(?:;|\{[^{}]*\})")  # @import, @font-face
STYLED: tuple[str, ...] = (
    "stroke", "stroke-opacity", "opacity", "fill", "display", "visibility"
)  # fmt: skip
PLAIN = "select lines by tag, class or id only"


class StyleRule(NamedTuple):
    """What one selector says; its rank is its ids, classes and tags."""

    rank: tuple[int, int, int]
    tag: str
    classes: frozenset[str]
    ids: frozenset[str]
    declarations: dict[str, str]

    def chooses(self, element: ElementTree.Element) -> bool:
        return (
            self.tag in ("", "*", tag_of(element))
            and self.classes <= set(element.get("class", "").split())
            and self.ids <= {element.get("id", "")}
        )


def tag_of(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def apply_styles(root: ElementTree.Element) -> None:
    """Set what rules say of STYLED as attributes of the elements.

    Raises
    ------
    ValueError
        where a rule says one of them and is not read
    """
    sheets = [e for e in root.iter() if tag_of(e) == "style"]
    text = COMMENT.sub(" ", "\n".join("".join(e.itertext()) for e in sheets))
    rules = sorted(_rules(text), key=lambda rule: rule.rank)
    for element in root.iter() if rules else ():
        for rule in rules:
            if rule.chooses(element):
                element.attrib.update(rule.declarations)


def declared(text: str) -> dict[str, str]:
    """What declarations "name: value; ..." say of STYLED."""
    parts = [part.partition(":") for part in text.split(";")]
    return {n.strip(): v.strip() for n, _, v in parts if n.strip() in STYLED}


def _rules(text: str) -> Iterator[StyleRule]:
    """The rules that say one of STYLED, in the order of the text."""
    text = AT_RULE.sub(" ", text)
    if "@" in text:
        at = text[text.index("@") :].split("{")[0].strip()
        raise ValueError(f"the SVG file's <style> has unsupported {at!r}: {PLAIN}")
    for selectors, body in RULE.findall(text):
        declarations = declared(body)
        for selector in selectors.split(",") if declarations else ():
            yield _rule(selector.strip(), declarations)


def _rule(selector: str, declarations: dict[str, str]) -> StyleRule:
    found = SIMPLE.fullmatch(selector)
    if not selector or not found:
        raise ValueError(
            f"the SVG file's <style> has the unsupported selector {selector!r}: {PLAIN}"
        )
    for name, value in declarations.items():
        if "!" in value:
            raise ValueError(
                f"the SVG file's <style> sets `{name}: {value}` for {selector!r}: "
                "remove the part from `!` on"
            )
    tag, rest = found[1] or "", found[2]
    classes = frozenset(re.findall(r"\.([\w-]+)", rest))
    ids = frozenset(re.findall(r"#([\w-]+)", rest))
    rank = len(ids), len(classes), int(tag not in ("", "*"))
    return StyleRule(rank, tag, classes, ids, declarations)


MOST = 100_000  # elements; copies of copies of copies fill any memory
HREF = ("href", "{http://www.w3.org/1999/xlink}href")
OWN = ("x", "y", "width", "height", "transform", "id", *HREF)


def with_copies(root: ElementTree.Element) -> ElementTree.Element:
    """The same drawing, every <use> replaced by a group with a copy of what it names.

    Raises
    ------
    ValueError
        of a copy of what is not in the file, of itself, or of too much
    """
    known = {e.attrib["id"]: e for e in root.iter() if "id" in e.attrib}
    return _copy(root, known, (), itertools.count(1))


def _copy(
    element: ElementTree.Element,
    known: Mapping[str, ElementTree.Element],
    within: tuple[str, ...],
    made: Iterator[int],
) -> ElementTree.Element:
    """A copy of an element within copies of those that are named."""
    if next(made) > MOST:
        raise ValueError(
            f"the SVG file's <use> elements create more than {MOST} elements: use fewer"
        )
    if tag_of(element) != "use":
        copy = ElementTree.Element(element.tag, element.attrib)
        copy.text = element.text
        copy.extend([_copy(child, known, within, made) for child in element])
        return copy
    name = next((element.attrib[h] for h in HREF if h in element.attrib), "")
    name = name.lstrip("#")
    if name not in known:
        raise ValueError(
            f"the SVG file has no {name!r}, which a <use> refers to: draw the lines"
        )
    if name in within:
        raise ValueError(f"the SVG file's {name!r} has a <use> of itself: remove it")
    moved = f"translate({element.get('x', '0')},{element.get('y', '0')})"
    style = {k: v for k, v in element.attrib.items() if k not in OWN}
    transform = f"{element.get('transform', '')} {moved}".strip()
    group = ElementTree.Element("g", style | {"transform": transform})
    shown = _copy(known[name], known, (*within, name), made)
    if tag_of(shown) in ("symbol", "svg"):
        shown.tag = "g"
    group.append(shown)
    return group


CP_LETTERS = {"1": "B", "2": "M", "3": "V"}
COLOURS = {
    (255, 0, 0): "M", (0, 0, 255): "V", (0, 0, 0): "B", (0, 255, 0): "C",
    (0, 128, 0): "C", (255, 255, 0): "J", (255, 0, 255): "U",
}  # fmt: skip
FARTHEST = 1e100  # of a coordinate: products of two of them are still numbers
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LENGTH = re.compile(rf"({NUMBER.pattern})\s*(?:px|pt|mm|cm|in)?")
ROUND = ("circle", "ellipse")
LINES = ("line", "polyline", "polygon", "rect", "path")
HIDDEN = ("defs", "clipPath", "mask", "symbol", "pattern", "marker")
TRANSFORM = re.compile(r"(\w+)\s*\(([^)]*)\)")
PIECE = re.compile(r"([a-zA-Z])([^a-zA-Z]*(?:[eE][-+]?\d+[^a-zA-Z]*)*)")


class Stroke(NamedTuple):
    """A line with its letter and its fold in degrees, None where its letter says it."""

    a: tuple[float, float]
    b: tuple[float, float]
    letter: str
    angle: float | None = None


def cp_entries(text: str) -> dict[str, Any]:
    """The entries of a CP file."""
    strokes = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            x1, y1, x2, y2 = (float(word) for word in words[1:5])
        except ValueError:
            raise ValueError(
                f"line {number} is {line[:40]!r}: give kind, x1, y1, x2, y2"
            ) from None
        if words[0] not in (*CP_LETTERS, "0", "4"):
            raise ValueError(
                f"line {number} is of kind {words[0]!r}: kinds are 1 border, 2 "
                "mountain, 3 valley, 4 auxiliary"
            )
        if words[0] in CP_LETTERS:
            strokes.append(Stroke((x1, y1), (x2, y2), CP_LETTERS[words[0]]))
    return stroke_entries(strokes, "lines of kind 1, 2 or 3")


def svg_entries(text: str) -> dict[str, Any]:
    """The entries of an SVG file."""
    if "<!ENTITY" in text:
        raise ValueError("the SVG file defines entities: export it as plain SVG")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"the file is not SVG: {error}") from None
    apply_styles(root)
    try:
        root = with_copies(root)
        bare: list[str] = []  # classes of lines without a stroke
        strokes = list(_strokes(root, np.eye(3), {}, bare))
    except RecursionError:
        raise ValueError(
            "the SVG file nests its groups too deep: flatten them"
        ) from None
    if bare:
        many = "1 line has" if len(bare) == 1 else f"{len(bare)} lines have"
        called = ", ".join(repr(name) for name in dict.fromkeys(bare))
        raise ValueError(
            f"{many} a class without a stroke colour ({called[:80]}): set the stroke "
            "in the file's <style> or on the lines"
        )
    return stroke_entries(strokes, "lines in red, blue or black")


def stroke_entries(strokes: list[Stroke], what: str) -> dict[str, Any]:
    """The entries of a FOLD file for lines alone."""
    if not strokes:
        raise ValueError(f"the drawing has no {what}: export the crease pattern itself")
    for end in (end for stroke in strokes for end in (stroke.a, stroke.b)):
        _near(*end)
    return {
        "vertices_coords": [
            list(p) for stroke in strokes for p in (stroke.a, stroke.b)
        ],
        "edges_vertices": [[2 * i, 2 * i + 1] for i in range(len(strokes))],
        "edges_assignment": [stroke.letter for stroke in strokes],
        "edges_foldAngle": [stroke.angle for stroke in strokes],
    }


def _near(x: float, y: float) -> None:
    """Refuse a place that is too far away to compute with."""
    if not (abs(x) < FARTHEST and abs(y) < FARTHEST):
        raise ValueError(
            f"a line ends at ({x:g}, {y:g}): give coordinates below {FARTHEST:g}"
        )


def _strokes(
    element: ElementTree.Element,
    placed: Floats,
    inherited: dict[str, str],
    bare: list[str],
) -> Iterator[Stroke]:
    """Lines of an element and of what is within.

    Parameters
    ----------
    bare : to which the class of each line is added that has one, and no stroke; what is
        filled is no line
    """
    kind = tag_of(element)
    own = {name: element.attrib[name] for name in STYLED if name in element.attrib}
    style = inherited | own | declared(element.get("style", ""))
    if kind in HIDDEN or style.get("display") == "none":
        return
    style |= {"class": element.get("class", "")} if element.get("class") else {}
    filled = kind not in ("line", "polyline") and style.get("fill", "none") != "none"
    if kind in LINES and "class" in style and "stroke" not in style and not filled:
        bare.append(style["class"])
    with np.errstate(over="ignore", invalid="ignore"):  # refused with its lines
        placed = placed @ _transform(element.get("transform", ""))
    stroke = style.get("stroke", "none").strip().lower()
    shown = style.get("visibility", "visible") == "visible"
    if kind in ROUND and shown:
        _refuse_round(kind, stroke)
    letter = _letter(stroke) if kind in LINES and shown else None
    if letter is not None:
        angle = _angle(letter, style)
        for points in _polylines(kind, element):
            for x, y in points:
                _near(x, y)
            with np.errstate(over="ignore", invalid="ignore"):
                flat = np.column_stack([points, np.ones(len(points))]) @ placed.T
            places = [(float(x), -float(y)) for x, y, _ in flat]
            for a, b in itertools.pairwise(places):
                if a != b:
                    yield Stroke(a, b, letter, angle)
    for child in element:
        yield from _strokes(child, placed, style, bare)


def _refuse_round(kind: str, stroke: str) -> None:
    """Refuse a circle in a colour of folds; in another one it is no line."""
    try:
        letter = _letter(stroke)
    except ValueError:
        return
    if letter is not None:
        raise ValueError(
            f"the SVG file has {'an' if kind == 'ellipse' else 'a'} {kind}: draw it "
            "with straight lines, or convert it to a polygon"
        )


def _letter(stroke: str) -> str | None:
    """The assignment that a colour stands for; None for what is only a help to see."""
    if stroke in ("none", "transparent"):
        return None
    return letter_of(_colour(stroke), repr(stroke), "the SVG file")


def letter_of(
    colour: tuple[int, int, int] | None, called: str, what: str
) -> str | None:
    """The assignment of red, green and blue, 0 to 255; None for greys."""
    if colour in COLOURS:
        return COLOURS[colour]
    if colour is not None and len(set(colour)) == 1:
        return None
    raise ValueError(
        f"{what} has lines in {called}: use red, blue, black, lime, yellow or magenta, "
        "and grey for other lines"
    )


def _colour(text: str) -> tuple[int, int, int] | None:
    """Red, green and blue, 0 to 255."""
    if text.startswith("rgb("):
        unit = 2.55 if "%" in text else 1.0
        given = [float(number) for number in [*NUMBER.findall(text), 0, 0, 0][:3]]
        r, g, b = (int(unit * number + 1e-9) for number in given)
        return r, g, b
    try:
        red, green, blue = getrgb(text)[:3]
    except ValueError:
        return None
    return red, green, blue


def _angle(letter: str, style: dict[str, str]) -> float | None:
    """The fold that an opacity below one asks for, degrees."""
    if letter not in ("M", "V"):
        return None
    opacity = 1.0
    for name in ("stroke-opacity", "opacity"):
        opacity *= _share(name, style.get(name, "1").strip())
    return None if opacity >= 1.0 else (180.0 if letter == "V" else -180.0) * opacity


def _share(name: str, text: str) -> float:
    """A number from 0 to 1, or as many percent."""
    found = NUMBER.fullmatch(text.removesuffix("%").strip())
    share = float(found[0]) * (0.01 if text.endswith("%") else 1.0) if found else -1.0
    if not 0.0 <= share <= 1.0:
        raise ValueError(
            f"the SVG file has {name}={text!r}: give 0 to 1, or 0% to 100%"
        )
    return share


def _transform(text: str) -> Floats:
    """(3, 3) what an SVG transform does."""
    out = np.eye(3)
    for name, values in TRANSFORM.findall(text):
        given = [float(n) for n in NUMBER.findall(values)]
        one = np.eye(3)
        if not given:
            raise ValueError(f"the SVG file has a transform {name}() without numbers")
        if name == "matrix" and len(given) == 6:
            one[:2] = np.array(given).reshape(3, 2).T
        elif name == "translate":
            one[:2, 2] = [*given, 0.0][:2]
        elif name == "scale":
            one[[0, 1], [0, 1]] = given[0], given[-1]
        elif name == "rotate":
            c, s = np.cos(np.radians(given[0])), np.sin(np.radians(given[0]))
            about = np.array([*given[1:3], 0.0, 0.0][:2])
            one[:2, :2] = [[c, -s], [s, c]]
            one[:2, 2] = about - one[:2, :2] @ about
        else:
            raise ValueError(
                f"the SVG file has a transform {name!r}: apply it before the export"
            )
        out = out @ one
    return out


def _polylines(kind: str, element: ElementTree.Element) -> list[Floats]:
    """Corners (m, 2) of what an element draws; nothing of what is no line."""

    def value(name: str) -> float:
        text = element.get(name, "0").strip()
        found = LENGTH.fullmatch(text)
        if not found:
            raise ValueError(f"the SVG file has {name}={text!r}: give a number")
        return float(found[1])

    if kind == "line":
        ends = [[value("x1"), value("y1")], [value("x2"), value("y2")]]
        return [np.array(ends)]
    if kind == "rect":
        x, y, w, h = (value(name) for name in ("x", "y", "width", "height"))
        return [np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]])]
    if kind in ("polyline", "polygon"):
        given = [float(n) for n in NUMBER.findall(element.get("points", ""))]
        points = np.array(given[: len(given) // 2 * 2]).reshape(-1, 2)
        return [np.vstack([points, points[:1]]) if kind == "polygon" else points]
    return _path(element.get("d", "")) if kind == "path" else []


def _path(text: str) -> list[Floats]:
    """Polylines of a path of straight pieces."""
    lines: list[list[list[float]]] = []
    x = y = 0.0
    for letter, values in PIECE.findall(text):
        given = [float(n) for n in NUMBER.findall(values)]
        own = letter.lower()
        if own not in "mlhvz":
            raise ValueError(
                f"the SVG file has a path with curves ({letter}): convert them to "
                "polylines"
            )
        if own == "z" and lines and lines[-1]:
            x, y = lines[-1][0]
            lines[-1].append([x, y])
            continue
        size = 1 if own in "hv" else 2
        for k in range(0, len(given) // size * size, size):
            step = given[k : k + size]
            if own == "h":
                step = [step[0], 0.0 if letter == "h" else y]
            elif own == "v":
                step = [0.0 if letter == "v" else x, step[0]]
            x, y = (x + step[0], y + step[1]) if letter == own else (step[0], step[1])
            if own == "m" and k == 0:
                lines.append([])
            elif not lines or not lines[-1]:
                raise ValueError("a path of the SVG file must begin with M")
            lines[-1].append([x, y])
    return [np.array(line) for line in lines if len(line) > 1]


PIXEL = 0.0254 / 96.0  # m, a unit of a drawing without a viewBox


def svg_metres(text: str) -> float | None:
    """m per unit of a drawing with its width or height in mm, cm or in; else None.

    A drawing whose sides ask for two sizes is as large as fits into both.
    """
    root = ElementTree.fromstring(text)
    given = [_metres(root.get(name, "")) for name in ("width", "height")]
    if given == [None, None]:
        return None
    box = [float(number) for number in NUMBER.findall(root.get("viewBox", ""))]
    if len(box) != 4:
        return PIXEL
    sides = zip(given, box[2:], strict=True)
    each = [size / side for size, side in sides if size is not None and side > 0.0]
    return min(each, default=None)


def _metres(text: str) -> float | None:
    found = re.fullmatch(rf"({NUMBER.pattern})\s*(mm|cm|in)", text.strip())
    size = float(found[1]) * METRES[found[2]] if found else 0.0
    return size if size > 0.0 else None
