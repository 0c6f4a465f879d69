"""Fig. 7 of [ZF19]: folds that are pressed, and what the constants of contact do.

After it the numbers behind Fig. 5 and Fig. 7: one node at a panel, one fold pressed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.folded_sheets import (
    ARROW,
    CREASE,
    EDGE,
    PANEL,
    SERIES,
    draw_loads,
    end_of_phase,
    phase,
    picture,
    sheet_marks,
    sheet_of,
)
from analysis.figures.panel_3d import View, show
from analysis.figures.style import PanelGrid, sheet
from sim.contact.contact_energy import pair_terms
from sim.contact.near_pairs import find_pairs
from sim.core.arrays import Floats, Ints
from sim.origami.folding.sheet import no_surface

MARKS, DASHES = ["o", "s"], ["-", "--", "-.", ":"]
VIEW: View = (14.0, -62.0)  # degrees
FORCE = 0.006  # m, arrow of a load or of the largest contact force


@dataclass(frozen=True, eq=False)
class PressedFold:
    """A run of two phases: a strip is folded, then pressed.

    Parameters
    ----------
    held, loaded : nodes on supports, and those that carry the load
    d0_edge, d0_centre : distance at which contact begins, m
    """

    run: ShownRun
    held: Ints
    loaded: Ints
    d0_edge: float
    d0_centre: float

    @property
    def folded(self) -> int:
        """The step at the end of folding."""
        return end_of_phase(self.run, 0)

    @property
    def x(self) -> Floats:
        """(steps, n, 3) m."""
        return np.asarray(self.run.arrays["x"])

    @property
    def up(self) -> Floats:
        """(n,) forces of the supports along z at the end, N."""
        return np.asarray(self.run.arrays["support_force"][-1, :, 2])

    @property
    def load(self) -> float:
        """All of it at the end, N."""
        return float(self.run.table["load"].iloc[-1] * np.sqrt(len(self.loaded)))

    @property
    def centres(self) -> Ints:
        """The node in the middle of each panel, which all of its triangles have."""
        state = sheet_of(self.run, 0)
        own = (state.triangles[state.triangle_panel == p] for p in range(state.panels))
        return np.array([set.intersection(*map(set, t.tolist())).pop() for t in own])

    def nodes(self, panel: int) -> Ints:
        """Corners and centre of a panel."""
        own = self.run.arrays["triangle_panel"] == panel
        return np.asarray(np.unique(self.run.arrays["triangles"][own]))


AT_EDGES = 0.99  # share of the contact force that is nearly all of it
KE, D0 = 0.05, 0.002  # J, m: what the sweeps of d0 and of its ratio hold fixed
SHOWN_D0 = (2 * D0, D0)  # d0 of (e) and (f), m
REMEDY = (
    "give the cases single_fold and double_fold, runs of single_fold_strip and "
    "double_fold_strip, and those of the study contact_behaviour"
)


def draw_zhu_filipov_7(runs: Sequence[ShownRun]) -> DrawnFigure:
    """A single fold and a double fold, strips by x/L, then the study's runs."""
    if len(runs) < 3:
        raise ValueError(f"Fig. 7 has {len(runs)} rows: {REMEDY}")
    folds = [_pressed(run) for run in runs]
    strips: dict[int, dict[float, PressedFold]] = {2: {}, 3: {}}  # by panels
    ke, d0, ratio = {}, {}, {}
    for fold in folds[2:]:
        run, scale = fold.run, float(fold.run.result["ke"])
        if run.case.get("nodes") is None:
            pattern = run.read("pattern.fold")
            strips[len(pattern["faces_vertices"])][_x_over_L(pattern)] = fold
            continue
        if fold.d0_edge == fold.d0_centre == D0:
            ke[scale] = run
        if scale == KE and fold.d0_edge == fold.d0_centre:
            d0[fold.d0_edge] = fold
        if scale == KE and fold.d0_edge == D0:
            ratio[fold.d0_centre / D0] = run
    _check(ke=ke, d0=d0, ratio=ratio, single=strips[2], double=strips[3])
    tip, centres = int(folds[0].loaded[-1]), folds[0].centres
    reactions = [
        reactions_by_statics("single fold", strips[2]),
        reactions_by_statics("double fold", strips[3]),
    ]
    tables = {
        "ke": heights_under_load(ke, tip),
        "d0": heights_under_load({value: fold.run for value, fold in d0.items()}, tip),
        "ratio": force_shares(ratio, centres),
        "reactions": pd.concat(reactions, ignore_index=True),
    }
    loaded = [d0[value] for value in SHOWN_D0]
    figure = _behaviour_of_contact(folds[0], folds[1], loaded, tables)
    shown = [(one.run.label, one.run.key) for one in (*folds[:2], *loaded)]
    return DrawnFigure(figure, tables, sweeps_in_words(tables), runs=shown)


def sweeps_in_words(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Up to which ratio edges bear all, heights at the full load, errors of statics."""
    shares, reactions = tables["ratio"], tables["reactions"]
    ends = tables["d0"].groupby("value", as_index=False)["height"].last()
    pairs = 1e3 * ends[["height", "value"]].to_numpy(np.float64)
    return {
        "by_statics": (reactions["simulated"] / reactions["statics"] - 1.0).abs().max(),
        "strips": len(reactions) // 2,
        "at_edges": shares["ratio"][shares["edge"] > AT_EDGES].max(),
        "ends": [f"{z:.2f} mm for {d0:g} mm" for z, d0 in pairs],
    }


def _check(**found: Mapping[float, object]) -> None:
    """Refuse a figure that lacks the runs of one of its parts."""
    for name, runs in found.items():
        if not runs or (name == "d0" and not set(SHOWN_D0) <= set(runs)):
            raise ValueError(f"Fig. 7 has no runs for its part {name!r}: {REMEDY}")


def _pressed(run: ShownRun) -> PressedFold:
    load = run.case["phases"][-1]
    if not str(load.get("_target_", "")).endswith(".Load"):
        raise ValueError(f"{run.label} ends without a load: {REMEDY}")
    held = np.array([int(support[0]) for support in run.case["supports"]])
    d0 = (float(run.result[name]) for name in ("d0_edge", "d0_centre"))
    return PressedFold(run, held, np.array(load["nodes"]), *d0)


def _x_over_L(pattern: Mapping[str, Any]) -> float:
    """Length of the last panel of a strip, of the first's."""
    ends = np.unique([x for x, *_ in pattern["vertices_coords"]])
    return round(float((ends[-1] - ends[-2]) / (ends[1] - ends[0])), 6)


def _behaviour_of_contact(
    single: PressedFold,
    double: PressedFold,
    loaded: Sequence[PressedFold],
    tables: Mapping[str, pd.DataFrame],
) -> Figure:
    """Fig. 7: what is pressed, how ke and d0 act, and reactions and statics.

    Parameters
    ----------
    loaded : those of (e) and (f): d0 large, then small
    tables : ke and d0 (value, load (N), height (m)), ratio (shares of the contact force
        at centres and at edges), reactions (case, x_over_L, support, simulated,
        statics (N))
    """
    figure, (pictures, plots) = sheet(
        PanelGrid(6, 43.0, 42.0, most=3), PanelGrid(5, 43.0, 46.0, most=3), more=8.0
    )
    above, middle, reactions = pictures[:3], pictures[3:], plots[3:]
    _set_up(above, single, double)
    _side_view(middle[0], single)
    for k, pressed in enumerate(loaded):
        picture(middle[1 + k], pressed.run, -1, view=VIEW, arrow=FORCE)
        title = f"loaded, $d_0$ = {1e3 * pressed.d0_edge:g} mm"
        style.put_letter(middle[1 + k], "ef"[k], title)
    _heights(plots[0], tables["ke"], "$k_e$ (J)", 1.0, "g")
    _heights(plots[1], tables["d0"], "$d_0$ (mm)", 1e3, "h")
    _force_shares(plots[2], tables["ratio"])
    for ax, letter, (fold, own) in zip(
        reactions, "jk", tables["reactions"].groupby("case", sort=False), strict=False
    ):
        _reactions(ax, str(fold), own, letter)
    style.compare(reactions)
    style.compare(plots[:2])
    looks: dict[str, dict[str, Any]] = {
        "held node": {"marker": "^", "ls": "", "color": "black", "ms": 4.0},
        "load, contact force": {"color": ARROW, "marker": ">", "ms": 3.0},
        "contact range": {"color": SERIES[4], "ls": ":"},
    }
    marks = style.marks(of=looks)
    of_plots = style.labelled_lines((plots[2], reactions[0]))
    style.legend_below(figure, [*sheet_marks(), *marks, *of_plots])
    return figure


def _set_up(axes: Sequence[Axes], single: PressedFold, double: PressedFold) -> None:
    """(a) to (c): the flat strip on its supports; single and double fold, loaded."""
    scene = picture(axes[0], single.run, 0, view=(38.0, -62.0))
    style.put_letter(axes[0], "a", "single fold, flat")
    held = scene.seen(single.x[0, single.held])
    axes[0].plot(*held.T, "^", ms=style.size(4.0), color="black", zorder=5)
    show(axes[0], scene.seen(single.x[0]))
    for k, (pressed, what) in enumerate(((single, "single"), (double, "double"))):
        ax, x = axes[1 + k], pressed.x[pressed.folded]
        scene = picture(ax, pressed.run, pressed.folded, view=VIEW)
        top = x[pressed.loaded] + np.array([0.0, 0.0, FORCE])
        draw_loads(ax, scene, top, x[pressed.loaded])
        show(ax, scene.seen(np.concatenate([x, top])))
        style.put_letter(ax, "bc"[k], f"{what} fold, folded; load")


def _side_view(ax: Axes, single: PressedFold) -> None:
    """(d): lengths, height and the reach of contact, seen along the crease."""
    x = 1e3 * single.x[single.folded][:, [0, 2]]
    state = sheet_of(single.run, single.folded)
    colours = np.where(state.triangle_panel < state.panels, PANEL, CREASE)
    triangles = [x[t] for t in state.triangles]
    ax.add_collection(PolyCollection(triangles, edgecolors=colours, lw=2.2))
    lower, upper = x[single.nodes(0)], x[single.nodes(1)]
    ax.plot(*upper.T, "o", color=EDGE, ms=2.5)
    tip, root = x[single.loaded].mean(axis=0), upper[upper[:, 0].argmax()]
    for centre, reach, text in (
        (tip, 1e3 * single.d0_edge, "$d_{0e}$"),
        (upper.mean(axis=0), 1e3 * single.d0_centre, "$d_{0c}$"),
    ):
        ax.add_patch(Circle(tuple(centre), reach, fill=False, ls=":", ec=SERIES[4]))
        ax.annotate(text, centre + np.array([0.75, 0.8]) * reach)
    end, under, over = lower[:, 0].max(), np.array([0.0, -2.5]), np.array([1.6, 4.4])
    corner, edge = (np.array([x, 0.0]) + under for x in (end, end + 2.4))
    _measure(ax, lower.min(axis=0) + under, corner, "$L$", (0, -9))
    _measure(ax, corner, edge, "$W$", (0, -9))
    _measure(ax, tip + over, root + over, "$x$", (3, 2))
    at = tip[0] - 3.2
    _measure(ax, np.array([at, 0.0]), np.array([at, tip[1]]), "$z$", (-6, -2))
    arrow = {"arrowstyle": "->", "color": ARROW}
    ax.annotate("", tip, tip + np.array([0.0, 5.5]), arrowprops=arrow)
    ax.annotate("$P$", tip + np.array([-1.6, 4.4]), color=ARROW)
    show(ax, np.array([[-1.0, -6.0], [24.0, 14.0]]))
    style.scale_bar(ax, 5.0, "mm")
    style.put_letter(ax, "d", "side view")


def _measure(
    ax: Axes, start: Floats, end: Floats, text: str, offset: tuple[int, int]
) -> None:
    """An arrow from start to end, mm, and the letter of what it measures."""
    (a, b), (c, d) = start, end
    middle = 0.5 * (a + c), 0.5 * (b + d)
    ax.annotate("", (c, d), (a, b), arrowprops={"arrowstyle": "<->", "lw": 0.6})
    style.annotate_near(ax, text, middle, offset, ha="center")


def _heights(
    ax: Axes, table: pd.DataFrame, name: str, scale: float, letter: str
) -> None:
    """(g), (h): load over height, a curve for each value."""
    for (value, rows), colour, dash in zip(
        table.groupby("value"), SERIES, DASHES, strict=False
    ):
        label = f"{scale * float(str(value)):g}"
        x, y = 1e3 * rows["height"], 1e3 * rows["load"]
        ax.plot(x, y, dash, color=colour, label=label)
    few = table["value"].nunique() < 4  # between the curves, else above them
    place = "upper center" if few else "upper right"
    look = {"handlelength": 1.6, "columnspacing": 0.6, "labelspacing": 0.15}
    if not few:
        look |= {"handlelength": 1.3, "handletextpad": 0.4, "borderaxespad": 0.3}
    ax.legend(title=name, loc=place, ncols=1 if few else 2, **look)
    ax.set(xlabel="height $z$ (mm)", ylabel="load (mN)")
    style.put_letter(ax, letter)


def _force_shares(ax: Axes, ratio: pd.DataFrame) -> None:
    for column, colour, mark, label in (
        ("centre", SERIES[0], MARKS[0], "centres $I_c$ (i)"),
        ("edge", SERIES[1], MARKS[1], "edges $I_e$ (i)"),
    ):
        ax.plot(ratio["ratio"], ratio[column], mark + "-", color=colour, label=label)
    ax.set(xlabel="$d_{0c}/d_{0e}$ (-)", ylabel="share of the force (-)")
    ax.set_ylim(-0.05, 1.05)
    style.put_letter(ax, "i")


def _reactions(ax: Axes, fold: str, rows: pd.DataFrame, letter: str) -> None:
    for (support, own), colour, mark in zip(
        rows.groupby("support"), SERIES, MARKS, strict=False
    ):
        x, statics, simulated = (own[n] for n in ("x_over_L", "statics", "simulated"))
        of = f"{support} (j, k)"
        ax.plot(x, 1e3 * statics, color=colour, lw=0.8, label=f"{of}, statics")
        ax.plot(x, 1e3 * simulated, mark, color=colour, mfc="none", label=of)
    ax.set(xlabel="$x/L$ (-)", ylabel="reaction (mN)")
    style.put_letter(ax, letter, fold)


NEAR = 1e-3  # m, within which supports belong to the same end
TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def node_at_panel(point: Floats, *, d0: float, ke: float) -> tuple[float, float]:
    """Force on a node along z, and its stiffness, next to the triangle of Fig. 5."""
    x = np.vstack([point, TRIANGLE])
    surface = no_surface(x)._replace(
        point=np.array([0]),
        point_panel=np.empty((1, 0), dtype=np.int64),
        point_activation=np.array([d0]),
        triangle=np.array([[1, 2, 3]]),
        triangle_panel=np.array([0]),
        tag=np.full((4, 2), -1),
    )
    pairs = find_pairs(surface, x, d0)
    g, h = np.zeros(12), np.zeros((12, 12))
    if len(pairs.row):
        pair_terms(pairs, 0, ke, x, g, h)
    return float(-g[2]), float(h[2, 2])


HEIGHTS = (0.3, 0.5, 0.7)


def approach(heights: Iterable[float]) -> pd.DataFrame:
    """Fig. 5b, c: a node over (0.2, 0.2) comes down; d0 = 1, ke = 1."""
    rows = [
        (z, *node_at_panel(np.array([0.2, 0.2, z]), d0=1.0, ke=1.0)) for z in heights
    ]
    return pd.DataFrame(rows, columns=["d", "force", "stiffness"])


def crossing(places: Iterable[float], heights: Iterable[float]) -> pd.DataFrame:
    """Fig. 5e, f: a node moves along (delta, delta) at given heights."""
    rows = [
        (delta, z, *node_at_panel(np.array([delta, delta, z]), d0=1.0, ke=1.0))
        for z in heights
        for delta in places
    ]
    return pd.DataFrame(rows, columns=["delta", "z", "force", "stiffness"])


def heights_under_load(runs: Mapping[float, ShownRun], node: int) -> pd.DataFrame:
    """Fig. 7g, h: height of the loaded node over the load, by the value in which
    runs differ."""
    tables = []
    for value, pressed in runs.items():
        rows = phase(pressed, 1)
        height = pressed.arrays["x"][rows["step"].to_numpy(), node, 2]
        columns = {"value": value, "load": rows["load"], "height": height}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def force_shares(runs: Mapping[float, ShownRun], centre: Ints) -> pd.DataFrame:
    """Fig. 7i: parts of the contact force at centres and at edges over d0c / d0e.

    Parameters
    ----------
    runs : by d0c / d0e
    centre : nodes in the middle of panels
    """
    rows = []
    for ratio in sorted(runs):
        size = np.linalg.norm(runs[ratio].arrays["contact_force"][-1], axis=1)
        share = float(size[centre].sum() / size.sum())
        rows.append((ratio, share, 1.0 - share))
    return pd.DataFrame(rows, columns=["ratio", "centre", "edge"])


def reactions_by_statics(name: str, runs: Mapping[float, PressedFold]) -> pd.DataFrame:
    """Fig. 7j, k: reactions at both ends of the lower panel and those of statics.

    Parameters
    ----------
    runs : by x/L
    """
    rows = []
    for ratio in sorted(runs):
        x, up = runs[ratio].x[-1, :, 0], runs[ratio].up
        held = runs[ratio].held
        ends = (x[held].min(), x[held].max())
        total = runs[ratio].load
        at = float(x[runs[ratio].loaded].mean())
        far = total * (at - ends[0]) / (ends[1] - ends[0])
        for support, end, statics in zip(
            ("free end", "crease end"), ends, (total - far, far), strict=True
        ):
            simulated = float(up[held[np.abs(x[held] - end) < NEAR]].sum())
            rows.append((name, ratio, support, simulated, statics))
    columns = ["case", "x_over_L", "support", "simulated", "statics"]
    return pd.DataFrame(rows, columns=columns)
