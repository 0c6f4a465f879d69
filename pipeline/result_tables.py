"""results/tables and results/numbers.tex: the numbers of a study for a manuscript."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.validation_set import ComparedSet, simulated_against_scanned
from analysis.validation_set import SetSummary, summarise
from pipeline.figure import save
from pipeline.files import write_text
from pipeline.trace_sidecar import Origin, write_sidecars
from sim.arrays import Floats

COLUMNS = {  # of the LaTeX table: column, heading, format
    "name": ("comparison", "{}"),
    "S_simulated": (r"$\mathcal{S}$ simulated", "{:.4f}"),
    "S_scanned": (r"$\mathcal{S}$ scanned", "{:.4f}"),
    "S_scanned_u": ("$u$", "{:.4f}"),
    "S_error": ("error", "{:+.4f}"),
    "S_u_val": (r"$u_\mathrm{val}$", "{:.4f}"),
    "rms_mm": ("nodes, mm", "{:.2f}"),
    "verdict": ("verdict", "{}"),
}
MACROS = {  # of numbers.tex: column, format
    "S_simulated": "{:.4f}",
    "S_scanned": "{:.4f}",
    "S_scanned_u": "{:.4f}",
    "S_error": "{:+.4f}",
    "S_u_val": "{:.4f}",
    "rms_mm": "{:.2f}",
    "rms_u_val_mm": "{:.2f}",
    "link_scale": "{:.4f}",
    "nodes": "{:d}",
    "labelled": "{:d}",
    "verdict": "{}",
    "key": "{}",
}
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


def write_result_tables(
    comparisons: Sequence[Mapping[str, Any]], results: Path
) -> SetSummary | None:
    """Write tables, macros and the plot of all finished comparisons.

    Returns
    -------
    summary of all but the controls, which are meant to differ; None without any
    """
    if not comparisons:
        return None
    tables = results / "tables"
    rows = [{k: v for k, v in c.items() if k != "budget"} for c in comparisons]
    front = ["name", "key"]
    table = pd.DataFrame(rows)
    table = table[front + [c for c in table.columns if c not in front]]
    write_text(tables / "comparisons.csv", table.to_csv(index=False))
    write_text(tables / "comparisons.tex", latex_table(comparisons))
    budgets = [
        {"name": c["name"], "key": c["key"], **line}
        for c in comparisons
        for line in c["budget"]
    ]
    write_text(tables / "budgets.csv", pd.DataFrame(budgets).to_csv(index=False))
    _write_if_changed(results / "numbers.tex", latex_macros(comparisons))
    found = compared_set(comparisons)
    true = np.array([c["expect"] != "differs" for c in comparisons])
    error = np.array([float(c["S_error"]) for c in comparisons])
    summary = (
        summarise(error[true], found.S_u_val[true], found.k) if any(true) else None
    )
    figure = simulated_against_scanned(found, summary)
    save(figure, tables / "comparisons", Origin(found.keys))
    names = [p for p in tables.iterdir() if p.stem in {"comparisons", "budgets"}]
    write_sidecars([*sorted(names), results / "numbers.tex"], Origin(found.keys))
    return summary


def _write_if_changed(path: Path, text: str) -> None:
    """Leave a file alone that says this already: what includes it is not rebuilt."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def compared_set(comparisons: Sequence[Mapping[str, Any]]) -> ComparedSet:
    """The columns that the plot of a set needs."""

    def column(name: str) -> Floats:
        return np.array([float(c[name]) for c in comparisons])

    return ComparedSet(
        tuple(_called(c) for c in comparisons),
        tuple(str(c["verdict"]) for c in comparisons),
        tuple(str(c["key"]) for c in comparisons),
        column("S_simulated"),
        column("S_scanned"),
        column("S_scanned_u"),
        column("S_u_val"),
        column("S_margin"),
        column("rms_mm"),
        column("rms_limit_mm"),
        column("node_margin_mm"),
        any(bool(c["synthetic"]) for c in comparisons),
        max(float(c["k"]) for c in comparisons),
    )


def _called(comparison: Mapping[str, Any]) -> str:
    name = str(comparison["name"])
    control = comparison["expect"] == "differs" and "control" not in name
    return f"{name} (control)" if control else name


def latex_table(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """A tabular with one row a comparison; synthetic scans are marked."""
    heads = " & ".join(head for head, _ in COLUMNS.values())
    lines = [r"\begin{tabular}{l" + "r" * (len(COLUMNS) - 2) + "l}", r"\hline"]
    lines += [heads + r" \\", r"\hline"]
    for c in comparisons:
        cells = [escaped(form.format(c[name])) for name, (_, form) in COLUMNS.items()]
        mark = r"\textsuperscript{s}" if c["synthetic"] else ""
        lines.append(" & ".join([cells[0] + mark, *cells[1:]]) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    if any(c["synthetic"] for c in comparisons):
        lines.append(r"% \textsuperscript{s}: synthetic scan, computed by simulation")
    return "\n".join(lines) + "\n"


def latex_macros(comparisons: Sequence[Mapping[str, Any]]) -> str:
    r"""One \newcommand a number, named after comparison and column."""
    lines = [r"% One macro a number: \<comparison><Column>; made by pipeline.report."]
    for c in comparisons:
        if c["synthetic"]:
            lines.append(f"% {escaped(str(c['name']))}: synthetic scan")
        for name, form in MACROS.items():
            macro = letters(f"{c['name']} {name}")
            value = escaped(form.format(c[name]))
            lines.append(rf"\newcommand{{\{macro}}}{{{value}}}")
    return "\n".join(lines) + "\n"


def letters(name: str) -> str:
    """A macro's name: letters only, digits in words."""
    words = re.sub(r"\d", lambda d: f" {DIGITS[int(d.group())]} ", name)
    parts = [w for w in re.split(r"[^A-Za-z]+", words) if w]
    return "".join([parts[0].lower(), *(p[0].upper() + p[1:] for p in parts[1:])])


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(SPECIAL.get(c, c) for c in text)
