"""What Figs 2 and 5 of [dJ23] share: morph runs read, drawn step by step."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.dejong_steps import (
    FirstStep,
    MorphPath,
    selected_steps,
    steps_of_morphs,
)
from analysis.figures.shapes import Wireframe
from pipeline.cases.structure_file import structure_file
from pipeline.figures.shown import Drawn, Row
from pipeline.files import read_json
from pipeline.simulated_run import read_simulated
from sim.morph.mobility import modes
from sim.morph.projection import admissible, satisfy_constraints
from sim.morph.system import state, system_of


def draw_paths(
    rows: Sequence[Row], *, first_step: bool = False, enlarge: bool = False
) -> Drawn:
    """A row a run, and the table of all their steps.

    Parameters
    ----------
    first_step : show in a row of its own what the first step consists of
    enlarge : let the last step fill its panel
    """
    paths = [read_path(row) for row in rows]
    first = [_first_step(*both) for both in zip(rows, paths, strict=True) if first_step]
    figure = steps_of_morphs(paths, first, enlarge=enlarge)
    return Drawn(figure, {"steps": _table(paths)}, [path.key for path in paths])


def read_path(row: Row) -> MorphPath:
    """The morph behind one row."""
    run = read_simulated(row.simulated)
    with np.load(row.simulated / "steps.npz", allow_pickle=False) as arrays:
        g = arrays["g"]
    kept = read_json(row.simulated / "structure.json")
    return MorphPath(
        row.label,
        run.key,
        run.r,
        g,
        run.bodies,
        Wireframe(run.target_vertices, run.target_edges),
        run.table["E"].to_numpy(np.float64),
        run.table["S"].to_numpy(np.float64),
        tuple((a, b, radius) for a, b, radius in kept.get("capsules", ())),
    )


def _first_step(row: Row, path: MorphPath) -> FirstStep:
    """Eqs. (7), (11) and (12) at the initial configuration."""
    structure = structure_file(str(row.simulated / "structure.json"))
    system, z = system_of(structure), state(structure)
    moved = z + admissible(system, z, path.g[0] - path.r[0])
    back = satisfy_constraints(system, moved, tolerance=1e-10)
    return FirstStep(modes(structure), moved[: system.n], back[: system.n])


def _table(paths: Sequence[MorphPath]) -> pd.DataFrame:
    tables = []
    for path in paths:
        steps = np.arange(len(path.E))
        shown = np.isin(steps, selected_steps(path.S))
        rows = {"case": path.label, "step": steps, "E": path.E, "S": path.S}
        tables.append(pd.DataFrame(rows | {"drawn": shown}))
    return pd.concat(tables, ignore_index=True)
