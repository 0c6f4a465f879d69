"""Mechanisms as they were built: deviations with uncertainty, and what they change."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.style import PanelGrid, sheet
from sim.core.arrays import Floats, Ints

ROLES = {
    "body": ("edges of bodies", style.SIMULATED, "o"),
    "link": ("links", style.SCANNED, "s"),
    "joint": ("joint offsets", "#009E73", "D"),
}
AGAIN = (
    ("before", "as designed", style.SCANNED, ""),
    ("after", "as built", style.SIMULATED, "////"),
    ("held_out", "as built, without this pose", "#009E73", "...."),
)


def draw_as_built(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Deviations, their errors, their correlation, more poses, and the verdicts.

    One row: the folder of a calibration from synthetic poses.
    """
    (run,) = runs
    names = ("deviations", "truth", "growth", "again")
    tables = {name: run.read(f"{name}.csv") for name in names}
    table = tables["deviations"]
    truth = tables["truth"]["true_deviation_mm"].to_numpy(np.float64)
    figure, (above, below) = sheet(
        PanelGrid(2, 85.0, 46.0), PanelGrid(3, 58.0, 52.0, (1.1, 1.0, 1.0))
    )
    axes = [*above, *below]
    _draw_deviations(axes[0], table, truth)
    inside = _draw_errors(axes[1], table, truth)
    _draw_correlation(axes[2], run.read("covariance.npz")["covariance_mm2"])
    true_play = float(run.result.get("true_play_mm", np.nan))
    _draw_growth(axes[3], tables["growth"], true_play)
    _draw_again(axes[4], tables["again"])
    style.put_letters(axes, ["", inside])
    return DrawnFigure(figure, tables, notes=[style.SYNTHETIC])


def _each_role(ax: Axes, table: pd.DataFrame) -> list[tuple[str, str, str, Ints]]:
    ax.set_xlabel("index of the unknown (-)")
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.axhline(0.0, color=style.FAINT, lw=0.5)
    return [
        (*ROLES[role], np.flatnonzero(table["role"] == role))
        for role in ROLES
        if (table["role"] == role).any()
    ]


def _draw_deviations(ax: Axes, table: pd.DataFrame, truth: Floats) -> None:
    found = table["deviation_mm"].to_numpy(float)
    for label, colour, marker, at in _each_role(ax, table):
        ax.plot(at, found[at], marker, color=colour, ms=3.2, label=label)
    ax.plot(truth, "o", mfc="none", mec="black", mew=0.6, ms=6.0, label="true (known)")
    ax.set_ylabel("deviation from drawing (mm)")
    high = float(np.abs(truth).max())
    ax.set_ylim(-1.15 * high, 1.7 * high)
    ax.legend(loc="upper center", ncols=3, handletextpad=0.2, columnspacing=1.0)


def _draw_errors(ax: Axes, table: pd.DataFrame, truth: Floats) -> str:
    """Errors with their intervals; how many of these hold what is true."""
    error = 1e3 * (table["deviation_mm"].to_numpy(float) - truth)
    half = 5e2 * (table["high_mm"] - table["low_mm"]).to_numpy(float)
    for label, colour, marker, at in _each_role(ax, table):
        ax.errorbar(
            at, error[at], half[at], fmt=marker, color=colour, ms=2.6, lw=0.8,
            capsize=1.6, label=f"{label}, 95 % interval",
        )  # fmt: skip
    ax.set_ylabel("estimated $-$ true (µm)")
    high = float((np.abs(error) + half).max())
    ax.set_ylim(-1.1 * high, 1.75 * high)
    ax.legend(loc="upper left")
    holds = int((np.abs(error) <= half).sum())
    return f"{holds} of {len(error)} intervals contain the true value"


def _draw_correlation(ax: Axes, covariance: Floats) -> None:
    sd = np.sqrt(np.diag(covariance))
    image = ax.imshow(covariance / np.outer(sd, sd), cmap="PuOr", vmin=-1.0, vmax=1.0)
    ax.set(xlabel="index of the unknown (-)", ylabel="index of the unknown (-)")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, integer=True))
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04)
    bar.set_ticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    bar.set_label("correlation (-)")


def _draw_growth(ax: Axes, table: pd.DataFrame, true_play_mm: float) -> None:
    for role, (label, colour, marker) in ROLES.items():
        if f"{role}_u_mm" in table:
            u = 1e3 * table[f"{role}_u_mm"]
            look: dict[str, Any] = {"ls": "-", "color": colour}
            ax.plot(table["poses"], u, marker, label=f"u of {label}", **look)
    if "link_play_mm" in table and np.isfinite(true_play_mm):
        low = table["link_play_mm"] - table["link_play_low_mm"]
        high = table["link_play_high_mm"] - table["link_play_mm"]
        ax.errorbar(
            table["poses"] + 0.06, 1e3 * table["link_play_mm"], [1e3 * low, 1e3 * high],
            fmt="^", color="black", ms=3.2, lw=0.8, capsize=1.6, label="play, 95 %",
        )  # fmt: skip
        dotted: dict[str, Any] = {"color": "black", "lw": 0.7, "ls": ":"}
        ax.axhline(1e3 * true_play_mm, label="true play", **dotted)
    ax.set(xlabel="poses scanned (-)", ylabel="standard deviation (µm)")
    ax.set_yscale("log")
    ax.set_ylim(4.0, 4000.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(table["poses"].min() - 0.4, table["poses"].max() + 0.4)
    ax.legend(loc="upper right", handlelength=1.6)


def _draw_again(ax: Axes, table: pd.DataFrame) -> None:
    at = np.arange(len(table))
    for i, (when, label, colour, hatch) in enumerate(AGAIN):
        there, x = table[f"rms_mm_{when}"].notna(), at + 0.27 * (i - 1)
        rms = table[f"rms_mm_{when}"].to_numpy(float)
        if not there.any():
            continue  # too few poses to leave one out
        ax.bar(
            x[there], rms[there], 0.25, color=colour, hatch=hatch,
            edgecolor="white" if hatch else style.SCANNED_EDGE, lw=0.4, label=label,
        )  # fmt: skip
        for k in np.flatnonzero(there):
            ax.text(
                x[k], rms[k], f" {table[f'verdict_{when}'][k]}", rotation=90,
                ha="center", va="bottom", fontsize=style.size(style.SMALL),
            )  # fmt: skip
    ax.set_xticks(at, table["pose"])
    ax.set(xlabel="pose", ylabel="rms node distance (mm)")
    ax.set_ylim(0.0, 2.3 * float(table["rms_mm_before"].max()))
    ax.legend(loc="upper left", handlelength=1.4)
