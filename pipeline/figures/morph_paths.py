"""What Figs 2 and 5 of [dJ23] share: morph runs read, drawn step by step."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.dejong_steps import MorphPath, selected_steps, steps_of_morphs
from analysis.figures.shapes import Wireframe
from pipeline.figures.shown import Drawn, Row
from pipeline.simulated_run import read_simulated


def draw_paths(rows: Sequence[Row], *, from_above: bool = False) -> Drawn:
    """A row a run, and the table of all their steps."""
    paths = [read_path(row) for row in rows]
    figure = steps_of_morphs(paths, from_above=from_above)
    return Drawn(figure, {"steps": _table(paths)}, [path.key for path in paths])


def read_path(row: Row) -> MorphPath:
    """The morph behind one row."""
    run = read_simulated(row.simulated)
    with np.load(row.simulated / "steps.npz", allow_pickle=False) as arrays:
        g = arrays["g"]
    return MorphPath(
        row.label,
        run.key,
        run.r,
        g,
        run.bodies,
        Wireframe(run.target_vertices, run.target_edges),
        run.table["E"].to_numpy(np.float64),
        run.table["S"].to_numpy(np.float64),
    )


def _table(paths: Sequence[MorphPath]) -> pd.DataFrame:
    tables = []
    for path in paths:
        steps = np.arange(len(path.E))
        shown = np.isin(steps, selected_steps(path.S))
        rows = {"case": path.label, "step": steps, "E": path.E, "S": path.S}
        tables.append(pd.DataFrame(rows | {"drawn": shown}))
    return pd.concat(tables, ignore_index=True)
