"""Runs of origami as figures read them, and pictures of their states."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.scene import PaintedScene, View
from analysis.figures.sheets import FoldedSheet, show_sheet
from analysis.figures.style import say_below
from sim.arrays import Floats, Ints

SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000"]


@dataclass(frozen=True, eq=False)
class OrigamiRun:
    """A finished run as figures read it.

    Parameters
    ----------
    label, key : what it is called, and the key of its run
    x : (steps, n, 3) m
    force, support_force : (steps, n, 3) of contact and of the supports, N
    triangles, triangle_panel : (t, 3), (t,)
    panels : how many panels there are
    table : steps.csv
    """

    label: str
    key: str
    x: Floats
    force: Floats
    support_force: Floats
    triangles: Ints
    triangle_panel: Ints
    panels: int
    table: pd.DataFrame

    def sheet(self, step: int, *, forces: bool = False) -> FoldedSheet:
        """The state after `step`."""
        return FoldedSheet(
            self.x[step],
            self.triangles,
            self.triangle_panel,
            self.panels,
            self.force[step] if forces else None,
        )

    def phase(self, number: int) -> pd.DataFrame:
        """Rows of one phase; the first is the state in which it began."""
        rows = self.table[self.table["phase"] == number]
        return rows[rows["increment"] > 0]


def say_runs(figure: Figure, runs: Sequence[OrigamiRun], *notes: str) -> None:
    """The keys of the runs below a figure."""
    say_below(figure, [(run.label, run.key) for run in runs], *notes)


def picture(
    ax: Axes,
    run: OrigamiRun,
    step: int,
    *,
    view: View = (28.0, -60.0),
    arrow: float = 0.0,
    room: Floats | None = None,
) -> PaintedScene:
    """One state in its own panel."""
    state = run.sheet(step, forces=arrow > 0)
    return show_sheet(ax, state, view=view, arrow=arrow, room=room)
