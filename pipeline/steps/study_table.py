"""A study as tables, a row a run, and its main effects as plots."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.figures.studies import main_effects
from pipeline.steps.figure import save
from pipeline.store.files import replacing, write_text
from pipeline.store.provenance.sidecar import Origin, write_sidecars
from pipeline.store.runs import RESULTS, Ledger, run_record
from pipeline.studies.members import read_members, study_directory
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


def _write_table(table: pd.DataFrame, directory: Path) -> None:
    write_text(directory / "table.csv", table.to_csv(index=False, lineterminator="\n"))
    with replacing(directory / "table.parquet") as temporary:
        table.to_parquet(temporary, index=False)


def write_study(name: str, results: Path = RESULTS) -> pd.DataFrame:
    """Write tables and plots of a study; return the table."""
    wanted = read_members(name, results)
    table, costs = study_rows(wanted, results)
    directory = study_directory(name, results)
    _write_table(table, directory)
    write_text(directory / "costs.csv", costs.to_csv(index=False, lineterminator="\n"))
    origin = Origin(tuple(m["key"] for m in wanted["members"]), study=name)
    factors = list(dict.fromkeys(k for m in wanted["members"] for k in m["point"]))
    responses = [r for r in wanted["response"] if r in table]
    if responses:
        figure = main_effects(table, factors, responses, title=f"study {name}")
        save(figure, directory / "effects", origin)
    names = ("table.csv", "table.parquet", "costs.csv", "effects.pdf", "effects.png")
    files = [directory / name for name in names]
    write_sidecars([file for file in files if file.is_file()], origin)
    return table
