"""Heat along a strip and in time, flaps that rise, a vertex by a moment: three runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.fold_actuation import (
    HeatedFin,
    HeatedStrip,
    TurnedVertex,
    driven_folds,
)
from pipeline.results.shown import DrawnFigure, Row, runs_shown
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

CAPTION = """
**Creases driven by heat and by moments.** **a**, rise of temperature along a strip with
a heated crease in its middle, at nodes (circles) and by a Fourier series (lines): while
it is heated, at the end of that, and while it cools; **b**, the fold of its crease of
two plies in time, and Timoshenko's closed form with the series: at most {{ off |
times(100) | sig(2) }} % of the largest fold apart. **c**, flaps of bilayer creases on a
base as cold as its surroundings, two heated first, then all: folds by the power, {{
rows[1].result.largest_fold_deg | sig }} degrees at {{ rows[1].result.largest_rise | sig
}} K. **d**, a vertex of four creases by the moment on one of them, and rigid panels on
the same creases (line).
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Three rows: a heated strip, heated flaps, a turned vertex."""
    runs = runs_shown(rows, "a heated strip", "heated flaps", "a turned vertex")
    folders = [row.simulated for row in rows]
    strip = _strip(*_read(folders[0], "rise"))
    flaps = _flaps(*_read(folders[1], "rise"))
    vertex = _vertex(*_read(folders[2], "folds"))
    known = [strip.turn * strip.fin.rise(np.zeros(1), t)[0] for t in strip.time]
    off = np.abs(strip.fold - known).max() / np.abs(strip.fold).max()
    tables = {
        "strip": pd.DataFrame({"time": strip.time, "fold": strip.fold, "known": known}),
        "flaps": flaps,
        "vertex": pd.DataFrame({"moment": vertex.moment, "fold": vertex.fold}),
    }
    figure = driven_folds(strip, flaps, vertex, runs)
    return DrawnFigure(
        figure, tables, [key for _, key in runs], said={"off": float(off)}
    )


def _read(
    folder: Path, name: str
) -> tuple[Mapping[str, Any], Mapping[str, Any], pd.DataFrame]:
    """The case as configured, arrays and steps of a run."""
    path = folder / "steps.npz"
    if not path.is_file():
        raise InputError(f"{path} does not exist: give a finished run")
    with np.load(path, allow_pickle=False) as arrays:
        found = dict(arrays)
    if name not in found:
        raise InputError(f"{path} has no array {name}: give the runs in their order")
    case = run_record(folder)["config"]["case"]
    return case, found, pd.read_csv(folder / "steps.csv")


def _strip(
    case: Mapping[str, Any], arrays: Mapping[str, Floats], steps: pd.DataFrame
) -> HeatedStrip:
    heating, material, phase = case["heating"], case["material"], case["phases"][0]
    thick, store = material["panel_thickness"], heating["panel_capacity"]
    half, width = 0.5 * sum(case["pattern"]["lengths"]), case["pattern"]["width"]
    air = heating.get("air_conductivity", 0.026) / heating["air_depth"]
    fin = HeatedFin(
        half=half,
        diffusivity=heating["panel_conductivity"] / store,
        loss=2.0 * air / (thick * store),
        warming=phase["powers"][0] / (2.0 * half * width * thick * store),
        off=phase["duration"],
    )
    x = arrays["rest"][:, 0] - half
    order = np.argsort(x, kind="stable")
    middle = int(np.argmax(np.abs(arrays["folds"]).max(axis=0)))
    return HeatedStrip(
        fin, x[order], steps["time"].to_numpy(), arrays["rise"][:, order],
        arrays["folds"][:, middle], _bilayer(heating) * material["crease_width"],
    )  # fmt: skip


def _bilayer(heating: Mapping[str, Any]) -> float:
    """Curvature per kelvin of two plies: Timoshenko, J. Opt. Soc. Am. 11, 1925."""
    low, high = heating["laminate"]["plies"]
    m, n = low["thickness"] / high["thickness"], low["modulus"] / high["modulus"]
    whole = low["thickness"] + high["thickness"]
    apart = low["expansion"] - high["expansion"]
    stiff = 3.0 * (1.0 + m) ** 2 + (1.0 + m * n) * (m**2 + 1.0 / (m * n))
    return float(6.0 * apart * (1.0 + m) ** 2 / (whole * stiff))


def _flaps(
    case: Mapping[str, Any], arrays: Mapping[str, Floats], steps: pd.DataFrame
) -> pd.DataFrame:
    """A row an increment: power, and the folds of those heated first, then later."""
    first, later = (list(phase["creases"]) for phase in case["phases"])
    creases = np.unique(first + later)  # those of this pattern
    folds = dict(zip(creases.tolist(), arrays["folds"].T, strict=True))
    shown = {"heated first": first[0], "heated later": (set(later) - set(first)).pop()}
    return pd.DataFrame(
        {"power": steps["power"], **{name: folds[c] for name, c in shown.items()}}
    )


def _vertex(
    case: Mapping[str, Any], arrays: Mapping[str, Floats], steps: pd.DataFrame
) -> TurnedVertex:
    """Turned by the crease between its first two sectors, which is edge 0.

    Opposite creases of a flat-foldable vertex fold alike, neighbours by one of two
    ratios: the run has taken one.
    """
    phase, material, pattern = case["phases"][0], case["material"], case["pattern"]
    if list(phase["creases"]) != [0]:
        raise InputError(f"creases {phase['creases']} are turned: give a run with 0")
    bending = material["crease_modulus"] * material["crease_thickness"] ** 3 / 12.0
    turned, neighbour = arrays["folds"].T[:2]
    a, b = 0.5 * np.radians(pattern["sectors"][:2])
    ways = np.array([np.cos(b - a) / np.cos(b + a), np.sin(b - a) / np.sin(b + a)])
    went = abs(np.tan(0.5 * neighbour[-1]) / np.tan(0.5 * turned[-1]))
    other = float(ways[np.argmin(np.abs(np.log(ways / went)))])
    return TurnedVertex(
        moment=steps["load_factor"].to_numpy() * phase["moments"][0],
        fold=turned,
        stiffness=bending * pattern["radius"] / material["crease_width"],
        ratios=np.array([1.0, other, 1.0, other]),
    )
