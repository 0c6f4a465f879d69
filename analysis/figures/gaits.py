"""How far a robot comes for its work, by period and order of the limbs."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.huang_2020 import MARKS, SERIES
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import Runs, put_letter, say_below, size, styled

PANELS = (
    ("way_over_H", r"way $(x_c - x_c(0))/H$ (-)"),
    ("actuation_work", "positive actuation work (J)"),
    ("way_per_work", r"weight $\times$ way / work (-)"),
)


def gait_map(table: pd.DataFrame, best: Sequence[int], runs: Runs) -> Figure:
    """A panel for way, work and their ratio; a series an order, the best one marked.

    Parameters
    ----------
    table : columns order, period (s) and those of PANELS
    best : rows of the table to mark in the last panel
    """
    with styled():
        figure, (axes,) = sheet(PanelGrid(len(PANELS), 58.0, 54.0))
        for letter, ax, (column, label) in zip("abc", axes, PANELS, strict=True):
            for k, (order, rows) in enumerate(table.groupby("order", sort=False)):
                rows = rows.sort_values("period")
                ax.plot(rows["period"], rows[column], label=str(order),
                        color=SERIES[k % 6], marker=MARKS[k % 6])  # fmt: skip
            ax.axhline(0.0, color="#8C8C8C", lw=0.6)
            ax.set_xlabel("period (s)")
            ax.set_ylabel(label)
            put_letter(ax, letter)
        for row in best:
            place = table.loc[[row], "period"], table.loc[[row], "way_per_work"]
            axes[-1].plot(
                *place, "o", ms=size(8.0), mfc="none", color="black", label="best"
            )
        axes[-1].margins(y=0.12)
        title = "limbs left of the contact limb"
        handles, names = axes[-1].get_legend_handles_labels()
        figure.legend(handles, names, title=title, ncols=5, loc="outside lower center")
        say_below(figure, runs)
        return figure
