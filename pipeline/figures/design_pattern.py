"""A pattern of two materials that is found again from the shape that it gave."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.design_pattern import PatternSearch, pattern_from_shape
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.terminal.errors import InputError

CAPTION = r"""
{% set r = rows[0].result -%}
**The pattern of two materials in a strip, found again from its shape.** The strip is
held at its left end; its {{ r.growths }} struts along both sides may be of either of
two materials, of which the second lengthens as it is heated. The goals are where its
nodes are at rest, heated, with a pattern that the search is not told. **a**, the first
step, shares of a half in each strut; **b**, the last step. **c**, the share of the
second material in each strut by step. **d**, distance error $\mathcal{E}$, eq. (5) of
[dJ23], without unit (diamonds: each strut of one material or the other). Steps lower
$\mathcal{E}$ by its gradient, with a penalty on mixed struts that grows; then shares
are rounded, which leaves $\mathcal{E}$ at {{ rounded | sig(2) }}, and single struts
changed as long as one helps ({{ r.changed }} of them). The search ends at
{{ last | sig(2) }} with {{ r.of_second }} struts of the second material.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a run of a case of patterns."""
    row = only_row(rows)
    shown = _read(row.label, row.simulated)
    pattern = pd.read_csv(row.simulated / "pattern.csv")
    steps = pd.read_csv(row.simulated / "steps.csv")
    tables = {"steps": steps, "pattern": pattern}
    said = {
        "rounded": float(shown.E[shown.decided][0]),
        "last": float(shown.E[-1]),
    }
    return DrawnFigure(pattern_from_shape(shown), tables, [shown.key], said=said)


def _read(label: str, directory: Path) -> PatternSearch:
    if not (directory / "pattern.csv").is_file():
        raise InputError(f"{directory} has no pattern.csv: run a case of patterns")
    pattern = pd.read_csv(directory / "pattern.csv")
    named = pattern["parts"].str.fullmatch(r"springs \d+")
    if not named.all():
        raise InputError(
            f"{directory} has {pattern['parts'][~named].iloc[0]} in one growth: this "
            "figure draws growths of one spring each"
        )
    table = pd.read_csv(directory / "steps.csv")
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        ends, last = arrays["ends"], arrays["ends"].shape[1] - 1
        return PatternSearch(
            label,
            key_of_run(directory),
            ends[:, last],
            arrays["bars"],
            pattern["parts"].str.split().str[1].to_numpy(np.int64),
            arrays["share"],
            table["decided"].to_numpy(np.float64) > 0.5,
            table.filter(regex=r"^E_\d+$").to_numpy(np.float64).max(axis=1),
            arrays[f"target_{last}_vertices"],
        )
