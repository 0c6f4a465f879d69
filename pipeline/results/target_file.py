"""target.json: where the target is in a scan, or why it was not found there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.alignment import RigidMotion
from analysis.validation.deviation import PlacedTarget
from pipeline.store.files import read_json, write_json
from pipeline.store.keys import file_digest
from pipeline.terminal.errors import InputError

NAME = "target.json"


@dataclass(frozen=True, eq=False)
class TargetFile:
    """What target.json says.

    Parameters
    ----------
    placed : the target's pose in the scan; None where it was not found
    reason : why it was not found, or ""
    """

    placed: PlacedTarget | None
    reason: str


def write_placed(
    out: Path,
    placed: PlacedTarget,
    numbers: dict[str, Any],
    scale_mm: float,
    spheres: Path,
) -> None:
    """Write the pose and the numbers measured from it.

    Parameters
    ----------
    spheres : directory of the ingest it was found in
    """
    pose = {
        "rotation": placed.motion.rotation,
        "translation_mm": placed.motion.translation,
        "pivot_mm": placed.pivot,
        "covariance": placed.covariance,
    }
    whose = {"scale_mm": scale_mm, "spheres_sha256": _digest(spheres)}
    write_json(out / NAME, {"placed": True, **numbers, **whose, "pose": pose})


def write_reason(out: Path, reason: str) -> None:
    """Write why the target was not found."""
    write_json(out / NAME, {"placed": False, "reason": reason})


def read_target(directory: Path, scale_mm: float, spheres: Path) -> TargetFile:
    """Read DIR/target.json; one of another scan or scale is refused.

    Parameters
    ----------
    spheres : directory of the ingest it must belong to
    """
    path = directory / NAME
    if not path.is_file():
        raise InputError(f"{path} does not exist: run morphtrack deviation first")
    found = read_json(path)
    try:
        if not found["placed"]:
            return TargetFile(None, str(found["reason"]))
        same = found["scale_mm"] == scale_mm
        if not same or found["spheres_sha256"] != _digest(spheres):
            raise InputError(
                f"{path} belongs to another scan or another scale_mm: run "
                "morphtrack deviation again"
            )
        pose = {k: np.asarray(v, dtype=np.float64) for k, v in found["pose"].items()}
        placed = PlacedTarget(
            RigidMotion(pose["rotation"], pose["translation_mm"]),
            pose["covariance"],
            pose["pivot_mm"],
            float(found["bar_radius_mm"]),
            float(found["target_rms_mm"]),
            int(found["target_points"]),
            float(found["target_seen"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} lacks or spoils {error}: run morphtrack deviation again"
        ) from error
    return TargetFile(placed, "")


def _digest(spheres: Path) -> str:
    return file_digest(spheres / "spheres.csv")
