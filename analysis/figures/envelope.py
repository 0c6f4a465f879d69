"""What shapes a mechanism can take: samples by S and size, growth, extremes."""

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.figures.shapes import best_view, draw_mechanism
from analysis.figures.shapes import frame as frame_of
from analysis.figures.style import FAINT, FULL_WIDTH, RC, SIMULATED, provenance
from sim.arrays import Floats

MAP = "viridis"
HEIGHT = 4.3  # inches
START = "#D55E00"


@dataclass(frozen=True, eq=False)
class Envelope:
    """A search for shapes.

    Attributes
    ----------
    table : sample, S, size, sigma, cells, new
    r : (samples, n, 3)
    """

    label: str
    key: str
    table: pd.DataFrame
    r: Floats
    bodies: tuple[tuple[int, ...], ...]


def reachable_shapes(shown: Envelope) -> Figure:
    """Samples, their growth, and the shapes at the ends of S, size and sigma."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, HEIGHT))
        _draw_samples(figure, shown)
        _draw_growth(figure, shown.table)
        _draw_extremes(figure, shown)
        foot = provenance([(shown.label, shown.key)], synthetic=False)
        figure.text(0.5, 0.01, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure


def extremes(table: pd.DataFrame) -> dict[str, int]:
    """The rows of the shapes that are drawn."""
    found = {}
    for column, symbol in (("S", r"$\mathcal{S}$"), ("size", "size")):
        values = table[column].to_numpy(np.float64)
        found[f"least {symbol}"] = int(values.argmin())
        found[f"most {symbol}"] = int(values.argmax())
    found[r"least $\sigma$"] = int(table["sigma"].to_numpy(np.float64).argmin())
    return found


def _draw_samples(figure: Figure, shown: Envelope) -> None:
    ax = figure.add_axes((0.075, 0.46, 0.41, 0.49))
    table = shown.table.sort_values("sigma", ascending=False)  # the closest on top
    dots = ax.scatter(
        table["S"], table["size"], c=table["sigma"], s=4.0, cmap=MAP, linewidths=0,
        rasterized=True,
    )  # fmt: skip
    bar = figure.colorbar(dots, ax=ax, pad=0.02, aspect=30)
    bar.set_label(r"smallest singular value $\sigma$", fontsize=6.5, labelpad=2)
    ax.plot(
        shown.table["S"][0], shown.table["size"][0], "+", color=START, ms=8, mew=1.4,
        label="start",
    )  # fmt: skip
    for row in extremes(shown.table).values():
        x, y = float(shown.table["S"][row]), float(shown.table["size"][row])
        ax.plot(x, y, "o", mfc="none", color="black", ms=5, mew=0.7)
    ax.legend(loc="upper left")
    ax.set_xlabel(r"$\mathcal{S}$", labelpad=1)
    ax.set_ylabel("size: largest distance of two nodes / $L$", labelpad=2)
    ax.set_title("a", loc="left")


def _draw_growth(figure: Figure, table: pd.DataFrame) -> None:
    above = figure.add_axes((0.615, 0.74, 0.355, 0.21))
    below = figure.add_axes((0.615, 0.46, 0.355, 0.21))
    above.plot(table["sample"], table["cells"], color=SIMULATED)
    above.set_ylabel("cells found", labelpad=2)
    above.tick_params(labelbottom=False)
    above.set_title("b", loc="left")
    below.plot(table["sample"], table["new"], color=SIMULATED)
    below.set_ylabel("new in 100", labelpad=2)
    below.set_xlabel("samples", labelpad=1)
    ax: Axes
    for ax in (above, below):
        ax.set_ylim(bottom=0.0)
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.margins(x=0.01)


def _draw_extremes(figure: Figure, shown: Envelope) -> None:
    rows = {"start": 0, **extremes(shown.table)}
    width = 1.0 / len(rows)
    for k, (name, row) in enumerate(rows.items()):
        ax = figure.add_axes((k * width, 0.02, width, 0.33), projection="3d")
        r = shown.r[row] - shown.r[row].mean(axis=0)
        if np.ptp(np.linalg.svd(r)[2] @ r.T, axis=1).min() <= 1e-6 * np.ptp(r):
            r = r @ np.linalg.svd(r)[2].T  # flat: seen from above
            view = (90.0, -90.0)
        else:
            view = best_view(r, r)
        draw_mechanism(ax, r, shown.bodies, size=2.0)
        reach = np.abs(shown.r[0] - shown.r[0].mean(axis=0)).max()
        frame_of(ax, np.array([[-reach] * 3, [reach] * 3]) * 0.75, view)
        value = shown.table.iloc[row]
        said = (
            rf"$\mathcal{{S}}$ {value['S']:.2f}, size {value['size']:.2f}, "
            rf"$\sigma$ {value['sigma']:.2f}"
        )
        ax.set_title(f"{name}\n{said}", fontsize=5.8, y=0.96)
    figure.text(0.02, 0.36, "c", fontsize=7.5)
