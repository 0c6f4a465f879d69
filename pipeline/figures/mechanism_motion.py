"""Mechanisms with masses in motion: a double pendulum, a slider-crank, a Bricard."""

from collections.abc import Sequence

import numpy as np

from analysis.figures.moving_mechanisms import MovingMechanismRun, motions_of_runs
from pipeline.results.shown import DrawnFigure, Row, runs_shown
from pipeline.results.simulated_run import read_simulated
from pipeline.terminal.errors import InputError

CAPTION = r"""
**Mechanisms with masses in motion** (circles: nodes; lines and faces: rods and bodies,
darker at later times). **a**, `{{ rows[0].label }}`, two rods let go at the height of
their pivot, and the way of the free end in {{ rows[0].result.time | sig }} s (grey).
**b**, `{{ rows[1].label }}`: moment that turns the
crank evenly and force across the slide, by time. **c**, `{{ rows[2].label }}`, with {{
rows[2].result.redundant }} redundant row, swings to its other end and back under
gravity. **d**, energy that neither the start nor work accounts for (left over), over
the largest kinetic energy, of the three by time; constraints are violated by {{
[rows[0].result.residual, rows[1].result.residual, rows[2].result.residual] | max | sig
}} at most, without unit.
"""

TRACED = (2, 2, 6)  # nodes
SHOWN = ((0, 0.04, 0.08, 0.12), (0,), (0, 0.2, 0.45))  # shares of the duration


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """Three rows: a double pendulum, a driven slider-crank and a Bricard."""
    what = "a double pendulum", "a slider-crank with a driver", "a linkage in space"
    runs_shown(rows, *what)
    runs = [
        _read(row, node, shares)
        for row, node, shares in zip(rows, TRACED, SHOWN, strict=True)
    ]
    tables = {run.label.lower().replace(" ", "_"): run.table for run in runs}
    return DrawnFigure(motions_of_runs(*runs), tables, [run.key for run in runs])


def _read(row: Row, node: int, shares: Sequence[float]) -> MovingMechanismRun:
    run = read_simulated(row.simulated)
    if "out_of_balance" not in run.table or run.r.shape[1] <= node:
        raise InputError(f"{row.simulated} is no motion with node {node}: give one")
    steps = np.array(shares) * (len(run.r) - 1)
    label = row.label.removesuffix("_motion").replace("_", " ")
    label = label.replace("bricard", "Bricard")
    return MovingMechanismRun(
        label, run.key, run.r, run.bodies, node, steps.astype(int).tolist(), run.table
    )
