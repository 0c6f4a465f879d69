"""Creases of a folded sheet in pictures: how they fold, and which are off."""

from pathlib import Path

import numpy as np
import pandas as pd

from sim.core.arrays import Ints
from sim.origami.fold_and_load_phases import over_and_short, over_folds

FLAT = 1.0  # degrees; a crease that folds by less is shown as flat


def crease_groups(path: Path, lines: Ints) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Nodes of creases that are off, by what holds them, and of all that fold.

    Those that are off have with them how far they are at most, and those that fold the
    least and the largest angle.

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
    for held, rows in table[wrong_way | (table["held_by"] != "")].groupby("held"):
        far = over_and_short(np.asarray(rows["over"], dtype=np.float64), "°")
        missing[f"{held}: {far}"] = nodes(rows)
    for kind, own in {"mountain": reached < -FLAT, "valley": reached > FLAT}.items():
        if own.any():
            low, high = np.abs(reached[own]).min(), np.abs(reached[own]).max()
            to = f"{low:.0f}° to {high:.0f}°" if high - low >= 1.0 else f"{high:.0f}°"
            folded[f"{kind}: {to}"] = nodes(table[own])
    return missing, folded
