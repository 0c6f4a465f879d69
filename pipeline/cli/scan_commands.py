"""Commands of the group Scan: from a scan to its comparison with a simulation."""

import math
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option, Typer

from analysis.comparison.assumptions import UncertaintyOptions
from pipeline.cli import options
from pipeline.cli.options import folder
from pipeline.steps.settings import (
    HELP,
    ComparisonSettings,
    Deviation,
    Ingest,
    InputUncertainty,
    SeriesComparison,
)
from pipeline.terminal import InputError, named_nodes

group = Typer()
command = partial(group.command, rich_help_panel="Scan")
Scans = Annotated[
    list[Path],
    Argument(metavar="SCAN...", help="Files of points; each file is one view."),
]

REMARKS = ("radius_remark", "registration_remark")  # numbers that are warnings


@command("ingest")
@options.with_settings(Ingest)
def ingest(
    scans: Scans,
    out: options.Out,
    settings: dict[str, Any],
    sphere_radius_mm: Annotated[
        float | None, Option(metavar="R", help="Radius of the printed spheres.")
    ] = None,
    radius_range: Annotated[
        tuple[float, float] | None,
        Option(metavar="A B", help="Smallest and largest radius of the spheres, mm."),
    ] = None,
    seeds_path: Annotated[
        str | None, Option("--seeds", "--seeds-path", help=HELP["seeds_path"])
    ] = None,
    accept: Annotated[
        list[str] | None, Option(metavar="NAME", help=HELP["accept"])
    ] = None,
    marker_sd_mm: Annotated[
        float | None, Option(metavar="SD", help="Scatter of markers along each axis.")
    ] = None,
    from_s: Annotated[float, Option(help="Omit frames before this time.")] = -math.inf,
    to_s: Annotated[float, Option(help="Omit frames after this time.")] = math.inf,
    planned: options.Planned = "",
) -> None:
    """Find the spheres in a scan, or read markers of motion capture instead.

    Several files are several views of one scan, in one frame or, with --register, each
    in its own. OUT receives spheres.csv (centre, covariance, radius, quality),
    rejected.csv (each rejected candidate with the reason), views.csv (how far each view
    lay off the others), covariance.npz (of all centres together), points.npy (some of
    the points, mm), picture.png and scan.html (an interactive view).

    Formats: .ply .pcd .xyz .xyzn .xyzrgb .txt .csv .tsv .asc .pts .ptx .dat .npy, after
    make formats also .las .laz .e57, and meshes: .ply with faces, .stl .obj .glb .3mf.
    Each scan of a PTS, PTX or E57 file is a view. In a mesh the radius that all spheres
    have in common is found; the notes state its error.

    With --marker-sd-mm, SCAN is one .csv or .c3d file of markers at rest. OUT receives
    the same tables for the markers, and markers.csv with their names.

    Example: morphtrack ingest a.ply b.ply --sphere-radius-mm 6 --unit mm --out found
    """
    if marker_sd_mm is not None:
        own: dict[str, Any] = {"radius_range": radius_range, "seeds": seeds_path}
        others = options.given_names(settings, Ingest, **own, accept=accept)
        if others or len(scans) > 1:
            raise InputError(
                "--marker-sd-mm takes one file of markers: leave out "
                f"{', '.join(others or map(str, scans[1:]))}"
            )
        radius = 1.0 if sphere_radius_mm is None else sphere_radius_mm
        _take_markers(scans[0], out, marker_sd_mm, (from_s, to_s), radius)
        return
    if (sphere_radius_mm is None) == (radius_range is None):
        raise InputError("give either --sphere-radius-mm R or --radius-range A B")
    settings |= {"sphere_radius_mm": sphere_radius_mm, "seeds_path": seeds_path}
    settings["accept"] = tuple(accept or ())
    if radius_range is not None:
        settings["sphere_radius_mm"], settings["largest_radius_mm"] = radius_range
    config = Ingest(**settings)
    folder, tags = scans[0].parent, {"comparison": out.name}
    made_here = (folder / "run.json").is_file()
    is_run = made_here and sorted(scans) == sorted(folder.glob("*.ply"))
    options.make_and_show(
        "ingest", asdict(config), out, {"scan": folder} if is_run else {},
        partial(_found, out), paths=[] if is_run else scans, tags=tags, planned=planned,
    )  # fmt: skip


def _found(out: Path, numbers: Mapping[str, Any]) -> str:
    """What a scan holds, in sentences, and the command that comes next."""
    remarks = [f"warning: {r}\n" for r in map(numbers.get, REMARKS) if r]
    remarks += [f"note: {numbers['notes']}\n"] if numbers["notes"] else []
    many, views, lost = (numbers[k] for k in ("spheres", "views", "rejected"))
    why = f" ({numbers['rejected_for']}: {out / 'rejected.csv'})" if lost else ""
    sd = numbers["free_radius_sd_mm"]
    digits = max(0, -math.floor(math.log10(sd))) if 0.0 < sd < math.inf else 3
    own = f"{numbers['free_radius_mm']:.{digits}f} +- {sd:.{digits}f} mm"
    radius = "" if numbers["radius_remark"] else f"their radius in the scan is {own}, "
    return "".join(remarks) + (
        f"found {many} sphere{'s' * (many != 1)} in {views} "
        f"{'synthetic ' * numbers['synthetic']}view{'s' * (views != 1)} of "
        f"{numbers['points']} points: {out / 'scan.html'} shows them\n"
        f"{radius}noise {numbers['noise_mm']:.2g} mm; "
        f"candidates rejected: {lost}{why}\n"
        f"next: morphtrack compare --spheres {shlex.quote(str(out))} --simulated RUN "
        "--out verdict, where RUN is what simulate printed as run"
    )


def _take_markers(
    file: Path, out: Path, sd_mm: float, times: tuple[float, float], radius_mm: float
) -> None:
    """Write the mean places of markers that stand still as those of spheres."""
    from pipeline.scans.still_markers import StillMarkers, run_step

    numbers = run_step(StillMarkers(sd_mm, *times, radius_mm), file, out)
    gaps = numbers["frames_lost"]
    print(
        f"{numbers['markers']} markers over {numbers['frames']} frames, "
        f"{f'lost in some frames: {gaps}; ' if gaps else ''}scatter up to "
        f"{numbers['largest_scatter_mm']:.3g} mm: morphtrack compare --spheres {out}"
    )


@command("pick")
def pick(
    scans: Scans,
    out: Annotated[Path, Option(metavar="FILE", help="Seeds file to write.")],
    unit: Annotated[str | None, Option(help=HELP["unit"])] = None,
    at: Annotated[
        list[str] | None, Option(metavar="X Y Z", help="Position of a sphere, mm.")
    ] = None,
    decimal_comma: Annotated[
        bool, Option("--decimal-comma", help=HELP["decimal_comma"])
    ] = False,
) -> None:
    """Mark spheres by hand, in a window or by coordinates.

    morphtrack ingest searches at the positions in FILE (--seeds). A window of Open3D
    opens: shift and left button picks a point on a sphere, shift and right button
    undoes it, Q ends. Without a display, or in a script, give the positions with --at,
    each on a sphere or at its centre.

    Example: morphtrack pick scan.ply --unit mm --out seeds.csv --at 12.5 -3 40
    """
    import numpy as np

    from pipeline.io.length_units import unit_named
    from pipeline.io.point_cloud import read_cloud
    from pipeline.io.reader_interface import Choices
    from pipeline.scans.seed_spheres import checked, clicked, write_seeds

    places = None if at is None else [_place(text) for text in at]
    choices = Choices(decimal_comma)
    clouds = [read_cloud(scan, unit_named(unit), choices).points for scan in scans]
    points = np.concatenate(clouds)
    seeds = clicked(points) if places is None else np.array(places)
    if not len(seeds):
        raise InputError("no sphere was picked, so no file is written: pick some")
    write_seeds(out, checked(seeds, points))
    print(f"seeds in {out}: {len(seeds)}")


def _place(text: str) -> list[float]:
    """X, Y and Z of --at."""
    try:
        x, y, z = map(float, shlex.split(text))
    except ValueError:
        raise InputError(f"--at {text} is not a position: give X Y Z in mm") from None
    return [x, y, z]


@command("compare")
@options.with_settings(ComparisonSettings, stands_for=UncertaintyOptions)
def compare(
    spheres: options.Spheres,
    simulated: options.Simulated,
    out: options.Out,
    settings: dict[str, Any],
    scale_mm: options.ScaleMm = None,
    input_uncertainty: Annotated[
        Path | None,
        folder(options.result_folder, "Folder of an input_uncertainty run."),
    ] = None,
    deviation: Annotated[
        Path | None, folder(options.result_folder, "Folder of a deviation run.")
    ] = None,
    planned: options.Planned = "",
) -> None:
    """Compare a scan with a simulation.

    Reads the spheres that morphtrack ingest found and the run of a simulation, finds
    out which sphere is which node, and writes comparison.csv (one row: S, E, node
    distances, verdict), budget.csv (u_val by source), nodes.csv, labels.csv, and
    labels.png and labels.html: the scan with the node on every sphere.
    """
    from pipeline.runs.run_directory import node_names
    from pipeline.runs.summary import comparison_summary
    from pipeline.workflow.make_step import make_step

    run, scale = _printed(simulated, scale_mm)
    config = asdict(ComparisonSettings(scale, **settings))
    reads = {"spheres": spheres, "simulated": run}
    reads |= {"deviation": deviation} if deviation else {}
    reads |= {"input_uncertainty": input_uncertainty} if input_uncertainty else {}
    tags = {"comparison": out.name}
    make_step("compare", config, out, reads=reads, tags=tags, planned=planned)
    print(named_nodes(options.typed(comparison_summary(out)), node_names(run)))


@command("compare_series")
@options.with_settings(SeriesComparison)
def compare_series(
    measured: Annotated[Path, Option(metavar="FILE", help="CSV file.")],
    simulated: options.Simulated,
    out: options.Out,
    settings: dict[str, Any],
    refined: Annotated[
        str | None,
        Option(metavar="RUN", help="The same run with steps in space and time halved."),
    ] = None,
    planned: options.Planned = "",
) -> None:
    """Compare a measured series with a simulation.

    FILE holds markers, in columns such as time_s, tip_x_mm and tip_y_mm, or the columns
    quantity, at, value, u and part ("fit" or "held out"), where each quantity is a
    column of the run's steps.csv. Lines that begin with # are comments. The verdict for
    each quantity follows ASME V&V 20; --u, --u-simulated and --margin are in the unit
    of the measured values. Writes series-verdicts.csv, series.csv (errors by quantity
    and part, and of a baseline), series-curve.csv and series.pdf and .png.

    Example: morphtrack compare_series --measured tip.csv --simulated crawler
    --refined finer --u 0.3 --margin 1 --out tip
    """
    from pipeline.runs.run_directory import simulated_run

    config = asdict(SeriesComparison(**settings))
    reads = {"simulated": simulated_run(simulated)}
    reads |= {"refined": simulated_run(refined)} if refined else {}
    options.make_and_show(
        "compare_series", config, out, reads, partial(_series_in_words, out),
        paths=[measured], planned=planned,
    )  # fmt: skip


def _series_in_words(out: Path, found: Mapping[str, Any]) -> str:
    lines = ["synthetic measurements"] if found["synthetic"] else []
    lines += [f"{n[8:]}: {v}" for n, v in found.items() if n.startswith("verdict_")]
    errors = {n[4:]: v for n, v in found.items() if n.startswith("rms_")}
    lines.append(f"rms errors: {', '.join(f'{n} {v:.3g}' for n, v in errors.items())}")
    return "\n".join([*lines, f"results in {out}"])


@command("input_uncertainty")
@options.with_settings(InputUncertainty)
def input_uncertainty(
    simulated: options.Simulated,
    out: options.Out,
    settings: dict[str, Any],
    scale_mm: options.ScaleMm = None,
    planned: options.Planned = "",
) -> None:
    """Compute how printing errors change a simulated shape.

    Runs the case of a finished simulation --draws times with other link lengths. Writes
    the covariance of the last configurations, and of the distances of their nodes from
    the target, to input_covariance.npz. morphtrack compare adds it to the uncertainty
    budget.
    """
    run, scale = _printed(simulated, scale_mm)
    config = asdict(InputUncertainty(scale, **settings))
    reads, tags = {"simulated": run}, {"comparison": out.name}
    in_words = partial(_uncertainty_in_words, out)
    options.make_and_show(
        "input_uncertainty", config, out, reads, in_words, tags=tags, planned=planned
    )


def _uncertainty_in_words(out: Path, found: Mapping[str, Any]) -> str:
    return (
        f"printing errors move a node by {found['node_u_mm']:.2g} mm (standard "
        f"uncertainty; {found['draws']} prints simulated, {found['not_converged']} "
        f"without a result)\nnext     morphtrack compare --input-uncertainty {out} ..."
    )


@command("deviation")
@options.with_settings(Deviation)
def deviation(
    simulated: options.Simulated,
    spheres: options.Spheres,
    out: options.Out,
    settings: dict[str, Any],
    scale_mm: options.ScaleMm = None,
    planned: options.Planned = "",
) -> None:
    """Measure how far a scan is from its target.

    Finds the printed target among the scan's points, and the distance of every scanned
    node from it. OUT receives target.json (pose, E with uncertainty), nodes.csv,
    deviation.npz (points and their distance from the target's bars) and deviation.png.
    """
    run, scale = _printed(simulated, scale_mm)
    config = asdict(Deviation(scale, **settings))
    reads, tags = {"simulated": run, "spheres": spheres}, {"comparison": out.name}
    in_words = partial(_deviation_in_words, out)
    options.make_and_show(
        "deviation", config, out, reads, in_words, tags=tags, planned=planned
    )


def _deviation_in_words(out: Path, found: Mapping[str, Any]) -> str:
    if not found["placed"]:
        return f"the target was not found: {found['reason']}"
    return (
        f"{'synthetic scan: ' * found['synthetic']}E {found['E_scanned']:.4g}, "
        f"standard uncertainty {found['E_scanned_u']:.1g}, of {found['nodes']} nodes; "
        f"node {found['worst_node']} is farthest from the target: "
        f"{found['worst_mm']:.2f} mm\nnext     morphtrack compare --deviation {out} ..."
    )


def _printed(simulated: str, scale_mm: float | None) -> tuple[Path, float]:
    """The run of a mechanism, and mm of its print per unit of its case."""
    from pipeline.io.structure_file import scale_mm as scale_of
    from pipeline.runs.run_directory import printable_run

    run = printable_run(simulated)
    return run, scale_of(scale_mm, run)


@command("virtual_scan")
def virtual_scan(
    simulated: options.RunName,
    out: options.Out,
    config: Annotated[Path, Option(help="File of the virtual lab.")] = options.SCANNER,
    parts: Annotated[Path, Option(help="File of the printed parts.")] = options.PARTS,
    scale_mm: options.ScaleMm = None,
    ball_radius_mm: Annotated[float | None, Option(help="Sphere radius.")] = None,
    seed: Annotated[int | None, Option(help="Seed of the random numbers.")] = None,
    planned: options.Planned = "",
) -> None:
    """Scan a simulated end state in a virtual lab.

    The scan is synthetic and replaces a real one: binary PLY files, one per view, in
    mm, in an arbitrary pose. Every file states that it is synthetic.
    """
    from pipeline.config.workflow_file import scanner_settings
    from pipeline.io.structure_file import scale_mm as scale_of
    from pipeline.io.structure_file import unit_of
    from pipeline.runs.run_directory import printable_run
    from sim.virtual_lab.lab_settings import VirtualLab

    run = printable_run(simulated)
    if unit_of(run):
        scale_mm = scale_of(scale_mm, run)
    given = {"scale_mm": scale_mm, "ball_radius_mm": ball_radius_mm, "seed": seed}
    stated = {name: value for name, value in given.items() if value is not None}
    lab = VirtualLab.from_mapping(scanner_settings(config, parts) | stated)
    reads, tags = {"simulated": run}, {"comparison": out.name, "synthetic": "true"}
    options.make_and_show("virtual_scan", asdict(lab), out, reads, lambda made: (
        f"synthetic: {made['balls']} spheres in {made['views']} views of "
        f"{made['points']} points, {made['fewest_points_on_a_ball']} or more on each "
        f"sphere; pairs of spheres that overlap: {made['overlapping_balls']}\n"
        f"next: morphtrack ingest {shlex.quote(str(out))}/*.ply "
        f"--sphere-radius-mm {lab.ball_radius_mm:g} --unit mm --out spheres"
    ), tags=tags, planned=planned)  # fmt: skip


@command("measured")
def measured(
    name: Annotated[str, Argument(metavar="SET", help="A file of conf/measured.")],
    records: Annotated[
        Path | None, Option(readable=False, help="Folder of other records.")
    ] = None,
    out: options.OutIfGiven = None,
    only: Annotated[
        Literal["fit", "predict"] | None, Option(help="Do only this part.")
    ] = None,
    fit: Annotated[
        Path | None, folder(options.result_folder, "Folder of a fit to use.")
    ] = None,
    predicted: Annotated[
        Path | None, folder(options.result_folder, "Folder of a prediction to use.")
    ] = None,
    planned: options.Planned = "",
) -> None:
    """Compare a measured set with its prediction, or fit and predict it.

    SET is a file of conf/measured without .yaml. --records holds records in the same
    form as the shipped ones, with the same names or listed in its records.csv. For each
    record, the committed prediction is used; if there is none, one is made from the
    inputs before the measured values are read. Writes measured.csv, verdict.csv and
    verdict.json.

    --only predict fits the records that SET assigns to the fit, predicts every record
    from its inputs alone, and writes prediction.csv (record, quantity, at, value, u by
    source, interval), prediction.json (key, SHA-256) and posterior.json. --only fit
    writes posterior.json only.
    """
    from pipeline.cli import measured as parts
    from pipeline.config.config_files import project_folder
    from pipeline.measured.set_file import read_set

    with project_folder(records, out, fit, predicted) as (records, out, fit, predicted):
        chosen = read_set(name)
        if only == "fit":
            parts.fit(chosen, out, planned)
        elif only == "predict":
            parts.predict(chosen, records, out, fit, planned)
        else:
            parts.compare(
                chosen, records, out, {"fit": fit, "predicted": predicted}, planned
            )
