"""A mechanism as built beside the truth of the virtual lab."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.as_built import AsBuilt, as_built
from pipeline.results.shown import DrawnFigure, Row, key_of_run, only_row
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError

CAPTION = """
{% set r = rows[0].result -%}
**A mechanism as built, found from scans of {{ r.poses }} poses.** **a**, deviations of
{{ r.unknowns }} lengths from the drawing (mm): edges of bodies (circles), links
(squares), the truth (rings). **b**, estimated minus true (µm), bars: 95 % intervals, of
which {{ r.true_within_95 }} hold the truth. **c**, correlation of the estimates. **d**,
standard uncertainties, and the play of the links with its 95 % interval ({{
r.link_play_sd_mm | times(1000) | sig(2) }} µm estimated, {{ r.true_play_mm |
times(1000) | sig(2) }} µm true, dotted), by the number of poses. **e**, distance of the
nodes (mm, root mean square) by pose, as drawn ({{ r.rms_mm_before | sig(2) }} in all),
as built ({{ r.rms_mm_after | sig(2) }}) and as built from the other poses alone ({{
r.rms_mm_held_out | sig(2) }}), with the verdicts.
"""


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the folder of a calibration from synthetic poses."""
    row = only_row(rows, "a calibration")
    here = row.simulated
    for name in ("truth.csv", "again.csv"):
        if not (here / name).is_file():
            raise InputError(
                f"{here} has no {name}: this figure shows synthetic poses, simulated "
                "again as built (morphtrack calibrate FILE.yaml)"
            )
    names = ("deviations", "truth", "growth", "again")
    tables = {name: pd.read_csv(here / f"{name}.csv") for name in names}
    with np.load(here / "covariance.npz", allow_pickle=False) as arrays:
        covariance = arrays["covariance_mm2"]
    key, play = key_of_run(here), float("nan")
    if key:
        play = float(run_record(here)["result"]["true_play_mm"])
    shown = AsBuilt(
        row.label,
        key,
        tables["deviations"],
        tables["truth"]["true_deviation_mm"].to_numpy(np.float64),
        tables["growth"],
        tables["again"],
        covariance,
        play,
    )
    return DrawnFigure(as_built(shown), tables, [key])
