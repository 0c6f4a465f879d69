"""Creases as they are drawn: by how they fold, and by what holds them."""

from pathlib import Path

import numpy as np
import pandas as pd

from sim.arrays import Ints
from sim.origami.folding.missing import over_and_short, over_folds

FLAT = 1.0  # degrees by which a crease folds that is drawn as one


def drawn_folds(path: Path, lines: Ints) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Nodes of creases that are off, by what holds them, and of all that fold.

    Parameters
    ----------
    path : of the table of a run with a row for each crease
    lines : (q, 3) two nodes of each line, and its crease
    """
    return _missing(path, lines), _folded(path, lines)


def _folded(path: Path, lines: Ints) -> dict[str, Ints]:
    """(q, 2) nodes of creases by how they fold, with the least and largest angle."""
    table = pd.read_csv(path)
    reached = table["reached_deg"].astype(float)
    found = {}
    for kind, own in {"mountain": reached < -FLAT, "valley": reached > FLAT}.items():
        if own.any():
            low, high = reached[own].abs().min(), reached[own].abs().max()
            to = f"{low:.0f}° to {high:.0f}°" if high - low >= 1.0 else f"{high:.0f}°"
            chosen = np.isin(lines[:, 2], table["crease"][own])
            found[f"{kind}: {to}"] = lines[chosen][:, :2]
    return found


def _missing(path: Path, lines: Ints) -> dict[str, Ints]:
    """(q, 2) nodes of creases by what holds them, with how far they are off at most."""
    table = pd.read_csv(path, keep_default_na=False)
    reached = np.asarray(table["reached_deg"], dtype=np.float64)
    asked = reached + np.asarray(table["missing_deg"], dtype=np.float64)
    table["over"] = over_folds(asked, reached)
    held_by = "held by " + table["held_by"]
    table["held"] = np.where(table["wrong_way"] == 1, "on the wrong side", held_by)
    away = table[(table["wrong_way"] == 1) | (table["held_by"] != "")]
    found = {}
    for held, rows in away.groupby("held"):
        far = over_and_short(np.asarray(rows["over"], dtype=np.float64), "°")
        chosen = np.isin(lines[:, 2], rows["crease"])
        found[f"{held}: {far}"] = lines[chosen][:, :2]
    return found
