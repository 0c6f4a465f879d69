"""How far a robot comes for its work, by period and order of the limbs."""

from collections.abc import Sequence

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.huang_2020 import MARKS, SERIES
from analysis.figures.style import FULL_WIDTH, RC

PANELS = (
    ("way_over_H", r"Way, $(x_c - x_c(0))/H$"),
    ("actuation_work", "Positive actuation work (J)"),
    ("way_per_work", r"Weight $\times$ way / work"),
)


def gait_map(table: pd.DataFrame, best: Sequence[int], foot: str) -> Figure:
    """A panel for way, work and their ratio; a series an order, the best one marked.

    Parameters
    ----------
    table : columns order, period (s) and those of PANELS
    best : rows of the table to mark in the last panel
    """
    with mpl.rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 2.5), layout="constrained")
        axes = figure.subplots(1, len(PANELS))
        for ax, (column, label) in zip(axes, PANELS, strict=True):
            for k, (order, rows) in enumerate(table.groupby("order", sort=False)):
                rows = rows.sort_values("period")
                ax.plot(rows["period"], rows[column], label=str(order),
                        color=SERIES[k % 6], marker=MARKS[k % 6])  # fmt: skip
            ax.axhline(0.0, color="#8C8C8C", lw=0.6)
            ax.set_xlabel("Period (s)")
            ax.set_ylabel(label)
        for row in best:
            place = table.loc[row, "period"], table.loc[row, "way_per_work"]
            axes[-1].plot(*place, "o", ms=8.0, mfc="none", color="black")
        axes[0].legend(title="Limbs left of\nthe contact limb", title_fontsize=6.0)
        figure.supxlabel(foot, fontsize=5.0)
        return figure
