"""Sheets let go: a crease that rings, a pyramid that snaps, leaves on a slope."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

SHOWN = 0.4  # of the time of a snap
ENERGIES = (
    ("kinetic_energy", style.SIMULATED, "-"),
    ("strain_energy", style.SCANNED, "--"),
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


@dataclass(frozen=True, eq=False)
class SlidingLeaf:
    """A leaf on a slope: time (s,) s, way (s,) m down it; what friction is, degrees."""

    time: Floats
    way: Floats
    friction: float
    slope: float
    gravity: float

    @property
    def acceleration(self) -> float:
        """Of a rigid leaf by Coulomb's law, m/s^2; 0 where it sticks."""
        lean = np.radians(self.slope)
        left = float(np.sin(lean) - self.friction * np.cos(lean))
        return self.gravity * max(left, 0.0)

    def known(self, time: Floats) -> Floats:
        """(t,) m."""
        return np.asarray(0.5 * self.acceleration * time**2)


def moving_folds(
    ringing: RingingCrease,
    snaps: dict[str, pd.DataFrame],
    leaves: Sequence[SlidingLeaf],
    runs: list[tuple[str, str]],
) -> Figure:
    """Four panels; the energies are those of the first of `snaps`."""
    with style.styled():
        figure, (plots,) = sheet(PanelGrid(4, 56.0, 46.0), more=8.0)
        _draw_ringing(plots[0], ringing)
        for (name, table), (colour, line) in zip(
            snaps.items(), ((style.SIMULATED, "-"), (style.SCANNED, "--")), strict=False
        ):
            plots[1].plot(
                1e3 * table["time"], 1e3 * table["watched"], line, color=colour,
                label=f"{name} (b)",
            )  # fmt: skip
        plots[1].set_xlabel("time $t$ (ms)")
        plots[1].set_ylabel("height of apex (mm)")
        _draw_energies(plots[2], next(iter(snaps.values())))
        _draw_leaves(plots[3], leaves)
        for ax in plots[1:3]:
            ax.set_xlim(0.0, SHOWN * 1e3 * next(iter(snaps.values()))["time"].max())
        style.own_ranges(plots)
        style.put_letters(plots)
        style.legend_below(figure, style.labelled_lines(plots))
        style.say_below(figure, runs)
    return figure


def _draw_ringing(ax: Axes, ringing: RingingCrease) -> None:
    fine = np.linspace(0.0, ringing.time[-1], 601)
    ax.plot(
        1e3 * fine, np.degrees(ringing.known(fine)), color="black", lw=0.7,
        label="closed form (a, d)",
    )  # fmt: skip
    ax.plot(
        1e3 * ringing.time[::4], np.degrees(ringing.fold[::4]), "o",
        color=style.SIMULATED, mfc="white", ms=style.size(2.5),
        label="every fourth step (a)",
    )  # fmt: skip
    ax.set_xlabel("time $t$ (ms)")
    ax.set_ylabel("fold (\N{DEGREE SIGN})")


def _draw_energies(ax: Axes, table: pd.DataFrame) -> None:
    for name, colour, line in ENERGIES:
        label = f"{name.split('_', maxsplit=1)[0]} (c)"
        energy = 1e3 * table[name]
        ax.plot(1e3 * table["time"], energy, line, color=colour, lw=0.9, label=label)
    ax.set_xlabel("time $t$ (ms)")
    ax.set_ylabel("energy (mJ)")


def _draw_leaves(ax: Axes, leaves: Sequence[SlidingLeaf]) -> None:
    markers = zip(
        leaves,
        ("o", "s", "^"),
        (style.SIMULATED, style.SCANNED, "#009E73"),
        strict=True,
    )
    for leaf, marker, colour in markers:
        fine = np.linspace(0.0, leaf.time[-1], 101)
        ax.plot(1e3 * fine, 1e3 * leaf.known(fine), color="black", lw=0.7)
        ax.plot(
            1e3 * leaf.time[::10], 1e3 * leaf.way[::10], marker, color=colour,
            mfc="white", ms=style.size(2.5), label=f"\N{GREEK SMALL LETTER MU} = "
            f"{leaf.friction:g} (d)",
        )  # fmt: skip
    ax.set_xlabel("time $t$ (ms)")
    ax.set_ylabel("way down (mm)")
