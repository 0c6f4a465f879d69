"""Drivers of a linkage, the barrier of a truss, creases of a sheet that go together."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.actuation import Folds, Snap, Turn, drivers_and_barriers
from pipeline.results.shown import DrawnFigure, Row, runs_shown, table_with
from pipeline.store.files import read_json

CAPTION = """
**Where to drive, and what it takes.** **a**, condition (largest over smallest singular
value, without unit) of the map from one driven joint of a four-bar linkage to its
motions, by the angle of the crank (degrees), a line a joint: a driver is useless where
it is large, and infinite at its dead centres: between the {{ rows[0].result.steps }}
samples its reciprocal is a straight line through zero. **b**, energy of a truss of two
bars by the way of its driven node: rests without the driver (circles: stable; triangle:
on the barrier of {{ rows[1].result.barrier | sig }}), in the case's units. **c**, a
folded sheet, each crease coloured by how far it turns with the driver (orange) `{{
rows[2].result.drivers }}`.
"""

JOINTS = ("A (crank)", "B", "C", "D (rocker)")


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Three rows: a linkage's turn, a truss that snaps, a sheet that folds."""
    what = "a four-bar", "a truss that snaps", "a folded sheet"
    runs = runs_shown(rows, *what)
    linkage, truss, sheet = (row.simulated for row in rows)
    turn, table = _turn(linkage)
    steps = table_with("energy", truss, "steps.csv")
    rests = table_with("stable", truss, "actuation.csv")
    snap = Snap(steps["moved"].to_numpy(), steps["energy"].to_numpy(), rests)
    folds, creases = _folds(sheet)
    figure = drivers_and_barriers(turn, snap, folds, runs)
    tables = {"joints": table, "energy": steps, "rests": rests, "creases": creases}
    return DrawnFigure(figure, tables, [key for _, key in runs])


def _turn(directory: Path) -> tuple[Turn, pd.DataFrame]:
    table = table_with("condition_3", directory, "steps.csv")
    conditions = table[[f"condition_{i}" for i in range(4)]].to_numpy(np.float64)
    return Turn(table["along"].to_numpy(np.float64), conditions, JOINTS), table


def _folds(directory: Path) -> tuple[Folds, pd.DataFrame]:
    creases = table_with("gain", directory, "actuation.csv")
    names = creases["coordinate"].str.extract(r"\((\d+), (\d+)\)").to_numpy(np.int64)
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        r = arrays["r"][-1]
    panels = read_json(directory / "pattern.fold")["faces_vertices"]
    chosen = np.flatnonzero(creases["chosen"].to_numpy() == 1)
    folds = Folds(
        r, names, tuple(map(tuple, panels)), creases["gain"].to_numpy(), chosen
    )
    return folds, creases
