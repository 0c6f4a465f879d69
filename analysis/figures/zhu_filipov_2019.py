"""Figures of [ZF19]: a node at a panel, sheets that fold, loads that they bear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from analysis.figures.sheets import FoldedSheet, draw_sheet, frame_sheets
from analysis.figures.style import FULL_WIDTH, RC, provenance
from sim.arrays import Floats, Ints

SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000"]
MARKS = ["o", "s", "^", "D", "v"]
VERDICT_COLOUR = {"lock": "#009E73", "no": "#D9D9D9", "ambiguous": "#E69F00"}


@dataclass(frozen=True, eq=False)
class OrigamiRun:
    """A finished run as figures read it.

    Parameters
    ----------
    label, key : what it is called, and the key of its run
    x, force : (steps, n, 3) m, N
    triangles, triangle_panel : (t, 3), (t,)
    panels : how many panels there are
    table : steps.csv
    """

    label: str
    key: str
    x: Floats
    force: Floats
    triangles: Ints
    triangle_panel: Ints
    panels: int
    table: pd.DataFrame

    def sheet(self, step: int, *, forces: bool = False) -> FoldedSheet:
        """The state after `step`."""
        return FoldedSheet(
            self.x[step],
            self.triangles,
            self.triangle_panel,
            self.panels,
            self.force[step] if forces else None,
        )

    def phase(self, number: int) -> pd.DataFrame:
        """Rows of one phase; the first is the state in which it began."""
        rows = self.table[self.table["phase"] == number]
        return rows[rows["increment"] > 0]


def _say_runs(figure: Figure, runs: Sequence[OrigamiRun]) -> None:
    text = provenance([(run.label, run.key) for run in runs], synthetic=False)
    figure.text(0.01, 0.01, text, fontsize=5.0, color="#5A5A5A")


def _letter(ax: Axes | Axes3D, letter: str) -> None:
    write, x, y = ax.text, -0.18, 1.04
    if isinstance(ax, Axes3D):
        write, x, y = ax.text2D, 0.0, 0.96
    write(x, y, letter, transform=ax.transAxes, fontweight="bold", fontsize=8.5)


def _picture(
    figure: Figure,
    place: tuple[float, float, float, float],
    run: OrigamiRun,
    step: int,
    *,
    view: tuple[float, float] = (28.0, -60.0),
    arrow: float = 0.0,
    title: str = "",
) -> Axes3D:
    """One state in its own axes."""
    ax = figure.add_axes(place, projection="3d", computed_zorder=True)
    assert isinstance(ax, Axes3D)
    draw_sheet(ax, run.sheet(step, forces=arrow > 0), view=view, arrow=arrow)
    frame_sheets(ax, run.x[[step]], elevation=view[0], azimuth=view[1])
    if title:
        ax.set_title(title, pad=-4)
    return ax


def contact_of_a_node(approach: pd.DataFrame, crossing: pd.DataFrame) -> Figure:
    """Fig. 5: force and stiffness along the normal as a node nears or crosses a panel.

    Parameters
    ----------
    approach : d, force, stiffness
    crossing : delta, z, force, stiffness
    """
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 3.6), layout="constrained")
        (b, c), (e, f) = figure.subplots(2, 2)
        b.plot(approach["d"], approach["force"], color=SERIES[0])
        c.plot(approach["d"], approach["stiffness"], color=SERIES[0])
        for ax, column in ((e, "force"), (f, "stiffness")):
            for (z, rows), colour in zip(crossing.groupby("z"), SERIES, strict=False):
                label = f"$z$ = {z:g}"
                ax.plot(rows["delta"], rows[column], color=colour, label=label)
            ax.set_xlabel(r"position of the node $\delta$ (-)")
            ax.legend()
        for ax, top in ((b, 12.0), (c, 60.0)):
            ax.axvline(1.0, color="#8C8C8C", lw=0.6, ls=":")
            ax.set_xlabel("distance $d$ (-), contact begins at $d_0$ = 1")
            ax.set_ylim(-0.03 * top, top)  # both grow without bound as d falls to 0
        for ax, letter in ((b, "b"), (c, "c"), (e, "e"), (f, "f")):
            force = ax in (b, e)
            ax.set_ylabel("$f_z$ (-)" if force else "$K_{zz}$ (-)")
            _letter(ax, letter)
    return figure


def behaviour_of_contact(
    run: OrigamiRun,
    ke: pd.DataFrame,
    d0: pd.DataFrame,
    ratio: pd.DataFrame,
    reactions: pd.DataFrame,
) -> Figure:
    """Fig. 7: how ke, d0 and their ratio act, and reactions beside statics.

    Parameters
    ----------
    run : a single fold, pressed
    ke, d0 : value, load (N), height (m)
    ratio : ratio, share of the contact force at centres and at edges
    reactions : case, x_over_L, support, simulated, statics (N)
    """
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 4.6))
        ax = _picture(
            figure, (0.0, 0.56, 0.30, 0.38), run, -1, view=(10.0, -70.0), arrow=0.008
        )
        ax.set_title(f"{run.label}, end of loading", pad=2)
        _letter(ax, "f")
        for left, table, name, letter, scale in (
            (0.39, ke, "$k_e$ (J)", "g", 1.0),
            (0.73, d0, "$d_0$ (mm)", "h", 1e3),
        ):
            ax = figure.add_axes((left, 0.60, 0.25, 0.34))
            groups = zip(table.groupby("value"), SERIES, strict=False)
            for (value, rows), colour in groups:
                height, load = 1e3 * rows["height"], 1e3 * rows["load"]
                ax.plot(
                    height, load, color=colour, label=f"{scale * float(str(value)):g}"
                )
            ax.legend(title=name)
            ax.set_xlabel("height $z$ (mm)")
            ax.set_ylabel("load (mN)")
            _letter(ax, letter)
        _force_shares(figure.add_axes((0.07, 0.11, 0.22, 0.33)), ratio)
        for k, (fold, own) in enumerate(reactions.groupby("case", sort=False)):
            ax = figure.add_axes((0.39 + 0.34 * k, 0.11, 0.25, 0.33))
            _reactions(ax, str(fold), own, k)
        _say_runs(figure, [run])
    return figure


def _force_shares(ax: Axes, ratio: pd.DataFrame) -> None:
    for column, colour, mark, label in (
        ("centre", SERIES[0], "o", "centres $I_c$"),
        ("edge", SERIES[1], "s", "edges $I_e$"),
    ):
        ax.plot(ratio["ratio"], ratio[column], mark + "-", color=colour, label=label)
    ax.set_xlabel("$d_{0c}/d_{0e}$ (-)")
    ax.set_ylabel("share of force (-)")
    ax.set_ylim(-0.05, 1.05)
    ax.legend(loc="center left")
    _letter(ax, "i")


def _reactions(ax: Axes, name: str, rows: pd.DataFrame, k: int) -> None:
    for (support, own), colour, mark in zip(
        rows.groupby("support"), SERIES, MARKS, strict=False
    ):
        ax.plot(own["x_over_L"], 1e3 * own["statics"], color=colour, lw=0.8)
        ax.plot(
            own["x_over_L"],
            1e3 * own["simulated"],
            mark,
            color=colour,
            mfc="none",
            label=str(support),
        )
    ax.set_xlabel("$x/L$ (-)")
    ax.set_ylabel("reaction (mN)")
    ax.set_title(f"{name} (lines: statics)")
    ax.legend()
    _letter(ax, "jk"[k])


def box_folds_itself(run: OrigamiRun) -> Figure:
    """Fig. 8: states on the way, the end with its contact forces, the energy."""
    last = len(run.x) - 1
    stops = [last // 2, 2 * last // 3, 5 * last // 6, last]
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 3.9))
        ax = _picture(figure, (0.0, 0.46, 0.33, 0.50), run, 0, view=(50, -60))
        _letter(ax, "a")
        _picture(
            figure,
            (0.28, 0.46, 0.36, 0.50),
            run,
            last,
            view=(24, -118),
            arrow=0.02,
            title="end, forces of contact",
        )
        curve = figure.add_axes((0.74, 0.60, 0.24, 0.32))
        energy = 1e6 * run.table["strain_energy"].to_numpy()
        curve.plot(run.table["step"], energy, color=SERIES[0])
        for number, stop in enumerate(stops, start=1):
            curve.plot(stop, energy[stop], "o", color=SERIES[1])
            curve.annotate(
                str(number), (stop, energy[stop]), (-4, 4), textcoords="offset points"
            )
            state = _picture(
                figure,
                (0.25 * (number - 1), 0.02, 0.25, 0.40),
                run,
                stop,
                view=(24, -118),
                title=f"{number}: increment {stop}",
            )
            if number == 1:
                _letter(state, "c")
        curve.set_xlabel("increment", labelpad=1)
        curve.set_ylabel(r"strain energy ($\mathrm{\mu}$J)")
        _letter(curve, "b")
        _say_runs(figure, [run])
    return figure


def corner_bears_load(touching: OrigamiRun, free: OrigamiRun) -> Figure:
    """Fig. 9: folded, loaded with and without contact, and the load-displacement."""
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 3.6))
        folded = int(touching.phase(0)["step"].iloc[-1])
        view = (34.0, -142.0)
        _letter(
            _picture(
                figure, (0.0, 0.28, 0.27, 0.45), touching, folded, view=view,
                title="folded",
            ),
            "a",
        )  # fmt: skip
        for run, height, what in (
            (touching, 0.50, "with contact"),
            (free, 0.04, "without contact"),
        ):
            _picture(
                figure,
                (0.27, height, 0.30, 0.44),
                run,
                -1,
                view=view,
                arrow=0.02 if run is touching else 0.0,
                title=f"loaded, {what}",
            )
        ax = figure.add_axes((0.67, 0.16, 0.31, 0.74))
        for run, colour, style in ((touching, SERIES[0], "-"), (free, SERIES[1], "--")):
            rows = run.phase(1)
            ax.plot(
                1e3 * rows["displacement"],
                1e3 * rows["load"],
                style,
                color=colour,
                label="with contact" if run is touching else "without contact",
            )
        ax.set_xlabel("displacement since folding (mm)")
        ax.set_ylabel("load (mN)")
        ax.legend()
        _letter(ax, "b")
        _say_runs(figure, [touching, free])
    return figure


def folding_sequences(
    runs: Sequence[OrigamiRun],
    creases: Mapping[str, Floats],
    verdicts: pd.DataFrame | None = None,
) -> Figure:
    """Fig. 10: the creases, end states of some sequences, and the verdict on all 75.

    Parameters
    ----------
    creases : the middle (3,) of each crease of the flat sheet by its name, m
    verdicts : sequence ("1-2-2-3"), increments, verdict
    """
    with rc_context(RC):
        height = 2.0 if verdicts is None else 4.6
        figure = Figure(figsize=(FULL_WIDTH, height))
        width, high = 1.0 / (len(runs) + 1), 1.75 / height
        low = 1.0 - 1.9 / height
        flat = _picture(figure, (0.0, low, width, high), runs[0], 0, view=(60, -60))
        _letter(flat, "a")
        for name, middle in creases.items():
            flat.text(*middle, name, ha="center", va="center", zorder=1e4)
        for k, run in enumerate(runs, start=1):
            place = (k * width, low, width, high)
            ax = _picture(figure, place, run, -1, view=(38.0, 205.0), title=run.label)
            _letter(ax, "abcd"[k])
        if verdicts is not None:
            _verdict_map(figure.add_axes((0.02, 0.12, 0.96, 0.40)), verdicts)
        _say_runs(figure, runs)
    return figure


def summed_verdicts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a sequence: its verdict, "ambiguous" where increments change it."""
    found = verdicts.groupby("sequence")["verdict"].agg(lambda v: sorted(set(v)))
    said = found.map(lambda v: v[0] if len(v) == 1 else "ambiguous")
    return said.rename("verdict").reset_index()


def _verdict_map(ax: Axes, verdicts: pd.DataFrame) -> None:
    table = summed_verdicts(verdicts)
    columns = 15
    rows = -(-len(table) // columns)
    names = list(VERDICT_COLOUR)
    image = np.full((rows, columns), np.nan)
    said = zip(table["sequence"].astype(str), table["verdict"].astype(str), strict=True)
    for k, (sequence, word) in enumerate(said):
        r, c = divmod(k, columns)
        image[r, c] = names.index(word) if word in names else 1
        ax.text(c, r, sequence, ha="center", va="center", fontsize=5.2)
    ax.imshow(
        image, cmap=ListedColormap(list(VERDICT_COLOUR.values())), vmin=-0.5, vmax=2.5,
        aspect="auto",
    )  # fmt: skip
    ax.set_xticks(np.arange(-0.5, columns), [])
    ax.set_yticks(np.arange(-0.5, rows), [])
    ax.grid(color="white", lw=1.5)
    ax.tick_params(length=0)
    count = table["verdict"].value_counts()
    text = ", ".join(f"{n}: {count.get(n, 0)}" for n in names)
    ax.set_title(f"stages of creases A-B-C-D; {text}", fontsize=7.0)
    for verdict, colour in VERDICT_COLOUR.items():
        ax.plot([], [], "s", color=colour, label=verdict)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=3)
    _letter(ax, "e")


def interlocking_sheets(touching: OrigamiRun, free: OrigamiRun) -> Figure:
    """Fig. 11: two sheets pulled apart, with contact and without."""
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 3.4))
        folded = int(touching.phase(0)["step"].iloc[-1])
        view = (16.0, -64.0)
        for place, run, step, title, letter in (
            ((0.0, 0.50, 0.32, 0.45), touching, folded, "folded into each other", "a"),
            ((0.31, 0.50, 0.32, 0.45), touching, -1, "loaded, with contact", "c"),
            ((0.15, 0.04, 0.34, 0.45), free, -1, "loaded, without contact", "d"),
        ):
            arrow = 0.012 if letter == "c" else 0.0
            ax = _picture(figure, place, run, step, view=view, arrow=arrow, title=title)
            _letter(ax, letter)
        ax = figure.add_axes((0.72, 0.16, 0.26, 0.74))
        for run, colour, style in ((touching, SERIES[0], "-"), (free, SERIES[1], "--")):
            rows = run.phase(1)
            ax.plot(
                1e3 * rows["displacement"],
                1e3 * rows["load"],
                style,
                color=colour,
                label="with contact" if run is touching else "without contact",
            )
        ax.set_xlabel("displacement (mm)")
        ax.set_ylabel("load (mN)")
        ax.legend()
        _letter(ax, "b")
        _say_runs(figure, [touching, free])
    return figure
