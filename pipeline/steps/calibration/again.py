"""A mechanism simulated again as built, and compared with the same scans again."""

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.steps.calibration.poses import ScannedPose, settings_of
from pipeline.steps.compare import run_step as compare
from pipeline.steps.simulate import run_in
from pipeline.store.case_job import planned
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError, RunFailedError

COLUMNS = ("verdict", "S_error", "rms_mm", "rms_limit_mm", "worst_length_u")


@dataclass(frozen=True)
class Again:
    """What to repeat, and where.

    Parameters
    ----------
    as_built : structure file
    out : folder that receives the simulation and the comparison of a pose
    printing_sd_mm : what is left unknown of a node's place on its bodies
    """

    as_built: Path
    out: Path
    printing_sd_mm: float


def before_and_after(
    pose: ScannedPose, again: Again, held_out: Again | None
) -> dict[str, Any]:
    """A pose as drawn, as built, and as built from the others alone.

    Parameters
    ----------
    held_out : with lengths that the scan of this pose had no part in; None where the
        other poses do not tell them
    """
    row: dict[str, Any] = {"pose": pose.folders.name}
    row |= {f"{name}_before": pose.row[name] for name in COLUMNS}
    row |= _named("after", compared_again(pose, again))
    found = {} if held_out is None else compared_again(pose, held_out)
    return row | _named("held_out", found)


def _named(when: str, found: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}_{when}": found.get(name, "") for name in COLUMNS}


def compared_again(pose: ScannedPose, again: Again) -> dict[str, Any]:
    """The row of a comparison with lengths as built."""
    folders = pose.folders
    if not (folders.simulated / "run.json").is_file():
        raise InputError(
            f"{folders.simulated} has no run.json, so its case is not known: simulate "
            "it with morphtrack simulate, or leave the second one out (--no-again)"
        )
    config = copy.deepcopy(run_record(folders.simulated)["config"])
    config["case"]["structure"] = {
        "_target_": "pipeline.formats.structure_file.structure_file",
        "path": str(again.as_built),
    }
    simulated, out = again.out / "simulated", again.out / "comparison"
    try:
        run_in(simulated, planned(f"{folders.name}-as-built", config))
    except RunFailedError as error:
        raise RunFailedError(
            f"{folders.name} does not converge with the lengths as built: {error}"
        ) from error
    settings = replace(
        settings_of(pose), printing_sd_mm=again.printing_sd_mm, print_scale_sd=0.0
    )
    return compare(settings, folders.spheres, simulated, out, pictured=False)
