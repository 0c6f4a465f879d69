"""Measured series beside simulated ones."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.units import UNITS
from analysis.validation.series import FITTED, HELD_OUT, SeriesError, simulated_curve

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
    with style.styled():
        count = len(quantities)
        figure, (panels,) = sheet(PanelGrid(count, 89.0, 54.0, most=1), more=6.0)
        for k, (panel, quantity) in enumerate(zip(panels, quantities, strict=True)):
            at, value = simulated_curve(simulated, along, quantity)
            panel.plot(at, value, color=style.SIMULATED, label="simulated")
            _draw_measured(panel, measured[measured["quantity"] == quantity], synthetic)
            said = [
                f"{e.part}: rms {style.number(e.rms, 3)}, "
                f"baseline {style.number(e.baseline_rms, 3)}"
                for e in errors
                if e.quantity == quantity
            ]
            style.put_letter(panel, "abcdefghij"[k % 10], "\n".join(said))
            panel.set_ylabel(UNITS.get(quantity, quantity))
            panel.set_xlabel(UNITS.get(along, along))
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
    for part, filled in ((FITTED, False), (HELD_OUT, True)):
        some = rows[rows["part"] == part]
        if len(some):
            panel.errorbar(
                some["at"],
                some["value"],
                yerr=2 * some["u"],
                fmt="o" if filled else "s",
                color=style.SCANNED_EDGE,
                mfc=style.SCANNED if filled else "white",
                capsize=1.5,
                elinewidth=0.6,
                label=f"{what}, {part}",
            )
