"""Measured and simulated series.

`fitted_series` adds residuals of fitted parameters, and what the fit is worth.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.comparison.compare_series import (
    FITTED,
    HELD_OUT,
    SeriesError,
    simulated_curve,
)
from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.style import UNITS, PanelGrid, sheet, size

PARTS = ((FITTED, "s", "white"), (HELD_OUT, "o", style.SCANNED))  # mark and its face
COMPUTED = "The measurements are synthetic: they were computed, not measured."


@style.styled()
def measured_series(
    measured: pd.DataFrame,
    simulated: pd.DataFrame,
    along: str,
    errors: Sequence[SeriesError],
    runs: Sequence[tuple[str, str]],
    *,
    synthetic: bool = False,
) -> Figure:
    """One panel a quantity: the simulated curve, measurements with k = 2 error bars.

    Parameters
    ----------
    measured : as of analysis.comparison.compare_series.check_series
    errors : as of analysis.comparison.compare_series.compare_series
    runs : (what, key) of the runs shown
    """
    quantities = sorted(set(measured["quantity"]))
    count = len(quantities)
    figure, (panels,) = sheet(PanelGrid(count, 89.0, 54.0, most=1), more=6.0)
    for k, (panel, quantity) in enumerate(zip(panels, quantities, strict=True)):
        at, value = simulated_curve(simulated, along, quantity)
        panel.plot(at, value, color=style.SIMULATED, label="simulated")
        _draw_measured(panel, measured[measured["quantity"] == quantity], synthetic)
        texts = [
            f"{e.part}: rms {style.number(e.rms, 3)}, "
            f"baseline {style.number(e.baseline_rms, 3)}"
            for e in errors
            if e.quantity == quantity
        ]
        style.put_letter(panel, "abcdefghij"[k % 10], "\n".join(texts))
        panel.set(ylabel=UNITS.get(quantity, quantity), xlabel=UNITS.get(along, along))
    named = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    style.legend_below(figure, [*named.values()], [*named])
    style.say_below(figure, runs, COMPUTED if synthetic else "")
    return figure


def _draw_measured(panel: Axes, rows: pd.DataFrame, synthetic: bool) -> None:
    """Measurements of one quantity: filled circles held out, open squares fitted."""
    what = "synthetic" if synthetic else "measured"
    bars: dict[str, Any] = {"capsize": 1.5, "elinewidth": 0.6}
    for part, mark, face in PARTS:
        some = rows[rows["part"] == part]
        if len(some):
            label, u = f"{what}, {part}", 2 * some["u"]
            look: dict[str, Any] = {"color": style.SCANNED_EDGE, "mfc": face, **bars}
            panel.errorbar(some["at"], some["value"], u, fmt=mark, label=label, **look)


SYMBOLS = {  # label, unit, what the number is divided by
    "modulus": ("$E$", "MPa", 1e6),
    "beta": (r"$\beta$", "ms", 1e-3),
    "rate": (r"$\tau$", "1/s", 1.0),
    "delay": (r"$\bar{t}$", "s", 1.0),
    "least_curvature": (r"$n$ (curvature)", "", 1.0),
    "most_modulus": (r"$n$ (modulus)", "", 1.0),
}
QUANTITIES = {"curvature": r"$\bar\kappa/\bar\kappa_0$", "modulus": "$E/E_0$"}


FIT_TABLES = ("curves", "measurements", "parameters", "errors")
Fit = Mapping[str, pd.DataFrame]  # these, by name


def draw_rod_fit(runs: Sequence[ShownRun]) -> DrawnFigure:
    """A row a fit, runs of cases such as beam_fit: quantities, residuals, numbers.

    Tables of each: curves (quantity, at, nominal, fitted), measurements (quantity, at,
    value, u, part, nominal, fitted, fitted_u), parameters (parameter, nominal, value,
    u, determined), errors (quantity, part, count, u, rms, rms_nominal, rms_mean).
    """
    fits = [{name: run.read(f"{name}.csv") for name in FIT_TABLES} for run in runs]
    counts = [fit["measurements"]["quantity"].nunique() for fit in fits]
    figure, rows = sheet(*[_panels(count) for count in counts], more=6.0)
    letters = iter("abcdefgh")
    for run, fit, panels in zip(runs, fits, rows, strict=True):
        _draw_row(panels, run.title, fit, letters)
    handles, labels = rows[0][0].get_legend_handles_labels()
    style.legend_below(figure, handles, labels)
    both = list(zip(runs, fits, strict=True))
    tables = {
        name: pd.concat(
            [fit[name].assign(fit=run.label) for run, fit in both], ignore_index=True
        )
        for name in FIT_TABLES
    }
    notes = [COMPUTED] if any(_synthetic(fit) for fit in fits) else []
    return DrawnFigure(figure, tables, notes=notes)


def _synthetic(fit: Fit) -> bool:
    return bool(fit["measurements"]["synthetic"].astype(str).eq("True").any())


def _panels(quantities: int) -> PanelGrid:
    """A panel a quantity, and one for the numbers."""
    ratios = [2.6 / quantities] * quantities
    return PanelGrid(quantities + 1, 44.0, 62.0, [*ratios, 1.0])


def _draw_row(
    panels: Sequence[Axes], title: str, fit: Fit, letters: Iterator[str]
) -> None:
    names = sorted(set(fit["measurements"]["quantity"]))
    for name, ax in zip(names, panels, strict=False):
        below = ax.inset_axes((0.0, -0.5, 1.0, 0.38))
        _draw_quantity(ax, below, fit, name)
        style.put_letter(ax, next(letters), title if name == names[0] else "")
    table, alone = panels[-1], _panels(len(names)).rows == 1
    table.set_axis_off()  # below panels its numbers may be wider than one of them
    text = "\n".join(_numbers(fit))
    table.text(0.0, 1.0, text, va="top", fontsize=size(6.0), in_layout=alone)


def _draw_quantity(above: Axes, below: Axes, fit: Fit, name: str) -> None:
    ratio = name in QUANTITIES
    scale = 1.0 if ratio else 1e3
    curve = fit["curves"][fit["curves"]["quantity"] == name]
    looks: dict[str, dict[str, Any]] = {
        "nominal": {"color": style.TARGET, "ls": (0, (4, 2))},
        "fitted": {"color": style.SIMULATED},
    }
    for column, look in looks.items():
        above.plot(curve["at"], scale * curve[column], label=column, **look)
    rows = fit["measurements"][fit["measurements"]["quantity"] == name]
    below.axhline(0.0, color=style.SIMULATED, lw=0.8)
    what = "synthetic" if _synthetic(fit) else "measured"
    for part, marker, face in PARTS:
        some = rows[rows["part"] == part]
        above.plot(
            some["at"], scale * some["value"], marker, ms=3.0, color=style.SCANNED_EDGE,
            mfc=face, mew=0.6, label=f"{what}, {part}",
        )  # fmt: skip
        left_over = scale * (some["value"] - some["fitted"])
        below.errorbar(
            some["at"], left_over, yerr=2.0 * scale * some["u"], fmt=marker, ms=2.5,
            color=style.SCANNED_EDGE, mfc=face, mew=0.6, elinewidth=0.6,
        )  # fmt: skip
    last = rows.loc[rows["part"] == FITTED, "at"].max()
    for ax in (above, below):
        ax.axvline(last, color=style.FAINT, lw=0.5, ls=":")
        ax.set_xlim(left=min(0.0, float(rows["at"].min())))
    above.set_ylabel(f"{_symbol(name)} {'(-)' if ratio else '(mm)'}")
    above.tick_params(labelbottom=False)
    below.set_ylabel("residual " + ("(-)" if ratio else "(mm)"))
    names = fit["parameters"]["parameter"].astype(str)
    of_arm = names.str.endswith("_times").any()  # parameters are multiples of its own
    axis = "fraction of the tensions (-)" if of_arm else "time $t$ (s)"
    below.set_xlabel(axis)


def _symbol(quantity: str) -> str:
    """A quantity as it is printed: "x_tip" as a coordinate of the tip."""
    return QUANTITIES.get(quantity, f"${quantity[0]}$ of {quantity[2:]}")


def _numbers(fit: Fit) -> list[str]:
    """The parameters with u, then the errors of fit and baselines by part."""
    lines = ["fitted (nominal)"]
    for row in fit["parameters"].to_dict("records"):
        name = str(row["parameter"])
        symbol, unit, size = SYMBOLS.get(name, (name.replace("_", " "), "", 1.0))
        value, u = float(row["value"]) / size, float(row["u"]) / size
        fitted = "not determined"
        if row["determined"] == "yes":
            digits = max(0, 1 - int(np.floor(np.log10(u)))) if u > 0 else 3
            fitted = rf"= {value:.{digits}f} $\pm$ {u:.{digits}f} {unit}".rstrip()
        lines.append(f"{symbol} {fitted} ({float(row['nominal']) / size:.3g})")
    lines += ["", "rms error: fit / nominal inputs / data mean as model; rms $u$"]
    for row in fit["errors"].to_dict("records"):
        ratio = row["quantity"] in QUANTITIES
        scale, unit = (1.0, "") if ratio else (1e3, " mm")
        three = " / ".join(
            f"{scale * float(x):.2g}"
            for x in (row["rms"], row["rms_nominal"], row["rms_mean"])
        )
        lines.append(f"{_symbol(row['quantity'])}, {row['part']} ({row['count']}):")
        lines.append(f"    {three}; {scale * float(row['u']):.2g}{unit}")
    return lines
