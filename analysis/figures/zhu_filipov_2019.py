"""Figures of [ZF19]: a node at a panel, sheets that fold, loads that they bear."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from analysis.figures.origami_runs import (
    SERIES,
    OrigamiRun,
    picture,
    put_letter,
    say_runs,
)
from analysis.figures.style import FULL_WIDTH, RC
from sim.arrays import Floats

VERDICT_COLOUR = {
    "lock": "#009E73",
    "no": "#D9D9D9",
    "undecided": "#56B4E9",
    "ambiguous": "#E69F00",
}


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
            put_letter(ax, letter)
    return figure


def box_folds_itself(run: OrigamiRun) -> Figure:
    """Fig. 8: states on the way, the end with its contact forces, the energy."""
    last = len(run.x) - 1
    stops = [last // 2, 2 * last // 3, 5 * last // 6, last]
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 3.9))
        ax = picture(figure, (0.0, 0.46, 0.33, 0.50), run, 0, view=(50, -60))
        put_letter(ax, "a")
        picture(
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
        curve.margins(y=0.14)  # room for the numbers
        for number, stop in enumerate(stops, start=1):
            curve.plot(stop, energy[stop], "o", color=SERIES[1])
            curve.annotate(
                str(number), (stop, energy[stop]), (-4, 4), textcoords="offset points"
            )
            state = picture(
                figure,
                (0.25 * (number - 1), 0.02, 0.25, 0.40),
                run,
                stop,
                view=(24, -118),
                title=f"{number}: increment {stop}",
            )
            if number == 1:
                put_letter(state, "c")
        curve.set_xlabel("increment", labelpad=1)
        curve.set_ylabel(r"strain energy ($\mathrm{\mu}$J)")
        put_letter(curve, "b")
        say_runs(figure, [run])
    return figure


def corner_bears_load(touching: OrigamiRun, free: OrigamiRun) -> Figure:
    """Fig. 9: folded, loaded with and without contact, and the load-displacement."""
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, 3.6))
        folded = int(touching.phase(0)["step"].iloc[-1])
        view = (34.0, -142.0)
        put_letter(
            picture(
                figure, (0.0, 0.28, 0.27, 0.45), touching, folded, view=view,
                title="folded",
            ),
            "a",
        )  # fmt: skip
        for run, height, what in (
            (touching, 0.50, "with contact"),
            (free, 0.04, "without contact"),
        ):
            picture(
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
        put_letter(ax, "b")
        say_runs(figure, [touching, free])
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
        flat = picture(figure, (0.0, low, width, high), runs[0], 0, view=(60, -60))
        put_letter(flat, "a")
        for name, middle in creases.items():
            flat.text(*middle, name, ha="center", va="center", zorder=1e4)
        for k, run in enumerate(runs, start=1):
            place = (k * width, low, width, high)
            ax = picture(figure, place, run, -1, view=(38.0, 205.0), title=run.label)
            put_letter(ax, "abcd"[k])
        if verdicts is not None:
            _verdict_map(figure.add_axes((0.02, 0.12, 0.96, 0.40)), verdicts)
        say_runs(figure, runs)
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
        image, cmap=ListedColormap(list(VERDICT_COLOUR.values())), vmin=-0.5,
        vmax=len(names) - 0.5, aspect="auto",
    )  # fmt: skip
    ax.set_xticks(np.arange(-0.5, columns), [])
    ax.set_yticks(np.arange(-0.5, rows), [])
    ax.grid(color="white", lw=1.5)
    ax.tick_params(length=0)
    count = table["verdict"].value_counts()
    text = ", ".join(f"{n}: {count[n]}" for n in names if n in count)
    ax.set_title(f"stages of creases A-B-C-D; {text}", fontsize=7.0)
    for verdict, colour in VERDICT_COLOUR.items():
        ax.plot([], [], "s", color=colour, label=verdict)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=len(names))
    put_letter(ax, "e")


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
            ax = picture(figure, place, run, step, view=view, arrow=arrow, title=title)
            put_letter(ax, letter)
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
        put_letter(ax, "b")
        say_runs(figure, [touching, free])
    return figure
