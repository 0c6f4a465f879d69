"""Simulated against scanned shape factors, and the errors of a set of comparisons."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from analysis.validation.validation_set import SetSummary
from sim.arrays import Floats

MARKERS = {  # verdict: marker, filled, colour; told apart in grey by shape
    "agrees": ("o", True, "#009E73"),
    "cannot tell": ("s", False, "#7A6A00"),
    "differs": ("X", True, "#D55E00"),
}


@dataclass(frozen=True, eq=False)
class ComparedSet:
    """Columns of a set of comparisons, all of length c.

    Parameters
    ----------
    names, verdicts, keys : text
    S_simulated, S_scanned, S_scanned_u, S_u_val, S_margin : (c,)
    rms_mm, rms_u_val_mm, rms_limit_mm, node_margin_mm : (c,) of the node distances
    synthetic : whether any scan was computed
    k : coverage factor of the error bars
    """

    names: tuple[str, ...]
    verdicts: tuple[str, ...]
    keys: tuple[str, ...]
    S_simulated: Floats
    S_scanned: Floats
    S_scanned_u: Floats
    S_u_val: Floats
    S_margin: Floats
    rms_mm: Floats
    rms_limit_mm: Floats
    node_margin_mm: Floats
    synthetic: bool
    k: float


def simulated_against_scanned(
    compared: ComparedSet, summary: SetSummary | None
) -> Figure:
    """Three panels: S against S, errors of S with k u_val, node distances."""
    with style.styled():
        figure, (panels,) = sheet(PanelGrid(3, 58.0, 62.0), more=6.0)
        _draw_diagonal(panels[0], compared)
        said = _draw_errors(panels[1], compared, summary)
        _draw_distances(panels[2], compared)
        for letter, panel, text in zip("abc", panels, ("", said, ""), strict=True):
            style.put_letter(panel, letter, text)
        lines = {
            label: line
            for panel in (panels[0], panels[1], panels[2])
            for line, label in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        style.legend_below(figure, [*lines.values()], [*lines])
        runs = list(zip(compared.names, compared.keys, strict=True))
        style.say_below(figure, runs, style.SYNTHETIC if compared.synthetic else "")
    return figure


def _points(ax: Axes, compared: ComparedSet, x: Floats, y: Floats, bar: Floats) -> None:
    """One mark for each comparison, by verdict, with its error bar."""
    ax.errorbar(
        x, y, yerr=bar, fmt="none", ecolor=style.FAINT, elinewidth=0.7, capsize=2
    )
    for verdict, (marker, filled, colour) in MARKERS.items():
        these = np.array([v == verdict for v in compared.verdicts])
        if these.any():
            ax.plot(
                x[these],
                y[these],
                marker,
                ms=style.size(5.0),
                color=colour,
                mfc=colour if filled else "white",
                mec=colour,
                label=verdict,
                zorder=3,
            )


def _draw_diagonal(ax: Axes, compared: ComparedSet) -> None:
    both = np.r_[compared.S_simulated, compared.S_scanned]
    low, high = both.min(), both.max()
    pad = 0.12 * (high - low) + 0.01
    ends = [low - pad, high + pad]
    ax.plot(ends, ends, color=style.SIMULATED, lw=0.7, label="equal")
    bar = compared.k * compared.S_scanned_u
    _points(ax, compared, compared.S_simulated, compared.S_scanned, bar)
    for name, x, y in zip(
        compared.names, compared.S_simulated, compared.S_scanned, strict=True
    ):
        right = x > (low + high) / 2
        ax.annotate(
            name,
            (x, y),
            xytext=(-5, 4) if right else (5, -4),
            textcoords="offset points",
            ha="right" if right else "left",
            va="bottom" if right else "top",
            fontsize=style.size(6.0),
        )
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    ax.set_xlabel(r"shape factor $\mathcal{S}$ simulated (-)")
    ax.set_ylabel(r"shape factor $\mathcal{S}$ scanned (-)")


def _draw_errors(ax: Axes, compared: ComparedSet, summary: SetSummary | None) -> str:
    """Errors of S; what they come to."""
    at = np.arange(len(compared.names), dtype=np.float64)
    ax.axhline(0.0, color="black", lw=0.6)
    error = compared.S_simulated - compared.S_scanned
    for x, margin in zip(at, compared.S_margin, strict=True):
        ax.plot([x - 0.3, x + 0.3], [margin] * 2, "--", color=style.FAINT, lw=0.7)
        ax.plot([x - 0.3, x + 0.3], [-margin] * 2, "--", color=style.FAINT, lw=0.7)
    _points(ax, compared, at, error, compared.k * compared.S_u_val)
    ax.set_ylabel(rf"error of $\mathcal{{S}}$ $\pm\,{compared.k:g}\,u_{{val}}$ (-)")
    _name_axis(ax, compared, at)
    ax.set_yscale("symlog", linthresh=float(compared.S_margin.max()))
    reach = 2 * max(float(np.abs(error).max()), float(compared.S_margin.max()))
    ax.set_ylim(-reach, reach)
    if summary is None:
        return ""
    bias = f"bias {summary.bias:+.4f}, scatter {summary.scatter:.4f}"
    if summary.count == 1:
        bias = f"error {summary.bias:+.4f}"
    return (
        f"{bias},\n"
        rf"{100 * summary.coverage:.0f} % within ${compared.k:g}\,u_\mathrm{{val}}$"
    )


def _draw_distances(ax: Axes, compared: ComparedSet) -> None:
    at = np.arange(len(compared.names), dtype=np.float64)
    for x, limit, margin in zip(
        at, compared.rms_limit_mm, compared.node_margin_mm, strict=True
    ):
        ends = [x - 0.3, x + 0.3]
        ax.plot(
            ends,
            [limit] * 2,
            "-.",
            color=style.SIMULATED,
            lw=1.2,
            label="most by chance",
        )
        ax.plot(ends, [margin] * 2, "--", color=style.FAINT, lw=0.7, label="margin")
    _points(ax, compared, at, compared.rms_mm, np.zeros(len(at)))
    ax.set_yscale("log")
    ax.margins(y=0.3)
    ax.set_ylabel("node distance, rms (mm)")
    _name_axis(ax, compared, at)


def _name_axis(ax: Axes, compared: ComparedSet, at: Floats) -> None:
    ax.set_xticks(at, compared.names, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.6, len(at) - 0.4)
