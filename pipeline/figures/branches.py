"""The branches of structures: a row a run of a case of branches."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.branches import Branching, branches_of_runs
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.store.files import read_json
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError

CAPTION = r"""
**Ways out of singular and of resting configurations.** A row a structure: the motions
among which it may choose at the configuration in black, the branches followed both ways
(later configurations darker), and all of them in two coordinates of the motion, root
mean square of the nodes in the structure's unit of length, about the configuration
(dot).
{% for row in rows -%}
**{{ 'abcdefghijkl'[loop.index0] }}**, `{{ row.label }}`: {{ row.result.branches }}
{% if row.result.configuration == 'saddle' %}ways down from a saddle, where
$\mathcal{E}$, eq. (5) of [dJ23], is {{ row.result.E_there | sig }}
{%- else %}branches{% endif %}, {{ row.result.steps }} steps.
{% endfor %}
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A row a run, and the table of all ways."""
    runs = [_read(row.label, row.simulated) for row in rows]
    tables = [
        pd.read_csv(row.simulated / "branches.csv").assign(case=row.label)
        for row in rows
    ]
    ways = pd.concat(tables, ignore_index=True)
    return DrawnFigure(
        branches_of_runs(runs), {"ways": ways}, [run.key for run in runs]
    )


def _read(label: str, directory: Path) -> Branching:
    with np.load(directory / "steps.npz", allow_pickle=False) as arrays:
        if "directions" not in arrays:
            raise InputError(f"{directory} has no branches: run a case of branches")
        r, directions = arrays["r"], arrays["directions"]
    steps = pd.read_csv(directory / "steps.csv")
    result = run_record(directory)["result"]
    return Branching(
        label.removesuffix("_branches").replace("_", " "),
        key_of_run(directory),
        r,
        steps["branch"].to_numpy(np.int64),
        steps["way"].to_numpy(np.int64),
        directions,
        tuple(
            tuple(body) for body in read_json(directory / "structure.json")["bodies"]
        ),
        str(result["configuration"]),
    )
