"""What designers ask of folds: ratios, modes, two stable states."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

DEGREES = "(\N{DEGREE SIGN})"
MODES = (
    (style.SIMULATED, "-"),
    (style.SCANNED, "--"),
    ("#009E73", "-."),
    ("#000000", ":"),
)


def rigid_ratio(periods: Floats) -> Floats:
    """(s,) -d ln p_1 / d ln p_0 of the periods (s, 2) of a sheet of rigid panels."""
    logs = np.log(periods)
    return np.asarray(-np.gradient(logs[:, 1], logs[:, 0], edge_order=2))


def mechanics_of_folds(
    plate: pd.DataFrame,
    modes: pd.DataFrame,
    cell: tuple[pd.DataFrame, pd.DataFrame, float],
    runs: list[tuple[str, str]],
) -> Figure:
    """Three panels; `cell` holds the path of a cell, its rests, and its height, m."""
    with style.styled():
        figure, (plots,) = sheet(PanelGrid(3, 56.0, 46.0), more=8.0)
        _draw_ratios(plots[0], plate)
        _draw_modes(plots[1], modes)
        _draw_cell(plots[2], *cell)
        style.put_letters(plots)
        style.legend_below(figure, style.labelled_lines(plots))
        style.say_below(figure, runs)
    return figure


def _draw_ratios(ax: Axes, plate: pd.DataFrame) -> None:
    fold = plate["largest_fold_deg"]
    rigid = rigid_ratio(plate[["period_0", "period_1"]].to_numpy())
    ax.semilogy(fold, -rigid, color="black", lw=0.7, label="rigid panels (a)")
    bent, stretched = plate["bending_poisson"][::-3], -plate["poisson"][::-3]
    ax.semilogy(
        fold[::-3], bent, "s", color=style.SCANNED, mfc="white", ms=style.size(5.0),
        label=r"bent, $\nu$ (a)",
    )  # fmt: skip
    ax.semilogy(
        fold[::-3], stretched, "o", color=style.SIMULATED, ms=style.size(2.5),
        label=r"stretched, $-\nu$ (a)",
    )  # fmt: skip
    ax.set_xlabel(f"larger fold {DEGREES}")
    ax.set_ylabel(r"size of Poisson's ratio $|\nu|$ (-)")


def _draw_modes(ax: Axes, modes: pd.DataFrame) -> None:
    part = modes["load_factor"]
    names = [name for name in map(str, modes) if name.startswith("eigenvalue_")]
    for k, (name, (colour, line)) in enumerate(zip(names, MODES, strict=False)):
        ax.semilogy(part, modes[name], line, color=colour, label=f"mode {k + 1} (b)")
    ax.set_xlabel("part of the fold (-)")
    ax.set_ylabel("eigenvalue (N/m)")


def _draw_cell(
    ax: Axes, path: pd.DataFrame, rests: pd.DataFrame, height: float
) -> None:
    way, energy = 1e3 * (height + path["moved"]), 1e3 * path["energy"]
    ax.plot(way, energy, color=style.SIMULATED, label="cell (c)")
    for stable, marker, name in ((1, "o", "stable (c)"), (0, "^", "barrier (c)")):
        chosen = rests[rests["stable"] == stable]
        ax.plot(
            1e3 * (height + chosen["moved"]), 1e3 * chosen["energy"], marker,
            color="black", mfc="white" if stable else "black", label=name,
            ms=style.size(4.5),
        )  # fmt: skip
    ax.set_xlabel("height of the cell (mm)")
    ax.set_ylabel(r"energy $\Pi$ (mJ)")
