"""Figures of [dJ23]: simulated and scanned shapes, and steps of a morph.

Fig. 3 compares scans; Figs 2 and 5 have each step with its E and S;
`draw_chain`, in one row: structure, simulated shape, scan, verdict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from analysis.alignment import RigidMotion, fit_rigid_motion
from analysis.figures import style
from analysis.figures.figure_interface import DrawnFigure, ShownRun, node_table
from analysis.figures.mechanisms import (
    best_view,
    draw_mechanism,
    draw_spheres,
    draw_target,
    view_of,
)
from analysis.figures.panel_3d import PaintedScene, View, scene_on
from sim.core.arrays import Floats, Ints
from sim.mechanism.constraint_projection import admissible, satisfy_constraints
from sim.mechanism.constraint_system import state, system_of
from sim.mechanism.mobility import modes
from sim.mechanism.structure import Structure

POINT_COLOUR = style.MARKS["scan point"]["color"]
NOT_PUBLIC = "The scans of [dJ23] are not public."
SHOWN_POINTS = 4_000
AGREEING: dict[str, Any] = {"color": style.FAINT, "ls": ":", "lw": 0.9}


@dataclass(frozen=True, eq=False)
class ScannedShape:
    """A simulated shape and its scan, in the simulation's frame and unit.

    Parameters
    ----------
    nodes : (n, 3) scanned nodes, nan where missing
    points : (q, 3) scan points for the background, few
    compared : S and E of the scan with standard uncertainties, and the verdict: the row
        of comparison.csv
    """

    run: ShownRun
    nodes: Floats
    points: Floats
    compared: Mapping[str, Any]

    @property
    def k(self) -> float:
        """Coverage factor of the error bars."""
        return float(self.compared["k"])

    def scanned(self, quantity: str) -> tuple[float, float]:
        """S or E and its standard uncertainty; E is nan where no target is seen."""
        value = self.compared[f"{quantity}_scanned"]
        return float(value), float(self.compared[f"{quantity}_scanned_u"])

    @property
    def S_simulated(self) -> float:
        """Of the same nodes, all or those that were seen."""
        return float(self.compared["S_simulated"])

    @property
    def synthetic(self) -> bool:
        """Whether the scan was computed."""
        return bool(self.compared["synthetic"])

    @property
    def runs(self) -> list[tuple[str, str]]:
        """(what, key) of the runs shown."""
        of = self.run.spheres, self.run.comparison
        keys = [one.key if one else "" for one in of]
        named = (f"{self.run.label}: simulated", "spheres", "compared")
        return list(zip(named, [self.run.key, *keys], strict=True))


def scanned_shape(run: ShownRun) -> ScannedShape:
    """The scan, moved into the simulation's frame and unit by the comparison's pose."""
    if run.comparison is None or run.spheres is None:
        raise ValueError(f"{run.label} has no scan: give a comparison with a scan")
    compared = run.comparison.read("comparison.csv").iloc[0].to_dict()
    nodes, scale = run.comparison.read("nodes.csv"), float(compared["scale_mm"])
    back, scanned = scan_in_frame(nodes, scale, run.r[-1])
    points = run.spheres.read("points.npy", np.empty((0, 3)))
    few = np.asarray(points[:: len(points) // SHOWN_POINTS + 1], np.float64)
    return ScannedShape(run, scanned, back(few) / scale, compared)


def scan_in_frame(
    nodes: pd.DataFrame, scale_mm: float, final: Floats
) -> tuple[RigidMotion, Floats]:
    """The motion of a scan onto a simulated shape (n, 3), mm; its nodes there.

    Parameters
    ----------
    nodes : of a comparison, nodes.csv
    scale_mm : mm of the print per unit of the shape, in which the nodes are returned
    """
    simulated, scanned = (
        nodes[[f"{what}_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
        for what in ("simulated", "scanned")
    )
    known = np.isfinite(simulated[:, 0])
    back = fit_rigid_motion(simulated[known], scale_mm * final[known])
    return back, back(scanned) / scale_mm


def draw_dejong_3(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Fig. 3: initial and final shape, the scan over the simulation, E and S.

    A row a comparison.
    """
    shapes = [scanned_shape(run) for run in runs]
    if not shapes:
        raise ValueError("Fig. 3 shows no case: list comparisons in conf/workflow.yaml")
    figure, rows = style.sheet(
        *[style.PanelGrid(4, 42.0, 41.0)] * len(shapes), more=12.0
    )
    twins: list[tuple[Axes, Axes]] = []
    for letter, shape, panels in zip("abcdefgh", shapes, rows, strict=False):
        twins.append(_draw_row(letter, shape, panels))
    for axes in zip(*twins, strict=True):
        style.compare(axes)
    _legend(figure, shapes[0].k)
    return DrawnFigure(
        figure,
        {"steps": plotted_steps(shapes), "nodes": plotted_nodes(shapes)},
        runs=[run for shape in shapes for run in shape.runs],
        notes=(style.SYNTHETIC, NOT_PUBLIC) if any(s.synthetic for s in shapes) else (),
    )


def _draw_row(
    letter: str, shape: ScannedShape, panels: Sequence[Axes]
) -> tuple[Axes, Axes]:
    """The panels of a shape, of one scale; the axes of E and of S are returned."""
    run = shape.run
    ends = run.r[[0, -1]]
    everything, view = np.concatenate(ends), best_view(ends[1], ends[0])
    style.put_letter(panels[0], letter, f"{run.label}: initial")
    for panel, r in zip(panels, ends, strict=False):
        with scene_on(panel, everything, view) as scene:
            draw_mechanism(scene, r, run.bodies, target=run.target)
    style.scale_bar(panels[0], 1.0, style.UNIT, loc="lower left")
    panels[1].set_title("final, simulated")
    _draw_scan(panels[2], shape, everything, view)
    return panels[3], _draw_steps(panels[3], shape)


def _draw_scan(ax: Axes, shape: ScannedShape, everything: Floats, view: View) -> None:
    compared = shape.compared
    what = "synthetic scan, " if shape.synthetic else "final, scanned, "
    ax.set_title(f"{what}{compared['verdict']},\nrms {compared['rms_mm']:.2f} mm")
    with scene_on(ax, everything, view) as scene:
        _draw_points(ax, scene, shape)
        draw_mechanism(scene, shape.run.r[-1], shape.run.bodies, size=1.2)


def _draw_points(ax: Axes, scene: PaintedScene, shape: ScannedShape) -> None:
    """What was scanned: points, and the spheres found."""
    flat = scene.seen(shape.points)
    ax.plot(*flat.T, ",", color=POINT_COLOUR, rasterized=True, zorder=0)
    draw_spheres(scene, shape.nodes[np.isfinite(shape.nodes[:, 0])])


def _draw_steps(ax: Axes, shape: ScannedShape) -> Axes:
    E, S = shape.run.column("E"), shape.run.column("S")
    steps = np.arange(len(E))
    style.error_by_step(ax, E, 0.0)
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_formatter(NullFormatter())
    end = float(steps[-1])
    ax.set_xlim(-0.05 * end - 0.1, end * 1.16 + 0.6)
    right = ax.twinx()
    every = max(1, len(steps) // 15)
    right.plot(steps, S, "--s", color=style.SHAPE, ms=2.4, markevery=every)
    right.set_ylabel(r"shape factor $\mathcal{S}$ (-)", color=style.SHAPE)
    right.tick_params(axis="y", colors=style.SHAPE)
    right.yaxis.set_major_locator(MaxNLocator(5))
    at = end * 1.05 + 0.2
    if shape.compared["basis"] != "all nodes":
        right.plot([at], [shape.S_simulated], "s", color=style.SHAPE, mfc="none", ms=5)
        place = (at, max(shape.scanned("S")[0], shape.S_simulated))
        look: dict[str, Any] = {
            "fontsize": style.size(style.SMALL),
            "color": style.FAINT,
        }
        style.annotate_near(right, "seen nodes only", place, (0, 6), ha="right", **look)
    _error_bar(right, at, shape.scanned("S"), shape.k, "D")
    if np.isfinite(shape.scanned("E")[0]):
        aside = at + 0.06 * end + 0.2  # where S may be as high
        _error_bar(ax, aside, shape.scanned("E"), shape.k, "^")
        agrees = shape.compared["E_simulated"] + shape.compared["E_margin"]
        ax.axhline(float(agrees), **AGREEING)
    low, high = right.get_ylim()
    right.set_ylim(low - 0.08 * (high - low), high + 0.1 * (high - low))
    return right


def _error_bar(
    ax: Axes, at: float, scanned: tuple[float, float], k: float, mark: str
) -> None:
    """What was scanned, and k times its standard uncertainty."""
    ax.errorbar(
        [at], [scanned[0]], yerr=[k * scanned[1]], fmt=mark, ms=4.0, mew=0.7,
        color=style.SCANNED_EDGE, mfc=style.SCANNED, capsize=2.5, elinewidth=0.8,
        zorder=5,
    )  # fmt: skip


def _legend(figure: Figure, k: float) -> None:
    scanned = {"lw": 0.0, "mfc": style.SCANNED, "mec": style.SCANNED_EDGE}
    looks: dict[str, dict[str, Any]] = {
        r"$\mathcal{E}$ simulated": {
            "marker": "o",
            "color": style.ERROR,
            "mfc": "white",
        },
        r"$\mathcal{S}$ simulated": {"marker": "s", "ls": "--", "color": style.SHAPE},
        rf"$\mathcal{{E}}$ scanned, $\pm {k:g}u$": {"marker": "^", **scanned},
        rf"$\mathcal{{S}}$ scanned, $\pm {k:g}u$": {"marker": "D", **scanned},
        r"acceptance limit of $\mathcal{E}$": AGREEING,
    }
    node = {"simulated node": style.MARKS["node"] | {"lw": 0.7}}
    named = ("scanned sphere", "link or body", "target", "scan point")
    style.legend_below(figure, [*style.marks(of=node), *style.marks(*named, of=looks)])


def plotted_steps(shapes: Sequence[ScannedShape]) -> pd.DataFrame:
    """The numbers of the step panels: one row a step, the scan in a row of its own."""
    rows: list[dict[str, object]] = []
    for shape in shapes:
        case = {"case": shape.run.label}
        both = zip(shape.run.column("E"), shape.run.column("S"), strict=True)
        rows += [case | {"s": s, "E": E, "S": S} for s, (E, S) in enumerate(both)]
        step = "scanned" + (" (synthetic)" if shape.synthetic else "")
        (E, E_u), (S, S_u) = shape.scanned("E"), shape.scanned("S")
        rows.append(case | {"s": step, "E": E, "E_u": E_u, "S": S, "S_u": S_u})
    return pd.DataFrame(rows, columns=["case", "s", "E", "S", "E_u", "S_u"])


def plotted_nodes(shapes: Sequence[ScannedShape]) -> pd.DataFrame:
    """The numbers of the drawings: every node in each state, in the case's unit."""
    tables = []
    for shape in shapes:
        r = shape.run.r
        states = {"initial": r[0], "final": r[-1], "scanned": shape.nodes}
        for name, nodes in states.items():
            tables.append(node_table(nodes, case=shape.run.label, state=name))
    return pd.concat(tables, ignore_index=True)


COLUMNS = 4
WIDTH, HEIGHT = 42.0, 44.0  # mm of a panel
NOTHING = 1e-12  # E below which it is rounding
GOAL = "#D55E00"
MODES = (style.SIMULATED, style.SCANNED_EDGE, "#009E73")


def selected_steps(S: Floats) -> Ints:
    """First and last step, and those between at which S has come equally far."""
    path = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(S)))])
    places = np.linspace(0.0, path[-1], COLUMNS)
    chosen = np.searchsorted(path, places - 1e-12 * path[-1])
    chosen[-1] = len(S) - 1
    return np.asarray(np.unique(chosen))


FirstStep = tuple[Floats, Floats, Floats]


def first_step(run: ShownRun) -> FirstStep:
    """What one step of the algorithm consists of, Fig. 5a-d of [dJ23], at the start.

    Returns
    -------
    (f, n, 3) admissible motions, eq. (7); (n, 3) nodes after eq. (11); after eq. (12)
    """
    structure: Structure = run.read("structure")
    system, z = system_of(structure), state(structure)
    moved = z + admissible(system, z, run.arrays["g"][0] - run.r[0])
    back = satisfy_constraints(system, moved, tolerance=1e-10)
    return modes(structure), moved[: system.n], back[: system.n]


def draw_dejong_2(
    runs: Sequence[ShownRun], first: Sequence[FirstStep] = ()
) -> DrawnFigure:
    """A row a morph: nodes, links and bodies at selected steps, and their goals.

    A row a case: pentapod, squares to a circle, octahedra to an organic shape.

    Parameters
    ----------
    first : for each run, or for none: its first step, in a row above it
    """
    each, tables = 2 if first else 1, []
    grid = style.PanelGrid(COLUMNS, WIDTH, HEIGHT)
    figure, rows = style.sheet(*[grid] * (each * len(runs)), more=10.0)
    for i, run in enumerate(runs):
        if first:
            _draw_first(rows[each * i], run, first[i])
        chosen = selected_steps(run.column("S"))
        letter = "e" if first else "abcdefgh"[i]
        _draw_history(rows[each * i + each - 1], letter, run, chosen)
        table = run.table[["E", "S"]].assign(drawn=run.table.index.isin(chosen))
        table.insert(0, "step", np.arange(len(table)))
        table.insert(0, "case", run.label)
        tables.append(table)
    _legend_of_steps(figure, runs, bool(first))
    return DrawnFigure(figure, {"steps": pd.concat(tables, ignore_index=True)})


def draw_dejong_5(runs: Sequence[ShownRun]) -> DrawnFigure:
    """One run, the case bumps: its first step in four parts, then what follows."""
    return draw_dejong_2(runs, [first_step(run) for run in runs])


def _legend_of_steps(figure: Figure, paths: Sequence[ShownRun], first: bool) -> None:
    """What the marks are, of those that are there."""
    cross = {"marker": "+", "ms": 5.0, "lw": 0.0, "color": style.TARGET}
    points = not any(len(path.target.edges) for path in paths)
    looks: dict[str, dict[str, Any]] = {
        "target": cross if points else style.MARKS["target"],
        "goal of a node": {"marker": "o", "ms": 2.0, "color": GOAL, "lw": 0.0},
    }
    if first:
        looks["path to a goal"] = {"color": GOAL, "marker": ">", "ms": 2.5}
        for k, colour in enumerate(MODES):
            look = looks["path to a goal"] | {"color": colour}
            looks[f"admissible motion {k + 1}"] = look
        looks["after eq. (11)"] = {"color": style.ERROR}
    style.legend_below(figure, style.marks("node", "link or body", of=looks))


def _draw_first(axes: Sequence[Axes], run: ShownRun, first: FirstStep) -> None:
    """Goals, admissible motions, eq. (11), eq. (12)."""
    r, g, (motions, moved, corrected) = run.r[0], run.arrays["g"][0], first
    everything = np.concatenate([r, moved, run.r[1], run.target.vertices])
    led = np.linalg.norm(g - r, axis=1) > 0
    panels = ("goals", "admissible motions", "eq. (11)", "eq. (12)")
    for column, ax in enumerate(axes):
        unit = style.UNIT * (column == 0)
        with scene_on(ax, everything, view_of(run.r), unit) as scene:
            draw_target(scene, run.target)
            if column < 3:
                draw_mechanism(scene, r, run.bodies, alpha=1.0 if column < 2 else 0.3)
            if column == 0:
                scene.arrows(r[led], (g - r)[led], GOAL)
            if column == 1:
                _draw_modes(scene, r, motions, 0.12 * scene.span)
            if column >= 2:
                pale = 1.0 if column == 2 else 0.3
                draw_mechanism(scene, moved, run.bodies, colour=style.ERROR, alpha=pale)
            if column == 2:
                scene.arrows(r, moved - r, style.ERROR, 0.5)
            if column == 3:
                draw_mechanism(scene, corrected, run.bodies)
    style.put_letters(axes, panels)


def _draw_modes(scene: PaintedScene, r: Floats, modes: Floats, swing: float) -> None:
    """The motions that lie in the plane of a flat structure, or the first ones."""
    flat = np.abs(modes[..., 2]).max(axis=1) <= 1e-6 * np.abs(modes).max(axis=(1, 2))
    if flat.any():
        modes = modes[flat]
    for mode, colour in zip(modes, MODES, strict=False):
        scene.arrows(r, swing * mode / np.abs(mode).max(), colour, 0.6)


def _draw_history(
    axes: Sequence[Axes], letter: str, run: ShownRun, chosen: Ints
) -> None:
    """Some steps, each in its panel; goals but at the last."""
    states = run.r[chosen].reshape(-1, 3)
    everything = np.concatenate([states, run.target.vertices])
    for ax in axes[len(chosen) :]:
        ax.set_axis_off()
    for ax, s in zip(axes, chosen.tolist(), strict=False):
        unit = style.UNIT if s == chosen[0] else ""
        with scene_on(ax, everything, view_of(run.r), unit) as scene:
            draw_mechanism(scene, run.r[s], run.bodies, target=run.target)
            if s != chosen[-1]:
                goals = run.arrays["g"][s]
                led = np.linalg.norm(goals - run.r[s], axis=1) > 0
                scene.dots(goals[led], GOAL, 1.6, lift=0.05)
        E, S = style.above(run.column("E")[s], NOTHING), run.column("S")[s]
        title = rf"$s$ = {s}: $\mathcal{{E}}$ {E}, $\mathcal{{S}}$ = {S:.3f}"
        if s == chosen[0]:
            style.put_letter(axes[0], letter, f"{run.title}\n{title}".strip())
        else:
            ax.set_title(title)


HEADS = ("structure", "simulated", "scanned")


def draw_chain(runs: Sequence[ShownRun]) -> DrawnFigure:
    """Panels from left to right: what is designed, computed, printed and found.

    One row: a comparison.
    """
    shape = scanned_shape(runs[0])
    figure, (panels,) = style.sheet(style.PanelGrid(4, 42.0, 44.0), more=6.0)
    view = best_view(shape.run.r[-1], shape.run.r[0])
    for ax, head in zip(panels, HEADS, strict=False):
        _panel(ax, head, shape, view)
    _verdict(panels[3], shape)
    style.put_letters(panels, [*HEADS, f"compared: {shape.compared['verdict']}"])
    named = ("node", "link or body", "target", "scanned sphere")
    diamond = style.MARKS["scanned sphere"] | {"marker": "D"}
    handles = style.marks(*named, of={r"scanned, $\pm\,2u$": diamond})
    style.legend_below(figure, [*handles, *style.marks("scan point")])
    tables = {"nodes": plotted_nodes([shape]), "S": plotted_factors(shape)}
    notes = [style.SYNTHETIC] if shape.synthetic else []
    return DrawnFigure(figure, tables, runs=shape.runs, notes=notes)


def plotted_factors(shape: ScannedShape) -> pd.DataFrame:
    """Both shape factors with standard uncertainties; that of a simulation is 0."""
    S, u = zip((shape.S_simulated, 0.0), shape.scanned("S"), strict=True)
    return pd.DataFrame({"shape": ["simulated", "scanned"], "S": S, "u": u})


def _panel(ax: Axes, head: str, shape: ScannedShape, view: View) -> None:
    everything: Floats = shape.run.r[0 if head == "structure" else -1]
    target = {"target": shape.run.target} if head == "simulated" else {}
    with scene_on(ax, everything, view, style.UNIT) as scene:
        if head == "scanned":
            _draw_points(ax, scene, shape)
        else:
            draw_mechanism(scene, everything, shape.run.bodies, **target)


def _verdict(ax: Axes, shape: ScannedShape) -> None:
    """Both shape factors, the scanned one with its expanded uncertainty."""
    S, u = shape.scanned("S")
    bar = shape.k * u
    ax.plot([0], [shape.S_simulated], "o", ms=6, color=style.SIMULATED)
    ax.errorbar(
        [1], [S], [bar], fmt="D", ms=5, color=style.SCANNED, mec=style.SCANNED_EDGE,
        ecolor=style.SCANNED_EDGE, capsize=4,
    )  # fmt: skip
    ax.set_xlim(-0.6, 1.6)
    ax.set_xticks([0, 1], ["simulated", rf"scanned $\pm\,{shape.k:g}u$"])
    middle = 0.5 * (shape.S_simulated + S)
    half = 2.5 * (abs(shape.S_simulated - S) + bar)
    ax.set_ylim(middle - half, middle + half)
    ax.set_ylabel(r"shape factor $\mathcal{S}$ (-)")
