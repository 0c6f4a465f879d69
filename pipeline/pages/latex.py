"""Numbers as LaTeX prints them: tables, macros, and text that survives."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MISSING = "--"
DIGITS = (
    "Zero",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
)
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
} | {c: "\\" + c for c in "&%$#_{}"}
MARK = r"\textsuperscript{s}"  # on what rests on synthetic data

Columns = Mapping[str, tuple[str, str]]  # of a table: heading and format, by column


def printed(value: Any, form: str) -> str:
    """A value as `form` prints it; a dash where there is none."""
    if isinstance(value, float) and math.isnan(value):
        return MISSING
    return escaped(form.format(value))


def tabular(rows: Sequence[Mapping[str, Any]], columns: Columns) -> str:
    """One line a row; its first cell is marked where its data are synthetic."""
    heads = " & ".join(head for head, _ in columns.values())
    lines = [r"\begin{tabular}{l" + "r" * (len(columns) - 2) + "l}", r"\hline"]
    lines += [heads + r" \\", r"\hline"]
    for row in rows:
        cells = [printed(row[name], form) for name, (_, form) in columns.items()]
        cells[0] += MARK if row["synthetic"] else ""
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    if any(row["synthetic"] for row in rows):
        lines.append(f"% {MARK}: synthetic, computed by simulation")
    return "\n".join(lines) + "\n"


def macros(name: str, row: Mapping[str, Any], forms: Mapping[str, str]) -> list[str]:
    r"""A \newcommand for each number of a row, named after `name` and column."""
    lines = [f"% {escaped(name)}: synthetic"] if row["synthetic"] else []
    for column, form in forms.items():
        macro, value = letters(f"{name} {column}"), printed(row[column], form)
        lines.append(rf"\newcommand{{\{macro}}}{{{value}}}")
    return lines


def once_each(lines: Iterable[str]) -> str:
    r"""The lines of a file; a \newcommand of a name that is taken becomes a remark."""
    taken: set[str] = set()
    found = []
    for line in lines:
        name = line.partition("}")[0]
        again = line.startswith(r"\newcommand") and name in taken
        found.append(
            f"% this name is taken, rename its source: {line}" if again else line
        )
        taken.add(name)
    return "\n".join(found) + "\n"


def letters(name: str) -> str:
    """A macro's name: letters only, digits in words."""
    words = re.sub(r"\d", lambda d: f" {DIGITS[int(d.group())]} ", name)
    parts = [w for w in re.split(r"[^A-Za-z]+", words) if w]
    return "".join([parts[0].lower(), *(p[0].upper() + p[1:] for p in parts[1:])])


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(SPECIAL.get(c, c) for c in text)
