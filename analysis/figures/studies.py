"""What a study found: each result against each value that was varied."""

from collections.abc import Sequence

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import RC, SIMULATED, TARGET


def main_effects(
    table: pd.DataFrame, factors: Sequence[str], responses: Sequence[str], *, title: str
) -> Figure:
    """Every run as a dot, and the mean over all others of each value as a line.

    Parameters
    ----------
    table : a row a run; only those with status "finished" are drawn
    factors : columns that were varied
    responses : columns of results
    """
    with mpl.rc_context(RC):
        return _main_effects(table, factors, responses, title)


def _main_effects(
    table: pd.DataFrame, factors: Sequence[str], responses: Sequence[str], title: str
) -> Figure:
    done = table[table["status"] == "finished"]
    figure = Figure(
        figsize=(2.6 * len(factors) + 0.6, 2.2 * len(responses) + 0.7),
        layout="constrained",
    )
    axes = figure.subplots(len(responses), len(factors), squeeze=False, sharey="row")
    for row, response in zip(axes, responses, strict=True):
        for ax, factor in zip(row, factors, strict=True):
            _effect(ax, done, factor, response)
        row[0].set_ylabel(response)
    for ax, factor in zip(axes[-1], factors, strict=True):
        ax.set_xlabel(factor)
    left_out = len(table) - len(done)
    note = f", {left_out} of {len(table)} not finished and not drawn" * bool(left_out)
    figure.suptitle(f"{title}: {len(done)} runs{note}", fontsize=9)
    return figure


def _effect(ax: Axes, done: pd.DataFrame, factor: str, response: str) -> None:
    values = done[factor]
    if not pd.api.types.is_numeric_dtype(values) or values.dtype == bool:
        names = sorted(values.astype(str).unique())
        places = values.astype(str).map({name: i for i, name in enumerate(names)})
        ax.set_xticks(range(len(names)), names)
    else:
        places = values
    ax.plot(places, done[response], ".", color=TARGET, ms=4)
    if places.nunique() <= 30:
        means = done[response].groupby(places).mean()
        ax.plot(means.index, means.to_numpy(), "o-", color=SIMULATED, ms=4, lw=1.2)
