"""A structure at rest with the forces in its links, and the limit of rigid links."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.equilibrium import AtRest, forces_and_limit
from analysis.figures.shapes import LineDrawing
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.terminal.errors import InputError

CAPTION = """
{% set r = rows[0].result -%}
**A sheet of elastic links and hinges at rest, and the limit of rigid links.** **a**,
the sheet drawn by springs to a cylinder (grey), its {{ r.links }} links coloured by
tension (in the case's unit of force, {{ least | sig }} to {{ most | sig }}; {{
r.smallest_tension | sig }} to {{ r.largest_tension | sig }} with rigid links); black
dots: nodes held. **b**, difference of elastic to rigid links by the compliance of the
links, relative to the case's: nodes (root mean square over $L$) and tensions
(relative), both without unit; the legend has the observed orders, the dotted line slope
1. Each of the
{{ rows[0].case.compliances | length }} equilibria is a minimum with a residual below {{
rows[0].case.residual | sig(1) }}.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: a run of an equilibrium case."""
    row = only_row(rows)
    shown = _read(row.label, row.simulated)
    reactions = pd.read_csv(row.simulated / "reactions.csv")
    steps = pd.read_csv(row.simulated / "steps.csv")
    tables = {"steps": steps, "reactions": reactions}
    said = {"least": shown.tension.min(), "most": shown.tension.max()}
    return DrawnFigure(forces_and_limit(shown), tables, [shown.key], said=said)


def _read(label: str, directory: Path) -> AtRest:
    """The first equilibrium, and how the others differ from that of rigid links."""
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        if "tension" not in arrays:
            raise InputError(f"{directory} has no tensions: run a case of equilibrium")
        r, links, tension = arrays["r"], arrays["links"], arrays["tension"][0]
        held = np.flatnonzero(np.abs(arrays["support"][0]).any(axis=1))
        target = LineDrawing(
            arrays.get("target_vertices", np.empty((0, 3))),
            arrays.get("target_edges", np.empty((0, 2), np.int64)),
        )
        r0 = arrays["r0"]
    table = pd.read_csv(directory / "steps.csv")
    return AtRest(
        label,
        key_of_run(directory),
        r0,
        r[0],
        links,
        tension,
        held,
        target,
        table["compliance"].to_numpy(np.float64),
        table["away_from_rigid"].to_numpy(np.float64),
        table["force_error"].to_numpy(np.float64),
    )
