"""Numbers behind Fig. 5 and Fig. 7 of [ZF19]: one node at a panel, one fold pressed."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from analysis.figures.origami_runs import OrigamiRun
from analysis.figures.pressed_folds import PressedFold
from sim.arrays import Floats, Ints
from sim.contact.candidates import find_pairs
from sim.contact.potential import pair_terms
from sim.contact.surface import ContactSurface

NEAR = 1e-3  # m, within which supports belong to the same end
TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def node_at_panel(point: Floats, *, d0: float, ke: float) -> tuple[float, float]:
    """Force on a node along z, and its stiffness, next to the triangle of Fig. 5."""
    x = np.vstack([point, TRIANGLE])
    surface = ContactSurface(
        point=np.array([0]),
        point_panel=np.empty((1, 0), dtype=np.int64),
        point_activation=np.array([d0]),
        triangle=np.array([[1, 2, 3]]),
        triangle_panel=np.array([0]),
        edge=np.empty((0, 2), dtype=np.int64),
        edge_activation=0.0,
        tag=np.full((4, 2), -1),
        rest=x,
        limited=False,
        thickness=0.0,
    )
    pairs = find_pairs(surface, x, d0)
    g, h = np.zeros(12), np.zeros((12, 12))
    if len(pairs.row):
        pair_terms(pairs, 0, ke, x, g, h)
    return float(-g[2]), float(h[2, 2])


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


def heights_under_load(runs: Mapping[float, OrigamiRun], node: int) -> pd.DataFrame:
    """Fig. 7g, h: height of the loaded node over the load, by what tells runs apart."""
    tables = []
    for value, pressed in runs.items():
        rows = pressed.phase(1)
        height = pressed.x[rows["step"].to_numpy(), node, 2]
        columns = {"value": value, "load": rows["load"], "height": height}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def force_shares(runs: Mapping[float, OrigamiRun], centre: Ints) -> pd.DataFrame:
    """Fig. 7i: parts of the contact force at centres and at edges over d0c / d0e.

    Parameters
    ----------
    runs : by d0c / d0e
    centre : nodes in the middle of panels
    """
    rows = []
    for ratio in sorted(runs):
        size = np.linalg.norm(runs[ratio].force[-1], axis=1)
        share = float(size[centre].sum() / size.sum())
        rows.append((ratio, share, 1.0 - share))
    return pd.DataFrame(rows, columns=["ratio", "centre", "edge"])


def reactions_by_statics(name: str, runs: Mapping[float, PressedFold]) -> pd.DataFrame:
    """Fig. 7j, k: reactions at both ends of the lower panel beside those of statics.

    Parameters
    ----------
    runs : by x/L
    """
    rows = []
    for ratio in sorted(runs):
        x, up = runs[ratio].run.x[-1, :, 0], runs[ratio].run.support_force[-1, :, 2]
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


def even(start: float, stop: float, count: int) -> list[float]:
    """`count` values at equal distances."""
    return [float(v) for v in np.linspace(start, stop, count)]
