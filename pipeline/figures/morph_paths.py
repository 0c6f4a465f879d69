"""What Figs 2 and 5 of [dJ23] share: morph runs read, drawn step by step."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.dejong_steps import (
    FirstStep,
    MorphHistory,
    selected_steps,
    steps_of_morphs,
)
from analysis.figures.shapes import LineDrawing
from pipeline.formats.structure_file import structure_file
from pipeline.results.shown import DrawnFigure, Row
from pipeline.results.simulated_run import read_simulated
from sim.morph.equations.projection import admissible, satisfy_constraints
from sim.morph.equations.system import state, system_of
from sim.morph.mobility.mobility import modes


def draw_paths(rows: Sequence[Row], *, first_step: bool = False) -> DrawnFigure:
    """A row a run, and the table of all their steps.

    Parameters
    ----------
    first_step : show in a row of its own what the first step consists of
    """
    paths = [read_path(row) for row in rows]
    first = [_first_step(*both) for both in zip(rows, paths, strict=True) if first_step]
    figure = steps_of_morphs(paths, first)
    return DrawnFigure(
        figure, {"steps": _table(paths)}, [history.key for history in paths]
    )


def read_path(row: Row) -> MorphHistory:
    """The morph behind one row."""
    run = read_simulated(row.simulated)
    with np.load(row.simulated / "steps.npz", allow_pickle=False) as arrays:
        g = arrays["g"]
    return MorphHistory(
        row.label,
        run.key,
        run.r,
        g,
        run.bodies,
        LineDrawing(run.target_vertices, run.target_edges),
        run.table["E"].to_numpy(np.float64),
        run.table["S"].to_numpy(np.float64),
    )


def _first_step(row: Row, history: MorphHistory) -> FirstStep:
    """Eqs. (7), (11) and (12) at the initial configuration."""
    structure = structure_file(str(row.simulated / "structure.json"))
    system, z = system_of(structure), state(structure)
    moved = z + admissible(system, z, history.g[0] - history.r[0])
    back = satisfy_constraints(system, moved, tolerance=1e-10)
    return FirstStep(modes(structure), moved[: system.n], back[: system.n])


def _table(paths: Sequence[MorphHistory]) -> pd.DataFrame:
    tables = []
    for history in paths:
        steps = np.arange(len(history.E))
        shown = np.isin(steps, selected_steps(history.S))
        rows = {"case": history.label, "step": steps, "E": history.E, "S": history.S}
        tables.append(pd.DataFrame(rows | {"drawn": shown}))
    return pd.concat(tables, ignore_index=True)
