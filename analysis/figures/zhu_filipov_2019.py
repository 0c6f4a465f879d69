"""Figures of [ZF19]: a node at a panel, sheets that fold, loads that they bear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from analysis.figures import style
from analysis.figures.origami_runs import SERIES, OrigamiRun, picture, say_runs
from analysis.figures.scene import PaintedScene, show
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.sheets import ARROW, PANEL, sheet_marks, show_sheet
from analysis.figures.style import size
from sim.arrays import Floats, Ints

VERDICT_COLOUR = {
    "lock": "#009E73",
    "no": "#D9D9D9",
    "undecided": "#56B4E9",
    "ambiguous": "#E69F00",
}
PRINTED = {"1-2-2-3": "lock", "1-1-1-2": "no", "1-2-1-2": "maybe"}  # Fig. 10b to d
PRINTED_LOCKS = 7  # of 75, Fig. 10e
JUMP = 4.0  # times the ways of the increments beside: past a limit point
GROUND = "#8C8C8C"


def contact_of_a_node(approach: pd.DataFrame, crossing: pd.DataFrame) -> Figure:
    """Fig. 5: force and stiffness along the normal as a node nears or crosses a panel.

    Parameters
    ----------
    approach : d, force, stiffness
    crossing : delta, z, force, stiffness
    """
    heights = sorted(crossing["z"].unique())
    with style.styled():
        figure, (panels,) = sheet(PanelGrid(6, 44.0, 46.0, most=3), more=5.0)
        a, b, c, d, e, f = panels
        _node_over_panel(a, np.array([[0.2, 0.2, 1.6], [0.2, 0.2, 0.05]]), [])
        _node_over_panel(d, np.array([[-0.6, -0.6, 0.5], [1.4, 1.4, 0.5]]), heights)
        b.plot(approach["d"], approach["force"], color="black")
        c.plot(approach["d"], approach["stiffness"], color="black")
        looks = list(zip(heights, SERIES, ("-", "--", "-."), strict=False))
        for ax, column in ((e, "force"), (f, "stiffness")):
            for z, colour, dash in looks:
                rows = crossing[crossing["z"] == z]
                ax.plot(rows["delta"], rows[column], dash, color=colour)
            ax.set_xlabel(r"position of the node $\delta$ (-)")
        for ax, top in ((b, 12.0), (c, 60.0)):
            ax.axvline(1.0, color=GROUND, lw=0.6, ls=":")
            style.put_beside(ax, "$d_0$", (1.0, 0.9 * top), (3, 0))
            ax.set_xlabel("distance $d$ (-)")
            ax.set_ylim(-0.03 * top, top)  # both grow without bound as d falls to 0
        for ax in (b, e):
            ax.set_ylabel("force $f_z$ (-)")
        for ax in (c, f):
            ax.set_ylabel("stiffness $K_{zz}$ (-)")
        for ax, letter in zip(panels, "abcdef", strict=True):
            style.put_letter(ax, letter)
        lines = [Line2D([], [], color=c, ls=dash, label=f"height $z$ = {z:g}")
                 for z, c, dash in looks]  # fmt: skip
        style.legend_below(figure, [*lines, *_set_up_marks()])
    return figure


def _set_up_marks() -> list[Line2D | Patch]:
    return [
        Patch(fc=PANEL, ec=SERIES[0], label="panel"),
        Line2D([], [], color="black", marker="o", ls="", label="node"),
        Line2D([], [], color=ARROW, marker=">", ms=size(3.0), label="way of the node"),
    ]


def _node_over_panel(ax: Axes, way: Floats, heights: Sequence[float]) -> None:
    """(a), (d): the triangle, and the way of a node, at each of some heights."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    ends = [np.column_stack([way[:, :2], [z, z]]) for z in heights]
    everything = np.concatenate([corners, way, *ends])
    scene = PaintedScene((18.0, -30.0), 2.0)
    scene.faces([corners], PANEL, edge=SERIES[0], width=0.8)
    for own in ends or [way]:
        scene.arrows(own[:1], own[1:] - own[:1], ARROW, 0.8, lift=0.2)
        scene.dots(own[:1], "black", 3.0, lift=0.2)
    for k, corner in enumerate(corners, start=1):
        style.put_beside(ax, f"$x_{k}$", tuple(scene.seen(corner)), (0, -9))
    style.put_beside(ax, "$x_0$", tuple(scene.seen(way[0])), (-4, 3), ha="right")
    scene.paint(ax, everything)
    style.scale_bar(ax, 0.5, "half a side", times=None, loc="upper right")


def box_folds_itself(run: OrigamiRun) -> Figure:
    """Fig. 8: states on the way, the end with its contact forces, the energy."""
    last = len(run.x) - 1
    stops = [last // 2, 2 * last // 3, 5 * last // 6, last]
    with style.styled():
        figure, (above, states) = sheet(
            PanelGrid(3, 43.0, 50.0), PanelGrid(4, 43.0, 42.0), more=5.0
        )
        room = run.x[[0, *stops]].reshape(-1, 3)
        picture(above[0], run, 0, view=(50.0, -60.0), room=room)
        picture(above[1], run, last, view=(24.0, -118.0), arrow=0.02, room=room)
        curve, energy = above[2], 1e6 * run.table["strain_energy"].to_numpy()
        curve.plot(run.table["step"], energy, color=SERIES[0])
        curve.margins(y=0.14)  # room for the numbers
        for number, (ax, stop) in enumerate(zip(states, stops, strict=True), start=1):
            curve.plot(stop, energy[stop], "o", color=SERIES[1], mec="black", mew=0.4)
            style.put_beside(curve, str(number), (stop, energy[stop]), (-6, 4))
            picture(ax, run, stop, view=(24.0, -118.0), room=room)
            style.put_letter(ax, "defg"[number - 1], f"{number}: increment {stop}")
        curve.set_xlabel("increment (-)", labelpad=1)
        curve.set_ylabel(r"strain energy ($\mathrm{\mu}$J)")
        for ax, letter, text in zip(
            above, "abc", ("flat", "end, forces of contact", ""),
            strict=True,
        ):  # fmt: skip
            style.put_letter(ax, letter, text)
        looks: dict[str, dict[str, Any]] = {
            "strain energy": {"color": SERIES[0]},
            "state in d to g": {
                "marker": "o",
                "ls": "",
                "color": SERIES[1],
                "mec": "black",
            },
        }
        more = [Line2D([], [], label=name, **look) for name, look in looks.items()]
        style.legend_below(figure, [*sheet_marks(), *more])
        say_runs(figure, [run])
    return figure


def past_limit_points(displacement: Floats) -> Ints:
    """Increments of a load that end far off or behind: the sheet jumped there.

    Under a load that only grows, equilibria end at a limit point; the next one found
    lies elsewhere. Told by a way back, or one above `JUMP` times those beside it.
    """
    way = np.diff(displacement)
    size = np.abs(way)
    beside = np.maximum(np.r_[size[1:], 0.0], np.r_[np.inf, size[:-1]])
    found: Ints = np.flatnonzero((way < 0) | (way > JUMP * beside))
    return found


def _load_curves(ax: Axes, touching: OrigamiRun, free: OrigamiRun, what: str) -> None:
    """Load by displacement, a dot an increment, no line across a limit point."""
    for run, colour, dash, mark, name in (
        (touching, SERIES[0], "-", "o", "with contact"),
        (free, SERIES[1], "--", "s", "without contact"),
    ):
        rows = run.phase(1)
        u = 1e3 * rows["displacement"].to_numpy(np.float64)
        load = 1e3 * rows["load"].to_numpy(np.float64)
        jumps = past_limit_points(u)
        cut_u, cut_load = (np.insert(x, jumps + 1, np.nan) for x in (u, load))
        ax.plot(cut_u, cut_load, dash, color=colour, marker=mark, ms=size(1.8),
                mfc="white", mew=0.4, label=name)  # fmt: skip
        for k, j in enumerate(jumps):
            label = "jump past a limit point" if k == 0 else "_"
            ax.plot(
                u[j : j + 2],
                load[j : j + 2],
                ":",
                color=style.FAINT,
                lw=0.7,
                label=label,
            )
    ax.set_xlabel(f"displacement{what} (mm)")
    ax.set_ylabel("load (mN)")


def corner_bears_load(touching: OrigamiRun, free: OrigamiRun) -> Figure:
    """Fig. 9: folded, loaded with and without contact, and the load-displacement."""
    with style.styled():
        figure, (states, (curve,)) = sheet(
            PanelGrid(3, 43.0, 48.0), PanelGrid(1, 89.0, 58.0), more=8.0
        )
        folded, view = int(touching.phase(0)["step"].iloc[-1]), (34.0, -142.0)
        shown = (
            (touching, folded, 0.0, "folded"),
            (touching, -1, 0.02, "loaded, with contact"),
            (free, -1, 0.0, "loaded, without contact"),
        )
        room = np.concatenate([run.x[step] for run, step, *_ in shown])
        for ax, letter, (run, step, arrow, text) in zip(
            states, "abc", shown, strict=True
        ):
            picture(ax, run, step, view=view, arrow=arrow, room=room)
            style.put_letter(ax, letter, text)
        _load_curves(curve, touching, free, " since folding")
        style.put_letter(curve, "d")
        style.legend_below(
            figure, [*curve.get_legend_handles_labels()[0], *sheet_marks()]
        )
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
    with style.styled():
        groups = [PanelGrid(len(runs) + 1, 43.0, 46.0)]
        if verdicts is not None:
            groups.append(PanelGrid(1, 89.0, _columns()[1]))
        figure, panels = sheet(*groups, more=9.0)
        (flat, *ends), *rest = panels
        scene = picture(flat, runs[0], 0, view=(60.0, -60.0))
        style.put_letter(flat, "a", "creases\n")
        ground = {"boxstyle": "circle", "fc": "white", "ec": "none", "pad": 0.12}
        for name, middle in creases.items():
            place = tuple(scene.seen(middle))
            flat.annotate(name, place, ha="center", va="center", bbox=ground)
        for letter, ax, run in zip("bcde", ends, runs, strict=False):
            picture(ax, run, -1, view=(38.0, 205.0))
            style.put_letter(ax, letter, _beside_paper(run.label))
        marks: list[Line2D | Patch] = [*sheet_marks()]
        if verdicts is not None:
            map_marks = _verdict_map(rest[0][0], verdicts)
            style.put_letter(rest[0][0], "abcdef"[len(runs) + 1], _counted(verdicts))
            marks += map_marks
        style.legend_below(figure, marks)
        say_runs(figure, runs)
    return figure


def _beside_paper(label: str) -> str:
    """Our verdict of a run, "1-2-2-3 (lock)", and the one printed, if there is one."""
    printed = PRINTED.get(label.partition(" ")[0])
    return label + (f"\n[ZF19]: {printed}" if printed else "")


def _counted(verdicts: pd.DataFrame) -> str:
    count = summed_verdicts(verdicts)["verdict"].value_counts()
    ours = ", ".join(f"{count[n]} {n}" for n in VERDICT_COLOUR if n in count)
    return f"stages of creases A-B-C-D: {ours}\n[ZF19]: {PRINTED_LOCKS} lock, of 75"


def summed_verdicts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a sequence: its verdict, "ambiguous" where increments change it."""
    found = verdicts.groupby("sequence")["verdict"].agg(lambda v: sorted(set(v)))
    said = found.map(lambda v: v[0] if len(v) == 1 else "ambiguous")
    return said.rename("verdict").reset_index()


def _columns() -> tuple[int, float]:
    """Columns of the map, and its height in mm for 75 sequences."""
    columns = int(style.page().room_mm / 11.6)
    return columns, 5.0 * -(-75 // columns) + 8.0


def _verdict_map(ax: Axes, verdicts: pd.DataFrame) -> list[Patch]:
    """A field a sequence; those whose outcome the paper prints have a frame."""
    table, (columns, _) = summed_verdicts(verdicts), _columns()
    rows = -(-len(table) // columns)
    names = list(VERDICT_COLOUR)
    image = np.full((rows, columns), np.nan)
    said = zip(table["sequence"].astype(str), table["verdict"].astype(str), strict=True)
    for k, (sequence, word) in enumerate(said):
        r, c = divmod(k, columns)
        image[r, c] = names.index(word) if word in names else 1
        ax.text(c, r, sequence, ha="center", va="center", fontsize=size(6.0))
        if sequence in PRINTED:
            frame = Rectangle(
                (c - 0.46, r - 0.42), 0.92, 0.84, fill=False, lw=size(1.2)
            )
            ax.add_patch(frame)
    ax.imshow(
        image, cmap=ListedColormap(list(VERDICT_COLOUR.values())), vmin=-0.5,
        vmax=len(names) - 0.5, aspect="auto",
    )  # fmt: skip
    ax.set_xticks(np.arange(-0.5, columns), [])
    ax.set_yticks(np.arange(-0.5, rows), [])
    ax.grid(color="white", lw=1.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    there = [n for n in names if n in set(table["verdict"])]
    fields = [Patch(color=VERDICT_COLOUR[n], label=n) for n in there]
    return [*fields, Patch(fill=False, ec="black", label="outcome printed in [ZF19]")]


@dataclass(frozen=True, eq=False)
class SetUp:
    """Where a sheet is held and loaded: numbers of nodes.

    Parameters
    ----------
    held, guided, sprung, loaded : (k,) of supports, of those in part, of springs along
        z, of loads
    """

    held: Ints
    guided: Ints
    sprung: Ints
    loaded: Ints


def interlocking_sheets(
    touching: OrigamiRun, free: OrigamiRun, loading: SetUp
) -> Figure:
    """Fig. 11: two sheets pulled apart: set-up, curves, with contact and without."""
    with style.styled():
        figure, (panels,) = sheet(PanelGrid(4, 82.0, 50.0), more=8.0)
        folded, view = int(touching.phase(0)["step"].iloc[-1]), (16.0, -64.0)
        marks = _set_up(panels[0], touching, folded, view, loading)
        _load_curves(panels[1], touching, free, "")
        ends = np.concatenate([touching.x[-1], free.x[-1]])
        picture(panels[2], touching, -1, view=view, arrow=0.012, room=ends)
        picture(panels[3], free, -1, view=view, room=ends)
        said = ("set-up", "", "loaded, with contact", "loaded, without contact")
        for ax, letter, text in zip(panels, "abcd", said, strict=True):
            style.put_letter(ax, letter, text)
        curves = panels[1].get_legend_handles_labels()[0]
        style.legend_below(figure, [*curves, *marks, *sheet_marks()[:1]])
        say_runs(figure, [touching, free])
    return figure


def _set_up(
    ax: Axes,
    run: OrigamiRun,
    step: int,
    view: tuple[float, float],
    loading: SetUp,
) -> list[Line2D]:
    """(a): the sheets folded into each other, what holds and what pulls them."""
    x = run.x[step]
    scene = show_sheet(ax, run.sheet(step), view=view)
    up = np.tile([0.0, 0.0, 0.3 * scene.span], (len(loading.loaded), 1))
    for start, tip in zip(x[loading.loaded], x[loading.loaded] + up, strict=True):
        ax.annotate(
            "", tuple(scene.seen(tip)), tuple(scene.seen(start)), zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": ARROW, "shrinkA": 0, "lw": 1.0},
        )  # fmt: skip
    looks: dict[str, dict[str, Any]] = {
        "held node": {"marker": "^", "mfc": "black", "ms": size(4.5)},
        "held in part": {"marker": "^", "mfc": "white", "ms": size(6.0)},
        "spring along $z$": {"marker": "s", "mfc": "white", "ms": size(3.0)},
    }
    held = (loading.held, loading.guided, loading.sprung)
    for look, nodes in zip(looks.values(), held, strict=True):
        ax.plot(*scene.seen(x[nodes]).T, ls="", color="black", zorder=5, **look)
    show(ax, scene.seen(np.concatenate([x, x[loading.loaded] + up])))
    marks = [Line2D([], [], ls="", color="black", label=name, **look)
             for name, look in looks.items()]  # fmt: skip
    return [*marks, Line2D([], [], color=ARROW, marker=">", ms=3.0, label="load")]
