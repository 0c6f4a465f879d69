"""What designers ask of folds: ratios, modes, two stable states, energies by folds."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

DEGREES = "(\N{DEGREE SIGN})"
LEAST = 1e-4  # of the largest energy of a landscape, below which colours end
MODES = (
    (style.SIMULATED, "-"),
    (style.SCANNED, "--"),
    ("#009E73", "-."),
    ("#000000", ":"),
)
FREE = "#D55E00"


@dataclass(frozen=True, eq=False)
class Landscape:
    """Energy over two folds.

    Attributes
    ----------
    first, second : (m,), (k,) degrees
    energy : (k, m) J
    free : ratios of the tangents of half the folds along which rigid panels turn
    """

    first: Floats
    second: Floats
    energy: Floats
    free: tuple[float, ...]


def rigid_ratio(periods: Floats) -> Floats:
    """(s,) -d ln p_1 / d ln p_0 of the periods (s, 2) of a sheet of rigid panels."""
    logs = np.log(periods)
    return np.asarray(-np.gradient(logs[:, 1], logs[:, 0], edge_order=2))


def mechanics_of_folds(
    plate: pd.DataFrame,
    modes: pd.DataFrame,
    landscape: Landscape,
    cell: tuple[pd.DataFrame, pd.DataFrame, float],
    twists: dict[str, pd.DataFrame],
    runs: list[tuple[str, str]],
) -> Figure:
    """Five panels; `cell` holds the path of a cell, its rests, and its height, m."""
    with style.styled():
        figure, (plots,) = sheet(PanelGrid(5, 56.0, 46.0), more=8.0)
        _draw_ratios(plots[0], plate)
        _draw_modes(plots[1], modes)
        _draw_landscape(plots[2], landscape)
        _draw_cell(plots[3], *cell)
        _draw_twists(plots[4], twists)
        style.own_ranges(plots[3:])
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
    ax.plot(way, energy, color=style.SIMULATED, label="cell (d)")
    for stable, marker, name in ((1, "o", "stable (d)"), (0, "^", "barrier (d)")):
        chosen = rests[rests["stable"] == stable]
        ax.plot(
            1e3 * (height + chosen["moved"]), 1e3 * chosen["energy"], marker,
            color="black", mfc="white" if stable else "black", label=name,
            ms=style.size(4.5),
        )  # fmt: skip
    ax.set_xlabel("height of the cell (mm)")
    ax.set_ylabel(r"energy $\Pi$ (mJ)")


def _draw_twists(ax: Axes, twists: dict[str, pd.DataFrame]) -> None:
    for (name, table), line in zip(twists.items(), ("-", "--"), strict=True):
        label = f"{name} (e)"
        ax.plot(
            table["fold_0_deg"], 1e3 * table["energy"], line, color="black", label=label
        )
    ax.set_xlabel(f"fold of the sides {DEGREES}")
    ax.set_ylabel(r"energy $\Pi$ (mJ)")


def _draw_landscape(ax: Axes, shown: Landscape) -> None:
    top = float(shown.energy.max())
    norm = LogNorm(LEAST * top * 1e3, top * 1e3)
    energy = np.maximum(1e3 * shown.energy, LEAST * top * 1e3)
    mesh = ax.pcolormesh(
        shown.first, shown.second, energy, norm=norm, cmap="viridis", rasterized=True
    )
    fold = np.linspace(-179.0, 179.0, 361)
    half = np.tan(np.radians(0.5 * fold))
    for k, ratio in enumerate(shown.free):
        label = "rigid panels (c)" if k == 0 else "_"
        ax.plot(fold, np.degrees(2 * np.arctan(ratio * half)), color=FREE, label=label)
    ax.set_xlim(shown.first[0], shown.first[-1])
    ax.set_ylim(shown.second[0], shown.second[-1])
    ax.set_xlabel(f"fold of a crease {DEGREES}")
    ax.set_ylabel(f"fold of the next {DEGREES}")
    bar = ax.figure.colorbar(ScalarMappable(norm, mesh.get_cmap()), ax=ax, pad=0.02)
    bar.set_label(r"energy $\Pi$ (mJ)", labelpad=1)
