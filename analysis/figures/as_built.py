"""A mechanism as built: deviations with uncertainty, and what knowing them brings."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats, Ints

ROLES = {
    "body": ("edges of bodies", style.SIMULATED, "o"),
    "link": ("links", style.SCANNED, "s"),
}
ROLES |= {"joint": ("joint offsets", "#009E73", "D")}
AGAIN = (
    ("before", "as drawn", style.SCANNED, ""),
    ("after", "as built", style.SIMULATED, "////"),
    ("held_out", "as built, without this pose", "#009E73", "...."),
)


@dataclass(frozen=True, eq=False)
class AsBuilt:
    """What one calibration found.

    Parameters
    ----------
    deviations, growth, again : tables of morphtrack calibrate
    truth : (u,) true deviations, mm
    covariance : (u, u)
    """

    label: str
    key: str
    deviations: pd.DataFrame
    truth: Floats
    growth: pd.DataFrame
    again: pd.DataFrame
    covariance: Floats
    true_play_mm: float


def as_built(shown: AsBuilt) -> Figure:
    """Deviations, their errors, their correlation, more poses, and the verdicts."""
    with style.styled():
        figure, (above, below) = sheet(
            PanelGrid(2, 85.0, 46.0), PanelGrid(3, 58.0, 52.0, (1.1, 1.0, 1.0))
        )
        axes = [*above, *below]
        _deviations(axes[0], shown)
        _errors(axes[1], shown)
        _correlation(figure, axes[2], shown)
        _poses(axes[3], shown)
        _again(axes[4], shown)
        inside = _inside(shown)
        said = ("", inside, "", "", "")
        for letter, ax, text in zip("abcde", axes, said, strict=True):
            style.put_letter(ax, letter, text)
        style.say_below(figure, [(shown.label, shown.key)], style.SYNTHETIC)
    return figure


def _inside(shown: AsBuilt) -> str:
    """How many of the intervals hold what is true."""
    table = shown.deviations
    low, high = table["low_mm"].to_numpy(float), table["high_mm"].to_numpy(float)
    error = table["deviation_mm"].to_numpy(float) - shown.truth
    holds = np.abs(error) <= 0.5 * (high - low)
    return f"{int(holds.sum())} of {len(holds)} intervals hold the truth"


def _each_role(ax: Axes, shown: AsBuilt) -> list[tuple[str, str, str, Ints]]:
    table = shown.deviations
    ax.set_xlabel("number of the unknown (-)", labelpad=1)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.axhline(0.0, color=style.FAINT, lw=0.5)
    return [
        (*ROLES[role], np.flatnonzero(table["role"] == role))
        for role in ROLES
        if (table["role"] == role).any()
    ]


def _deviations(ax: Axes, shown: AsBuilt) -> None:
    found = shown.deviations["deviation_mm"].to_numpy(float)
    for label, colour, marker, at in _each_role(ax, shown):
        ax.plot(at, found[at], marker, color=colour, ms=3.2, label=label)
    ax.plot(
        shown.truth, "o", mfc="none", mec="black", mew=0.6, ms=6.0, label="true (known)"
    )
    ax.set_ylabel("deviation from drawing (mm)", labelpad=1)
    high = float(np.abs(shown.truth).max())
    ax.set_ylim(-1.15 * high, 1.7 * high)
    ax.legend(loc="upper center", ncols=3, handletextpad=0.2, columnspacing=1.0)


def _errors(ax: Axes, shown: AsBuilt) -> None:
    table = shown.deviations
    error = 1e3 * (table["deviation_mm"].to_numpy(float) - shown.truth)
    half = 5e2 * (table["high_mm"] - table["low_mm"]).to_numpy(float)
    for label, colour, marker, at in _each_role(ax, shown):
        ax.errorbar(
            at, error[at], half[at], fmt=marker, color=colour, ms=2.6, lw=0.8,
            capsize=1.6, label=f"{label}, 95 % interval",
        )  # fmt: skip
    ax.set_ylabel("estimated $-$ true (µm)", labelpad=1)
    high = float((np.abs(error) + half).max())
    ax.set_ylim(-1.1 * high, 1.75 * high)
    ax.legend(loc="upper left")


def _correlation(figure: Figure, ax: Axes, shown: AsBuilt) -> None:
    sd = np.sqrt(np.diag(shown.covariance))
    image = ax.imshow(
        shown.covariance / np.outer(sd, sd), cmap="PuOr", vmin=-1.0, vmax=1.0
    )
    ax.set_xlabel("number of the unknown (-)", labelpad=1)
    ax.set_ylabel("number of the unknown (-)", labelpad=1)
    ticks = MaxNLocator(5, integer=True)
    ax.xaxis.set_major_locator(ticks)
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    bar = figure.colorbar(image, ax=ax, fraction=0.046, pad=0.04)
    bar.set_ticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    bar.set_label("correlation (-)", labelpad=1)


def _poses(ax: Axes, shown: AsBuilt) -> None:
    table = shown.growth
    for role, (label, colour, marker) in ROLES.items():
        if f"{role}_u_mm" in table:
            u = 1e3 * table[f"{role}_u_mm"]
            ax.plot(
                table["poses"], u, marker, ls="-", color=colour, label=f"u of {label}"
            )
    if "link_play_mm" in table and np.isfinite(shown.true_play_mm):
        low = table["link_play_mm"] - table["link_play_low_mm"]
        high = table["link_play_high_mm"] - table["link_play_mm"]
        ax.errorbar(
            table["poses"] + 0.06, 1e3 * table["link_play_mm"], [1e3 * low, 1e3 * high],
            fmt="^", color="black", ms=3.2, lw=0.8, capsize=1.6, label="play, 95 %",
        )  # fmt: skip
        ax.axhline(
            1e3 * shown.true_play_mm, color="black", lw=0.7, ls=":", label="true play"
        )
    ax.set_xlabel("poses scanned (-)", labelpad=1)
    ax.set_ylabel("standard deviation (µm)", labelpad=1)
    ax.set_yscale("log")
    ax.set_ylim(4.0, 4000.0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(table["poses"].min() - 0.4, table["poses"].max() + 0.4)
    ax.legend(loc="upper right", handlelength=1.6)


def _again(ax: Axes, shown: AsBuilt) -> None:
    table = shown.again
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
    ax.set_xlabel("pose", labelpad=1)
    ax.set_ylabel("rms node distance (mm)", labelpad=1)
    ax.set_ylim(0.0, 2.3 * float(table["rms_mm_before"].max()))
    ax.legend(loc="upper left", handlelength=1.4)
