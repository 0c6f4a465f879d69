"""What changes of link lengths bring: E at the targets by the limit of a change."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.figures.huang_2020 import MARKS, SERIES
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import Runs, number, put_letter, say_below, size, styled

LEAST = 1e-5  # E that is drawn; less has an arrow


def design_limits(table: pd.DataFrame, runs: Runs) -> Figure:
    """E of the first target, and the groups of links at their limit.

    Parameters
    ----------
    table : radius of the circle, limit, E_first before, E after, at_limit, groups
    """
    with styled():
        figure, ((left, right),) = sheet(PanelGrid(2, 85.0, 62.0, (1.2, 1.0)))
        for k, (radius, rows) in enumerate(table.groupby("radius", sort=True)):
            rows = rows.sort_values("limit")
            x = np.append(0.0, 100.0 * rows["limit"].to_numpy(np.float64))
            E = np.append(rows["E_first"].iloc[0], rows["E"].to_numpy(np.float64))
            look: dict[str, Any] = {
                "color": SERIES[k % 6],
                "marker": MARKS[k % 6],
                "ms": size(3.5),
            }
            drawn = E >= LEAST
            left.semilogy(x[drawn], E[drawn], label=f"{radius:g}", **look)
            for at in x[~drawn]:
                arrow = {"arrowstyle": "->", "color": look["color"], "lw": size(0.8)}
                left.annotate(
                    "", (at, LEAST / 2.0), (at, 2.0 * LEAST), arrowprops=arrow
                )
            # lengths at their limit are whole numbers: curves that agree lie aside
            beside = 0.06 * (k - 1.5)
            right.plot(x[1:], rows["at_limit"].to_numpy(np.float64) + beside,
                       label=f"{radius:g}", **look)  # fmt: skip
        left.set_ylim(bottom=LEAST / 2.0)
        left.set_ylabel(r"distance error $\mathcal{E}$ of the circle (-)")
        left.text(0.98, 0.97, rf"arrow: $\mathcal{{E}}$ < {number(LEAST, 1)}",
                  transform=left.transAxes, ha="right", va="top")  # fmt: skip
        groups = int(table["groups"].max())
        right.set_ylabel(f"lengths at their limit, of {groups} (-)")
        right.set_ylim(bottom=-0.5)
        right.yaxis.set_major_locator(MaxNLocator(integer=True))
        for ax, letter in ((left, "a"), (right, "b")):
            ax.set_xlabel("limit of a change of length (%)")
            put_letter(ax, letter)
        left.legend(title="radius of the circle (unit)", loc="lower left")
        say_below(figure, runs)
        return figure
