"""Where a steered robot goes, beside one that nobody steers."""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from analysis.figures.style import FAINT, FULL_WIDTH, RC, provenance
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
    with mpl.rc_context(RC):
        figure = Figure(figsize=(0.62 * FULL_WIDTH, 2.7))
        ax = figure.add_axes((0.13, 0.2, 0.84, 0.75))
        for i, run in enumerate(runs):
            colour, line, marker = LINES[i % len(LINES)]
            ax.plot(run.time, run.way, line, color=colour, label=run.label)
            at = run.pulses
            ax.plot(
                run.time[at], run.way[at], marker, color=colour, mfc="white", ms=4.0
            )
            if np.isfinite(run.goal):
                ax.axhline(run.goal, color=colour, lw=0.5)
                text = f"goal {run.goal:g} $H$".replace("-", "\u2212")
                ax.annotate(
                    text,
                    (0.0, run.goal),
                    xytext=(2, 3),
                    textcoords="offset points",
                    fontsize=6.0,
                )
        ax.set_xlabel("time (s); marks: a limb is switched on")
        ax.set_ylabel(r"way of the centroid, $(x_c - x_c(0)) / H$")
        ax.legend(loc="center right")
        foot = provenance([(run.label, run.key) for run in runs], synthetic=False)
        figure.text(0.5, 0.01, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure
