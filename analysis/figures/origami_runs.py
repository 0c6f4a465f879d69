"""Runs of origami as figures read them, and pictures of their states."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.sheets import FoldedSheet, draw_sheet, frame_sheets
from analysis.figures.style import provenance
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


def say_runs(figure: Figure, runs: Sequence[OrigamiRun]) -> None:
    """The keys of the runs at the foot of a figure."""
    text = provenance([(run.label, run.key) for run in runs], synthetic=False)
    figure.text(0.01, 0.01, text, fontsize=5.0, color="#5A5A5A")


def put_letter(ax: Axes | Axes3D, letter: str) -> None:
    """The letter by which the paper names a panel."""
    write, x, y = ax.text, -0.18, 1.04
    if isinstance(ax, Axes3D):
        write, x, y = ax.text2D, 0.0, 0.96
    write(x, y, letter, transform=ax.transAxes, fontweight="bold", fontsize=8.5)


def picture(
    figure: Figure,
    place: tuple[float, float, float, float],
    run: OrigamiRun,
    step: int,
    *,
    view: tuple[float, float] = (28.0, -60.0),
    arrow: float = 0.0,
    title: str = "",
) -> Axes3D:
    """One state in its own axes."""
    ax = figure.add_axes(place, projection="3d", computed_zorder=True)
    assert isinstance(ax, Axes3D)
    draw_sheet(ax, run.sheet(step, forces=arrow > 0), view=view, arrow=arrow)
    frame_sheets(ax, run.x[[step]], elevation=view[0], azimuth=view[1])
    if title:
        ax.set_title(title, pad=-4)
    return ax
