"""Rods in space, a panel a run."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.space_rods import Tubes, tubes_of_runs, upright
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.terminal.errors import InputError

CAPTION = r"""
**Rods in space**, at the start (grey) and at the end; flat ones are drawn as round as
they are thick, slender ones thicker than they are; the line along a rod shows its
twist.
{% for row in rows -%}
{% set r = row.result -%}
**{{ 'abcdefgh'[loop.index0] }}**, `{{ row.label }}`: {% if r.fallen is defined -%}
the star robot of [Hu20] pushed sideways, at a tilt of {{ r.tilt | sig(2) }} degrees
{%- elif r.height is defined -%}
a wire of natural curvature let down until gravity is what it is, {{ r.height | times(
1000) | sig(3) }} mm high
{%- elif r.x_tip is defined -%}
an arm bent out of plane by two tendons
{%- else -%}
a robot of conf/robot after {{ r.time | sig(2) }} s
{%- endif %}.
{% endfor %}
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a run of rods in space."""
    runs = [_read(row.label, row.simulated) for row in rows]
    ends = [
        pd.DataFrame(run.last, columns=["x", "y", "z"]).assign(case=run.label)
        for run in runs
    ]
    tables = {"sections": pd.concat(ends, ignore_index=True)}
    return DrawnFigure(tubes_of_runs(runs), tables, [run.key for run in runs])


def _read(label: str, directory: Path) -> Tubes:
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        if "directors" not in arrays:
            raise InputError(f"{directory} has no frames: run a case of rods in space")
        r, up = arrays["r"], arrays.get("up", np.array([0.0, 0.0, 1.0]))
        marks, triangles = arrays["edges"], arrays["triangles"]
        nodes, edges = arrays["nodes"][[0, -1]], arrays["node_edges"]
    first, last = upright(r[0], up), upright(r[-1], up)
    key, places = key_of_run(directory), upright(nodes, up)
    return Tubes(label, key, first, last, places, edges, marks, triangles)
