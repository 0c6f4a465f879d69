"""Poisson's ratios, modes, energies by folds, two stable states: six runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.fold_mechanics import Landscape, mechanics_of_folds
from pipeline.results.shown import DrawnFigure, Row, runs_shown, table_with
from pipeline.store.runs import run_record

CAPTION = """
**What a designer asks of folds.** **a**, Poisson's ratio of a Miura sheet by the larger
of its folds, of sheets that repeat without end: pulled in its plane (auxetic, so
negative) and bent (positive: to a saddle), beside the closed form of rigid panels; at
the last fold {{ rows[0].result.poisson | sig }} and {{
rows[0].result.bending_poisson | sig }}. **b**, the smallest eigenvalues of the tangent
of a Miura sheet that is held at a panel, as it folds. **c**, energy of a vertex of four
creases by two neighbouring folds, least
over all else, colours from {{ least | sig(1) }} of its largest; rigid panels fold along
the two lines. **d**, energy of a Kresling cell by its height, its twist free: {{
rows[3].result.stable_states }} stable heights, with a barrier of {{
rows[3].result.barrier | times(1000) | sig }} mJ one way and {{
rows[3].result.barrier_back | times(1000) | sig }} mJ back. **e**, energy of two square
twists by the fold of the sides of their square: the signs of one ({{
rows[4].label }}) change four times on the way around, which no rigid panels fold, and
it has two stable states; those of the other ({{ rows[5].label }}) change twice.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Six rows: a plate, modes, a vertex, a cell that snaps, two twists."""
    what = "a plate", "modes", "a vertex", "a cell that snaps", "a square twist"
    runs = runs_shown(rows, *what, "another of rigid panels")
    names = ("bending_poisson", "eigenvalue_0", "fold_1_deg", "moved", "fold_0_deg",
             "fold_0_deg")  # fmt: skip
    tables = [
        table_with(name, row.simulated, "steps.csv")
        for row, name in zip(rows, names, strict=True)
    ]
    rests = table_with("stable", rows[3].simulated, "actuation.csv")
    cell = tables[3], rests, float(_pattern(rows[3].simulated)["height"])
    twists = {row.label: _least(table, 1) for row, table in
              zip(rows[4:], tables[4:], strict=True)}  # fmt: skip
    shown = _landscape(tables[2], _pattern(rows[2].simulated)["sectors"])
    figure = mechanics_of_folds(tables[0], tables[1], shown, cell, twists, runs)
    saved = dict(
        zip(("plate", "modes", "vertex", "cell", "twist", "rigid-twist"), tables,
            strict=True)
    )  # fmt: skip
    return DrawnFigure(
        figure, saved | {"rests": rests}, [key for _, key in runs], said={"least": 1e-4}
    )


def _pattern(directory: Path) -> dict[str, Any]:
    """What the pattern of a run was made from."""
    return dict(run_record(directory)["config"]["case"]["of"]["pattern"])


def _least(table: pd.DataFrame, axes: int) -> pd.DataFrame:
    """A row a point of the grid, the last that was found, in the order of the folds."""
    asked = [f"asked_{k}_deg" for k in range(axes)]
    return table.drop_duplicates(asked, keep="last").sort_values(asked)


def _landscape(table: pd.DataFrame, sectors: Sequence[float]) -> Landscape:
    grid = _least(table, 2).pivot_table(
        index="asked_1_deg", columns="asked_0_deg", values="energy"
    )
    A, B = np.radians(sectors[:2])
    free = (
        float(-np.cos((A + B) / 2) / np.cos((A - B) / 2)),
        float(np.sin((A + B) / 2) / np.sin((A - B) / 2)),
    )
    return Landscape(
        grid.columns.to_numpy(), grid.index.to_numpy(), grid.to_numpy(), free
    )
