"""results/tables and results/numbers.tex: the numbers of a study for a manuscript."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.pages.latex import Columns, Form, ToItsU, macros, once_each, tabular
from pipeline.results.caption_facts import numerical_u
from pipeline.store.files import write_text
from pipeline.store.provenance.sidecar import Origin, sidecar_of, write_sidecars

COLUMNS: Columns = {  # of the table of comparisons: heading and form, by column
    "name": ("comparison", "{}"),
    "S_simulated": (r"$\mathcal{S}$ simulated", ToItsU("S_simulated_u")),
    "S_scanned": (r"$\mathcal{S}$ scanned", ToItsU("S_scanned_u")),
    "S_error": (r"error of $\mathcal{S}$", ToItsU("S_u_val", sign=True)),
    "E_error": (r"error of $\mathcal{E}$", ToItsU("E_u_val", sign=True)),
    "rms_mm": ("nodes (mm)", "{:.2f}"),
    "verdict": ("verdict", "{}"),
}
MACROS: dict[str, Form] = {  # of numbers.tex: form, by column
    "S_simulated": ToItsU("S_simulated_u", "value"),
    "S_simulated_u": ToItsU("S_simulated_u", "u"),
    "S_scanned": ToItsU("S_scanned_u", "value"),
    "S_scanned_u": ToItsU("S_scanned_u", "u"),
    "S_error": ToItsU("S_u_val", "value", sign=True),
    "S_u_val": ToItsU("S_u_val", "u"),
    "E_simulated": ToItsU("E_simulated_u", "value"),
    "E_simulated_u": ToItsU("E_simulated_u", "u"),
    "E_scanned": ToItsU("E_scanned_u", "value"),
    "E_scanned_u": ToItsU("E_scanned_u", "u"),
    "E_error": ToItsU("E_u_val", "value", sign=True),
    "E_u_val": ToItsU("E_u_val", "u"),
    "rms_mm": "{:.2f}",
    "rms_u_val_mm": "{:.2f}",
    "link_scale": ToItsU("link_scale_u", "value"),
    "link_scale_u": ToItsU("link_scale_u", "u"),
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
SERIES_MACROS = {
    "count": "{:d}",
    "bias": "{:+.3g}",
    "rms": "{:.3g}",
    "baseline_rms": "{:.3g}",
    "skill": "{:.3f}",
    "key": "{}",
}
STEMS = ("comparisons", "budgets", "series")

Rows = Sequence[Mapping[str, Any]]


def collect_series(jobs: Rows) -> list[dict[str, Any]]:
    """A row for each quantity and part of every measured series that was compared.

    Parameters
    ----------
    jobs : as pipeline.pages.report collects them
    """
    rows = []
    for job in jobs:
        if job["step"] == "compare_series" and job["status"] == "finished":
            for row in pd.read_csv(job["directory"] / "series.csv").to_dict("records"):
                named = {str(column): value for column, value in row.items()}
                rows.append(
                    {"name": job["name"], "key": job["key"], "verdict": "-"} | named
                )
    return rows


def write_result_tables(comparisons: Rows, results: Path, series: Rows = ()) -> None:
    """Write tables and macros of all finished comparisons and series.

    What was written at another time and has nothing behind it any more is removed.
    """
    tables = results / "tables"
    texts = _texts(comparisons, series)
    for name in STEMS:
        for suffix in (".csv", ".tex"):
            _write_or_remove(tables / f"{name}{suffix}", texts.get(name + suffix))
    _write_or_remove(results / "numbers.tex", texts.get("numbers.tex"))
    written = [tables / name for name in texts if name != "numbers.tex"]
    _note_origins(sorted(written), results, comparisons, series)


def _texts(comparisons: Rows, series: Rows) -> dict[str, str]:
    """What every file says that has something to say."""
    texts = {}
    comparisons = [{**c, **numerical_u(c["budget"])} for c in comparisons]
    lines = [
        r"% One macro a number: \<comparison><Column>; made by pipeline.pages.report."
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


def _note_origins(
    written: Sequence[Path], results: Path, comparisons: Rows, series: Rows
) -> None:
    """Leave beside the tables the keys of the runs behind them."""
    numbers = results / "numbers.tex"
    of_series = [path for path in written if path.stem == "series"]
    of_scans = [path for path in written if path not in of_series]
    scans, measured = (
        tuple(dict.fromkeys(str(row["key"]) for row in rows))
        for rows in (comparisons, series)
    )
    for files, keys in (
        (of_scans, scans),
        (of_series, measured),
        ([numbers] if numbers.is_file() else [], (*scans, *measured)),
    ):
        write_sidecars(files, Origin(keys))
    for path in (numbers, *(results / "tables" / f"{x}.csv" for x in STEMS)):
        if not path.is_file():
            sidecar_of(path).unlink(missing_ok=True)
