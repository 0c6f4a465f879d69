"""Where the paths of a structure meet, and where each of them leads."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.shapes import draw_mechanism, frame, view_of
from analysis.figures.style import (
    ERROR,
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED,
    SIMULATED,
    TARGET,
    provenance,
)
from sim.arrays import Floats, Ints

SHOWN = 2  # branches with a panel of their own
SHAPES = 4  # configurations drawn each way
DASHES = ("-", "--", ":", "-.")
COLOURS = (SIMULATED, SCANNED, ERROR, TARGET)
ROW_HEIGHT = 2.0  # inches


@dataclass(frozen=True, eq=False)
class Branching:
    """The branches of one run.

    Attributes
    ----------
    r : (steps, n, 3); the first is where they meet
    branch, way : (steps,) of each; -1 and 0 where they meet
    directions : (b, n, 3) tangents of the branches there
    said : what the configuration is
    """

    label: str
    key: str
    r: Floats
    branch: Ints
    way: Ints
    directions: Floats
    bodies: tuple[tuple[int, ...], ...]
    said: str

    def along(self, branch: int, way: int) -> Floats:
        """(steps, n, 3) from where branches meet on."""
        own = (self.branch == branch) & (self.way == way)
        path: Floats = np.concatenate([self.r[:1], self.r[own]])
        return path

    @property
    def view(self) -> tuple[float, float]:
        """From where all panels are seen."""
        return view_of(self.r)


def branches_of_runs(runs: Sequence[Branching]) -> Figure:
    """A row a run: where branches meet, two of them, and all in two coordinates."""
    with mpl.rc_context(RC):
        height = ROW_HEIGHT * len(runs) + 0.45
        figure = Figure(figsize=(FULL_WIDTH, height))
        for row, run in enumerate(runs):
            _draw_row(figure, row, len(runs), run)
        foot = provenance([(run.label, run.key) for run in runs], synthetic=False)
        figure.text(0.5, 0.06 / height, foot, ha="center", fontsize=5.0, color=FAINT)
        figure.subplots_adjust(0.0, 0.6 / height, 0.985, 1.0 - 0.3 / height, 0.0, 0.5)
    return figure


def _draw_row(figure: Figure, row: int, rows: int, run: Branching) -> None:
    columns, everything = SHOWN + 2, run.r.reshape(-1, 3)
    grid = GridSpec(rows, columns + 1, width_ratios=[*[1.0] * (columns - 1), 0.3, 0.8])
    meet = figure.add_subplot(grid[row, 0], projection="3d")
    draw_mechanism(meet, run.r[0], run.bodies, colour=ERROR)
    _draw_tangents(meet, run)
    frame(meet, everything, run.view)
    meet.set_title(
        f"{'abcdefgh'[row]}  {run.label}: {run.said}", fontsize=7, loc="left"
    )
    for branch in range(min(SHOWN, len(run.directions))):
        ax = figure.add_subplot(grid[row, 1 + branch], projection="3d")
        for way, colour in ((1, SIMULATED), (-1, SCANNED)):
            path = run.along(branch, way)
            chosen = np.linspace(0, len(path) - 1, SHAPES).round().astype(int)[1:]
            for fading, i in enumerate(chosen[::-1]):
                alpha = 1.0 / (1.0 + 1.5 * fading)
                draw_mechanism(ax, path[i], run.bodies, colour=colour, alpha=alpha)
        draw_mechanism(ax, run.r[0], run.bodies, colour=ERROR, alpha=0.35)
        frame(ax, everything, run.view)
        ax.set_title(f"branch {branch + 1}, both ways", fontsize=7, y=-0.06)
    _draw_map(figure.add_subplot(grid[row, columns]), run)


def _draw_tangents(ax: Axes3D, run: Branching) -> None:
    """The directions in which branches leave."""
    size = 0.22 * float(np.ptp(run.r[0]))
    for k, direction in enumerate(run.directions[:SHOWN]):
        arrow = size * direction / max(float(np.abs(direction).max()), 1e-300)
        moving = np.linalg.norm(arrow, axis=1) > 1e-3 * size
        ax.quiver(
            *run.r[0][moving].T,
            *arrow[moving].T,
            color=COLOURS[k],
            linestyle=DASHES[k],
            linewidth=0.9,
        )


def _draw_map(ax: Axes, run: Branching) -> None:
    """All branches in the two directions in which the nodes spread most."""
    away = (run.r - run.r[0]).reshape(len(run.r), -1)
    spread = np.linalg.svd(away, full_matrices=False)[2][:2]
    n = run.r.shape[1]
    for k in range(len(run.directions)):
        ways = [
            (run.along(k, way) - run.r[0]).reshape(-1, 3 * n) @ spread.T / np.sqrt(n)
            for way in (-1, 1)
        ]
        line = np.concatenate([ways[0][::-1], ways[1][1:]])
        ax.plot(
            *line.T,
            label=f"branch {k + 1}",
            color=COLOURS[k % 4],
            linestyle=DASHES[k % 4],
        )
    ax.plot(0.0, 0.0, "o", color=ERROR, markersize=3.5)
    ax.set_xlabel("first coordinate, rms")
    ax.set_ylabel("second, rms")
    ax.margins(0.12)
    if len(run.directions) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=2)
