"""How numbers and lines are said to a person, whatever the terminal can show."""

import codecs
import re

SPELT = {"±": "+-", "–": "-", "—": "-", "“": '"', "”": '"', "…": "...", "·": ","}
SPELLING = "morphtrack.spelling"  # for streams whose encoding lacks a character


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(SPELT.get(sign, "?") for sign in missing), error.end


codecs.register_error(SPELLING, _spell)
# What steers a terminal, breaks a line or turns the direction in which it is written.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
BREAKS = "\n\t"


def visible(text: str, kept: str = "") -> str:
    """Text of a file of others, without what would steer the terminal."""
    return CONTROL.sub(lambda sign: sign[0] if sign[0] in kept else "?", text)


def duration(seconds: float | None) -> str:
    """Seconds as a person says them."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def aligned(rows: list[list[str]], width: int = 80) -> list[str]:
    """Rows in columns; where they are too wide, each cell of a row on a line.

    Parameters
    ----------
    rows : the first of them heads the columns
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + 2 * len(widths) <= width:
        return [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
    head, *others = rows
    lines = []
    for first, *cells in others:
        lines.append(first)
        lines += [f"  {h}: {c}" for h, c in zip(head[1:], cells, strict=True) if c]
    return lines
