"""How far link lengths must change until a sheet fits a circle beyond its reach."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis.figures.design_limits import design_limits
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.store.runs import run_record

CAPTION = r"""
**How far link lengths must change until a sheet fits a circle beyond its reach.** {{
rows | length }} searches, a mark each: **a**, distance error $\mathcal{E}$ of the
circle, eq. (5) of [dJ23], without unit, with the lengths found (at 0 % with those of
before), **b**, how many of the {{ groups }} groups of links end at the limit of their
change; a series a radius of the circle, in units of a link. An arrow stands for a value
below $10^{-5}$; in **b** equal numbers are drawn a little apart.
{% for radius, limit in enough -%}
Radius {{ radius | sig(2) }} is met ($\mathcal{E} < 10^{-3}$) from {{ limit | times(100)
| sig(2) }} % on.
{% endfor -%}
{% if beyond %}No change within {{ most | times(100) | sig(2) }} % meets radius {{
beyond | listed }}.{% endif %}
"""


MET = 1e-3  # E of a target that is met


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a limit and a radius: the study design_limits."""
    table = pd.DataFrame([_found(row) for row in rows])
    table = table.sort_values(["radius", "limit"], ignore_index=True)
    keys = [key_of_run(row.simulated) for row in rows]
    named = [(row.label, key) for row, key in zip(rows, keys, strict=True)]
    figure, said = design_limits(table, named), _said(table)
    return DrawnFigure(figure, {"limits": table}, keys, said=said)


def _said(table: pd.DataFrame) -> dict[str, Any]:
    """From which limit on each radius is met, and which is not met at all."""
    met = table[table["E"] < MET].groupby("radius")["limit"].min()
    return {
        "groups": int(table["groups"].max()),
        "enough": list(met.items()),
        "beyond": [f"{r:g}" for r in table["radius"].unique() if r not in met.index],
        "most": table["limit"].max(),
        "met": MET,
    }


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
