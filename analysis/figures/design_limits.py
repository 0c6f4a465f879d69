"""What changes of link lengths bring: E at the targets by the limit of a change."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.figures.huang_2020 import MARKS, SERIES
from analysis.figures.style import FAINT, FULL_WIDTH, RC

LEAST = 1e-5  # E that is drawn


def design_limits(table: pd.DataFrame, foot: str) -> Figure:
    """E of the first target, and the groups of links at their limit.

    Parameters
    ----------
    table : radius of the circle, limit, E_first before, E after, at_limit, groups
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 2.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.2, 1.0))
        for k, (radius, rows) in enumerate(table.groupby("radius", sort=True)):
            rows = rows.sort_values("limit")
            x = np.append(0.0, 100.0 * rows["limit"].to_numpy(np.float64))
            E = np.append(rows["E_first"].iloc[0], rows["E"].to_numpy(np.float64))
            style = {"color": SERIES[k % 6], "marker": MARKS[k % 6], "ms": 3.5}
            left.semilogy(x, np.maximum(E, LEAST), label=f"{radius:g}", **style)
            right.plot(x[1:], rows["at_limit"].to_numpy(np.float64), **style)
        left.set_ylabel(r"$\mathcal{E}$ of the circle, lengths found")
        right.set_ylabel("lengths at their limit")
        right.set_title(f"of {int(table['groups'].max())} that may change", loc="right")
        right.set_ylim(bottom=-0.5)
        right.yaxis.set_major_locator(MaxNLocator(integer=True))
        for ax in (left, right):
            ax.set_xlabel("limit of a change of length, %")
        left.set_title(f"{LEAST:g} stands for less", loc="right")
        left.legend(title="radius of the circle", title_fontsize=6.0)
        figure.supxlabel(foot, fontsize=5.0, color=FAINT)
        return figure
