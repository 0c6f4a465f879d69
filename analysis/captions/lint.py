"""What an editor would send back of a caption: `caption_faults`, one line each."""

import re
from collections.abc import Iterator, Sequence

POWER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?[eE][+-]?\d+(?!\w)")  # 2.6e-05
NO_NUMBER = re.compile(r"\b(?:nan|inf|None|True|False)\b")
LONG = re.compile(r"\d*\.\d{7,}+(?!\()")  # digits that no u explains
LETTER = re.compile(r"\*\*([a-z]{1,2})\*\*")
RANGE = re.compile(r"\*\*([a-z]{1,2})\*\* to \*\*([a-z]{1,2})\*\*")
MATHEMATICS = re.compile(r"\$[^$]*\$")
NAMES = re.compile(r"`[^`]*`")


def caption_faults(caption: str, letters: Sequence[str]) -> list[str]:
    """Everything found in a caption.

    Parameters
    ----------
    caption : marked text (analysis.captions.markup)
    letters : of the panels of its figure, as drawn
    """
    plain = NAMES.sub("", caption)
    return [
        f"caption: {fault}" for fault in (*_marked(caption), *_panels(plain, letters))
    ] + [
        f"caption: {word} in print"
        for shape in (POWER, NO_NUMBER, LONG)
        for word in shape.findall(MATHEMATICS.sub("", plain))
    ]


def _marked(caption: str) -> Iterator[str]:
    if not caption.startswith("**"):
        yield "does not begin with a title in bold"
    if not caption.rstrip().endswith("."):
        yield "does not end with a full stop"
    for mark in ("**", "$", "`"):
        if caption.count(mark) % 2:
            yield f"{mark} that nothing closes"
    if "{{" in caption or "{%" in caption:
        yield "a template that was not filled"


def _panels(caption: str, letters: Sequence[str]) -> Iterator[str]:
    """Panels that the caption leaves out, and those that nobody drew."""
    named = set(LETTER.findall(caption))
    drawn = set(letters)
    for first, last in RANGE.findall(caption):
        if {first, last} <= drawn:
            named |= set(letters[letters.index(first) : letters.index(last)])
    if len(drawn) > 1:
        yield from (f"says nothing of panel {one}" for one in sorted(drawn - named))
    yield from (
        f"names panel {one}, which is not there" for one in sorted(named - drawn)
    )
