"""From scanned poses to the mechanism as built, and its poses simulated again.

Where there are no scans yet, `run_synthetic` makes poses of which the true lengths are
known. One print, wrong by seeded errors, is brought to several shapes; in each its
links have play of their own. Every pose is scanned in the virtual lab, ingested and
compared with the nominal simulation, as a real scan is. Only truth.csv has the true
lengths.
"""

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis.calibration.as_built_fit import Calibration, Pose, calibrate
from analysis.calibration.as_built_unknowns import Model, Role, model_of
from analysis.calibration.outlier_checks import refuse_repeated, refuse_suspects
from pipeline.config.config_files import checked
from pipeline.io.structure_file import document, structure_file
from pipeline.runs.atomic_files import write_arrays, write_json, write_table
from pipeline.runs.case_job import planned, sound_case
from pipeline.runs.run_directory import Job, Needs, Numbers, finished, run_record
from pipeline.scans.sphere_tables import read_spheres
from pipeline.steps.compare import run_step as compare
from pipeline.steps.ingest import run_step as ingest
from pipeline.steps.settings import CalibrationSettings, ComparisonSettings, Ingest
from pipeline.steps.simulate import run_in
from pipeline.steps.synthetic_poses import SyntheticPoses
from pipeline.steps.virtual_scan import run_step as virtual_scan
from pipeline.terminal import InputError, RunFailedError, file_of_step, refusing
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.mobility import rescaled
from sim.mechanism.structure import Structure


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
            f"{comparison} has no run.json, so its inputs are not known: give --pose "
            "COMPARISON SPHERES SIMULATED"
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
                f"{comparison}: the compared run {key} ({role}) is no longer in "
                f"{results}: repeat the comparison"
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


def check_names(
    poses: Sequence[PoseFolders], left_out: Sequence[tuple[str, int]]
) -> None:
    """Refuse poses of one name, which tables could not tell apart, and unknown ones."""
    many = Counter(pose.name for pose in poses)
    name, count = many.most_common(1)[0]
    if count > 1:
        raise InputError(
            f"{count} poses have the name {name}: give each pose once, in a folder "
            "with a unique name"
        )
    for name, node in left_out:
        if name not in many:
            raise InputError(
                f"pose {name} does not exist, so its node {node} cannot be left out: "
                f"choose from {', '.join(many)}"
            )


def without(pose: ScannedPose, left_out: Sequence[tuple[str, int]]) -> ScannedPose:
    """The pose with what is to be left out of it not seen."""
    nodes = [node for name, node in left_out if name == pose.folders.name]
    centres = pose.pose.nodes_mm.copy()
    if max(nodes, default=0) >= len(centres):
        raise InputError(
            f"{pose.folders.name} has no node {max(nodes)} to leave out: its last node "
            f"is {len(centres) - 1}"
        )
    centres[nodes] = np.nan
    return replace(pose, pose=replace(pose.pose, nodes_mm=centres))


def read_pose(folders: PoseFolders, nodes: int) -> ScannedPose:
    """The spheres of a comparison in the order of the nodes."""
    table = read_spheres(folders.spheres)
    table_of_one = _table(folders.comparison / "comparison.csv", "scale_mm")
    row = {str(name): value for name, value in table_of_one.iloc[0].items()}
    labels = _table(folders.comparison / "labels.csv", "sphere")
    if len(labels) != nodes:
        raise InputError(
            f"{folders.comparison} has labels for {len(labels)} nodes, but the "
            f"structure has {nodes}: give poses of one mechanism"
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
    first, *others = [structure_of(folders.simulated) for folders in poses]
    one = first.constraints
    for folders, other in zip(poses[1:], others, strict=True):
        table = other.constraints
        same = len(other.r0) == len(first.r0) and np.array_equal(table.nodes, one.nodes)
        if not (same and np.array_equal(table.constant, one.constant)):
            raise InputError(
                f"{folders.simulated} simulates another structure than "
                f"{poses[0].simulated}: give poses of one mechanism"
            )
    return first


def structure_of(simulated: Path) -> Structure:
    """The structure of a run, from its structure.json."""
    path = simulated / "structure.json"
    if not path.is_file():
        raise InputError(f"{path} does not exist: give a morph run, not {simulated}")
    with refusing(ValueError, place=str(path)):
        return structure_file(str(path))


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
    file_of_step(path, "compare")
    try:
        table = pd.read_csv(path, dtype={"sphere": str}, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path} is not a table: {error}") from error
    if column not in table or len(table) == 0:
        raise InputError(f"{path} has no {column}: run morphtrack compare again")
    return table


COLUMNS = ("verdict", "S_error", "rms_mm", "rms_limit_mm", "worst_length_u")


def compared_again(
    pose: ScannedPose, as_built: Path, out: Path, printing_sd_mm: float
) -> dict[str, Any]:
    """The row of a comparison with lengths as built.

    Parameters
    ----------
    as_built : structure file
    out : folder that receives the simulation and the comparison of a pose
    printing_sd_mm : what is left unknown of a node's place on its bodies
    """
    folders = pose.folders
    if not (folders.simulated / "run.json").is_file():
        raise InputError(
            f"{folders.simulated} has no run.json, so its case is not known: simulate "
            "it with `morphtrack simulate`, or skip this repeat with --no-again"
        )
    config = _made_of(as_built, run_record(folders.simulated)["config"])
    simulated = out / "simulated"
    try:
        run_in(simulated, planned(f"{folders.name}-as-built", config))
    except RunFailedError as error:
        raise RunFailedError(
            f"{folders.name} does not converge with the as-built lengths: {error}"
        ) from error
    settings = replace(
        settings_of(pose), printing_sd_mm=printing_sd_mm, print_scale_sd=0.0
    )
    there = out / "comparison"
    return compare(settings, folders.spheres, simulated, there, pictured=False)


def _made_of(structure: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a case with the structure of a file."""
    target = "pipeline.io.structure_file.structure_file"
    given = {"_target_": target, "path": str(structure)}
    return {**config, "case": {**config["case"], "structure": given}}


def deviations_table(found: Calibration) -> pd.DataFrame:
    """A row an unknown: its deviation from nominal, u, and a 95 % interval."""
    half = found.half_width()
    model = found.model
    nominal = model.lengths
    return pd.DataFrame(
        {
            "unknown": model.names,
            "role": roles_of(model),
            "nominal_mm": nominal,
            "deviation_mm": found.theta,
            "u_mm": found.u,
            "low_mm": found.theta - half,
            "high_mm": found.theta + half,
            "degrees_of_freedom": found.dof,
            "as_built_mm": nominal + found.theta,
        }
    )


def roles_of(model: Model) -> list[str]:
    """What each unknown belongs to; the scanner's scale to the scanner."""
    own = [model.role[model.group == group] for group in range(model.unknowns)]
    return [list(Role)[roles[0]].value if len(roles) else "scanner" for roles in own]


def spread_table(found: Calibration) -> pd.DataFrame:
    """A row a kind of play, one of scatter: standard deviation, u, 95 % interval."""
    rows = []
    kinds = [f"{role.value} play" for role in found.model.play]
    kinds += ["scatter of centres"] * found.model.scatter
    for k, kind in enumerate(kinds):
        sigma = float(np.sqrt(found.variances[k]))
        u2 = float(np.sqrt(found.variances_covariance[k, k]))
        low, high = found.spread_interval(k)
        u = u2 / (2.0 * sigma) if sigma > 0.0 else float("nan")
        rows.append((kind, sigma, u, low, high))
    return pd.DataFrame(rows, columns=["what", "sd_mm", "u_mm", "low_mm", "high_mm"])


def growth_table(parts: list[tuple[int, Calibration]]) -> pd.DataFrame:
    """A row a number of poses: the uncertainty that they leave, by role."""
    rows = []
    for poses, found in parts:
        roles = roles_of(found.model)
        row: dict[str, Any] = {"poses": poses}
        for role in dict.fromkeys(roles):
            chosen = np.array(roles) == role
            row[f"{role}_u_mm"] = float(np.sqrt(np.mean(found.u[chosen] ** 2)))
        for k, kind in enumerate(found.model.play):
            play = f"{kind.value}_play"
            row[f"{play}_mm"] = float(np.sqrt(found.variances[k]))
            row[f"{play}_low_mm"], row[f"{play}_high_mm"] = found.spread_interval(k)
        rows.append(row)
    return pd.DataFrame(rows)


FEWEST_LENGTHS = 6  # for a standard deviation; of 6 it is known to 30 %
FAR = 3.5  # standard deviations from which comparisons of some 20 lengths differ


def run_step(
    settings: CalibrationSettings, folders: list[PoseFolders], out: Path
) -> dict[str, Any]:
    """Calibrate from the poses in `folders`; write tables and structure into `out`."""
    if not folders:
        raise InputError("no pose is given: name finished comparisons")
    check_names(folders, settings.places)
    nominal = nominal_structure(folders)
    read = [read_pose(one, len(nominal.r0)) for one in folders]
    poses = [without(pose, settings.places) for pose in read]
    scale_mm = scale_of(poses)
    with refusing(ValueError):
        model = model_of(nominal, scale_mm, settings.unknowns)
        scans, scale_sd = [pose.pose for pose in poses], settings.scan_scale_sd
        refuse_repeated(model, scans)
        found = calibrate(model, scans, scale_sd)
        refuse_suspects(found, scans)
    tables = {
        "deviations": deviations_table(found),
        "spread": spread_table(found),
        "growth": growth_table([*_fewer(model, scans, scale_sd), (len(scans), found)]),
    }
    write_as_built(out / "as_built.json", nominal, found, scale_mm)
    for name, table in tables.items():
        write_table(out / f"{name}.csv", table)
    write_arrays(
        out / "covariance.npz", covariance_mm2=found.covariance, names=model.names
    )
    shutil.rmtree(out / "again", ignore_errors=True)  # of other lengths
    (out / "again.csv").unlink(missing_ok=True)
    if settings.again:
        rows = _again(nominal, found, poses, scale_sd, out)
        tables["again"] = pd.DataFrame(rows)
        write_table(out / "again.csv", tables["again"])
    return _numbers(found, poses, tables)


def write_as_built(
    path: Path, nominal: Structure, found: Calibration, scale_mm: float
) -> None:
    """Write the structure with its constants as estimated, in the case's unit."""
    made = built(nominal, found.model, found.model.constants(found.theta), scale_mm)
    note = f"as-built (calibrated) mechanism with {len(nominal.r0)} nodes"
    write_json(path, {"description": note, **document(made)})


def built(
    nominal: Structure, model: Model, constant: Floats, scale_mm: float
) -> Structure:
    """The structure with other constants, those of `model`, in the case's unit."""
    table = replace(model.structure.constraints, constant=constant)
    made = rescaled(replace(model.structure, constraints=table), scale_mm)
    return replace(made, r0=nominal.r0, goals=nominal.goals)


def _again(
    nominal: Structure,
    found: Calibration,
    poses: list[ScannedPose],
    scale_sd: float,
    out: Path,
) -> Iterator[dict[str, Any]]:
    """A row a pose: as designed, as built, and as built from the other poses alone.

    The last is empty where the other poses do not tell the lengths.
    """
    scans, scale_mm = [pose.pose for pose in poses], scale_of(poses)
    for k, pose in enumerate(poses):
        others, here = None, out / "again" / pose.folders.name
        with suppress(ValueError, NotConvergedError):
            others = calibrate(found.model, scans[:k] + scans[k + 1 :], scale_sd)
        path = out / "as_built.json"
        compared = {
            "before": pose.row,
            "after": compared_again(pose, path, here, _left_sd_mm(found)),
            "held_out": {},
        }
        if others is not None:
            path = here / "held_out" / "as_built.json"
            write_as_built(path, nominal, others, scale_mm)
            left = _left_sd_mm(others)
            compared["held_out"] = compared_again(pose, path, path.parent, left)
        yield {"pose": pose.folders.name} | {
            f"{name}_{when}": row.get(name, "")
            for when, row in compared.items()
            for name in COLUMNS
        }


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
    roles = np.array(roles_of(model))
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


POSE_ROLES = ("comparison", "spheres", "simulated")  # of what a pose is read from


def run_synthetic(config: SyntheticPoses, out: Path) -> dict[str, Any]:
    """Print, scan and compare every pose, then calibrate; all of it goes into `out`."""
    nominal = _structure(next(iter(config.cases.values())))
    model = model_of(nominal, config.scale_mm, config.calibration.unknowns)
    rng = np.random.default_rng([config.seed, 0xA5B])
    theta = config.length_sd_mm * rng.standard_normal(model.unknowns)
    if model.scale:
        theta[-1] = 0.0
    folders = []
    for number, (name, case) in enumerate(config.cases.items()):
        play = config.play_sd_mm * rng.standard_normal(len(model.row))
        play[model.role != list(Role).index(Role.LINK)] = 0.0
        print_of = printed(nominal, model, theta, play)
        folders.append(_pose(config, number, (name, case), print_of, out))
    numbers = run_step(config.calibration, folders, out)
    table = pd.DataFrame({"unknown": model.names, "true_deviation_mm": theta})
    write_table(out / "truth.csv", table)
    found = pd.read_csv(out / "deviations.csv")
    inside = (found["low_mm"] <= theta) & (theta <= found["high_mm"])
    numbers["true_within_95"] = f"{int(inside.sum())} of {len(theta)}"
    numbers["true_play_mm"] = config.play_sd_mm
    return numbers


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Calibrate from finished comparisons, or from poses that it makes itself."""
    if "cases" in job.config:
        return run_synthetic(checked(SyntheticPoses, dict(job.config), job.name), out)
    roles = (needs[role] for role in POSE_ROLES)
    folders = [
        PoseFolders(name, *places)
        for name, *places in zip(job.config["poses"], *roles, strict=True)
    ]
    settings = {name: value for name, value in job.config.items() if name != "poses"}
    return run_step(CalibrationSettings.from_plain(settings), folders, out)


def printed(nominal: Structure, model: Model, theta: Floats, play: Floats) -> Structure:
    """The structure with deviations theta, and play (r,) of each row, both in mm."""
    constant = model.constants(theta)
    loose = np.flatnonzero(play)
    at = model.constraint[loose]
    constant[at] = (np.sqrt(constant[at]) + play[loose]) ** 2
    scale_mm = float(np.ptp(model.structure.r0) / np.ptp(nominal.r0))
    return built(nominal, model, constant, scale_mm)


def _structure(config: Mapping[str, Any]) -> Structure:
    case: Any = sound_case(config)
    if not isinstance(getattr(case, "structure", None), Structure):
        raise InputError("a calibration needs morphing cases: this one has no links")
    structure: Structure = case.structure
    return structure


def _pose(
    config: SyntheticPoses,
    number: int,
    named: tuple[str, Mapping[str, Any]],
    print_of: Structure,
    out: Path,
) -> PoseFolders:
    """Simulate a pose as designed and as printed; scan and compare it."""
    name, case = named
    here = out / "poses" / name
    simulated = run_in(here / "simulated", planned(name, case))
    path = here / "printed.json"
    write_json(path, document(print_of))
    as_printed = planned(f"{name}-printed", _made_of(path, case))
    made = run_in(here / "printed", as_printed)
    virtual_scan(config.scanner(number), made, here / "scan")
    views = sorted((here / "scan").glob("*.ply"))
    ingest(Ingest(config.sphere_radius_mm, "mm"), views, here / "spheres")
    shutil.rmtree(here / "scan")  # megabytes; what was measured is in spheres
    spheres, comparison = here / "spheres", here / "comparison"
    compare(config.compared, spheres, simulated, comparison, pictured=False)
    return PoseFolders(name, comparison, spheres, simulated)
