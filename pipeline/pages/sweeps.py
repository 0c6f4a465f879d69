"""What the report shows of sweeps: how far each is, and its results by its values."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.pages.links import relative
from pipeline.pages.page_parts import as_script
from pipeline.studies.members import read_members
from pipeline.studies.table import responses, study_rows
from pipeline.terminal.errors import InputError, one_line

MOST_ROWS = 10_000  # of one study that are sent
MOST_COLUMNS = 14
DIGITS = 6
SHOWN_FILES = (".csv", ".pdf", ".png", ".svg")


def collect_studies(results: Path, out: Path) -> list[dict[str, Any]]:
    """Every study under results/study; one that cannot be read says why."""
    found = []
    for path in sorted((results / "study").glob("*/members.json")):
        name = path.parent.name
        try:
            found.append(_study(name, results, out))
        except (InputError, KeyError, TypeError, ValueError) as error:
            found.append({"name": name, "trouble": one_line(error)})
    return found


def _study(name: str, results: Path, out: Path) -> dict[str, Any]:
    wanted = read_members(name, results)
    table, _ = study_rows(wanted, results)
    factors = list(dict.fromkeys(k for m in wanted["members"] for k in m["point"]))
    counts = Counter(table["status"])
    done = table[table["status"] == "finished"]
    shown = responses(wanted, table) or _numeric(done, factors)
    directory = results / "study" / name
    files = [p for p in sorted(directory.iterdir()) if p.suffix in SHOWN_FILES]
    return {
        "name": name,
        "case": str(wanted["case"]),
        "anchor": f"study-{name}",
        "trouble": "",
        "wanted": len(table),
        "counts": [(state, int(counts[state])) for state in sorted(counts)],
        "half": len(table) - len(done),
        "reasons": _reasons(table),
        "sweep": as_script(_sweep(done, factors, shown)) if len(done) else "",
        "files": [{"name": p.name, "href": relative(p, out)} for p in files],
    }


def _numeric(done: pd.DataFrame, factors: Sequence[str]) -> list[str]:
    """Results that are numbers, where those asked for are not there."""
    numbers = done.select_dtypes("number").columns
    return [str(c) for c in numbers if c not in factors][:1]


def _reasons(table: pd.DataFrame) -> list[tuple[str, int]]:
    """Why runs failed, the most common reasons first."""
    failed = table[table["status"] == "failed"]
    return [(str(r), int(n)) for r, n in failed["reason"].value_counts()[:5].items()]


def _sweep(
    done: pd.DataFrame, factors: Sequence[str], responses: Sequence[str]
) -> dict[str, Any]:
    """Columns that can be drawn against each other, evenly chosen rows of them."""
    others = [c for c in done.select_dtypes("number").columns if c not in factors]
    names = list(dict.fromkeys([*factors, *responses, *others]))[:MOST_COLUMNS]
    few = done.iloc[:: -(-len(done) // MOST_ROWS)]
    return {
        "keys": few["key"].tolist(),
        "columns": {str(name): _column(few[name]) for name in names},
        "factors": [f for f in factors if f in names],
        "responses": list(responses),
    }


def _column(values: "pd.Series[Any]") -> list[Any]:
    if pd.api.types.is_numeric_dtype(values) and values.dtype != bool:
        return [None if pd.isna(v) else float(f"{v:.{DIGITS}g}") for v in values]
    return [v if isinstance(v, str) else json.dumps(v, default=str) for v in values]
