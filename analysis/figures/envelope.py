"""What shapes a mechanism can take: samples by S and size, growth, extremes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.mechanisms import ABOVE, best_view, draw_mechanism
from analysis.figures.panel_3d import PaintedScene
from analysis.figures.style import PanelGrid, sheet
from sim.mechanism.reachable_shapes import RECENT

START = "#D55E00"


def draw_reachable_shapes(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Samples, their growth, and the shapes at the ends of S, size and sigma.

    One row: a run of a case such as reachable_sheet.
    """
    (shown,) = runs
    ends = extremes(shown.table)
    rows = {"start": 0, **ends}
    figure, (above, below) = sheet(
        PanelGrid(3, 59.0, 52.0, (1.5, 1.0, 1.0)),
        PanelGrid(len(rows), 29.0, 42.0),
        more=5.0,
    )
    _draw_samples(figure, above[0], shown)
    _draw_growth(above[1], above[2], shown.table)
    for ax, (name, row) in zip(below, rows.items(), strict=True):
        _draw_extreme(ax, shown, name, row)
    ring: dict[str, Any] = {"marker": "o", "mfc": "none", "color": "black", "lw": 0.0}
    looks = {
        "start": {"marker": "+", "ms": 6, "color": START, "lw": 0.0},
        "shown below": ring | {"ms": 5},
    }
    handles = [*style.marks(of=looks), *style.marks("link or body", "node")]
    style.legend_below(figure, handles)
    table = shown.table.iloc[list(ends.values())].assign(what=list(ends))
    return DrawnFigure(figure, {"samples": shown.table, "extremes": table})


def extremes(table: pd.DataFrame) -> dict[str, int]:
    """The rows of the shapes that are shown."""
    found = {}
    for column, symbol in (("S", r"$\mathcal{S}$"), ("size", "size")):
        values = table[column].to_numpy(np.float64)
        found[f"least {symbol}"] = int(values.argmin())
        found[f"most {symbol}"] = int(values.argmax())
    found[r"least $\sigma$"] = int(table["sigma"].to_numpy(np.float64).argmin())
    return found


def _draw_samples(figure: Figure, ax: Axes, shown: ShownRun) -> None:
    table = shown.table.sort_values("sigma", ascending=False)  # the closest on top
    look: dict[str, Any] = {"s": 4.0, "cmap": style.ON_WHITE, "linewidths": 0}
    dots = ax.scatter(table["S"], table["size"], c=table["sigma"], **look)
    bar = figure.colorbar(dots, ax=ax, pad=0.02, aspect=30)
    bar.set_label(r"smallest singular value $\sigma$ (-)")
    start = shown.table["S"][0], shown.table["size"][0]
    ax.plot(*start, "+", color=START, ms=style.size(8.0), mew=1.4)
    for row in extremes(shown.table).values():
        x, y = float(shown.table["S"][row]), float(shown.table["size"][row])
        ax.plot(x, y, "o", mfc="none", color="black", ms=style.size(5.0), mew=0.7)
    ax.set_xlabel(r"shape factor $\mathcal{S}$ (-)")
    ax.set_ylabel("size: largest distance ($L$)")
    style.put_letter(ax, "a")


def _draw_growth(cells: Axes, new: Axes, table: pd.DataFrame) -> None:
    for ax, column, label, letter in (
        (cells, "cells", "cells found (-)", "b"),
        (new, "new", "new cells in 100 samples (-)", "c"),
    ):
        shown = table[RECENT * (column == "new") :]
        ax.plot(shown["sample"], shown[column], color=style.SIMULATED)
        ax.set(xlabel="samples (-)", ylabel=label)
        ax.set_ylim(bottom=0.0)
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.margins(x=0.01)
        style.put_letter(ax, letter)


def _draw_extreme(ax: Axes, shown: ShownRun, name: str, row: int) -> None:
    r = shown.r[row] - shown.r[row].mean(axis=0)
    turned = r @ np.linalg.svd(r)[2].T
    flat = np.ptp(turned, axis=0).min() <= 1e-6 * np.ptp(r)
    reach = 0.75 * np.abs(shown.r[0] - shown.r[0].mean(axis=0)).max()
    scene = PaintedScene(ABOVE if flat else best_view(r, r), 2.0 * reach)
    draw_mechanism(scene, turned if flat else r, shown.bodies, size=1.6)
    box = np.stack([scene.axes[:2].sum(axis=0), -scene.axes[:2].sum(axis=0)])
    scene.paint(ax, reach * box)
    value = shown.table.iloc[row]
    S, size, sigma = (f"{value[column]:.2f}" for column in ("S", "size", "sigma"))
    lines = (rf"$\mathcal{{S}}$ = {S}", f"size {size} $L$", rf"$\sigma$ = {sigma}")
    title = "\n".join(lines)
    if name == "start":
        style.put_letter(ax, "d", f"{name}\n{title}")
        style.scale_bar(ax, 1.0, "$L$")
    else:
        ax.set_title(f"{name}\n{title}")
