"""Link lengths made for targets: the structure at each, before and after."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.design import LengthSearch, lengths_for_targets
from analysis.figures.shapes import LineDrawing
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.store.files import read_json
from pipeline.terminal.errors import InputError

CAPTION = r"""
{% set r = rows[0].result -%}
**Link lengths that let one sheet meet its targets.** **a**, a circle, **b**, a sphere:
the sheet with its first lengths, with the lengths found (links coloured by the change
of their length), and the distance error $\mathcal{E}$, eq. (5) of [dJ23], without unit,
by step $s$ of the search. {{ r.links }} links in {{ r.groups }} groups of equal change
may change by {{ rows[0].case.limit | times(100) | sig(2) }} % at most; {{ r.at_limit }}
groups end at that limit. The circle's $\mathcal{E}$ falls from {{ first | sig(2) }} to
{{ r.E_0 | sig(2) }} in {{ r.steps }} steps; the sphere's stays {{ 'below the least that
is drawn, ' if r.E_1 < 1e-8 else 'at ' }} {{- '$10^{-8}$' if r.E_1 < 1e-8 else r.E_1 |
sig(2) }}.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a run of a design case."""
    row = only_row(rows)
    shown = _read_search(row.label, row.simulated)
    steps = pd.read_csv(row.simulated / "steps.csv")
    lengths = pd.read_csv(row.simulated / "lengths.csv")
    tables = {"steps": steps, "lengths": lengths}
    said = {"first": steps["E_0"].iloc[0]}
    return DrawnFigure(lengths_for_targets(shown), tables, [shown.key], said=said)


def _read_search(label: str, directory: Path) -> LengthSearch:
    """What a run of a case of design found."""
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        if "links" not in arrays:
            raise InputError(f"{directory} has no links: run a case of design")
        r, links, lengths = arrays["r"], arrays["links"], arrays["length"]
        targets = [
            LineDrawing(arrays[f"target_{t}_vertices"], arrays[f"target_{t}_edges"])
            for t in range(r.shape[1])
        ]
    table = pd.read_csv(directory / "steps.csv")
    E = table[[f"E_{t}" for t in range(r.shape[1])]].to_numpy(np.float64)
    read = read_json(directory / "structure.json")["bodies"]
    bodies = tuple(tuple(body) for body in read)
    return LengthSearch(
        label,
        key_of_run(directory),
        r,
        bodies,
        links,
        lengths[-1] / lengths[0] - 1.0,
        E,
        targets,
    )
