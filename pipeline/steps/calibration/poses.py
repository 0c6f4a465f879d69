"""Scanned poses of one mechanism, as finished comparisons leave them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.as_built.adjust import Pose
from pipeline.formats.structure_file import structure_file
from pipeline.scans.spheres import read_spheres
from pipeline.steps.compare import ComparisonSettings
from pipeline.store.runs import finished, run_record
from pipeline.terminal.errors import InputError
from sim.morph.structure.structure import Structure


@dataclass(frozen=True)
class PoseFolders:
    """Where one pose is.

    Parameters
    ----------
    comparison, spheres, simulated : folders of a comparison and of what it compared
    """

    name: str
    comparison: Path
    spheres: Path
    simulated: Path


@dataclass(frozen=True, eq=False)
class ScannedPose:
    """One pose, read.

    Parameters
    ----------
    pose : the nodes that were labelled
    row : of comparison.csv
    """

    folders: PoseFolders
    pose: Pose
    row: dict[str, Any]
    synthetic: bool


def folders_of(comparison: Path) -> PoseFolders:
    """The folders behind a comparison that make figures made."""
    if not (comparison / "run.json").is_file():
        raise InputError(
            f"{comparison} has no run.json, so what it compared is not known: give "
            "--pose COMPARISON SPHERES SIMULATED"
        )
    record = run_record(comparison)
    if record.get("step") != "compare":
        raise InputError(
            f"{comparison} is a run of {record.get('step')}: give finished comparisons"
        )
    results = comparison.resolve().parent.parent
    found = {}
    for role in ("spheres", "simulated"):
        key = str(record["needs"][role])
        directory = finished(key, results)
        if directory is None:
            raise InputError(
                f"{comparison} compared {role} that are no longer in {results} "
                f"(run {key})"
            )
        found[role] = directory
    return PoseFolders(str(record["name"]), comparison, **found)


def by_hand(poses: Sequence[PoseFolders]) -> list[PoseFolders]:
    """Poses named after their folders; where these are alike, after those above."""
    many = Counter(pose.name for pose in poses)
    return [
        replace(pose, name="-".join(pose.comparison.resolve().parts[-2:]))
        if many[pose.name] > 1
        else pose
        for pose in poses
    ]


def refuse_same_names(poses: Sequence[PoseFolders]) -> None:
    """Refuse a pose given twice, and two that could not be told apart in tables."""
    name, many = Counter(pose.name for pose in poses).most_common(1)[0]
    if many > 1:
        raise InputError(
            f"{name} is the name of {many} poses: give each pose once, in a folder of "
            "its own name"
        )


def without(pose: ScannedPose, left_out: Sequence[tuple[str, int]]) -> ScannedPose:
    """The pose with what is to be left out of it not seen."""
    nodes = [node for name, node in left_out if name == pose.folders.name]
    centres = pose.pose.nodes_mm.copy()
    if max(nodes, default=0) >= len(centres):
        raise InputError(
            f"there is no node {max(nodes)} in {pose.folders.name} to leave out: its "
            f"last one is {len(centres) - 1}"
        )
    centres[nodes] = np.nan
    return replace(pose, pose=replace(pose.pose, nodes_mm=centres))


def refuse_unknown_poses(
    left_out: Sequence[tuple[str, int]], poses: Sequence[PoseFolders]
) -> None:
    """Refuse places in poses that are not given."""
    known = [pose.name for pose in poses]
    for name, node in left_out:
        if name not in known:
            raise InputError(
                f"there is no pose {name} to leave node {node} out of: there are "
                f"{', '.join(known)}"
            )


def read_pose(folders: PoseFolders, nodes: int) -> ScannedPose:
    """The spheres of a comparison in the order of the nodes."""
    table = read_spheres(folders.spheres)
    table_of_one = _table(folders.comparison / "comparison.csv", "scale_mm")
    row = {str(name): value for name, value in table_of_one.iloc[0].items()}
    labels = _table(folders.comparison / "labels.csv", "sphere")
    if len(labels) != nodes:
        raise InputError(
            f"{folders.comparison} has labels for {len(labels)} nodes, the structure "
            f"{nodes}: give poses of one mechanism"
        )
    place = {name: i for i, name in enumerate(table.names)}
    given = [str(name) for name in labels["sphere"]]
    strange = [name for name in given if name and name not in place]
    if strange:
        raise InputError(
            f"{folders.comparison}/labels.csv names the sphere {strange[0]}, which "
            f"{folders.spheres} does not have: give the ingest that was compared"
        )
    sphere = np.array([place.get(name, -1) for name in given])
    seen = sphere >= 0
    centres = np.full((nodes, 3), np.nan)
    centres[seen] = table.centres_mm[sphere[seen]]
    covariance = np.zeros((3 * nodes, 3 * nodes))
    at = np.flatnonzero(np.repeat(seen, 3))
    taken = (3 * sphere[seen, None] + np.arange(3)).ravel()
    covariance[np.ix_(at, at)] = table.covariance_mm2[np.ix_(taken, taken)]
    pose = Pose(folders.name, centres, covariance)
    return ScannedPose(folders, pose, row, table.synthetic)


def nominal_structure(poses: list[PoseFolders]) -> Structure:
    """The structure that all poses were simulated with."""
    found = [structure_of(folders.simulated) for folders in poses]
    first = found[0]
    for folders, other in zip(poses[1:], found[1:], strict=True):
        same = len(other.r0) == len(first.r0) and np.array_equal(
            other.constraints.constant, first.constraints.constant
        )
        if not same or not np.array_equal(
            other.constraints.nodes, first.constraints.nodes
        ):
            raise InputError(
                f"{folders.simulated} simulates another structure than "
                f"{poses[0].simulated}: give poses of one mechanism"
            )
    return first


def structure_of(simulated: Path) -> Structure:
    """The structure of a run, from its structure.json."""
    path = simulated / "structure.json"
    if not path.is_file():
        raise InputError(f"{path} does not exist: is {simulated} a morph run?")
    try:
        return structure_file(str(path))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def scale_of(poses: list[ScannedPose]) -> float:
    """mm per unit of the case, the same in every comparison."""
    scales = {float(pose.row["scale_mm"]) for pose in poses}
    if len(scales) > 1:
        raise InputError(
            f"the comparisons have scale_mm {', '.join(f'{s:g}' for s in scales)}: "
            "compare all poses with one"
        )
    return scales.pop()


def settings_of(pose: ScannedPose) -> ComparisonSettings:
    """What a comparison assumed: as recorded, else what its row says."""
    comparison = pose.folders.comparison
    if (comparison / "run.json").is_file():
        return ComparisonSettings(**run_record(comparison)["config"])
    names = ("scale_mm", "k", "S_margin", "node_margin_mm", "E_margin")
    known: dict[str, Any] = {name: float(pose.row[name]) for name in names}
    return ComparisonSettings(**known)


def _table(path: Path, column: str) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(f"{path} does not exist: run morphtrack compare first")
    try:
        table = pd.read_csv(path, dtype={"sphere": str}, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path} is not a table: {error}") from error
    if column not in table or len(table) == 0:
        raise InputError(f"{path} has no {column}: run morphtrack compare again")
    return table
