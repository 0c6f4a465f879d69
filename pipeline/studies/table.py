"""The runs of a study as a table, a row a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.store.runs import RESULTS, Ledger, run_record
from pipeline.terminal.errors import InputError

COSTS = ("key", "host", "wall_s", "cpu_s")


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
