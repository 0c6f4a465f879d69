"""Driven creases: heat along a strip and in time, flaps, a vertex by a moment."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.sheet import PanelGrid, sheet
from sim.arrays import Floats

DEGREES = "(\N{DEGREE SIGN})"
TERMS = 2000  # of the series
TIMES = (1.0, 4.0, 6.0)  # s, of those that are there
COLOURS = (style.SIMULATED, style.SCANNED, "#009E73")


@dataclass(frozen=True)
class HeatedFin:
    """A strip that is heated across its middle until it is left to cool.

    Attributes
    ----------
    half : from the middle to either end, m
    diffusivity : m^2/s
    loss : rate at which a part without neighbours cools, 1/s
    warming : of the whole strip by the power without loss, K/s
    off : when the power ends, s
    """

    half: float
    diffusivity: float
    loss: float
    warming: float
    off: float

    def rise(self, x: Floats, time: float) -> Floats:
        """(n,) K at distances x (n,) from the middle: a Fourier series in cosines."""
        on = self._since(x, time)
        return on - self._since(x, time - self.off) if time > self.off else on

    def _since(self, x: Floats, time: float) -> Floats:
        k = np.arange(TERMS)
        rate = self.diffusivity * (k * np.pi / self.half) ** 2 + self.loss
        grown = self.warming * np.where(k > 0, 2.0, 1.0) * -np.expm1(-rate * time)
        return np.asarray(np.cos(np.pi / self.half * np.outer(x, k)) @ (grown / rate))


@dataclass(frozen=True, eq=False)
class HeatedStrip:
    """A run of it.

    Attributes
    ----------
    fin : what is known of it
    x : (n,) m of nodes along the strip, from its heated crease
    time : (s,) s
    rise : (s, n) K
    fold : (s,) rad of that crease
    turn : fold per kelvin by Timoshenko's closed form, rad/K
    """

    fin: HeatedFin
    x: Floats
    time: Floats
    rise: Floats
    fold: Floats
    turn: float


@dataclass(frozen=True, eq=False)
class TurnedVertex:
    """A vertex that is turned by one crease.

    Attributes
    ----------
    moment, fold : (s,) N m, rad of that crease
    stiffness : N m of each crease
    ratios : (c,) tangents of half the folds over that of the turned crease, of rigid
        panels
    """

    moment: Floats
    fold: Floats
    stiffness: float
    ratios: Floats

    def rigid_moment(self, fold: Floats) -> Floats:
        """(s,) N m that hold rigid panels at a fold (s,): the slope of the energy."""
        half = np.tan(0.5 * fold)[:, None] * self.ratios
        slope = self.ratios * (1.0 + np.tan(0.5 * fold)[:, None] ** 2) / (1.0 + half**2)
        return np.asarray(
            self.stiffness * np.sum(2.0 * np.arctan(half) * slope, axis=1)
        )


def driven_folds(
    strip: HeatedStrip,
    flaps: pd.DataFrame,
    vertex: TurnedVertex,
    runs: list[tuple[str, str]],
) -> Figure:
    """Four panels; `flaps` has a column power (W), and a column of each fold, rad."""
    with style.styled():
        figure, (plots,) = sheet(PanelGrid(4, 56.0, 46.0), more=8.0)
        _draw_profiles(plots[0], strip)
        _draw_time(plots[1], strip)
        _draw_flaps(plots[2], flaps)
        _draw_vertex(plots[3], vertex)
        style.own_ranges(plots)
        style.put_letters(plots)
        style.legend_below(figure, style.labelled_lines(plots))
        style.say_below(figure, runs)
    return figure


def _draw_profiles(ax: Axes, strip: HeatedStrip) -> None:
    along = np.linspace(strip.x.min(), strip.x.max(), 201)
    shown = [t for t in TIMES if np.isclose(strip.time, t).any()]
    for time, colour in zip(shown, COLOURS, strict=False):
        s = int(np.argmin(np.abs(strip.time - time)))
        ax.plot(1e3 * along, strip.fin.rise(np.abs(along), time), color="black", lw=0.8)
        ax.plot(
            1e3 * strip.x, strip.rise[s], "o", color=colour, mfc="white",
            ms=style.size(3.0), label=f"{time:g} s (a)",
        )  # fmt: skip
    ax.set_xlabel("distance from the crease (mm)")
    ax.set_ylabel("rise of temperature (K)")


def _draw_time(ax: Axes, strip: HeatedStrip) -> None:
    fine = np.linspace(0.0, strip.time[-1], 201)
    known = [strip.turn * strip.fin.rise(np.zeros(1), t)[0] for t in fine]
    ax.plot(
        fine, np.degrees(known), color="black", lw=0.8, label="closed forms (a, b, d)"
    )
    ax.plot(
        strip.time, np.degrees(strip.fold), "o", color=style.SIMULATED, mfc="white",
        ms=style.size(3.0), label="simulated (b, d)",
    )  # fmt: skip
    ax.set_xlabel("time $t$ (s)")
    ax.set_ylabel(f"fold of the crease {DEGREES}")


def _draw_flaps(ax: Axes, flaps: pd.DataFrame) -> None:
    power = 1e3 * flaps["power"]
    names = [name for name in map(str, flaps) if name != "power"]
    lines = ("-", "--", ":", "-.")
    for name, line, colour in zip(
        names, lines, (style.SIMULATED, style.SCANNED) * 2, strict=False
    ):
        ax.plot(power, np.degrees(flaps[name]), line, color=colour, label=f"{name} (c)")
    ax.set_xlabel("power of all creases (mW)")
    ax.set_ylabel(f"fold {DEGREES}")


def _draw_vertex(ax: Axes, vertex: TurnedVertex) -> None:
    fold = np.linspace(0.0, vertex.fold.max(), 101)
    ax.plot(np.degrees(fold), 1e3 * vertex.rigid_moment(fold), color="black", lw=0.8)
    ax.plot(
        np.degrees(vertex.fold), 1e3 * vertex.moment, "o", color=style.SIMULATED,
        mfc="white", ms=style.size(3.0),
    )  # fmt: skip
    ax.set_xlabel(f"fold of the turned crease {DEGREES}")
    ax.set_ylabel("moment (mN m)")
