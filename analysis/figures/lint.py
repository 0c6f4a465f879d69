"""What an editor would send back of a figure: `faults`, one line each.

A figure is looked at as it is laid out for its page: letters of panels, sizes and
overlaps of texts, labels with units, powers of ten, what marks mean, ranges that are
compared, scales, colours, and whatever lies outside of the frame.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

from analysis.captions.lint import NO_NUMBER, POWER
from analysis.figures import style
from analysis.figures.colours import contrast, distance, lightness
from analysis.figures.crossings import crossed

NAMED = re.compile(r"\b[a-z](?=(?:, [a-z])*\)$)")  # panels of an entry: "way (a, c)"
UNIT = re.compile(r"\([^()]*\)")
TEXT_CONTRAST = 4.5  # WCAG 2.1, AA
LINE_CONTRAST = 1.5  # of lines and marks: grey guides among them
NEAR, NEAR_GREY = (
    10.0,
    10.0,
)  # Delta E and L* between lines that colour alone tells apart
TOUCH = 0.7  # pt by which boxes of texts may reach into each other
ROUND = 0.15  # pt, of a pixel, by which a text may leave the frame
ALIKE = 1e-6  # of a range
LIKE = 1.5  # ratio of widths of lines from which on they are told apart
NEARLY = 1.1  # ratio of scales that are taken for one
FLAT_MM = 0.5  # of axes that have no room left


def faults(figure: Figure) -> list[str]:
    """Everything found in a figure, drawn for the present page."""
    with style.styled(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        style.lay_out(figure)
        texts = list(_texts(figure))
        found = [
            *(f"laid out: {one.message}" for one in said),
            *_tall(figure),
            *_letters(figure),
            *_sizes(texts),
            *_numbers(texts),
            *_overlaps(texts, float(figure.dpi)),
            *_crossed(figure, texts),
            *_outside(figure, texts),
            *_clipped(figure, texts),
            *_flat(figure),
            *_labels(figure),
            *_marks(figure),
            *_twice_named(figure),
            *_ranges(figure),
            *_scales(figure),
            *_colours(figure, texts),
        ]
    return list(dict.fromkeys(found))


def _tall(figure: Figure) -> Iterator[str]:
    height = float(figure.get_figheight()) / style.MM
    if height > style.page().tallest_mm + ROUND and figure.get_gid() != style.CONTINUED:
        yield f"{height:.0f} mm tall: a page has {style.page().tallest_mm:.0f}"


def panels_of(figure: Figure) -> list[Axes]:
    """Panels as they are read: rows from above, each from the left."""
    own = [ax for ax in figure.axes if not _beside(ax) and ax.get_visible()]
    own.sort(key=lambda ax: -_box(ax).y1)
    rows: list[list[Axes]] = []
    for ax in own:
        box = _box(ax)
        if rows and box.y1 > _box(rows[-1][0]).y1 - 0.5 * _box(rows[-1][0]).height:
            rows[-1].append(ax)
        else:
            rows.append([ax])
    return [ax for row in rows for ax in sorted(row, key=lambda ax: _box(ax).x0)]


def _box(ax: Axes) -> Bbox:
    return ax.get_position(original=True)


def _beside(ax: Axes) -> bool:
    """Whether axes are no panel: a colour bar, or a second axis of one."""
    return _twin(ax) or hasattr(ax, "_colorbar") or ax.get_label() == "<colorbar>"


def _twin(ax: Axes) -> bool:
    """Whether axes lie upon others that came first."""
    figure = ax.get_figure(root=True)
    there = figure.axes if figure else []
    if ax not in there:
        return False
    earlier = there[: there.index(ax)]
    return any(one.get_position().bounds == ax.get_position().bounds for one in earlier)


def _letter(ax: Axes) -> str:
    """The letter of a panel, if it has one."""
    return str(ax.get_title(loc="left")).strip()


def letters_of(figure: Figure) -> list[str]:
    """The letters of the panels that have one, as they are read."""
    return [letter for ax in panels_of(figure) if (letter := _letter(ax))]


def _letters(figure: Figure) -> Iterator[str]:
    panels = panels_of(figure)
    letters, there = [_letter(ax) for ax in panels], letters_of(figure)
    if len(panels) > 1 and not there:
        yield f"{len(panels)} panels and no letters"
    wanted = [_nth(k) for k in range(len(there))]
    if there != wanted:
        yield f"letters are read {', '.join(there)}: give {', '.join(wanted)}"
    for ax, letter in zip(panels, letters, strict=True):
        bold = [t for t in ax.findobj(Text) if t.get_fontweight() == "bold"]
        if letter and letter not in [t.get_text().strip() for t in bold]:
            yield f"letter {letter} is not bold"


def _nth(k: int) -> str:
    """a to z, then aa, ab..."""
    return ("" if k < 26 else chr(96 + k // 26)) + chr(97 + k % 26)


def _ticks(axis: Any) -> list[Any]:
    """The ticks of an axis that are drawn."""
    return list(axis._update_ticks())


def _texts(figure: Figure) -> Iterator[Text]:
    """Every text that is seen, but for the lines below the art."""
    named = [text for text in figure.findobj(Text) if text.get_visible()]
    ticks = set()
    for ax in figure.findobj(Axes):
        on = ax.axison and ax.get_visible()
        for axis in (ax.xaxis, ax.yaxis):
            drawn = _ticks(axis) if on and axis.get_visible() else []
            shown = {id(t) for tick in drawn for t in (tick.label1, tick.label2)}
            shown |= {id(axis.offsetText), id(axis.label)} if on else set()
            ticks |= {id(text) for text in axis.findobj(Text)} - shown
    for text in named:
        below = text.get_gid() in (style.NOTE, style.IDENTITY)
        if text.get_text().strip() and id(text) not in ticks and not below:
            yield text


def _sizes(texts: Sequence[Text]) -> Iterator[str]:
    big = style.page().enlarged
    for text in texts:
        size = float(text.get_fontsize()) / big
        if not style.SMALL - 0.01 <= size <= style.LETTER + 0.01:
            sound = f"{style.SMALL:g} to {style.LETTER:g}"
            yield f"{_said(text)} has {size:.1f} pt: {sound}"


def _numbers(texts: Sequence[Text]) -> Iterator[str]:
    for text in texts:
        if POWER.search(text.get_text()):
            yield f"{_said(text)}: write a power of ten"
        if NO_NUMBER.search(text.get_text()):
            yield f"{_said(text)}: what is no number is not said"


def _extent(text: Text) -> Bbox:
    """Where a text stands, pixels; of an annotation without its arrow."""
    return Text.get_window_extent(text)


def _overlaps(texts: Sequence[Text], dpi: float) -> Iterator[str]:
    upright = [t for t in texts if t.get_rotation() % 90.0 == 0.0]
    if not upright:
        return
    touch = TOUCH * dpi / 72.0
    boxes = [(text, _extent(text).padded(-touch)) for text in upright]
    for (one, a), (other, b) in combinations(boxes, 2):
        if a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1:
            yield f"{_said(one)} and {_said(other)} overlap"


def _outside(figure: Figure, texts: Sequence[Text]) -> Iterator[str]:
    frame = figure.bbox.padded(ROUND * figure.dpi / 72.0)
    legends = [legend for legend in figure.findobj(Legend) if legend.get_visible()]
    boxes = [(_said(text), _extent(text)) for text in texts]
    boxes += [("a legend", legend.get_window_extent()) for legend in legends]
    for what, box in boxes:
        if not (frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1)):
            yield f"{what} lies outside of the frame"


def _clipped(figure: Figure, texts: Sequence[Text]) -> Iterator[str]:
    """Texts of which a panel shows a part."""
    touch = TOUCH * figure.dpi / 72.0
    for text in texts:
        seen, box = text.get_clip_box(), _extent(text)
        if text.get_clip_on() and seen is not None:
            frame = seen.padded(touch)
            corners = [(box.x0, box.y0), (box.x1, box.y1)]
            if not all(frame.contains(*corner) for corner in corners):
                yield f"{_said(text)} is cut at the edge of its panel"


def _crossed(figure: Figure, texts: Sequence[Text]) -> Iterator[str]:
    """Texts that lines or marks run across."""
    touch = TOUCH * figure.dpi / 72.0
    boxes = [(text, _extent(text).padded(-touch)) for text in texts]
    for text, what in crossed(figure, boxes):
        yield f"{what} crosses {_said(text)}"
    for text, what in crossed(figure, list(_keys(figure, touch))):
        yield f"{what} crosses the key of {_said(text)}"


def _keys(figure: Figure, wide: float) -> Iterator[tuple[Text, Bbox]]:
    """Names in legends without a ground, and where the keys of lines stand, pixels."""
    for legend in figure.findobj(Legend):
        if legend.get_frame_on():
            continue
        for key, name in zip(legend.legend_handles, legend.get_texts(), strict=False):
            if isinstance(key, Line2D):
                box = key.get_window_extent()
                yield name, Bbox(box.get_points()).padded(wide)


def _flat(figure: Figure) -> Iterator[str]:
    """Axes that the layout left no room, such as a colour bar that became a line."""
    for ax in figure.findobj(Axes):
        least = min(ax.get_window_extent().size) / figure.dpi / style.MM
        if ax.axison and ax.get_visible() and least < FLAT_MM:
            said = ax.get_xlabel() or ax.get_ylabel() or _letter(ax) or "?"
            yield f"the axes of {said!r} are flat: {least:.1f} mm"


def _labels(figure: Figure) -> Iterator[str]:
    for ax in figure.findobj(Axes):
        if not (ax.axison and ax.get_visible()):
            continue
        for axis, label in ((ax.xaxis, ax.get_xlabel()), (ax.yaxis, ax.get_ylabel())):
            drawn = _ticks(axis) if axis.get_visible() else []
            numbers = [
                t for t in drawn if t.label1.get_visible() or t.label2.get_visible()
            ]
            said = [t.label1.get_text() + t.label2.get_text() for t in numbers]
            bare = re.compile(r"[-+\d.,\N{MINUS SIGN}]+|\$.*\$")
            count = sum(bool(bare.fullmatch(word)) for word in said)
            if label and count and not UNIT.search(label):
                yield f"axis {label!r}: write quantity (unit), (-) for a number"
            elif not label and count:
                yield f"an axis of panel {_letter(ax) or '?'} has no label"
            if count == 1:
                yield f"axis {label!r} has one number: two say how long it is"


def _look(line: Line2D) -> tuple[str, str, str, bool]:
    """Colour, dash, mark, and whether the mark is filled; no colour where unseen."""
    dash = str(line.get_linestyle()) if line.get_linewidth() > 0 else "None"
    mark = str(line.get_marker())
    filled = mark not in ("None", "") and line.get_markerfacecolor() not in (
        "none",
        "white",
    )
    colour = to_hex(line.get_color())
    if mark not in ("None", "") and dash == "None":
        colour = to_hex(line.get_markeredgecolor())
    return colour, dash, "" if mark == "None" else mark, filled


def _curves(ax: Axes) -> list[Line2D]:
    """Lines in a panel that stand for data: no guides across it, no ticks, no bars."""
    return [
        line
        for line in ax.get_lines()
        if line.get_visible()
        and np.size(line.get_xdata()) > 0
        and line.get_transform().contains_branch(ax.transData)
        and line.get_transform()
        not in (ax.get_xaxis_transform(), ax.get_yaxis_transform())
        and str(line.get_marker()) not in ("0", "1", "2", "3", "_", "|", ",")
    ]


def _handles(figure: Figure) -> set[tuple[str, str, str, bool]]:
    """How what legends name looks."""
    legends = figure.findobj(Legend)
    return {_look(line) for one in legends for line in one.findobj(Line2D)}


def _marks(figure: Figure) -> Iterator[str]:
    named = _handles(figure)
    drawn = {(colour, mark) for colour, _, mark, _ in named}
    for ax in figure.findobj(Axes):
        if not (ax.axison and ax.get_visible()):
            continue
        looks = {_look(line) for line in _curves(ax)}
        told = {to_hex(t.get_color()) for t in ax.texts} - {"#000000"}
        left = [
            look
            for look in looks
            if (look[0], look[2]) not in drawn and look[0] not in told
        ]
        if len(looks) > 1 or _twin(ax):
            for look in sorted(left):
                if _twin(ax) and ax.yaxis.label.get_color() == look[0]:
                    continue
                yield f"panel {_letter(ax) or '?'}: no legend names {look[:3]}"
    empty = [ax for ax in panels_of(figure) if not ax.axison and ax.collections]
    if empty and not list(figure.findobj(Legend)):
        yield "drawings in space and no legend"


def _twice_named(figure: Figure) -> Iterator[str]:
    """Entries of a legend that look alike: lines of like width, fields of a colour."""
    for legend in figure.findobj(Legend):
        named = list(zip(legend.legend_handles, legend.get_texts(), strict=True))
        for (one, text), (other, its) in combinations(named, 2):
            words = text.get_text(), its.get_text()
            of, its_own = (set(NAMED.findall(one)) for one in words)
            apart = of and its_own and not of & its_own  # the letters of their panels
            if _is_like(one, other) and words[0] != words[1] and not apart:
                yield f"one look in a legend: {_said(text)} and {_said(its)}"


def _is_like(one: object, other: object) -> bool:
    if isinstance(one, Patch) and isinstance(other, Patch):
        looks = [
            (p.get_facecolor(), p.get_edgecolor(), p.get_hatch()) for p in (one, other)
        ]
        return looks[0] == looks[1]
    if not (isinstance(one, Line2D) and isinstance(other, Line2D)):
        return False
    lines = [(line.get_linewidth(), line.get_markersize()) for line in (one, other)]
    ratios = [max(pair) / max(min(pair), 1e-9) for pair in zip(*lines, strict=True)]
    drawn = ratios[0] if _look(one)[1] != "None" else ratios[1]
    inside = [to_hex(line.get_markerfacecolor()) for line in (one, other)]
    if _look(one)[2] and inside[0] != inside[1]:
        return False
    return _look(one) == _look(other) and drawn < LIKE


def _ranges(figure: Figure) -> Iterator[str]:
    groups: dict[str, list[Axes]] = {}
    for ax in figure.findobj(Axes):
        if ax.axison and ax.get_visible() and ax.get_ylabel():
            groups.setdefault(ax.get_ylabel(), []).append(ax)
    for label, own in groups.items():
        free = [ax for ax in own if ax.get_gid() != style.OWN]
        for one, other in pairwise(free):
            a, b = np.array([one.get_ylim(), other.get_ylim()])
            if np.abs(a - b).max() > ALIKE * np.abs(a).max():
                yield f"panels of {label!r} have several ranges"
                break
    for group in {
        ax.get_gid()
        for ax in figure.axes
        if str(ax.get_gid()).startswith(style.COMPARED)
    }:
        ranges = {ax.get_ylim() for ax in figure.axes if ax.get_gid() == group}
        if len(ranges) > 1:
            yield f"panels that are compared ({group}) have {len(ranges)} ranges"


def _scales(figure: Figure) -> Iterator[str]:
    def per_pixel(ax: Axes) -> float:
        return float(np.ptp(ax.get_xlim()) / ax.get_window_extent().width)

    drawings = [
        ax
        for ax in panels_of(figure)
        if not ax.axison and any(isinstance(c, Collection) for c in ax.collections)
    ]
    barred = [
        ax for ax in drawings if any(isinstance(a, AnchoredSizeBar) for a in ax.artists)
    ]
    known = [per_pixel(ax) for ax in barred]
    for one, other in combinations(zip(barred, known, strict=True), 2):
        bars = _bars(one[0]), _bars(other[0])
        near = max(one[1], other[1]) < NEARLY * min(one[1], other[1])
        if near and not bars[0] & bars[1]:
            yield f"bars {' and '.join(min(b) for b in bars)} at nearly one scale"
    for ax in drawings:
        if ax not in barred and not any(
            abs(per_pixel(ax) / one - 1.0) < 0.02 for one in known
        ):
            yield f"panel {_letter(ax) or ax.get_title()!r} has no scale"


def _bars(ax: Axes) -> set[str]:
    """What the bars of a panel say."""
    own = [a for a in ax.artists if isinstance(a, AnchoredSizeBar)]
    return {str(text.get_text()) for bar in own for text in bar.findobj(Text)}


def _colours(figure: Figure, texts: Sequence[Text]) -> Iterator[str]:
    for text in texts:
        if contrast(text.get_color()) < TEXT_CONTRAST:
            yield f"{_said(text)} is too pale to read: {contrast(text.get_color()):.1f}"
    for ax in figure.findobj(Axes):
        lines = _curves(ax) if ax.axison else []
        for line in lines:
            if contrast(line.get_color()) < LINE_CONTRAST:
                yield f"a line of panel {_letter(ax) or '?'} is too pale to see"
        looks = {_look(line) for line in lines}
        for one, other in combinations(sorted(looks), 2):
            if one[0] != other[0] and one[1:] == other[1:]:
                near, who = distance(one[0], other[0])
                grey = abs(lightness(one[0]) - lightness(other[0]))
                if near < NEAR:
                    yield f"{one[0]} and {other[0]} are alike to {who}: {near:.0f}"
                if grey < NEAR_GREY:
                    yield f"{one[0]} and {other[0]} are alike in grey: {grey:.0f}"


def _said(text: Text) -> str:
    """A text as it is named in a fault."""
    words = text.get_text().replace("\n", " ").strip()
    kind = "note" if isinstance(text, Annotation) else "text"
    return f"{kind} {words[:40]!r}"
