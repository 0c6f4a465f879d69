"""What a study found: each result against each value that was varied."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import style
from analysis.figures.style import PanelGrid, sheet


@style.styled()
def main_effects(
    table: pd.DataFrame, factors: Sequence[str], responses: Sequence[str], *, title: str
) -> Figure:
    """Every run as a dot, and the mean over all others of each value as a line.

    Parameters
    ----------
    table : a row a run; only those with status "finished" are shown
    factors : columns that were varied
    responses : columns of results that are numbers, or true and false
    """
    done = table[table["status"] == "finished"].astype(dict.fromkeys(responses, float))
    figure, rows = sheet(
        *[PanelGrid(len(factors), 43.0, 42.0)] * len(responses), more=14.0
    )
    letters = iter("abcdefghijklmnopqrstuvwxyz" * 9)
    for response, axes in zip(responses, rows, strict=True):
        for ax, factor in zip(axes, factors, strict=True):
            _effect(ax, done, factor, response)
            ax.set(xlabel=factor, ylabel=response)
            style.put_letter(ax, next(letters))
        style.compare(axes)
    left_out = len(table) - len(done)
    note = f", {left_out} of {len(table)} not finished and not shown"
    figure.suptitle(f"{title}: {len(done)} runs{note * bool(left_out)}")
    dot = Line2D([], [], marker=".", ls="", color=style.TARGET)
    mean = Line2D([], [], marker="o", color=style.SIMULATED)
    style.legend_below(figure, [dot, mean], ["run", "mean over the other factors"])
    return figure


def _effect(ax: Axes, done: pd.DataFrame, factor: str, response: str) -> None:
    values = done[factor]
    if not pd.api.types.is_numeric_dtype(values) or values.dtype == bool:
        names = sorted(values.astype(str).unique())
        places = values.astype(str).map({name: i for i, name in enumerate(names)})
        ax.set_xticks(range(len(names)), names)
    else:
        places = values
    ax.plot(places, done[response], ".", color=style.TARGET, ms=style.size(4.0))
    if places.nunique() <= 30:
        means = done[response].groupby(places).mean()
        big: dict[str, Any] = {"color": style.SIMULATED, "ms": style.size(4.0)}
        ax.plot(means.index, means.to_numpy(), "o-", **big)
