"""What shapes a structure can take."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.envelope import Envelope, extremes, reachable_shapes
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.store.files import read_json
from pipeline.terminal.errors import InputError

CAPTION = r"""
{% set r = rows[0].result -%}
**Shapes that a sheet can take**, sampled: {{ r.samples }} configurations of seeded
walks along the constraints (seed {{ rows[0].case.seed }}). **a**, shape factor
$\mathcal{S}$, eq. (6) of [dJ23], and size (largest distance of two nodes over $L$),
both without unit, coloured by the smallest singular value $\sigma$, the distance from a
singular configuration; cross: start; rings: the extremes drawn in **d**. **b**,
cells of side {{ rows[0].case.cell | sig(1) }} in this plane found so far, {{ r.cells }}
in all; **c**, those new in the last 100 samples, {{ r.new_in_last_100 }} at the end.
$\mathcal{S}$ spans {{ r.S_least | sig }} to {{ r.S_most | sig }}, the size {{
r.size_least | sig }} to {{ r.size_most | sig }}: inner bounds of what can be reached.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a run of a case such as reachable_sheet."""
    row = only_row(rows)
    shown = _read(row.label, row.simulated)
    ends = extremes(shown.table)
    table = shown.table.iloc[list(ends.values())].assign(what=list(ends))
    tables = {"samples": shown.table, "extremes": table}
    return DrawnFigure(reachable_shapes(shown), tables, [shown.key])


def _read(label: str, directory: Path) -> Envelope:
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        r = np.asarray(arrays["r"], dtype=np.float64)
    table = pd.read_csv(directory / "steps.csv")
    if "sigma" not in table:
        raise InputError(
            f"{directory} has no sigma: run a case such as reachable_sheet"
        )
    bodies = read_json(directory / "structure.json")["bodies"]
    bodies = tuple(tuple(body) for body in bodies)
    return Envelope(label, key_of_run(directory), table, r, bodies)
