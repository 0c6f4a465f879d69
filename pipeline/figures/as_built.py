"""A mechanism as built beside the truth of the virtual lab."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.figures.as_built import AsBuilt, as_built
from pipeline.results.shown import DrawnFigure, Row, key_of_run
from pipeline.store.files import read_json
from pipeline.terminal.errors import InputError


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """One row: the folder of a calibration from synthetic poses."""
    if len(rows) != 1:
        raise InputError(f"this figure shows one calibration, not {len(rows)}")
    here = rows[0].simulated
    for name in ("truth.csv", "again.csv"):
        if not (here / name).is_file():
            raise InputError(
                f"{here} has no {name}: this figure shows synthetic poses, simulated "
                "again as built (morphtrack calibrate FILE.yaml)"
            )
    names = ("deviations", "truth", "growth", "next_poses", "again")
    tables = {name: pd.read_csv(here / f"{name}.csv") for name in names}
    with np.load(here / "covariance.npz", allow_pickle=False) as arrays:
        covariance = arrays["covariance_mm2"]
    key, play = key_of_run(here), float("nan")
    if key:
        play = float(read_json(here / "run.json")["result"]["true_play_mm"])
    shown = AsBuilt(
        rows[0].label,
        key,
        tables["deviations"],
        tables["truth"]["true_deviation_mm"].to_numpy(np.float64),
        tables["growth"],
        tables["next_poses"],
        tables["again"],
        covariance,
        play,
    )
    return DrawnFigure(as_built(shown), tables, [key])
