"""Measured series beside simulated ones."""

from collections.abc import Sequence

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.style import (
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED,
    SCANNED_EDGE,
    SIMULATED,
    provenance,
)
from analysis.validation.series import FITTED, HELD_OUT, SeriesError, simulated_curve

UNITS = {  # of columns of steps.csv, as they are read: label and unit
    "time": "time, s",
    "x_c": "$x_c$, m",
    "y_c": "$y_c$, m",
    "way_over_H": "way / $H$",
    "x_first": "$x$ of the first node, m",
    "y_first": "$y$ of the first node, m",
    "load": "load, N",
    "displacement": "displacement, m",
}
COMPUTED = "The measurements are synthetic: computed, no instrument took them."


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
    measured : as of analysis.validation.series.check_series
    errors : as of analysis.validation.series.compare_series
    runs : (what, key) of the runs shown
    """
    quantities = sorted(set(measured["quantity"]))
    with rc_context(RC):
        height = 2.1 * len(quantities) + 0.45
        figure = Figure(figsize=(FULL_WIDTH * 0.62, height))
        panels = figure.subplots(len(quantities), 1, squeeze=False)[:, 0]
        for panel, quantity in zip(panels, quantities, strict=True):
            at, value = simulated_curve(simulated, along, quantity)
            panel.plot(at, value, color=SIMULATED, label="simulated")
            _draw_measured(panel, measured[measured["quantity"] == quantity], synthetic)
            said = [
                f"{e.part}: rms {e.rms:.3g}, baseline {e.baseline_rms:.3g}"
                for e in errors
                if e.quantity == quantity
            ]
            panel.set_title("; ".join(said), size=6.5, loc="right")
            panel.set_ylabel(UNITS.get(quantity, quantity))
        panels[-1].set_xlabel(UNITS.get(along, along))
        figure.tight_layout(rect=(0, 0.2 / height, 1, 1 - 0.2 / height))
        named = {
            label: handle
            for panel in panels
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        figure.legend([*named.values()], [*named], loc="upper center", ncols=len(named))
        foot = provenance(runs, synthetic=False)
        if synthetic:
            foot += f"{'.  ' if foot else ''}{COMPUTED}"
        middle, low = 0.5, 0.06 / height
        figure.text(middle, low, foot, ha="center", size=5, color=FAINT)
    return figure


def _draw_measured(panel: Axes, rows: pd.DataFrame, synthetic: bool) -> None:
    """Measurements of one quantity: filled circles held out, open squares fitted."""
    what = "synthetic" if synthetic else "measured"
    for part, filled in ((FITTED, False), (HELD_OUT, True)):
        some = rows[rows["part"] == part]
        if len(some):
            panel.errorbar(
                some["at"],
                some["value"],
                yerr=2 * some["u"],
                fmt="o" if filled else "s",
                color=SCANNED_EDGE,
                mfc=SCANNED if filled else "white",
                capsize=1.5,
                elinewidth=0.6,
                label=f"{what}, {part}",
            )
