"""Fig. 3 of [dJ23]: each shape simulated beside the same shape scanned."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.alignment import fit_rigid_motion
from analysis.figures.dejong import (
    MorphedShape,
    ScannedShape,
    plotted_nodes,
    plotted_steps,
    shapes_beside_scans,
)
from analysis.figures.shapes import LineDrawing
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.results.simulated_run import SimulatedRun, read_simulated
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

CAPTION = r"""
**Shapes simulated beside the same shapes scanned**, after Fig. 3 of [dJ23]. Blue
circles and lines: simulated nodes, links and bodies; orange: spheres found in the scan;
grey dots and lines: points of the scan, and the target. By step $s$: distance error
$\mathcal{E}$, eq. (5) (circles), and shape factor $\mathcal{S}$, eq. (6) (squares),
both without unit; to the right those of the scan, with $\pm{{ '%g' |
format(rows[0].compared.k) }}$ standard uncertainties $u$.
{% for row in rows -%}
{% set c = row.compared -%}
**{{ 'abcdefghijkl'[loop.index0] }}**, `{{ row.label }}`: $\mathcal{S}$ {{ c.S_simulated
| u(c.S_simulated_u) }} simulated, {{ c.S_scanned | u(c.S_scanned_u) }} scanned, {{
c.labelled }} nodes {{ c.rms_mm | sig(2) }} mm apart (root mean square), {{ c.verdict
}}.
{% endfor -%}
Digits in brackets are $u$ of the last ones. [dJ23] prints none of these numbers, and
its scans are not public.
"""

DRAWN_POINTS = 4_000


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a comparison."""
    shapes = [morphed_shape(row) for row in rows]
    keys = [key for shape in shapes for _, key in shape.runs if key]
    tables = {"steps": plotted_steps(shapes), "nodes": plotted_nodes(shapes)}
    return DrawnFigure(shapes_beside_scans(shapes), tables, keys)


def morphed_shape(row: Row) -> MorphedShape:
    """Read what one row shows."""
    if row.comparison is None or row.ingest is None:
        raise InputError(
            f"{row.label} has no scan: Fig. 3 shows comparisons, name one of those"
        )
    run = read_simulated(row.simulated)
    for column in ("E", "S"):
        if column not in run.table:
            raise InputError(f"{row.simulated}/steps.csv has no column {column}")
    runs = [
        (f"{row.label}: simulated", run.key),
        ("spheres", key_of_run(row.ingest)),
        ("compared", key_of_run(row.comparison)),
    ]
    return MorphedShape(
        row.label,
        run.r[0],
        run.r[-1],
        run.bodies,
        LineDrawing(run.target_vertices, run.target_edges),
        run.table["E"].to_numpy(np.float64),
        run.table["S"].to_numpy(np.float64),
        _scanned_shape(row.comparison, row.ingest, run),
        tuple(runs),
    )


def _scanned_shape(comparison: Path, ingest: Path, run: SimulatedRun) -> ScannedShape:
    """The scan, moved into the simulation's frame and unit by the comparison's pose."""
    compared = pd.read_csv(comparison / "comparison.csv").iloc[0]
    nodes = pd.read_csv(comparison / "nodes.csv")
    simulated = nodes[[f"simulated_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
    scanned = nodes[[f"scanned_{a}_mm" for a in "xyz"]].to_numpy(np.float64)
    known = np.isfinite(simulated[:, 0])
    scale = float(compared["scale_mm"])
    back = fit_rigid_motion(simulated[known], scale * run.r[-1][known])
    return ScannedShape(
        back(scanned) / scale,
        back(_points(ingest)) / scale,
        float(compared["S_scanned"]),
        float(compared["S_scanned_u"]),
        float(compared["S_simulated"]),
        str(compared["basis"]) == "all nodes",
        float(compared["k"]),
        str(compared["verdict"]),
        float(compared["rms_mm"]),
        bool(compared["synthetic"]),
        float(compared["E_scanned"]),
        float(compared["E_scanned_u"]),
    )


def _points(ingest: Path) -> Floats:
    """A few points of the scan, mm, if the ingest kept any."""
    path = ingest / "points.npy"
    if not path.is_file():
        return np.empty((0, 3))
    points = np.load(path, mmap_mode="r", allow_pickle=False)
    few: Floats = np.asarray(points[:: len(points) // DRAWN_POINTS + 1], np.float64)
    return few
