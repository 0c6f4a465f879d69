"""Thick panels that clear each other and the layers of a map: four runs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.figures.thick_layers import Clearance, thick_and_layered
from pipeline.results.shown import DrawnFigure, Row, runs_shown, table_with
from pipeline.store.runs import run_record
from sim.arrays import Floats, Ints

CAPTION = """
**Thick panels, and the layers of what is folded flat.** **a**, a Miura sheet of panels
with volume, folded as far as they clear each other: hinges shifted off the middle plane
stay together within {{ rows[2].result.opening | sig(1) }} m. **b**, the least
distance of any two panels by the largest fold, below zero where they run into each
other: two panels on a hinge on their inner faces, clear to {{
rows[0].result.clear_to_deg | sig(3) }} degrees; two on a hinge between their faces and
cut back from it, clear to {{ rows[1].result.clear_to_deg | sig(2) }} degrees at least;
by the closed form the edges of their faces meet at {{ stop | sig(3) }} (circle); and
the Miura sheet, cut back too, clear to {{ rows[2].result.clear_to_deg | sig(3) }}
degrees at least, its last increment above zero. **c**, a map of two
by three squares folded flat: one of the {{ rows[3].result.orders }} orders in which its
panels can lie, layers drawn apart; numbers: the squares, row by row.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Four rows: two panels by either hinge, a thick Miura sheet, layers of a map."""
    hinged = "two panels on a hinge on their faces", "two on one between"
    runs = runs_shown(rows, *hinged, "a thick Miura sheet", "layers of a map")
    folders = [row.simulated for row in rows]
    tables = [table_with("clearance", folder, "steps.csv") for folder in folders[:3]]
    clear = [
        Clearance(row.label, table["largest_fold_deg"].to_numpy(),
                  table["clearance"].to_numpy())
        for row, table in zip(rows, tables, strict=False)
    ]  # fmt: skip
    stop = _stop(folders[1])
    last = int(np.flatnonzero(clear[2].apart >= 0.0)[-1])
    folded, layers = _state(folders[2], last), _state(folders[3], -1)
    figure = thick_and_layered(folded, clear, stop, layers, runs)
    saved = dict(zip(("faces", "between", "miura"), tables, strict=True))
    return DrawnFigure(figure, saved, [key for _, key in runs], said={"stop": stop})


def _stop(folder: Path) -> float:
    """Degrees at which edges of faces cut back from a hinge between them meet."""
    case = run_record(folder)["config"]["case"]
    half = 0.5 * case["thickness"]
    return float(180.0 - 2.0 * np.degrees(np.arctan2(half, case.get("cut", 0.0))))


def _state(folder: Path, step: int) -> tuple[Floats, Ints]:
    """(n, 3) and (t, 3) of a step of a run."""
    with np.load(folder / "steps.npz", allow_pickle=False) as arrays:
        return arrays["x"][step], arrays["triangles"]
