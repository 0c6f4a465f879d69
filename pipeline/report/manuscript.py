"""For a manuscript: results/tables, results/numbers.tex and the article."""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.figures.captions import (
    LATEX,
    MISSING,
    common_power,
    latex_text,
    to_its_u,
    with_u,
    written,
)
from pipeline.report.scene import TEMPLATES
from pipeline.runs.atomic_files import write_text
from pipeline.runs.sidecars import Origin, sidecar_of, write_sidecars
from pipeline.steps.figure import numerical_u
from pipeline.terminal import InputError

EXPONENT = re.compile(r"(?<![\w.])([-+]?\d[\d.]*)e([-+]?)0*(\d+)\b")  # 1.4e-05
IN_DOLLARS = re.compile(r"\$([^$]*)\$")
MARK = r"\textsuperscript{s}"  # on what rests on synthetic data


UNCERTAIN = {  # columns that end where their standard uncertainty, in another, ends
    "S_simulated": "S_simulated_u",
    "S_scanned": "S_scanned_u",
    "S_error": "S_u_val",
    "E_simulated": "E_simulated_u",
    "E_scanned": "E_scanned_u",
    "E_error": "E_u_val",
    "link_scale": "link_scale_u",
}
VALUE_OF = {u: name for name, u in UNCERTAIN.items()}
SIGNED = ("S_error", "E_error")  # a positive one has its sign
WITH_U = ""  # the form of a column of UNCERTAIN and of its u

Rows = Sequence[Mapping[str, Any]]
Columns = Mapping[str, tuple[str, str]]  # of a table: heading and form, by column


def _measured(row: Mapping[str, Any], name: str) -> tuple[float, float]:
    return float(row[name]), float(row[UNCERTAIN[name]])


def cell(
    row: Mapping[str, Any], column: str, form: str, power: int | None, *, both: bool
) -> str:
    """What a table or a macro says of a column, as marked text; a dash for nothing.

    Parameters
    ----------
    power : of ten, in which a number with its u is written; None for its own
    both : whether a number has its u behind it; else it and its u are cells each
    """
    if form == WITH_U:
        name = VALUE_OF.get(column, column)
        pair, sign = _measured(row, name), name in SIGNED
        if both:
            return with_u(*pair, sign=sign, power=power)
        return to_its_u(*pair, sign=sign, power=power)[column != name]
    value = row.get(column)
    if isinstance(value, float) and math.isnan(value):
        return MISSING
    return EXPONENT.sub(r"$\1 \\times 10^{\2\3}$", form.format(row[column]))


def powers(rows: Rows, columns: Iterable[str]) -> dict[str, int]:
    """The power of ten of each quantity and of its u over all rows, by column.

    Controls, which should differ, are written in the power of the others.
    """
    tested = [row for row in rows if row.get("expect") != "differs"] or rows
    found: dict[str, int] = {}
    for name in UNCERTAIN.keys() & set(columns):
        power = common_power(_measured(row, name) for row in tested)
        found |= {name: power, UNCERTAIN[name]: power}
    return found


def tabular(rows: Rows, columns: Columns) -> str:
    """One line a row; its first cell is marked where its data are synthetic.

    A column has one power of ten, in its heading.
    """
    heads: list[str] = []
    cells_of: list[list[str]] = []
    common = powers(rows, columns)
    for name, (head, form) in columns.items():
        power = common.get(name, 0)
        heads.append(head + (rf" ($10^{{{power}}}$)" if power else ""))
        cells_of.append([cell(row, name, form, power, both=True) for row in rows])
    lines = [r"\begin{tabular}{l" + "r" * (len(columns) - 2) + "l}", r"\hline"]
    lines += [" & ".join(heads) + r" \\", r"\hline"]
    for row, texts in zip(rows, zip(*cells_of, strict=True), strict=True):
        cells = [written(one, LATEX) for one in texts]
        cells[0] += MARK if row["synthetic"] else ""
        lines.append(" & ".join(cells) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    if any(row["synthetic"] for row in rows):
        lines.append(f"% {MARK}: synthetic, computed by simulation")
    return "\n".join(lines) + "\n"


def macros(
    rows: Mapping[str, Mapping[str, Any]], forms: Mapping[str, str]
) -> list[str]:
    r"""A \newcommand for each number of rows, named after the row and the column.

    A quantity and its u have one power of ten over all rows. A macro can be used in
    text and in a formula.
    """
    common, lines = powers(list(rows.values()), forms), []
    for name, row in rows.items():
        lines += [f"% {latex_text(name)}: synthetic"] if row["synthetic"] else []
        for column, form in forms.items():
            text = cell(row, column, form, common.get(column), both=False)
            value = IN_DOLLARS.sub(r"\\ensuremath{\1}", written(text, LATEX))
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
    words = re.sub("[0-9]", lambda d: f" {unicodedata.name(d[0])[6:].title()} ", name)
    parts = [w for w in re.split(r"[^A-Za-z]+", words) if w]
    return "".join([parts[0].lower(), *(p[0].upper() + p[1:] for p in parts[1:])])


COLUMNS: Columns = {  # of the table of comparisons
    "name": ("comparison", "{}"),
    "S_simulated": (r"$\mathcal{S}$ simulated", WITH_U),
    "S_scanned": (r"$\mathcal{S}$ scanned", WITH_U),
    "S_error": (r"error of $\mathcal{S}$", WITH_U),
    "E_error": (r"error of $\mathcal{E}$", WITH_U),
    "rms_mm": ("nodes (mm)", "{:.2f}"),
    "verdict": ("verdict", "{}"),
}
MACROS: dict[str, str] = {  # of numbers.tex: form, by column
    **dict.fromkeys((x for pair in UNCERTAIN.items() for x in pair), WITH_U),
    "rms_mm": "{:.2f}",
    "rms_u_val_mm": "{:.2f}",
    "nodes": "{:d}",
    "labelled": "{:d}",
    "verdict": "{}",
    "key": "{}",
}
SERIES_COLUMNS: Columns = {
    "name": ("series", "{}"),
    "quantity": ("quantity", "{}"),
    "count": ("$n$", "{:d}"),
    "bias": ("bias", "{:+.3g}"),
    "rms": ("rms", "{:.3g}"),
    "u": ("$u$", "{:.3g}"),
    "baseline_rms": ("baseline", "{:.3g}"),
    "skill": ("skill", "{:.3f}"),
    "part": ("part", "{}"),
    "verdict": ("verdict", "{}"),
}
SERIES_NUMBERS = ("count", "bias", "rms", "baseline_rms", "skill")
SERIES_MACROS = {name: SERIES_COLUMNS[name][1] for name in SERIES_NUMBERS}
SERIES_MACROS |= {"key": "{}"}


def collect_series(jobs: Rows) -> list[dict[str, Any]]:
    """A row for each quantity and part of every measured series that was compared.

    Parameters
    ----------
    jobs : as pipeline.report.index collects them
    """
    rows: list[dict[Any, Any]] = []
    for job in jobs:
        if job["step"] == "compare_series" and job["status"] == "finished":
            table = pd.read_csv(job["directory"] / "series.csv")
            of = {"name": job["name"], "key": job["key"], "verdict": "-"}
            rows += [{**of, **row} for row in table.to_dict("records")]
    return rows


def write_result_tables(comparisons: Rows, results: Path, series: Rows = ()) -> None:
    """Write tables and macros of all finished comparisons and series.

    What was written at another time and has nothing behind it any more is removed.
    """
    texts, tables = _texts(comparisons, series), results / "tables"
    scans, measured = (
        tuple(dict.fromkeys(str(row["key"]) for row in rows))
        for rows in (comparisons, series)
    )
    for stem, keys in (
        (tables / "comparisons", scans),
        (tables / "budgets", scans),
        (tables / "series", measured),
        (results / "numbers", (*scans, *measured)),
    ):
        files = [stem.with_suffix(suffix) for suffix in (".csv", ".tex")]
        for path in files:
            _write_or_remove(path, texts.get(path.name))
        if there := [path for path in files if path.name in texts]:
            write_sidecars(there, Origin(keys))
        else:
            sidecar_of(stem).unlink(missing_ok=True)


def _texts(comparisons: Rows, series: Rows) -> dict[str, str]:
    """What every file says that has something to say."""
    texts = {}
    comparisons = [{**c, **numerical_u(c["budget"])} for c in comparisons]
    lines = [
        r"% One macro per number: \<comparison><Column>; made by pipeline.report.index."
    ]
    if comparisons:
        flat = [{k: v for k, v in c.items() if k != "budget"} for c in comparisons]
        budgets = [
            {"name": c["name"], "key": c["key"], **line}
            for c in comparisons
            for line in c["budget"]
        ]
        texts["comparisons.csv"] = _csv(flat)
        texts["comparisons.tex"] = tabular(comparisons, COLUMNS)
        texts["budgets.csv"] = _csv(budgets)
        lines += macros({str(c["name"]): c for c in comparisons}, MACROS)
    if series:
        texts["series.csv"] = _csv(series)
        texts["series.tex"] = tabular(series, SERIES_COLUMNS)
        for row in series:
            name = f"{row['name']} {row['quantity']} {row['part']}"
            lines += macros({name: row}, SERIES_MACROS)
    return {**texts, "numbers.tex": once_each(lines)} if texts else {}


def _csv(rows: Rows) -> str:
    """Name and key first."""
    table = pd.DataFrame([dict(row) for row in rows])
    front = [column for column in ("name", "key") if column in table]
    rest = [column for column in table.columns if column not in front]
    return table[front + rest].to_csv(index=False, lineterminator="\n")


def _write_or_remove(path: Path, text: str | None) -> None:
    """Leave a file alone that says this already: what includes it is not rebuilt."""
    if text is None:
        path.unlink(missing_ok=True)
    elif not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


FIGURES = ("chain", "dejong-3")


def write_paper(comparisons: Sequence[Mapping[str, Any]], results: Path) -> Path:
    """Fill the template with the comparisons that are no controls."""
    tested = [c for c in comparisons if c["expect"] != "differs"]
    if not tested:
        raise InputError("no comparison has finished: run `make demo`")
    for figure in FIGURES:
        if not (results / "figure" / figure / "caption.tex").is_file():
            raise InputError(f"no figure {figure}: run `make figure-{figure}`")
    filling = Environment(
        "<%", "%>", "<<", ">>", trim_blocks=True,
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined,
    )  # fmt: skip
    text = filling.get_template("paper.tex").render(
        comparisons=[(latex_text(c["name"]), letters(c["name"])) for c in tested],
        figures=FIGURES,
        synthetic=any(c["synthetic"] for c in tested),
    )
    write_text(results / "paper" / "paper.tex", text)
    return results / "paper" / "paper.tex"
