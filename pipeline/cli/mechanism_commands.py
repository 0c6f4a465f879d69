"""Commands of the groups Mechanism and Origami."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option, Typer

from pipeline.cli import completion, options
from pipeline.steps.settings import HELP, PAIR, PLACE, CalibrationSettings
from pipeline.terminal import DONE, FAILED, InputError

POSE = "COMPARISON SPHERES SIMULATED"

group = Typer()
command = partial(group.command, rich_help_panel="Mechanism")


@command("mobility")
def mobility(
    words: Annotated[
        list[str],
        Argument(
            metavar="case=NAME...",
            help="A case of conf/case, and KEY=VALUE to change it.",
            autocompletion=completion.overrides,
        ),
    ],
    out: options.OutIfGiven = None,
    name: Annotated[str, Option(help="Name of the output files.")] = "",
    branches: Annotated[
        Literal["start", "rest"] | None,
        Option(help="Follow branches from the start, or from the end of the morph."),
    ] = None,
) -> None:
    """Count how a structure can move, and draw its modes.

    Counts nodes, multipliers, constraints and rank, names the redundant rows, warns if
    the initial configuration is singular, and draws the modes to
    results/mobility/NAME.pdf and .png, with their numbers in NAME_modes.npz. The case
    needs no target.

    --branches start shows whether paths of the mechanism cross at its initial
    configuration, and where each leads. --branches rest shows whether the morph of the
    case ends at a saddle of E, and where it ends on either side. Both write
    branches.csv, steps.csv, steps.npz and run.json into results/branches/NAME.
    """
    from pipeline.cli.mobility_report import count_motions, follow_branches
    from pipeline.cli.simulate import composed_case, with_case
    from pipeline.runs.run_directory import own_name

    case, config = composed_case(words)
    name = name or own_name(case, with_case(words))
    if branches:
        folder = out or Path("results/branches") / name
        follow_branches(case, config, branches, folder)
        return
    count_motions(config, name, out or Path("results/mobility"))


@command("parts")
def parts(
    words: Annotated[
        list[str],
        Argument(
            metavar="RUN or case=NAME...",
            help="Name, folder or key of a finished run; or a case to run first.",
            autocompletion=completion.overrides,
        ),
    ],
    out: options.Out,
    parts: Annotated[Path, Option(help="A file of conf/parts.")] = options.PARTS,
    scale_mm: options.ScaleMm = None,
    spacing_mm: Annotated[float | None, Option(help=HELP["spacing_mm"])] = None,
    planned: options.Planned = "",
) -> None:
    """Write parts to print, as STL and 3MF.

    Writes an STL file for each part, 3MF files with all of them laid out on the bed,
    parts.csv, assembled.stl, and structure.json: the structure with the lengths that
    are printed.
    """
    from pipeline.cli.simulate import finished_case, with_case
    from pipeline.runs.run_directory import printable_run
    from pipeline.steps.parts import parts_of, parts_settings

    settings = parts_settings(parts)
    if spacing_mm is not None:
        settings["spacing_mm"] = spacing_mm
    scale = {} if scale_mm is None else {"scale_mm": scale_mm}
    parts_of(settings | scale)  # refuses sizes that cannot be
    settings |= {f"stated_{name}": value for name, value in scale.items()}
    if len(words) > 1:
        is_case = True
    elif (options.result_folder(words[0]) / "run.json").is_file():
        is_case = False
    else:
        is_case = with_case(words)[0].lstrip("+").startswith("case")
    run = finished_case(words) if is_case else printable_run(words[0])
    reads = {"simulated": run}
    in_words = partial(_parts_in_words, out)
    options.make_and_show("parts", settings, out, reads, in_words, planned=planned)


def _parts_in_words(out: Path, found: Mapping[str, Any]) -> str:
    text = (
        f"{found['parts']} parts, {found['different_parts']} different, "
        f"{found['volume_cm3']:.3g} cm3 at {found['scale_mm']:g} mm per unit\n"
    )
    if "E_spaced" in found:
        text += (
            f"lengths changed: {found['lengths_changed']}, by up to "
            f"{found['largest_change_mm']:.3g} mm; E {found['E_as_drawn']:.3g} as "
            f"drawn, {found['E_spaced']:.3g} spaced\n"
        )
    last = f" to print_{found['beds']}.3mf" * (found["beds"] > 1)
    return f"{text}print {out}/print_1.3mf{last}"


@command("calibrate")
@options.with_settings(CalibrationSettings)
def calibrate(
    out: options.Out,
    settings: dict[str, Any],
    poses: Annotated[
        list[Path] | None,
        Argument(metavar="[POSE]...", help="Folders of finished comparisons."),
    ] = None,
    pose: Annotated[
        list[str] | None,
        Option(metavar=POSE, help="The three folders of a pose."),
    ] = None,
    references: Annotated[
        list[str] | None, Option("--reference", help=f"Known distance: {PAIR}.")
    ] = None,
    leave_out: Annotated[list[str] | None, Option(help=f"Omit: {PLACE}.")] = None,
    planned: options.Planned = "",
) -> None:
    """Estimate a mechanism as built from scans of several poses.

    Two poses or more separate joint play from lengths. Instead of folders, POSE may be
    a file of conf/calibration, which describes synthetic poses. Writes deviations.csv,
    spread.csv, covariance.npz, as_built.json (a structure file) and, after every pose
    was simulated and compared again with it, again.csv.
    """
    lists = {"references": references, "leave_out": leave_out}
    reads: dict[str, list[Path]] = {}
    if poses and len(poses) == 1 and poses[0].suffix == ".yaml":
        own = {"pose": pose, "reference": references, "leave_out": leave_out}
        others = options.given_names(settings, CalibrationSettings, **own)
        if others:
            raise InputError(
                f"{others[0]} has no effect with a file: write it into {poses[0]}, "
                "under settings"
            )
        from pipeline.steps.synthetic_poses import composed

        config, tags = composed(poses[0]), {"synthetic": "true"}
    else:
        from pipeline.steps.calibrate import (
            POSE_ROLES,
            PoseFolders,
            by_hand,
            folders_of,
        )

        folders = [folders_of(path) for path in poses or ()]
        folders += by_hand([PoseFolders(*_pose(text)) for text in pose or ()])
        stated = {name: tuple(texts or ()) for name, texts in lists.items()}
        chosen = asdict(CalibrationSettings(**settings | stated))
        config = {**chosen, "poses": [one.name for one in folders]}
        reads = {role: [getattr(one, role) for one in folders] for role in POSE_ROLES}
        tags = {}
    in_words = partial(_calibration_in_words, out)
    numbers = options.make_and_show(
        "calibrate", config, out, reads, in_words, tags=tags, planned=planned
    )
    if (sd := numbers.get("printing_sd_mm")) and not numbers["synthetic"]:
        print(f"for comparisons of this printer: --printing-sd-mm {sd:.2g}")


def _calibration_in_words(out: Path, found: Mapping[str, Any]) -> str:
    text = (
        f"{'synthetic: ' * found['synthetic']}{found['unknowns']} unknowns of "
        f"{found['poses']} poses: off by up to {found['largest_deviation_mm']:.3g} mm, "
        f"known to {found['rms_u_mm']:.2g} mm (rms of u)\n"
    )
    if "agree_after" in found:
        text += (
            f"poses that agree: {found['agree_before']} as designed, "
            f"{found['agree_after']} as built\n"
        )
    return f"{text}structure as built: {out}/as_built.json; tables in {out}"


def _pose(text: str) -> tuple[str, Path, Path, Path]:
    """The name and the folders of a pose."""
    words = options.several("--pose", text, POSE)
    comparison, spheres, simulated = map(Path, words)
    return comparison.name, comparison, spheres, simulated


@group.command("closure", rich_help_panel="Origami")
def closure(
    file: Annotated[Path, Argument(metavar="FILE", help="A FOLD file.")],
    tolerance: Annotated[
        float, Option(help="Largest error of a closed vertex or hole.")
    ] = 1e-6,
) -> int:
    """Check that rigid panels close around each vertex and hole.

    Checks eq. (1.1) of [ZF19] with the fold angles of a FOLD file, or with full folds
    of its assignments. Around holes and slits of a flat sheet it also checks positions.
    Panels that close may still pass through each other; a simulation shows this. The
    exit status is 1 if a vertex or hole stays open.
    """
    from pipeline.io.fold_file import fold_file
    from sim.origami.pattern.fold_format import Unassigned
    from sim.origami.pattern.rigid_folding import closure_errors, hole_errors

    if not tolerance > 0:
        raise InputError(f"tolerance must be positive, not {tolerance}")
    pattern = fold_file(str(file), unassigned=Unassigned.FLAT.value)
    vertices = sorted(closure_errors(pattern).items())
    around = hole_errors(pattern)
    named = [(f"vertex {v}", error) for v, error in vertices]
    named += [(f"the hole or slit at vertex {v}", error) for v, error in around]
    for place, error in named:
        if not error <= tolerance:
            print(f"{place} stays open by {error:.1e}")
    closed = f"{_closed(vertices, tolerance)} inner vertices"
    if around:
        closed += f" and {_closed(around, tolerance)} holes or slits"
    print(
        f"{closed} close (rotations by the fold angles given; whether mountains and "
        "valleys fold flat is not judged)"
    )
    return DONE if all(error <= tolerance for _, error in named) else FAILED


def _closed(errors: list[tuple[int, float]], tolerance: float) -> str:
    return f"{sum(error <= tolerance for _, error in errors)} of {len(errors)}"
