"""One calibration: poses read, deviations estimated, tables written, poses repeated."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis.as_built.adjust import Calibration, Pose, calibrate
from analysis.as_built.doubts import refuse_repeated, refuse_suspects
from analysis.as_built.model import Model, Role, model_of
from pipeline.steps.calibration.again import Again, before_and_after
from pipeline.steps.calibration.poses import (
    PoseFolders,
    ScannedPose,
    nominal_structure,
    read_pose,
    refuse_same_names,
    refuse_unknown_poses,
    scale_of,
    without,
)
from pipeline.steps.calibration.settings import Settings
from pipeline.steps.calibration.tables import (
    as_built,
    as_built_document,
    deviations_table,
    growth_table,
    roles_of,
    spread_table,
)
from pipeline.store.files import replacing, write_json
from pipeline.terminal.errors import InputError
from sim.convergence import NotConvergedError
from sim.morph.structure.structure import Structure

FEWEST_LENGTHS = 6  # of which a standard deviation is said; 6 tell it to 30 %
FAR = 3.5  # standard deviations from which comparisons of some 20 lengths differ


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration with what it was made from."""

    found: Calibration
    poses: list[ScannedPose]
    scale_mm: float


def run_step(
    settings: Settings, folders: list[PoseFolders], out: Path
) -> dict[str, Any]:
    """Calibrate from the poses in `folders`; write tables and structure into `out`."""
    if not folders:
        raise InputError("no pose is given: name finished comparisons")
    refuse_same_names(folders)
    refuse_unknown_poses(settings.places, folders)
    nominal = nominal_structure(folders)
    read = [read_pose(one, len(nominal.r0)) for one in folders]
    poses = [without(pose, settings.places) for pose in read]
    scale_mm = scale_of(poses)
    try:
        model = model_of(nominal, scale_mm, settings.unknowns)
        scans, scale_sd = [pose.pose for pose in poses], settings.scan_scale_sd
        refuse_repeated(model, scans)
        found = calibrate(model, scans, scale_sd)
        refuse_suspects(found, scans)
    except ValueError as error:
        raise InputError(str(error)) from error
    calibrated = Calibrated(found, poses, scale_mm)
    out.mkdir(parents=True, exist_ok=True)
    tables = {
        "deviations": deviations_table(found),
        "spread": spread_table(found),
        "growth": growth_table([*_fewer(model, scans, scale_sd), (len(scans), found)]),
    }
    _write(out / "as_built.json", nominal, calibrated)
    for name, table in tables.items():
        _write_table(out / f"{name}.csv", table)
    with replacing(out / "covariance.npz") as temporary, temporary.open("wb") as file:
        np.savez(file, covariance_mm2=found.covariance, names=np.array(model.names))
    for last in (out / "again", out / "again.csv"):  # of other lengths
        _remove(last)
    if settings.again:
        tables["again"] = _again(nominal, calibrated, scale_sd, out)
        _write_table(out / "again.csv", tables["again"])
    return _numbers(found, poses, tables)


def _write(path: Path, nominal: Structure, made: Calibrated) -> None:
    built = as_built(nominal, made.found, made.scale_mm)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, as_built_document(nominal, built))


def _write_table(path: Path, table: pd.DataFrame) -> None:
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _again(
    nominal: Structure, made: Calibrated, scale_sd: float, out: Path
) -> pd.DataFrame:
    """A row a pose: as drawn, as built, and as built from the other poses alone."""
    rows, scans = [], [pose.pose for pose in made.poses]
    for k, pose in enumerate(made.poses):
        here, held_out = out / "again" / pose.folders.name, None
        with suppress(ValueError, NotConvergedError):
            others = calibrate(made.found.model, scans[:k] + scans[k + 1 :], scale_sd)
            path = here / "held_out" / "as_built.json"
            _write(path, nominal, replace(made, found=others))
            held_out = Again(path, path.parent, _left_sd_mm(others))
        again = Again(out / "as_built.json", here, _left_sd_mm(made.found))
        rows.append(before_and_after(pose, again, held_out))
    return pd.DataFrame(rows)


def _fewer(
    model: Model, scans: list[Pose], scale_sd: float
) -> Iterator[tuple[int, Calibration]]:
    """What the first poses alone tell, as far as they tell anything."""
    for many in range(1, len(scans)):
        with suppress(ValueError, NotConvergedError):
            yield many, calibrate(model, scans[:many], scale_sd)


def _left_sd_mm(found: Calibration) -> float:
    """What a node's place on its bodies is still uncertain by, play included.

    Of the role that is known worst; where few repetitions tell the play, as much wider
    as Student's t has it at `FAR`.
    """
    model = found.model
    roles = np.array([roles_of(model, g) for g in range(model.unknowns)])
    u2 = [
        float(np.mean(found.u[roles == role] ** 2)) for role in set(roles) - {"scanner"}
    ]
    play, f = found.variances, np.maximum(found.repeated, 1)
    play = (play * (stats.t.isf(stats.norm.sf(FAR), f) / FAR) ** 2)[: len(model.play)]
    return float(np.sqrt(0.5 * (max(u2, default=0.0) + play.max(initial=0.0))))


def printing(deviations: pd.DataFrame) -> dict[str, float]:
    """Error of a node's place on its bodies along each axis, of the lengths found.

    A length errs by both its ends, as each does along it; what the scans leave unknown
    of the lengths is taken off. Nothing where no length was free by itself.
    """
    of_lengths = deviations[deviations["role"].isin([Role.LINK.value, Role.BODY.value])]
    if len(of_lengths) < FEWEST_LENGTHS:
        return {}
    squares = of_lengths["deviation_mm"] ** 2 - of_lengths["u_mm"] ** 2
    return {"printing_sd_mm": float(np.sqrt(max(squares.mean(), 0.0) / 2.0))}


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
            "(morphtrack parts --spacing-mm 1)"
        )
    numbers |= printing(tables["deviations"])
    for row in tables["spread"].to_dict("records"):
        name = str(row["what"]).replace(" ", "_")
        for part in ("sd", "low", "high"):
            numbers[f"{name}_{part}_mm"] = row[f"{part}_mm"]
    if "again" in tables:
        for when in ("before", "after", "held_out"):
            column = pd.to_numeric(tables["again"][f"rms_mm_{when}"])
            if column.isna().any():
                continue  # too few other poses
            numbers[f"rms_mm_{when}"] = float(np.sqrt(np.mean(column**2)))
            verdicts = tables["again"][f"verdict_{when}"]
            numbers[f"agree_{when}"] = int((verdicts == "agrees").sum())
    return numbers
