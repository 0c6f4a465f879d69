"""Where a steered robot goes, beside one that nobody steers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

LINES = (("#0072B2", "-", "o"), ("#E69F00", "--", "s"), ("#000000", ":", "^"))


@dataclass(frozen=True, eq=False)
class SteeredRun:
    """A run of a robot.

    Parameters
    ----------
    time, way : (s,) s, H
    switched_on : (s,) number of the limb that was switched on last, 0 before
    goal : H; nan where the robot has none
    """

    label: str
    key: str
    time: Floats
    way: Floats
    switched_on: Ints
    goal: float

    @property
    def pulses(self) -> Ints:
        """Records in which another limb has been switched on."""
        found: Ints = np.flatnonzero(np.diff(self.switched_on, prepend=0) != 0)
        return found


def ways_to_goals(runs: Sequence[SteeredRun]) -> Figure:
    """The centroid over time, pulses as marks, goals as lines."""
    with style.styled():
        figure, ((ax,),) = sheet(PanelGrid(1, 89.0, 66.0), more=5.0)
        for i, run in enumerate(runs):
            colour, line, marker = LINES[i % len(LINES)]
            ax.plot(
                run.time, run.way, line, color=colour, label=run.label, marker=marker,
                markevery=run.pulses.tolist(), mfc="white", ms=style.size(4.0),
            )  # fmt: skip
            if np.isfinite(run.goal):
                ax.axhline(run.goal, color=colour, lw=0.5)
                text = f"goal {run.goal:g} $H$".replace("-", "\u2212")
                style.put_beside(ax, text, (0.0, run.goal), (2, 3))
        ax.set_xlabel("time $t$ (s)")
        ax.set_ylabel(r"way $(x_c - x_c(0)) / H$ (-)")
        nothing = Line2D([], [], ls="")
        marks = [*ax.get_legend_handles_labels()[0], nothing]
        names = [*(run.label for run in runs), "marks: a limb is switched on"]
        style.legend_below(figure, marks, names)
        style.say_below(figure, [(r.label, r.key) for r in runs])
    return figure
