"""The runs of a study as a table, a row a run."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from pipeline.store.runs import RESULTS, Ledger, run_record
from pipeline.studies.file import RESPONSE, STUDIES
from pipeline.terminal.errors import InputError

COSTS = ("key", "host", "wall_s", "cpu_s")
MOST_REASONS = 3  # told of why runs failed


def _record(key: str, ledger: Ledger) -> dict[str, Any]:
    """What is known of a run: its record, or that there is none."""
    directory = ledger.directory(key)
    if directory is None:
        return {"status": "missing"}
    try:
        return run_record(directory)
    except InputError as error:
        return {"status": "unreadable", "reason": str(error)}


def study_rows(
    wanted: Mapping[str, Any], results: Path = RESULTS
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Table and costs of a study, a row a run in the order of its points."""
    rows, costs = [], []
    ledger = Ledger(results)
    for member in wanted["members"]:
        record = _record(member["key"], ledger)
        row = {"key": member["key"], "status": record["status"]}
        row["reason"] = record.get("reason", "")
        rows.append(row | member["point"] | (record.get("result") or {}))
        costs.append({k: record.get(k, "") for k in COSTS} | {"key": member["key"]})
    return pd.DataFrame(rows), pd.DataFrame(costs)


def responses(wanted: Mapping[str, Any], table: pd.DataFrame) -> list[str]:
    """What the plots show: of the results asked for, the numbers that runs have."""
    found = _numbers(table)
    return [r for r in dict.fromkeys(wanted["response"]) if r in found]


def _numbers(table: pd.DataFrame) -> list[str]:
    """Columns in which finished runs have numbers, or true and false."""
    done = table[table["status"] == "finished"]
    return [str(c) for c in done if is_numeric_dtype(done[c].dropna().infer_objects())]


def shortfalls(wanted: Mapping[str, Any], table: pd.DataFrame) -> Iterator[str]:
    """What a study has not of what was asked of it: runs that failed, and numbers."""
    reasons = table.loc[table["status"] == "failed", "reason"].value_counts()
    for reason, count in reasons[:MOST_REASONS].items():
        yield f"{count} of {len(table)} runs failed: {reason}"
    if len(reasons) > MOST_REASONS:
        yield f"{len(reasons) - MOST_REASONS} reasons more are in table.csv"
    absent = dict.fromkeys(wanted["response"]).keys() - responses(wanted, table)
    finished = (table["status"] == "finished").any()
    if finished and absent and tuple(wanted["response"]) != RESPONSE:
        varied = {name for member in wanted["members"] for name in member["point"]}
        known = ", ".join(c for c in _numbers(table) if c not in varied)
        yield (
            f"{STUDIES / wanted['study']}.yaml: no run found a number "
            f"{', '.join(sorted(absent))}, which response names: "
            + (f"take one of {known}" if known else "its runs find none")
        )
