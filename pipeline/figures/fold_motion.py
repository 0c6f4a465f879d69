"""A crease that rings, a pyramid that snaps, a leaf on a slope: six runs."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.fold_motion import RingingCrease, SlidingLeaf, moving_folds
from pipeline.results.shown import DrawnFigure, Row, runs_shown
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError

CAPTION = """
**Sheets in motion.** **a**, fold of a crease with a panel on it that is turned by a
moment and let go, and the closed form of a spring and a rigid panel (line), which it
leaves by at most {{ off | times(100) | sig(2) }} % of the first fold. **b**, height of
the apex of a pyramid that is pushed past its barrier and let go: it snaps through,
overshoots, and with damping comes to rest at {{
rows[1].result.watched | times(1000) | sig(4) }} mm. **c**, its energies and what
damping took; their sum is kept within {{ rows[1].result.imbalance | times(100) | sig(1)
}} % of the largest kinetic energy. **d**, a loose leaf on a slope of {{
slope | sig(2) }}° with three coefficients of
friction, one of them above the slope's tangent, and what Coulomb's law says of a rigid
leaf (lines), which it leaves by at most {{ slid | times(1e6) | sig(1) }} µm.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Six rows: a ringing crease, two pyramids, three leaves on a slope."""
    first = "a ringing crease", "a pyramid with damping", "one without"
    runs = runs_shown(rows, *first, *["a leaf on a slope"] * 3)
    ringing = _ringing(rows[0].simulated)
    snaps = {row.label: _steps(row.simulated) for row in rows[1:3]}
    leaves = [_leaf(row.simulated) for row in rows[3:]]
    known = ringing.known(ringing.time)
    off = np.abs(ringing.fold - known).max() / np.abs(ringing.fold[0])
    folds = {"time": ringing.time, "fold": ringing.fold, "known": known}
    tables = {"ringing": pd.DataFrame(folds)} | {
        f"snap-{k}": table for k, table in enumerate(snaps.values())
    }
    for k, leaf in enumerate(leaves):
        ways = {"time": leaf.time, "way": leaf.way, "known": leaf.known(leaf.time)}
        tables[f"leaf-{k}"] = pd.DataFrame(ways)
    slid = max(np.abs(leaf.way - leaf.known(leaf.time)).max() for leaf in leaves)
    figure = moving_folds(ringing, snaps, leaves, runs)
    said = {"off": float(off), "slid": float(slid), "slope": leaves[0].slope}
    return DrawnFigure(figure, tables, [key for _, key in runs], said=said)


def _steps(folder: Path) -> pd.DataFrame:
    path = folder / "steps.csv"
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame()
    if "kinetic_energy" not in table:
        raise InputError(f"{path} tells no motion: give the runs in their order")
    return table


def _leaf(folder: Path) -> SlidingLeaf:
    table, moves = _steps(folder), run_record(folder)["config"]["case"]
    moves = moves["motion"]
    way = table["watched"].to_numpy()
    return SlidingLeaf(
        table["time"].to_numpy(), way - way[0], moves["friction"], moves["slope"],
        moves["gravity"],
    )  # fmt: skip


def _ringing(folder: Path) -> RingingCrease:
    """One crease across the sheet, whose second panel moves as a rigid one."""
    time = _steps(folder)["time"].to_numpy()
    with np.load(folder / "steps.npz", allow_pickle=False) as arrays:
        fold = arrays["folds"][:, 0]
        rest, triangles = arrays["rest"], arrays["triangles"]
        of, lines = arrays["triangle_panel"], arrays["crease_lines"]
    case = run_record(folder)["config"]["case"]
    made, moves = case["of"]["material"], case["motion"]
    ends = rest[lines[0, :2].astype(int)]
    corners = rest[triangles[of == 1]]
    sides = corners[:, 1:] - corners[:, :1]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    third = moves["panel_density"] * made["panel_thickness"] * area / 3.0
    arm = corners[:, :, 0] - ends[0, 0]
    inertia = float((third[:, None] * arm**2).sum())
    stiffness = (
        made["crease_modulus"] * made["crease_thickness"] ** 3
        * float(np.linalg.norm(ends[1] - ends[0])) / (12.0 * made["crease_width"])
    )  # fmt: skip
    return RingingCrease(time, fold, float(np.sqrt(stiffness / inertia)))
