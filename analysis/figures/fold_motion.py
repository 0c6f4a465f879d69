"""Sheets that are let go: a crease that rings, a pyramid that snaps, its energies."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import (
    SCANNED,
    SIMULATED,
    labelled_lines,
    legend_below,
    own_ranges,
    provenance,
    put_letter,
    say_below,
    size,
    styled,
)
from sim.arrays import Floats

SHOWN = 0.4  # of the time of a snap
ENERGIES = (
    ("kinetic_energy", SIMULATED, "-"),
    ("strain_energy", SCANNED, "--"),
    ("lost_energy", "#009E73", "-."),
    ("total_energy", "#000000", ":"),
)


@dataclass(frozen=True, eq=False)
class RingingCrease:
    """A panel on a crease: time (s,) s, fold (s,) rad; known frequency, rad/s."""

    time: Floats
    fold: Floats
    frequency: float

    def known(self, time: Floats) -> Floats:
        """(t,) rad."""
        return np.asarray(self.fold[0] * np.cos(self.frequency * time))


def moving_folds(
    ringing: RingingCrease,
    snaps: dict[str, pd.DataFrame],
    runs: list[tuple[str, str]],
) -> Figure:
    """Three panels; the energies are those of the first of `snaps`."""
    with styled():
        figure, (plots,) = sheet(PanelGrid(3, 56.0, 46.0), more=8.0)
        _draw_ringing(plots[0], ringing)
        for (name, table), (colour, line) in zip(
            snaps.items(), ((SIMULATED, "-"), (SCANNED, "--")), strict=False
        ):
            plots[1].plot(
                1e3 * table["time"], 1e3 * table["watched"], line, color=colour,
                label=f"{name} (b)",
            )  # fmt: skip
        plots[1].set_xlabel("time (ms)")
        plots[1].set_ylabel("height of the apex (mm)")
        _draw_energies(plots[2], next(iter(snaps.values())))
        for ax in plots[1:]:
            ax.set_xlim(0.0, SHOWN * 1e3 * next(iter(snaps.values()))["time"].max())
        own_ranges(plots)
        for letter, ax in zip("abc", plots, strict=True):
            put_letter(ax, letter)
        legend_below(figure, labelled_lines(plots))
        say_below(figure, provenance(runs, synthetic=False))
    return figure


def _draw_ringing(ax: Axes, ringing: RingingCrease) -> None:
    fine = np.linspace(0.0, ringing.time[-1], 601)
    ax.plot(
        1e3 * fine, np.degrees(ringing.known(fine)), color="black", lw=0.7,
        label="closed form (a)",
    )  # fmt: skip
    ax.plot(
        1e3 * ringing.time[::4], np.degrees(ringing.fold[::4]), "o", color=SIMULATED,
        mfc="white", ms=size(2.5), label="every fourth step (a)",
    )  # fmt: skip
    ax.set_xlabel("time (ms)")
    ax.set_ylabel("fold (\N{DEGREE SIGN})")


def _draw_energies(ax: Axes, table: pd.DataFrame) -> None:
    for name, colour, line in ENERGIES:
        label = f"{name.split('_', maxsplit=1)[0]} (c)"
        energy = 1e3 * table[name]
        ax.plot(1e3 * table["time"], energy, line, color=colour, lw=0.9, label=label)
    ax.set_xlabel("time (ms)")
    ax.set_ylabel("energy (mJ)")
