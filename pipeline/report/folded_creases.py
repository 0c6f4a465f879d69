"""Creases of a folded sheet in pictures: how they fold, and which are off."""

import csv
from pathlib import Path

import numpy as np

from analysis.figures.run_picture import MISSED
from sim.core.arrays import Bools, Ints
from sim.origami.fold_and_load_phases import over_and_short, over_folds

FLAT = 1.0  # degrees; a crease that folds by less is shown as flat


def _why_off(row: dict[str, str]) -> str:
    """What holds a crease away from where it is to be; "" of one that is there."""
    if row["wrong_way"] == "1":
        return "on the wrong side"
    return row["held_by"] and f"limited by {row['held_by']}"


def crease_groups(path: Path, lines: Ints) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Nodes of creases that are off, by what holds them, and of all by their side.

    Those that are off have with them how far they are at most. The side is that which
    is asked, else that on which they are; with it are the least and the largest angle,
    of mountains negative, apart for creases that missed their target.

    Parameters
    ----------
    path : of the table of a run with a row for each crease
    lines : (q, 3) two nodes of each line, and its crease
    """
    with path.open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    number, reached, missed = (
        np.array([float(row[name]) for row in table])
        for name in ("crease", "reached_deg", "missing_deg")
    )
    held = np.array([_why_off(row) for row in table])
    asked = reached + missed
    over = over_folds(asked, reached)

    def nodes(rows: Bools) -> Ints:
        return lines[np.isin(lines[:, 2], number[rows])][:, :2]

    missing, folded = {}, {}
    off = held != ""
    for why in np.unique(held[off]):
        far = over_and_short(over[held == why], "°")
        missing[f"{why}: {far}"] = nodes(held == why)
    side = np.where(np.abs(asked) > FLAT, asked, reached)
    for kind, sign in {"mountain": -1.0, "valley": 1.0}.items():
        for end, chosen in {"": ~off, f", {MISSED}": off}.items():
            own = (sign * side > FLAT) & chosen
            if own.any():
                low, high = reached[own].min(), reached[own].max()
                many = f"{round(low)}° to " if high - low >= 1.0 else ""
                folded[f"{kind}{end}: {many}{round(high)}°"] = nodes(own)
    return missing, folded
