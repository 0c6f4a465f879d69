"""Creases of a folded sheet in pictures: how they fold, and which are off."""

from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.run_picture import MISSED
from sim.core.arrays import Ints
from sim.origami.fold_and_load_phases import over_and_short, over_folds

FLAT = 1.0  # degrees; a crease that folds by less is shown as flat


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
    table = pd.read_csv(path, keep_default_na=False)
    reached = table["reached_deg"].to_numpy(np.float64)
    asked = reached + table["missing_deg"].to_numpy(np.float64)
    wrong_way = table["wrong_way"] == 1
    table["over"] = over_folds(asked, reached)
    table["held"] = ("limited by " + table["held_by"]).mask(
        wrong_way, "on the wrong side"
    )

    def nodes(rows: pd.DataFrame) -> Ints:
        return lines[np.isin(lines[:, 2], rows["crease"])][:, :2]

    missing, folded = {}, {}
    off = wrong_way | (table["held_by"] != "")
    for held, rows in table[off].groupby("held"):
        far = over_and_short(np.asarray(rows["over"], dtype=np.float64), "°")
        missing[f"{held}: {far}"] = nodes(rows)
    side = np.where(np.abs(asked) > FLAT, asked, reached)
    for kind, sign in {"mountain": -1.0, "valley": 1.0}.items():
        for end, chosen in {"": ~off, f", {MISSED}": off}.items():
            own = (sign * side > FLAT) & chosen
            if own.any():
                low, high = reached[own].min(), reached[own].max()
                many = f"{round(low)}° to " if high - low >= 1.0 else ""
                folded[f"{kind}{end}: {many}{round(high)}°"] = nodes(table[own])
    return missing, folded
