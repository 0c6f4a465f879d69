"""Numbers as LaTeX prints them: tables, macros, and text that survives."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analysis.captions.digits import MISSING, common_power, to_its_u, with_u
from analysis.captions.markup import LATEX, latex_text, written

EXPONENT = re.compile(r"(?<![\w.])([-+]?\d[\d.]*)e([-+]?)0*(\d+)\b")  # 1.4e-05
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
MARK = r"\textsuperscript{s}"  # on what rests on synthetic data


@dataclass(frozen=True)
class ToItsU:
    """A number that ends where its standard uncertainty, in another column, ends.

    Parameters
    ----------
    u : the column of the uncertainty
    what : value(u); the value alone; or the uncertainty alone
    sign : whether a positive value has its sign
    """

    u: str
    what: Literal["both", "value", "u"] = "both"
    sign: bool = False

    def of(self, row: Mapping[str, Any], column: str, power: int | None = None) -> str:
        """The number in a row, as marked text; in a power of ten, if one is given."""
        value, u = float(row[column]), float(row[self.u])
        if self.what == "both":
            return with_u(value, u, sign=self.sign, power=power)
        return to_its_u(value, u, sign=self.sign, power=power)[self.what == "u"]


Form = str | ToItsU
Rows = Sequence[Mapping[str, Any]]
Columns = Mapping[str, tuple[str, Form]]  # of a table: heading and form, by column


def cell(
    row: Mapping[str, Any], column: str, form: Form, power: int | None = None
) -> str:
    """What a table or a macro says of a column, as marked text; a dash for nothing."""
    value = row.get(form.u if isinstance(form, ToItsU) else column)
    if isinstance(value, float) and math.isnan(value) and isinstance(form, str):
        return MISSING
    if isinstance(form, ToItsU):
        return form.of(row, column, power)
    return EXPONENT.sub(r"$\1 \\times 10^{\2\3}$", form.format(row[column]))


def powers(rows: Rows, forms: Mapping[str, Form]) -> dict[str, int]:
    """The power of ten of each quantity over all rows, by the column of its u.

    Controls, which are meant to differ, are told in the power of the others.
    """
    told = [row for row in rows if row.get("expect") != "differs"] or rows
    return {
        form.u: common_power((row[name], row[form.u]) for row in told)
        for name, form in forms.items()
        if isinstance(form, ToItsU) and form.what != "u"
    }


def tabular(rows: Rows, columns: Columns) -> str:
    """One line a row; its first cell is marked where its data are synthetic.

    A column has one power of ten, in its heading.
    """
    heads, told = [], []
    common = powers(rows, {name: form for name, (_, form) in columns.items()})
    for name, (head, form) in columns.items():
        power = common[form.u] if isinstance(form, ToItsU) else 0
        heads.append(head + (rf" ($10^{{{power}}}$)" if power else ""))
        told.append([cell(row, name, form, power) for row in rows])
    lines = [r"\begin{tabular}{l" + "r" * (len(columns) - 2) + "l}", r"\hline"]
    lines += [" & ".join(heads) + r" \\", r"\hline"]
    for row, said in zip(rows, zip(*told, strict=True), strict=True):
        cells = [written(one, LATEX) for one in said]
        cells[0] += MARK if row["synthetic"] else ""
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    if any(row["synthetic"] for row in rows):
        lines.append(f"% {MARK}: synthetic, computed by simulation")
    return "\n".join(lines) + "\n"


def macros(
    rows: Mapping[str, Mapping[str, Any]], forms: Mapping[str, Form]
) -> list[str]:
    r"""A \newcommand for each number of rows, named after the row and the column.

    A quantity and its u have one power of ten over all rows.
    """
    common, lines = powers(list(rows.values()), forms), []
    for name, row in rows.items():
        lines += [f"% {latex_text(name)}: synthetic"] if row["synthetic"] else []
        for column, form in forms.items():
            power = common[form.u] if isinstance(form, ToItsU) else None
            value = written(cell(row, column, form, power), LATEX)
            lines.append(rf"\newcommand{{\{letters(f'{name} {column}')}}}{{{value}}}")
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
