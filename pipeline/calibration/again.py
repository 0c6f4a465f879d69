"""A mechanism simulated again as built, and compared with the same scans again."""

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.calibration.poses import ScannedPose, settings_of
from pipeline.compare import run_step as compare
from pipeline.errors import InputError
from pipeline.runs import run_record
from pipeline.simulate import planned, run_in
from sim.newton import NotConvergedError

COLUMNS = ("verdict", "S_error", "rms_mm", "rms_limit_mm", "worst_length_u")


@dataclass(frozen=True)
class Again:
    """What to repeat, and where.

    Parameters
    ----------
    as_built : structure file
    out : folder that receives a folder for each pose
    printing_sd_mm : what is left unknown of a node's place on its bodies
    """

    as_built: Path
    out: Path
    printing_sd_mm: float


def compare_again(poses: list[ScannedPose], again: Again) -> pd.DataFrame:
    """A row a pose: its comparison before, with nominal lengths, and after."""
    rows = []
    for pose in poses:
        after = _one(pose, again)
        row: dict[str, Any] = {"pose": pose.folders.name}
        row |= {f"{name}_before": pose.row[name] for name in COLUMNS}
        row |= {f"{name}_after": after[name] for name in COLUMNS}
        rows.append(row)
    return pd.DataFrame(rows)


def _one(pose: ScannedPose, again: Again) -> dict[str, Any]:
    folders = pose.folders
    if not (folders.simulated / "run.json").is_file():
        raise InputError(
            f"{folders.simulated} has no run.json, so its case is not known: simulate "
            "it with pipeline.simulate, or leave the second simulation out (--no-again)"
        )
    config = copy.deepcopy(run_record(folders.simulated)["config"])
    config["case"]["structure"] = {
        "_target_": "pipeline.cases.structure_file.structure_file",
        "path": str(again.as_built),
    }
    directory = again.out / folders.name
    name = f"{folders.name}-as-built"
    try:
        run_in(directory / "simulated", planned(name, config))
    except NotConvergedError as error:
        raise InputError(
            f"{folders.name} does not converge with the lengths as built: {error}"
        ) from error
    settings = replace(
        settings_of(pose), printing_sd_mm=again.printing_sd_mm, print_scale_sd=0.0
    )
    simulated, out = directory / "simulated", directory / "comparison"
    return compare(settings, folders.spheres, simulated, out, pictured=False)
