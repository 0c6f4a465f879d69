"""Where the paths of a structure meet, and where each of them leads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.scene import PaintedScene, View
from analysis.figures.shapes import draw_mechanism, scene_of, view_of
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

SHOWN = 2  # branches with a panel of their own
SHAPES = 4  # configurations drawn each way
DASHES = ("-", "--", ":", "-.")
COLOURS = (style.SIMULATED, style.SCANNED, style.ERROR, style.TARGET)  # of branches
ONE_WAY, OTHER_WAY = "#009E73", "#CC79A7"  # along one of them


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
    def view(self) -> View:
        """From where all panels are seen."""
        return view_of(self.r)


def branches_of_runs(runs: Sequence[Branching]) -> Figure:
    """A row a run: where branches meet, two of them, and all in two coordinates."""
    with style.styled():
        figure, rows = sheet(*[PanelGrid(SHOWN + 2, 42.0, 40.0)] * len(runs), more=8.0)
        for letter, run, panels in zip("abcdefgh", runs, rows, strict=False):
            _draw_row(panels, letter, run)
        _legend(figure)
        style.say_below(figure, [(run.label, run.key) for run in runs])
    return figure


def _legend(figure: Figure) -> None:
    lines = [
        Line2D(
            [], [], color=COLOURS[k], ls=DASHES[k], label=f"branch {k + 1}: direction"
        )
        for k in range(SHOWN)
    ]
    ways = [
        ("where branches meet", style.ERROR),
        ("one way", ONE_WAY),
        ("other way", OTHER_WAY),
    ]
    lines += [Line2D([], [], color=c, marker="o", ms=2.5, mfc="white", label=name)
              for name, c in ways]  # fmt: skip
    style.legend_below(figure, lines)


def _draw_row(panels: Sequence[Axes], letter: str, run: Branching) -> None:
    everything = run.r.reshape(-1, 3)
    scene = scene_of(everything, run.view)
    draw_mechanism(scene, run.r[0], run.bodies, colour=style.ERROR)
    _draw_tangents(scene, run)
    scene.paint(panels[0], everything)
    style.put_letter(panels[0], letter, f"{run.label}: {run.said}")
    style.scale_bar(panels[0], style.round_length(scene.span), style.UNIT)
    for ax in panels[1 : SHOWN + 1]:
        ax.set_axis_off()
    for branch in range(min(SHOWN, len(run.directions))):
        _draw_branch(panels[1 + branch], run, branch, everything)
    _draw_map(panels[SHOWN + 1], run)


def _draw_branch(ax: Axes, run: Branching, branch: int, everything: Floats) -> None:
    scene = scene_of(everything, run.view)
    draw_mechanism(scene, run.r[0], run.bodies, colour=style.ERROR, alpha=0.35)
    for way, colour in ((1, ONE_WAY), (-1, OTHER_WAY)):
        path = run.along(branch, way)
        chosen = np.linspace(0, len(path) - 1, SHAPES).round().astype(int)[1:]
        for i, pale in zip(chosen, (0.3, 0.5, 1.0), strict=True):
            look = {"colour": colour, "alpha": pale, "lift": 0.1 * pale}
            draw_mechanism(scene, path[i], run.bodies, **look)
    scene.paint(ax, everything)
    ax.set_title(f"branch {branch + 1}, both ways")


def _draw_tangents(scene: PaintedScene, run: Branching) -> None:
    """The directions in which branches leave."""
    size = 0.22 * float(np.ptp(run.r[0]))
    for k, direction in enumerate(run.directions[:SHOWN]):
        arrow = size * direction / max(float(np.abs(direction).max()), 1e-300)
        moving = np.linalg.norm(arrow, axis=1) > 1e-3 * size
        scene.arrows(run.r[0][moving], arrow[moving], COLOURS[k], 0.9)


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
    ax.plot(0.0, 0.0, "o", color=style.ERROR, markersize=3.5)
    ax.set_xlabel(f"first coordinate, rms ({style.UNIT})")
    ax.set_ylabel(f"second, rms ({style.UNIT})")
    ax.margins(0.12)
