"""Structures: what they are made for, how they rest, where their paths lead.

`lengths_for_targets` shows one before and after its link lengths were made for its
targets, `forces_and_limit` one at rest with the forces in its links, `branches_of_runs`
where paths meet and lead, `modes_of_motion` independent motions ([dJ23], Fig. 5b).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import mechanisms, style
from analysis.figures.figure_interface import DrawnFigure, ShownRun
from analysis.figures.mechanisms import draw_mechanism
from analysis.figures.panel_3d import PIECES, PaintedScene, scene_on
from analysis.figures.style import PanelGrid, sheet
from sim.core.arrays import Floats

REACHED = 1e-8  # E below which a target counts as met


def draw_design(runs: Sequence[ShownRun]) -> DrawnFigure:
    """A row a target: the end before, the end after, E by step.

    One row: a run of a design case, arrays r (steps, T, n, 3) of the ends of the
    morphs to T targets and lengths of the links by step.
    """
    (run,) = runs
    r, lengths = run.arrays["r"], run.arrays["length"]
    each = [f"target_{t}" for t in range(r.shape[1])]
    targets = [
        mechanisms.LineDrawing(*(run.arrays[f"{t}_{x}"] for x in ("vertices", "edges")))
        for t in each
    ]
    E = run.table[[f"E_{t}" for t in range(r.shape[1])]].to_numpy(np.float64)
    figure, groups = _panels(E)
    change = 100.0 * (lengths[-1] / lengths[0] - 1.0)
    span = max(float(np.abs(change).max()), 1e-7)
    colours = ScalarMappable(Normalize(-span, span), style.ON_WHITE)
    everything = [
        np.concatenate([r[0, t], r[-1, t], target.vertices])
        for t, target in enumerate(targets)
    ]
    long = style.round_length(min(np.ptp(own, axis=0).max() for own in everything))
    for t, (panels, own) in enumerate(zip(groups, everything, strict=True)):
        ends = r[[0, -1], t]
        for s, ax in enumerate(panels[:2]):
            view = mechanisms.view_of(r[:, t])
            with scene_on(ax, own, view) as scene:
                draw_mechanism(scene, ends[s], run.bodies, target=targets[t])
                if s:
                    lines = ends[s][run.arrays["links"]]
                    scene.lines(lines, colours.to_rgba(change), 2.0, lift=0.012)
            name = ("first lengths", "lengths found")[s]
            text = rf"{name}: $\mathcal{{E}}$ {style.above(E[-s, t], REACHED)}"
            ax.set_title(text) if s else style.put_letter(ax, "abcdefgh"[t], text)
        for ax in panels[2:]:
            _draw_error(ax, E[:, t])
        style.scale_bar(panels[0], long, style.UNIT)
    style.colour_bar(groups[-1][1], colours, "change of length of a link (%)")
    error = {"marker": "o", "mfc": "white", "color": "black"}
    named = ("node", "link or body", "target")
    handles = style.marks(*named, of={r"$\mathcal{E}$": error})
    style.legend_below(figure, handles)
    tables = {"steps": run.table, "lengths": run.read("lengths.csv")}
    return DrawnFigure(figure, tables, {"first": E[0, 0]})


def _panels(E: Floats) -> tuple[Figure, list[list[Axes]]]:
    """Three panels a target: two pictures and E, in a row, or E below if there is any.

    A column has no room for all three side by side.
    """
    three = PanelGrid(3, 44.0, 46.0)
    if three.columns == three.count:
        return sheet(*[three] * E.shape[1], more=13.0)
    pictures, curve = PanelGrid(2, 44.0, 46.0), PanelGrid(1, 44.0, 34.0)
    plotted = [(E[:, t] > REACHED).any() for t in range(E.shape[1])]
    rows = [[pictures, curve] if any_above else [pictures] for any_above in plotted]
    figure, groups = sheet(*[grid for row in rows for grid in row], more=13.0)
    left = iter(groups)
    return figure, [[ax for _ in row for ax in next(left)] for row in rows]


def _draw_error(ax: Axes, E: Floats) -> None:
    """E by step; a target that every step reaches has no curve."""
    style.error_by_step(ax, E, REACHED)
    ax.set_xlim(-0.4, len(E) - 0.6)
    if not (E > REACHED).any():
        ax.set_axis_off()
    if not (E > REACHED).all():
        text = rf"{int((E <= REACHED).sum())} of {len(E)} steps:"
        text += "\n" rf"$\mathcal{{E}}$ {style.above(0.0, REACHED)}"
        at, ha, va = (0.5, "center", "center")
        if E[0] > REACHED:
            at, ha, va = (0.95, "right", "top")
        ax.text(at, at, text, transform=ax.transAxes, ha=ha, va=va)


MAP = "PuOr_r"
SUPPORT = "#000000"


def draw_stiffness(runs: Sequence[ShownRun]) -> DrawnFigure:
    """The shape coloured by tension; errors over compliance with a slope of one.

    One row: a run of an equilibrium case.
    """
    (run,) = runs
    figure, ((ax, limit),) = sheet(PanelGrid(2, 80.0, 68.0, (1.15, 1.0)))
    colours, marks = _draw_shape(ax, run)
    style.colour_bar(ax, colours, "tension of a link (unit of force)")
    _draw_limit(limit, run)
    style.put_letters((ax, limit))
    style.legend_below(figure, marks)
    tables = {"steps": run.table, "reactions": run.read("reactions.csv")}
    tension = run.arrays["tension"][0]
    return DrawnFigure(figure, tables, {"least": tension.min(), "most": tension.max()})


def order(compliance: Floats, error: Floats, last: int = 4) -> float:
    """Slope of log error over log compliance, of the stiffest `last`."""
    stiffest = np.argsort(compliance)[:last]
    slope = np.polyfit(np.log(compliance[stiffest]), np.log(error[stiffest]), 1)[0]
    return float(slope)


def _draw_shape(ax: Axes, shown: ShownRun) -> tuple[ScalarMappable, list[Line2D]]:
    """The first equilibrium: what a colour stands for, and what each mark is."""
    r, tension = shown.arrays["r"][0], shown.arrays["tension"][0]
    held = np.abs(shown.arrays["support"][0]).any(axis=1)
    span = max(float(np.abs(tension).max(initial=0.0)), 1e-12)
    colours = ScalarMappable(Normalize(-span, span), MAP)
    everything = np.concatenate([r, shown.target.vertices])
    view, ends = mechanisms.best_view(r, shown.arrays["r0"]), r[shown.arrays["links"]]
    with scene_on(ax, everything, view, style.UNIT) as scene:
        mechanisms.draw_target(scene, shown.target)
        scene.lines(ends, "#404040", 2.4)
        # above all that comes nearer along a piece, whose casing else covers the last
        scene.lines(ends, colours.to_rgba(tension), 1.7, lift=0.004 + 1.1 / PIECES)
        scene.dots(r[held], SUPPORT, 4.0, lift=0.05)
    looks: dict[str, dict[str, Any]] = {
        "held node": {"marker": "o", "color": SUPPORT, "lw": 0.0, "ms": 4.0},
        "link": {"color": "#404040", "lw": 2.0},
        "target": style.MARKS["target"],
    }
    return colours, style.marks(of=looks)


def _draw_limit(ax: Axes, shown: ShownRun) -> None:
    """Differences to rigid links: distance of the nodes, and of the forces."""
    table = shown.table
    table = table[(table["compliance"] > 0.0) & (table["away_from_rigid"] > 0.0)]
    names = ("compliance", "away_from_rigid", "force_error")
    x, away, of_forces = (table[name].to_numpy(np.float64) for name in names)
    if len(x) < 2:
        ax.set_axis_off()
        why = "no convergence to show: give two or more compliances"
        ax.text(0.5, 0.5, why, ha="center", transform=ax.transAxes)
        return
    errors = (
        (away, "nodes, rms / $L$", "o", style.SIMULATED, "-"),
        (of_forces, "tensions, relative", "s", "#D55E00", "--"),
    )
    for error, name, marker, colour, line in errors:
        slope = f"{name}: order {order(x, error):.2f}"
        ax.loglog(x, error, line, marker=marker, color=colour, mfc="white", label=slope)
    first = float(away[np.argmin(x)])
    guide = np.array([x.min(), 100.0 * x.min()])
    ax.loglog(guide, 0.4 * first * guide / x.min(), ":", color="black", label="slope 1")
    ax.set_xlabel("compliance of the links / that of the case (-)")
    ax.set_ylabel("difference from rigid links (-)")
    ax.legend(loc="lower right")


SHOWN = 2  # branches with a panel of their own
SHAPES = 4  # configurations shown each way
DASHES = ("-", "--", ":", "-.")
COLOURS = (style.SIMULATED, style.SCANNED, style.ERROR, style.TARGET)  # of branches
ONE_WAY, OTHER_WAY = "#009E73", "#CC79A7"  # along one of them


def draw_branches(runs: Sequence[ShownRun]) -> DrawnFigure:
    """A row a run: where branches meet, two of them, and all in two coordinates."""
    figure, rows = sheet(*[PanelGrid(SHOWN + 2, 42.0, 40.0)] * len(runs), more=8.0)
    for letter, run, panels in zip("abcdefgh", runs, rows, strict=False):
        _draw_branching(panels, letter, run)
    _legend(figure)
    tables = [run.read("branches.csv").assign(case=run.label) for run in runs]
    return DrawnFigure(figure, {"ways": pd.concat(tables, ignore_index=True)})


def _along(run: ShownRun, branch: int, way: int) -> Floats:
    """(steps, n, 3) from where branches meet on, the first of all steps."""
    own = ((run.table["branch"] == branch) & (run.table["way"] == way)).to_numpy()
    return np.asarray(np.concatenate([run.r[:1], run.r[own]]))


def _legend(figure: Figure) -> None:
    looks: dict[str, dict[str, Any]] = {
        f"branch {k + 1}: direction": {"color": COLOURS[k], "ls": DASHES[k]}
        for k in range(SHOWN)
    }
    ways = {"where branches meet": style.ERROR, "one way": ONE_WAY}
    for name, colour in (ways | {"other way": OTHER_WAY}).items():
        looks[name] = {"color": colour, "marker": "o", "ms": 2.5, "mfc": "white"}
    style.legend_below(figure, style.marks(of=looks))


def _draw_branching(panels: Sequence[Axes], letter: str, run: ShownRun) -> None:
    view, directions = mechanisms.view_of(run.r), run.arrays["directions"]
    with scene_on(panels[0], run.r, view, style.UNIT) as scene:
        draw_mechanism(scene, run.r[0], run.bodies, colour=style.ERROR)
        _draw_tangents(scene, run.r[0], directions[:SHOWN])
    name = run.label.removesuffix("_branches").replace("_", " ")
    style.put_letter(panels[0], letter, f"{name}: {run.result['configuration']}")
    for ax in panels[1 : SHOWN + 1]:
        ax.set_axis_off()
    for branch in range(min(SHOWN, len(directions))):
        _draw_branch(panels[1 + branch], run, branch)
    _draw_map(panels[SHOWN + 1], run, len(directions))


def _draw_branch(ax: Axes, run: ShownRun, branch: int) -> None:
    with scene_on(ax, run.r, mechanisms.view_of(run.r)) as scene:
        first: dict[str, Any] = {"colour": style.ERROR, "alpha": 0.35}
        draw_mechanism(scene, run.r[0], run.bodies, **first)
        for way, colour in ((1, ONE_WAY), (-1, OTHER_WAY)):
            path = _along(run, branch, way)
            chosen = np.linspace(0, len(path) - 1, SHAPES).round().astype(int)[1:]
            for i, pale in zip(chosen, (0.3, 0.5, 1.0), strict=True):
                look = {"colour": colour, "alpha": pale, "lift": 0.1 * pale}
                draw_mechanism(scene, path[i], run.bodies, **look)
    ax.set_title(f"branch {branch + 1}, both ways")


def _draw_tangents(scene: PaintedScene, r: Floats, directions: Floats) -> None:
    """The directions (b, n, 3) in which branches leave the nodes (n, 3)."""
    size = 0.22 * float(np.ptp(r))
    for direction, colour in zip(directions, COLOURS, strict=False):
        arrow = size * direction / max(float(np.abs(direction).max()), 1e-300)
        moving = np.linalg.norm(arrow, axis=1) > 1e-3 * size
        scene.arrows(r[moving], arrow[moving], colour, 0.9)


def _draw_map(ax: Axes, run: ShownRun, branches: int) -> None:
    """All branches in the two directions in which the nodes spread most."""
    away = (run.r - run.r[0]).reshape(len(run.r), -1)
    spread = np.linalg.svd(away, full_matrices=False)[2][:2]
    n = run.r.shape[1]
    for k in range(branches):
        back, forth = (
            (_along(run, k, way) - run.r[0]).reshape(-1, 3 * n) @ spread.T / np.sqrt(n)
            for way in (-1, 1)
        )
        line = np.concatenate([back[::-1], forth[1:]])
        ax.plot(*line.T, DASHES[k % 4], color=COLOURS[k % 4], label=f"branch {k + 1}")
    ax.plot(0.0, 0.0, "o", color=style.ERROR, markersize=3.5)
    ax.set(xlabel=f"coordinate 1 ({style.UNIT})", ylabel=f"coordinate 2 ({style.UNIT})")
    ax.margins(0.12)


HELD = "#000000"
NUMBERED = 20  # nodes at most, where each has its number
SWING = 0.25  # of the size of the mechanism, the largest displacement shown


@style.styled()
def modes_of_motion(
    r: Floats,
    bodies: tuple[tuple[int, ...], ...],
    modes: Floats,
    title: str,
    unit: str = style.UNIT,
    held: Sequence[int] = (),
    names: Sequence[str] = (),
) -> Figure:
    """Each motion as arrows on the mechanism, from above where all is in one plane z.

    Parameters
    ----------
    r : (n, 3) nodes
    modes : (f, n, 3) displacements, in any scale
    unit : of `r`
    held : nodes that are marked as held
    names : of all nodes, which are written where these are few; else their numbers
    """
    flat = mechanisms.view_of(np.concatenate([r[None], r + modes])) == mechanisms.ABOVE
    view = mechanisms.ABOVE if flat else mechanisms.best_view(r, r)
    size_of = float(np.ptp(r, axis=0).max()) or 1.0
    figure, (panels,) = sheet(PanelGrid(len(modes), 42.0, 46.0, most=4), more=14.0)
    for i, (ax, mode) in enumerate(zip(panels, modes, strict=True)):
        swing = SWING * size_of * mode / max(float(np.abs(mode).max()), 1e-300)
        moving = np.linalg.norm(swing, axis=1) > 1e-3 * size_of
        everything = np.concatenate([r, r + swing])
        with scene_on(ax, everything, view, unit) as scene:
            draw_mechanism(scene, r, bodies)
            scene.dots(r[[*held]], HELD, 3.4, lift=0.04)
            scene.arrows(r[moving], swing[moving], style.SCANNED_EDGE, 0.8)
        if len(r) <= NUMBERED:
            _name(ax, scene.seen(r), names or [str(node) for node in range(len(r))])
        style.put_letter(ax, "abcdefghijklmnopqrstuvwxyz"[i % 26], f"motion {i + 1}")
    structure = {"color": style.SIMULATED, "marker": "o", "mfc": "white"}
    looks: dict[str, dict[str, Any]] = {
        "structure": structure, "displacement": {"color": style.SCANNED_EDGE}
    }  # fmt: skip
    if len(held):
        looks["held"] = {"color": HELD, "marker": "o", "ls": "none", "ms": 3.4}
    style.legend_below(figure, style.marks(of=looks))
    figure.suptitle(title, fontsize=style.size(8.0))
    return figure


def _name(ax: Axes, places: Floats, names: Sequence[str]) -> None:
    """Write the name of each node near its place (n, 2) on the panel."""
    for name, place in zip(names, places, strict=True):
        look: Any = {"fontsize": style.size(5.0), "color": HELD}
        style.annotate_near(ax, style.literal(name), place, (2.5, 2.5), **look)
