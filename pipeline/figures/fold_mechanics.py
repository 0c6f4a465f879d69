"""Poisson's ratios, modes, two stable states: three runs."""

from collections.abc import Sequence

from analysis.figures.fold_mechanics import mechanics_of_folds
from pipeline.results.shown import DrawnFigure, Row, runs_shown, table_with
from pipeline.store.runs import run_record

CAPTION = """
**What a designer asks of folds.** **a**, Poisson's ratio of a Miura sheet by the larger
of its folds, of sheets that repeat without end: pulled in its plane (auxetic, so
negative) and bent (positive: to a saddle), beside the closed form of rigid panels; at
the last fold {{ rows[0].result.poisson | sig }} and {{
rows[0].result.bending_poisson | sig }}. **b**, the smallest eigenvalues of the tangent
of a Miura sheet that is held at a panel, as it folds. **c**, energy of a Kresling cell
by its height, its twist free: {{ rows[2].result.stable_states }} stable heights, with a
barrier of {{ rows[2].result.barrier | times(1000) | sig }} mJ one way and {{
rows[2].result.barrier_back | times(1000) | sig }} mJ back.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Three rows: a plate, modes, a cell that snaps."""
    runs = runs_shown(rows, "a plate", "modes", "a cell that snaps")
    names = ("bending_poisson", "eigenvalue_0", "moved")
    plate, modes, cell = (
        table_with(name, row.simulated, "steps.csv")
        for row, name in zip(rows, names, strict=True)
    )
    rests = table_with("stable", rows[2].simulated, "actuation.csv")
    of = run_record(rows[2].simulated)["config"]["case"]["of"]
    height = float(of["pattern"]["height"])
    figure = mechanics_of_folds(plate, modes, (cell, rests, height), runs)
    saved = {"plate": plate, "modes": modes, "cell": cell, "rests": rests}
    return DrawnFigure(figure, saved, [key for _, key in runs])
