"""What an editor would send back of a figure and of its caption, one line each."""

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from string import ascii_lowercase

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from analysis.figures import style

NO_NUMBER = re.compile(r"\b(?:nan|inf|None|True|False|\d+(?:\.\d+)?e[+-]?\d+)\b")
NUMBER = re.compile(r"[-+\d.,\N{MINUS SIGN}]+|\$.*\$")
TOUCH, ROUND = 0.7, 0.15  # pt by which texts may overlap, and leave the frame


def faults(figure: Figure) -> list[str]:
    """Everything found in a figure, laid out for the present page."""
    with style.styled(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        style.lay_out(figure)
        texts = [*_texts(figure)]
        found = [f"laid out: {one.message}" for one in told]
        found += [*_of_texts(figure, texts), *_letters(figure), *_labels(figure)]
    return list(dict.fromkeys(found))


def _texts(figure: Figure) -> Iterator[Text]:
    """Every text that is seen, but for the lines below the art."""
    hidden = set()
    for ax in figure.findobj(Axes):
        on = ax.axison and ax.get_visible()
        for axis in (ax.xaxis, ax.yaxis):
            ticks = axis._update_ticks() if on and axis.get_visible() else []
            seen = {id(t) for tick in ticks for t in (tick.label1, tick.label2)}
            seen |= {id(axis.offsetText), id(axis.label)} if on else set()
            hidden |= {id(text) for text in axis.findobj(Text)} - seen
    for text in figure.findobj(Text):
        said = text.get_visible() and text.get_text().strip() and id(text) not in hidden
        if said and text.get_gid() not in (style.NOTE, style.IDENTITY):
            yield text


def _of_texts(figure: Figure, texts: Sequence[Text]) -> Iterator[str]:
    """Texts too small or too large, out of the frame, upon each other, no numbers."""
    point = figure.dpi / 72.0
    frame, boxes = figure.bbox.padded(ROUND * point), []
    for text in texts:
        words, size = text.get_text(), text.get_fontsize() / style.page().enlarged
        box = Text.get_window_extent(text)  # of an annotation without its arrow
        if not style.SMALL - 0.01 <= size <= style.LETTER + 0.01:
            yield f"{words!r} has {size:.1f} pt"
        if NO_NUMBER.search(words):
            yield f"{words!r}: a power of ten, or what is no number"
        if not (frame.contains(box.x0, box.y0) and frame.contains(box.x1, box.y1)):
            yield f"{words!r} lies outside of the frame"
        if text.get_rotation() % 90.0 == 0.0:
            boxes.append((words, box.padded(-TOUCH * point)))
    for (one, a), (other, b) in combinations(boxes, 2):
        if a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1:
            yield f"{one!r} and {other!r} overlap"


def _letters(figure: Figure) -> Iterator[str]:
    """Letters that leave one out, or are not bold."""
    letters = style.letters_of(figure)
    names = [*ascii_lowercase, *(f"a{b}" for b in ascii_lowercase)]
    if letters != names[: len(letters)]:
        yield f"letters are {', '.join(letters)}"
    bold = [t for t in figure.findobj(Text) if t.get_fontweight() == "bold"]
    said = [text.get_text().strip() for text in bold]
    yield from (f"letter {one} is not bold" for one in letters if one not in said)


def _labels(figure: Figure) -> Iterator[str]:
    """Axes with numbers and without quantity and unit."""
    for ax in [ax for ax in figure.findobj(Axes) if ax.axison and ax.get_visible()]:
        for axis in (ax.xaxis, ax.yaxis):
            drawn = axis._update_ticks() if axis.get_visible() else []
            labels = [label for tick in drawn for label in (tick.label1, tick.label2)]
            seen = [t.get_text() for t in labels if t.get_visible()]
            words = axis.label.get_text()
            if any(map(NUMBER.fullmatch, seen)) and not re.search(r"\(.*\)", words):
                yield f"axis {words!r}: write quantity (unit), (-) for a number"


def caption_faults(caption: str, letters: Sequence[str]) -> list[str]:
    """Everything found in a caption of a figure whose panels have these letters."""
    found = []
    if not (caption.startswith("**") and caption.rstrip().endswith(".")):
        found.append("no title in bold at its beginning, or no full stop at its end")
    if any(caption.count(mark) % 2 for mark in ("**", "$", "`")) or "{{" in caption:
        found.append("a mark that nothing closes, or a template that was not filled")
    plain = re.sub(r"`[^`]*`|\$[^$]*\$", "", caption)
    named = set(re.findall(r"\*\*([a-z]{1,2})\*\*", plain))
    for first, last in re.findall(r"\*\*(\w+)\*\* to \*\*(\w+)\*\*", plain):
        if {first, last} <= set(letters):
            named |= set(letters[letters.index(first) : letters.index(last)])
    strange = named ^ set(letters) if len(letters) > 1 else named - set(letters)
    found += [f"panel {one} is drawn or named, not both" for one in sorted(strange)]
    return [*found, *NO_NUMBER.findall(plain)]
