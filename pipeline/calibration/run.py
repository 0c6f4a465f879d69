"""One calibration: poses read, deviations estimated, tables written, poses repeated."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.as_built.adjust import Calibration, Pose, calibrate
from analysis.as_built.model import Model, model_of
from analysis.as_built.next_pose import Candidate, Optimal, candidates, sampled
from pipeline.calibration.again import Again, compare_again
from pipeline.calibration.poses import (
    PoseFolders,
    ScannedPose,
    nominal_structure,
    read_pose,
    scale_of,
)
from pipeline.calibration.settings import Settings
from pipeline.calibration.tables import (
    as_built,
    as_built_document,
    candidates_table,
    deviations_table,
    growth_table,
    spread_table,
)
from pipeline.errors import InputError
from pipeline.files import replacing, write_json
from pipeline.simulated_run import read_simulated
from sim.arrays import Floats
from sim.newton import NotConvergedError


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration with what it was made from."""

    found: Calibration
    poses: list[ScannedPose]
    scale_mm: float


def run_step(
    settings: Settings,
    folders: list[PoseFolders],
    out: Path,
    further: Sequence[Path] = (),
) -> dict[str, Any]:
    """Calibrate from the poses in `folders`; write tables and structure into `out`.

    Parameters
    ----------
    further : folders of simulations whose ends are candidates for the next pose
    """
    if not folders:
        raise InputError("no pose is given: name finished comparisons")
    nominal = nominal_structure(folders)
    poses = [read_pose(one, len(nominal.r0)) for one in folders]
    scale_mm = scale_of(poses)
    try:
        model = model_of(nominal, scale_mm, settings.unknowns)
        scans, scale_sd = [pose.pose for pose in poses], settings.scan_scale_sd
        found = calibrate(model, scans, scale_sd)
        ranked = _next(settings, Calibrated(found, poses, scale_mm), further)
    except ValueError as error:
        raise InputError(str(error)) from error
    made = as_built(nominal, found, scale_mm)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "as_built.json", as_built_document(nominal, made))
    tables = {
        "deviations": deviations_table(found),
        "spread": spread_table(found),
        "next_poses": candidates_table(model, ranked),
        "growth": growth_table([*_fewer(model, scans, scale_sd), (len(scans), found)]),
    }
    if settings.again:
        again = Again(out / "as_built.json", out / "again", _left_sd_mm(found))
        tables["again"] = compare_again(poses, again)
    for name, table in tables.items():
        with replacing(out / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
    with replacing(out / "covariance.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, covariance_mm2=found.covariance, names=np.array(model.names))
    return _numbers(found, poses, tables)


def _fewer(
    model: Model, scans: list[Pose], scale_sd: float
) -> Iterator[tuple[int, Calibration]]:
    """What the first poses alone tell, as far as they tell anything."""
    for many in range(1, len(scans)):
        with suppress(ValueError, NotConvergedError):
            yield many, calibrate(model, scans[:many], scale_sd)


def _next(
    settings: Settings, made: Calibrated, further: Sequence[Path]
) -> list[Candidate]:
    """Candidates for the next pose, the best first."""
    found, model = made.found, made.found.model
    n, scale_mm = len(model.structure.r0), made.scale_mm
    ends = [_end(path, n, scale_mm) for path in further]
    if settings.sampled:
        starts = [_end(p.folders.simulated, n, scale_mm)[1] for p in made.poses]
        rng = np.random.default_rng(settings.seed)
        amplitude = settings.amplitude_mm
        ends += sampled(model.structure, starts, settings.sampled, amplitude, rng)
    measured = [pose.pose for pose in made.poses]
    return candidates(found, measured, ends, Optimal(settings.optimal))


def _end(simulated: Path, n: int, scale_mm: float) -> tuple[str, Floats]:
    r = read_simulated(simulated).r[-1]
    if len(r) != n:
        raise InputError(
            f"{simulated} has {len(r)} nodes, the mechanism {n}: give its own poses"
        )
    return simulated.name, scale_mm * r


def _left_sd_mm(found: Calibration) -> float:
    """What a node's place on its bodies is still uncertain by, play included."""
    lengths = found.model.unknowns - found.model.scale
    u2 = float(np.mean(found.u[:lengths] ** 2)) if lengths else 0.0
    play = float(found.variances[: len(found.model.play)].max(initial=0.0))
    return float(np.sqrt(0.5 * (u2 + play)))


def _numbers(
    found: Calibration, poses: list[ScannedPose], tables: dict[str, pd.DataFrame]
) -> dict[str, Any]:
    model: Model = found.model
    free, lengths = found.chi2_dof, model.unknowns - model.scale
    several = [p.folders.name for p in poses if float(p.row.get("label_group", 1)) > 1]
    numbers: dict[str, Any] = {
        "poses": len(poses),
        "unknowns": model.unknowns,
        "largest_deviation_mm": float(np.abs(found.theta).max()),
        "rms_u_mm": float(np.sqrt(np.mean(found.u[:lengths] ** 2))),
        "chi2_per_degree": found.chi2 / free if free else float("nan"),
        "degrees_of_freedom": free,
        "synthetic": any(pose.synthetic for pose in poses),
    }
    if several:
        numbers["warning"] = (
            f"{', '.join(several)} can be labelled in several ways that fit equally "
            "well, so links may be exchanged: make their lengths differ "
            "(python -m pipeline.parts --spacing-mm 1)"
        )
    for row in tables["spread"].to_dict("records"):
        name = str(row["what"]).replace(" ", "_")
        for part in ("sd", "low", "high"):
            numbers[f"{name}_{part}_mm"] = row[f"{part}_mm"]
    if len(tables["next_poses"]):
        best = tables["next_poses"].iloc[0]
        numbers["next_pose"] = str(best["pose"])
        numbers["next_rms_u_mm"] = float(best["rms_u_mm"])
    if "again" in tables:
        for when in ("before", "after"):
            column = tables["again"][f"rms_mm_{when}"]
            numbers[f"rms_mm_{when}"] = float(np.sqrt(np.mean(column**2)))
            verdicts = tables["again"][f"verdict_{when}"]
            numbers[f"agree_{when}"] = int((verdicts == "agrees").sum())
    return numbers
