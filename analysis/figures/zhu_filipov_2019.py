"""Figures of [ZF19]: a node at a panel, sheets that fold, loads that they bear."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.folded_sheets import (
    ARROW,
    PANEL,
    SERIES,
    draw_loads,
    end_of_phase,
    phase,
    picture,
    sheet_marks,
)
from analysis.figures.panel_3d import PaintedScene, show
from analysis.figures.pressed_folds import HEIGHTS, TRIANGLE, approach, crossing
from analysis.figures.style import PanelGrid, sheet, size
from sim.core.arrays import Floats, Ints

VERDICT_COLOUR = {
    "lock": "#009E73",
    "no": "#D9D9D9",
    "undecided": "#56B4E9",
    "ambiguous": "#E69F00",
}
PRINTED = {"1-2-2-3": "lock", "1-1-1-2": "no", "1-2-1-2": "maybe"}  # Fig. 10b to d
PRINTED_LOCKS = 7  # of 75, Fig. 10e
JUMP = 4.0  # times the ways of neighbouring increments: past a limit point
GROUND = "#8C8C8C"


def draw_zhu_filipov_5(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 5: force and stiffness along the normal as a node nears or crosses a panel.

    No run is needed: the formulas are evaluated here.
    """
    del runs
    near = approach(np.linspace(0.02, 2.0, 400))
    across = crossing(np.linspace(-0.6, 1.4, 401), HEIGHTS)
    heights = sorted(across["z"].unique())
    figure, (panels,) = sheet(PanelGrid(6, 44.0, 46.0, most=3), more=5.0)
    a, b, c, d, e, f = panels
    _node_over_panel(a, np.array([[0.2, 0.2, 1.6], [0.2, 0.2, 0.05]]), [])
    _node_over_panel(d, np.array([[-0.6, -0.6, 0.5], [1.4, 1.4, 0.5]]), heights)
    b.plot(near["d"], near["force"], color="black")
    c.plot(near["d"], near["stiffness"], color="black")
    looks = list(zip(heights, SERIES, ("-", "--", "-."), strict=False))
    for ax, column in ((e, "force"), (f, "stiffness")):
        for z, colour, dash in looks:
            rows = across[across["z"] == z]
            ax.plot(rows["delta"], rows[column], dash, color=colour)
        ax.set_xlabel(r"position of the node $\delta$ (-)")
    for ax, top in ((b, 12.0), (c, 60.0)):
        ax.axvline(1.0, color=GROUND, lw=0.6, ls=":")
        style.annotate_near(ax, "$d_0$", (1.0, 0.9 * top), (3, 0))
        ax.set_xlabel("distance $d$ (-)")
        ax.set_ylim(-0.03 * top, top)  # both grow without bound as d falls to 0
    for ax in (b, e):
        ax.set_ylabel("force $f_z$ (-)")
    for ax in (c, f):
        ax.set_ylabel("stiffness $K_{zz}$ (-)")
    style.put_letters(panels)
    lines = {f"height $z$ = {z:g}": {"color": c, "ls": d} for z, c, d in looks}
    node: dict[str, dict[str, Any]] = {
        "node": {"color": "black", "marker": "o", "ls": ""},
        "path of the node": {"color": ARROW, "marker": ">", "ms": size(3.0)},
    }
    panel = Patch(fc=PANEL, ec=SERIES[0], label="panel")
    handles = [*style.marks(of=lines), panel, *style.marks(of=node)]
    style.legend_below(figure, handles)
    return DrawnFigure(figure, {"approach": near, "crossing": across})


def _node_over_panel(ax: Axes, way: Floats, heights: Sequence[float]) -> None:
    """(a), (d): the triangle, and the way of a node, at each of some heights."""
    ends = [np.column_stack([way[:, :2], [z, z]]) for z in heights]
    everything = np.concatenate([TRIANGLE, way, *ends])
    scene = PaintedScene((18.0, -30.0), 2.0)
    scene.faces([TRIANGLE], PANEL, edge=SERIES[0], width=0.8)
    for own in ends or [way]:
        scene.arrows(own[:1], own[1:] - own[:1], ARROW, 0.8, lift=0.2)
        scene.dots(own[:1], "black", 3.0, lift=0.2)
    for k, corner in enumerate(TRIANGLE, start=1):
        style.annotate_near(ax, f"$x_{k}$", tuple(scene.seen(corner)), (0, -9))
    style.annotate_near(ax, "$x_0$", tuple(scene.seen(way[0])), (-4, 3), ha="right")
    scene.paint(ax, everything)
    style.scale_bar(ax, 0.5, "half a side", times=None, loc="upper right")


def draw_zhu_filipov_8(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 8: states on the way, the end with its contact forces, the energy.

    One row: the case box.
    """
    (run,) = runs
    x = run.arrays["x"]
    last = len(x) - 1
    stops = [last // 2, 2 * last // 3, 5 * last // 6, last]
    figure, (above, states) = sheet(
        PanelGrid(3, 43.0, 50.0), PanelGrid(4, 43.0, 42.0), more=5.0
    )
    room = x[[0, *stops]].reshape(-1, 3)
    picture(above[0], run, 0, view=(50.0, -60.0), room=room)
    picture(above[1], run, last, view=(24.0, -118.0), arrow=0.02, room=room)
    curve, energy = above[2], 1e6 * run.table["strain_energy"].to_numpy()
    curve.plot(run.table["step"], energy, color=SERIES[0])
    curve.margins(y=0.14)  # room for the numbers
    for number, (ax, stop) in enumerate(zip(states, stops, strict=True), start=1):
        curve.plot(stop, energy[stop], "o", color=SERIES[1], mec="black", mew=0.4)
        style.annotate_near(curve, str(number), (stop, energy[stop]), (-6, 4))
        picture(ax, run, stop, view=(24.0, -118.0), room=room)
    curve.set(xlabel="increment (-)", ylabel=r"strain energy ($\mathrm{\mu}$J)")
    style.put_letters(above, ["flat", "end, contact forces"])
    titles = [f"{n}: increment {stop}" for n, stop in enumerate(stops, start=1)]
    style.put_letters(states, titles, first="d")
    state = {"marker": "o", "ls": "", "color": SERIES[1], "mec": "black"}
    looks = {"strain energy": {"color": SERIES[0]}, "state shown in d to g": state}
    style.legend_below(figure, [*sheet_marks(), *style.marks(of=looks)])
    apart = run.table[run.table["contact_energy"] == 0.0].iloc[-1]
    facts = {"before": apart["strain_energy"], "apart": int(apart["step"])}
    return DrawnFigure(figure, {"energy": run.table}, facts)


def past_limit_points(displacement: Floats) -> Ints:
    """Increments of a load that end far off or behind: the sheet jumped there.

    Under a load that only grows, equilibria end at a limit point; the next one found
    lies elsewhere. Shown by a way back, or one above `JUMP` times its neighbours.
    """
    way = np.diff(displacement)
    size = np.abs(way)
    around = np.maximum(np.r_[size[1:], 0.0], np.r_[np.inf, size[:-1]])
    return np.asarray(np.flatnonzero((way < 0) | (way > JUMP * around)))


def _load_curves(ax: Axes, contact: ShownRun, free: ShownRun, what: str) -> None:
    """Load by displacement, a dot an increment, no line across a limit point."""
    for run, colour, dash, mark, name in (
        (contact, SERIES[0], "-", "o", "with contact"),
        (free, SERIES[1], "--", "s", "without contact"),
    ):
        rows = phase(run, 1)
        u = 1e3 * rows["displacement"].to_numpy(np.float64)
        load = 1e3 * rows["load"].to_numpy(np.float64)
        jumps = past_limit_points(u)
        cut_u, cut_load = (np.insert(x, jumps + 1, np.nan) for x in (u, load))
        ax.plot(cut_u, cut_load, dash, color=colour, marker=mark, ms=size(1.8),
                mfc="white", mew=0.4, label=name)  # fmt: skip
        for k, j in enumerate(jumps):
            label = "jump past a limit point" if k == 0 else "_"
            faint: dict[str, Any] = {"color": style.FAINT, "lw": 0.7, "label": label}
            ax.plot(u[j : j + 2], load[j : j + 2], ":", **faint)
    ax.set(xlabel=f"displacement{what} (mm)", ylabel="load (mN)")


def _by_contact(runs: Sequence[ShownRun]) -> dict[str, pd.DataFrame]:
    """The tables of two runs: with contact, then without."""
    names = ("with-contact", "without-contact")
    return {name: run.table for name, run in zip(names, runs, strict=True)}


def draw_zhu_filipov_9(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 9: folded, loaded with and without contact, and the load-displacement.

    Two rows: the case with contact, then without.
    """
    contact, free = runs
    figure, (states, (curve,)) = sheet(
        PanelGrid(3, 43.0, 48.0), PanelGrid(1, 89.0, 58.0), more=8.0
    )
    folded, view = end_of_phase(contact, 0), (34.0, -142.0)
    shown = ((contact, folded, 0.0), (contact, -1, 0.02), (free, -1, 0.0))
    room = np.concatenate([run.arrays["x"][step] for run, step, _ in shown])
    for ax, (run, step, arrow) in zip(states, shown, strict=True):
        picture(ax, run, step, view=view, arrow=arrow, room=room)
    titles = ["folded", "loaded, with contact", "loaded, without contact"]
    style.put_letters([*states, curve], titles)
    _load_curves(curve, contact, free, " since folding")
    style.legend_below(figure, [*curve.get_legend_handles_labels()[0], *sheet_marks()])
    rows = phase(contact, 1)
    slips = past_limit_points(rows["displacement"].to_numpy(np.float64))
    loads = [f"{1e3 * load:.3g}" for load in rows["load"].iloc[slips]]
    facts = {"load": rows["load"].max(), "slips": loads}
    return DrawnFigure(figure, _by_contact(runs), facts)


SHOWN_SEQUENCES = 3  # rows shown as sheets; the others belong to the study


def draw_zhu_filipov_10(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 10: the creases, end states of some sequences, and the verdict on all 75.

    First the sequences whose end is shown, then a row each run of the study.
    """
    if not runs:
        raise ValueError("no rows are given: give runs of the case folding_sequence")
    ended = pd.DataFrame([_ended(run) for run in runs])
    shown, verdicts = runs[:SHOWN_SEQUENCES], ended.iloc[SHOWN_SEQUENCES:]
    grids = [PanelGrid(len(shown) + 1, 43.0, 46.0)]
    if len(verdicts):
        grids.append(PanelGrid(1, 89.0, _columns()[1]))
    figure, panels = sheet(*grids, more=9.0)
    (flat, *ends), *rest = panels
    scene = picture(flat, runs[0], 0, view=(60.0, -60.0))
    ground = {"boxstyle": "circle", "fc": "white", "ec": "none", "pad": 0.12}
    for name, middle in _creases(runs[0]).items():
        place = tuple(scene.seen(middle))
        flat.annotate(name, place, ha="center", va="center", bbox=ground)
    for ax, run in zip(ends, shown, strict=True):
        picture(ax, run, -1, view=(38.0, 205.0))
    named = [f"{run.label} ({run.result['verdict']})" for run in shown]
    titles = ["creases\n", *map(_with_printed, named)]
    marks: list[Line2D | Patch] = [*sheet_marks()]
    if len(verdicts):
        marks += _verdict_map(rest[0][0], verdicts)
        titles.append(_counted(verdicts))
    style.put_letters(chain(*panels), titles)
    style.legend_below(figure, marks)
    keys = [(label, run.key) for label, run in zip(named, shown, strict=True)]
    facts = _summary_of_sequences(verdicts if len(verdicts) else ended)
    return DrawnFigure(figure, {"verdicts": ended}, facts, runs=keys)


def _summary_of_sequences(ended: pd.DataFrame) -> dict[str, Any]:
    """How many sequences end how, and which lock."""
    counts = ended["verdict"].value_counts()
    each = {name: int(counts.get(name, 0)) for name in ("lock", "no", "undecided")}
    return {
        "counts": {"all": len(ended), **each},
        "lock": list(ended.loc[ended["verdict"] == "lock", "sequence"]) or ["none"],
        "draws": int(ended["draws"].sum()),
        "as_drawn": int((ended["verdict_as_drawn"] == "lock").sum()),
    }


def _ended(run: ShownRun) -> dict[str, object]:
    """Sequence, increments a stage, rules, verdict and draws of a finished run."""
    case, result = run.case, run.result
    if "verdict" not in result:
        raise ValueError(f"{run.label} has no verdict: give runs of folding cases")
    shares = ("lock_share", "lock_share_low", "lock_share_high")
    return {
        "sequence": str(case["sequence"]),
        "increments": int(case["phases"][0]["increments"]),
        "rules": str(result.get("rules", "without contact")),
        "verdict": str(result["verdict"]),
        "unconverged": int(result["unconverged"]),
        "verdict_as_drawn": str(result.get("verdict_as_drawn", result["verdict"])),
        "draws": int(result.get("draws", 0)),
    } | {name: float(result.get(name, np.nan)) for name in shares}


def _creases(run: ShownRun) -> dict[str, Floats]:
    """The middle of each folding crease, named as in the paper."""
    pattern = run.read("pattern.fold")
    vertices = np.asarray(pattern["vertices_coords"], dtype=np.float64)
    creases = run.case["phases"][0]["creases"]
    ends = [pattern["edges_vertices"][crease] for crease in creases]
    middles = [vertices[pair].mean(axis=0) for pair in ends]
    return dict(zip("ABCDEFGH", middles, strict=False))


def _with_printed(label: str) -> str:
    """Our verdict of a run, "1-2-2-3 (lock)", and the one printed, if there is one."""
    printed = PRINTED.get(label.partition(" ")[0])
    return label + (f"\n[ZF19]: {printed}" if printed else "")


def _counted(verdicts: pd.DataFrame) -> str:
    count = summed_verdicts(verdicts)["verdict"].value_counts()
    ours = ", ".join(f"{count[n]} {n}" for n in VERDICT_COLOUR if n in count)
    return f"stages of creases A-B-C-D: {ours}\n[ZF19]: {PRINTED_LOCKS} of 75 lock"


def summed_verdicts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row a sequence: its verdict, "ambiguous" where increments change it."""
    found = verdicts.groupby("sequence")["verdict"].agg(lambda v: sorted(set(v)))
    one = found.map(lambda v: v[0] if len(v) == 1 else "ambiguous")
    return one.rename("verdict").reset_index()


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
    outcomes = table[["sequence", "verdict"]].astype(str).to_numpy()
    for k, (sequence, word) in enumerate(outcomes):
        r, c = divmod(k, columns)
        image[r, c] = names.index(word) if word in names else 1
        ax.text(c, r, sequence, ha="center", va="center", fontsize=size(6.0))
        if sequence in PRINTED:
            corner = (c - 0.46, r - 0.42)
            ax.add_patch(Rectangle(corner, 0.92, 0.84, fill=False, lw=size(1.2)))
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


def draw_zhu_filipov_11(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 11: two sheets under tension: set-up, curves, with contact and without.

    Two rows: the case with contact, then without.
    """
    contact, free = runs
    last = contact.case["phases"][-1]
    supports = np.array(last.get("supports") or contact.case["supports"])
    whole = supports[:, 1:].all(axis=1)
    marked = {  # numbers of nodes
        "held": supports[whole, 0],
        "guided": supports[~whole, 0],
        "sprung": np.array([one[0] for one in last.get("elastic", ())], dtype=np.int64),
        "loaded": np.array(last["nodes"]),
    }
    figure, (panels,) = sheet(PanelGrid(4, 82.0, 50.0), more=8.0)
    folded, view = end_of_phase(contact, 0), (16.0, -64.0)
    marks = _set_up(panels[0], contact, folded, view, marked)
    _load_curves(panels[1], contact, free, "")
    ends = np.concatenate([run.arrays["x"][-1] for run in (contact, free)])
    picture(panels[2], contact, -1, view=view, arrow=0.012, room=ends)
    picture(panels[3], free, -1, view=view, room=ends)
    titles = ("set-up", "", "loaded, with contact", "loaded, without contact")
    style.put_letters(panels, titles)
    curves = panels[1].get_legend_handles_labels()[0]
    style.legend_below(figure, [*curves, *marks, *sheet_marks()[:1]])
    facts = {name: len(nodes) for name, nodes in marked.items()}
    facts["load"] = contact.table["load"].max()
    return DrawnFigure(figure, _by_contact(runs), facts)


def _set_up(
    ax: Axes,
    run: ShownRun,
    step: int,
    view: tuple[float, float],
    marked: Mapping[str, Ints],
) -> list[Line2D]:
    """(a): the sheets folded into each other, what holds and what pulls them.

    Parameters
    ----------
    marked : nodes on supports, on those in part, on springs along z, under loads
    """
    x = run.arrays["x"][step]
    scene = picture(ax, run, step, view=view)
    *held, loaded = marked.values()
    top = x[loaded] + np.array([0.0, 0.0, 0.3 * scene.span])
    draw_loads(ax, scene, x[loaded], top)
    looks: dict[str, dict[str, Any]] = {
        "held node": {"marker": "^", "mfc": "black", "ms": size(4.5)},
        "partly held node": {"marker": "^", "mfc": "white", "ms": size(6.0)},
        "spring along $z$": {"marker": "s", "mfc": "white", "ms": size(3.0)},
    }
    for look, nodes in zip(looks.values(), held, strict=True):
        ax.plot(*scene.seen(x[nodes]).T, ls="", color="black", zorder=5, **look)
    show(ax, scene.seen(np.concatenate([x, top])))
    dots = {name: {"ls": "", "color": "black", **look} for name, look in looks.items()}
    return style.marks(of=dots | {"load": {"color": ARROW, "marker": ">", "ms": 3.0}})
