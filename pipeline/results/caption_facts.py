"""What the template of a caption may name: the runs of a figure and what they found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.captions.template import filled, listed
from analysis.validation.uncertainty import STOP
from pipeline.results.shown import Row
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError

OF_STUDY = "="  # in the label of a row that a study gives: what varies, and its value
SYNTHETIC = "Synthetic data: computed by simulation, not measured"
COMPUTED = "All is computed; nothing is measured."
TIMED = "Times are those of the machine; all else is computed."


def caption_of(
    figure: str, template: str, rows: Sequence[Row], said: Mapping[str, Any]
) -> str:
    """The caption of a figure, as marked text (analysis.captions.markup).

    Parameters
    ----------
    said : what the module of the figure adds to `facts`
    """
    known = facts(rows)
    try:
        text = filled(template, {**known, **said})
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"the caption of {figure} cannot be filled ({error}): give the runs that "
            "conf/workflow.yaml gives the figure"
        ) from error
    return " ".join(filter(None, (text, known["nature"], known["named"])))


def facts(rows: Sequence[Row]) -> dict[str, Any]:
    """What every template may name.

    Returns
    -------
    rows : of each, `label`, `case` (its configuration), `result`, `compared` (its row
        of comparison.csv)
    nature : whether what is shown was measured, with the seeds of what was computed
    named : the runs by name
    """
    told = [_told(row) for row in rows]
    return {"rows": told, "nature": _nature(told), "named": _named(told)}


def _told(row: Row) -> dict[str, Any]:
    record = _record(row.simulated)
    compared: dict[str, Any] = {}
    if row.comparison is not None:
        compared = compared_row(row.comparison)
    config = record.get("config", {})
    return {
        "label": row.label,
        "case": config.get("case", config),
        "result": record.get("result", {}),
        "compared": compared,
        "study": record.get("tags", {}).get("study", ""),
        "measured": record.get("tags", {}).get("measured_set", ""),
        "synthetic": _synthetic(record, compared),
        "seed": _seed(row.ingest),
    }


def compared_row(comparison: Path) -> dict[str, Any]:
    """A row of comparison.csv, and S_simulated_u and E_simulated_u, of the solver.

    What the print and its errors add to them stands in S_u_val and E_u_val.
    """
    table = pd.read_csv(comparison / "comparison.csv").to_dict("records")
    budget = pd.read_csv(comparison / "budget.csv").to_dict("records")
    return {str(k): v for k, v in table[0].items()} | numerical_u(budget)


def numerical_u(budget: Sequence[Mapping[Any, Any]]) -> dict[str, float]:
    """What a simulation that stops early leaves open of its S and of its E."""
    stop = next((line for line in budget if line["source"] == STOP), {})
    return {
        f"{name}_simulated_u": float(stop.get(f"{name}_u", float("nan")))
        for name in ("S", "E")
    }


def _record(directory: Path) -> dict[str, Any]:
    return run_record(directory) if (directory / "run.json").is_file() else {}


def _synthetic(record: Mapping[str, Any], compared: Mapping[str, Any]) -> bool:
    """Whether data that stand beside the simulation were computed."""
    tagged = record.get("tags", {}).get("synthetic") == "true"
    result = record.get("result", {})
    return tagged or bool(result.get("synthetic")) or bool(compared.get("synthetic"))


def _seed(ingest: Path | None) -> int | None:
    """The seed of the virtual scan that an ingest read, where that run is at hand."""
    if ingest is None:
        return None
    scan = _record(ingest).get("needs", {}).get("scan")
    made = _record(ingest.resolve().parent / str(scan))
    return int(made["config"]["seed"]) if made else None


def _nature(told: Sequence[Mapping[str, Any]]) -> str:
    if any(row["synthetic"] for row in told):
        seeds = [row["seed"] for row in told if row["seed"] is not None]
        word = "seed" if len(seeds) == 1 else "seeds"
        return f"{SYNTHETIC}{f' ({word} {listed(seeds)})' if seeds else ''}."
    if any("machine" in row["result"] for row in told):
        return TIMED
    return "" if any(row["measured"] for row in told) else COMPUTED


def _named(told: Sequence[Mapping[str, Any]]) -> str:
    """The runs by their names, those of a study together."""
    own = [f"`{row['label']}`" for row in told if OF_STUDY not in row["label"]]
    of_study = [row["study"] for row in told if OF_STUDY in row["label"]]
    if of_study:
        own.append(f"the {len(of_study)} of the study `{of_study[0]}`")
    return f"Runs: {listed(own)}." if own else ""
