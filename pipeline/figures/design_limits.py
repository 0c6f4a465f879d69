"""How far link lengths must change until a sheet fits a circle beyond its reach."""

from collections.abc import Sequence

import pandas as pd

from analysis.figures.design_limits import design_limits
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.store.runs import run_record


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a limit and a radius: the study design_limits."""
    table = pd.DataFrame([_found(row) for row in rows])
    table = table.sort_values(["radius", "limit"], ignore_index=True)
    keys = [key_of_run(row.simulated) for row in rows]
    foot = f"Runs: {len(keys)}, their keys are in the .trace.json file"
    return DrawnFigure(design_limits(table, foot), {"limits": table}, keys)


def _found(row: Row) -> dict[str, float]:
    """What one run was asked for and found."""
    record = run_record(row.simulated)
    case, result = record["config"]["case"], record["result"]
    first = pd.read_csv(row.simulated / "steps.csv").iloc[0]
    return {
        "radius": float(case["targets"][0]["radius"]),
        "limit": float(case["limit"]),
        "E_first": float(first["E_0"]),
        "E": float(result["E_0"]),
        "E_sphere": float(result["E_1"]),
        "at_limit": float(result["at_limit"]),
        "groups": float(result["groups"]),
    }
