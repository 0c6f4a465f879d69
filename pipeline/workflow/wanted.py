"""What an entry of conf/workflow.yaml wants: its jobs, with the settings of each step.

What a step would refuse is refused here, before anything runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.config.measured_file import read_set
from pipeline.config.workflow_file import (
    WORKFLOW,
    Compared,
    Drawn,
    FigureStyle,
    MeasuredSeries,
    VirtualScan,
)
from pipeline.steps.figure_names import module_of
from pipeline.store.runs import Job
from pipeline.terminal.errors import InputError, one_line
from pipeline.workflow.measured_set import set_config, tags_of
from pipeline.workflow.planner import Planner, job_for, label_in_name
from pipeline.workflow.steps_table import STEPS

MM = {"mm": 1.0, "cm": 10.0, "m": 1000.0, "inch": 25.4}  # of each unit


def compared(planner: Planner, wanted: Compared) -> tuple[Job, Job, Job]:
    """Simulation, ingest and comparison that one entry of the workflow wants."""
    case = f"case={wanted.case}"
    name = wanted.name if wanted.overrides else wanted.case
    simulated = planner.simulation(name, [case, *wanted.overrides])
    _refuse_other_unit(wanted, planner.units[simulated.key])
    spheres = _ingest(planner, wanted, simulated)
    reads: dict[str, Job] = {"spheres": spheres, "simulated": simulated}
    tags = tags_of_comparison(wanted)
    of_target = _checked("deviation", wanted, _deviation_config(planner, wanted))
    placed = job_for("deviation", wanted.name, of_target, dict(reads), tags=tags)
    reads["deviation"] = planner.add(placed)
    if wanted.input_draws:
        reads["input_uncertainty"] = _printed_anew(planner, wanted, simulated)
    config = _checked("compare", wanted, _comparison_config(planner, wanted))
    tags = tags | {"expect": wanted.expect}
    compared = planner.add(job_for("compare", wanted.name, config, reads, tags=tags))
    return simulated, spheres, compared


def _refuse_other_unit(wanted: Compared, unit: str) -> None:
    """Refuse a scale that all comparisons share where a structure's unit is another."""
    if not (unit and wanted.scale_is_shared) or MM[unit] == wanted.scale_mm:
        return
    raise InputError(
        f"{WORKFLOW}: comparisons.{wanted.name}: its structure is written in {unit}, "
        f"and scale_mm {wanted.scale_mm:g} is that of `shared`: write scale_mm: "
        f"{MM[unit]:g} into the entry, or what the print is scaled to"
    )


def tags_of_comparison(wanted: Compared) -> dict[str, str]:
    """What the runs of one comparison are found by, in MLflow as its children."""
    return {"case": wanted.case, "comparison": wanted.name}


def measured_series(planner: Planner, wanted: MeasuredSeries) -> Job:
    """The comparison of a measured series with a run."""
    case = [f"case={wanted.case}", *wanted.overrides]
    name = wanted.name if wanted.overrides else wanted.case
    simulated = planner.simulation(name, case)
    terms = {name: getattr(wanted, name) for name in ("u", "u_simulated", "margin")}
    config = {"along": wanted.along, "synthetic": wanted.synthetic, **terms}
    reads, paths = {"simulated": simulated}, [wanted.measured]
    tags = {"case": wanted.case}
    if wanted.synthetic:
        tags["synthetic"] = "true"
    return planner.add(
        job_for("compare_series", wanted.name, config, reads, paths, tags)
    )


def _calibration(planner: Planner, name: str) -> Job:
    """A calibration from synthetic poses."""
    from pipeline.steps.calibration.file import FOLDER, composed

    config = composed(FOLDER / f"{name}.yaml", planner.composer)
    tags = {"synthetic": "true"}
    return planner.add(job_for("calibrate", name, config, {}, tags=tags))


def _measured_set(planner: Planner, name: str) -> Job:
    """The comparison of a measured set with its prediction, after its fit."""
    from pipeline.steps.measured_files import committed_files, shipped_files

    of = read_set(name)
    config, tags = set_config(of), tags_of(of, Path(of.records.folder))
    STEPS["measured"].configured(config)
    shipped, before = shipped_files(of), committed_files(of)
    reads: dict[str, Job] = {}
    for step, role in (("fit_measured", "fit"), ("predict", "predicted")):
        job = job_for(step, name, config, dict(reads), shipped, tags)
        reads[role] = planner.add(job)
    own = job_for("measured", name, config, reads, (*shipped, *before), tags)
    return planner.add(own)


def _parts(planner: Planner, figure: str, name: str, overrides: Sequence[str]) -> Job:
    """The printed parts of a case, which a figure shows."""
    from pipeline.steps.parts import parts_settings

    settings = parts_settings()
    STEPS["parts"].configured(settings)
    reads = {"simulated": planner.shown(figure, name, overrides)}
    return planner.add(job_for("parts", label_in_name(name), settings, reads))


def _printed_anew(planner: Planner, wanted: Compared, simulated: Job) -> Job:
    config = _checked("input_uncertainty", wanted, _printing_config(wanted))
    reads, tags = {"simulated": simulated}, {"case": wanted.case}
    return planner.add(
        job_for("input_uncertainty", simulated.name, config, reads, tags=tags)
    )


def _ingest(planner: Planner, wanted: Compared, simulated: Job) -> Job:
    config = _checked("ingest", wanted, _ingest_config(wanted))
    tags = tags_of_comparison(wanted)
    if not isinstance(wanted.scan, VirtualScan):
        paths = wanted.scan
        return planner.add(job_for("ingest", wanted.name, config, {}, paths, tags))
    if wanted.scan.of:
        simulated = planner.simulation(f"{wanted.name}-scanned", wanted.scan.of)
    scan = job_for(
        "virtual_scan",
        wanted.name,
        _checked("virtual_scan", wanted, _scanner_config(planner, wanted, wanted.scan)),
        {"simulated": simulated},
        tags=tags | {"synthetic": "true"},
    )
    reads = {"scan": planner.add(scan)}
    tags = tags | {"synthetic": "true"}
    return planner.add(job_for("ingest", wanted.name, config, reads, tags=tags))


def _checked(step: str, wanted: Compared, config: dict[str, Any]) -> dict[str, Any]:
    """`config` with its defaults; refused now, not in the middle of the work."""
    try:
        return asdict(STEPS[step].configured(config))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{WORKFLOW}: comparisons.{wanted.name} ({step}): {one_line(error)}"
        ) from error


def _printing_config(wanted: Compared) -> dict[str, Any]:
    """How the case is printed anew: by the errors that the comparison assumes."""
    shared = ("printing_sd_mm", "joint_play_sd_mm")
    given = _shared(wanted, shared)
    return {"scale_mm": wanted.scale_mm, "draws": wanted.input_draws, **given}


def _shared(wanted: Compared, names: Sequence[str]) -> dict[str, Any]:
    """Of these settings those that a comparison states."""
    stated = wanted.settings
    return {name: stated[name] for name in names if name in stated}


def _deviation_config(planner: Planner, wanted: Compared) -> dict[str, Any]:
    """How spheres are told apart where the target is sought: as in the comparison."""
    shared = ("registration_sd_mm", "print_scale_sd", "printing_sd_mm")
    given = _shared(wanted, shared)
    scale_sd = _comparison_config(planner, wanted).get("scan_scale_sd")
    if scale_sd is not None:
        given["scan_scale_sd"] = scale_sd
    return {"scale_mm": wanted.scale_mm, **given}


def _comparison_config(planner: Planner, wanted: Compared) -> dict[str, Any]:
    """The settings, and what is certified of the virtual scanner's scale."""
    given: dict[str, Any] = {"scale_mm": wanted.scale_mm}
    if isinstance(wanted.scan, VirtualScan):
        given["scan_scale_sd"] = planner.virtual_lab["certified_scale_sd"]
    return given | dict(wanted.settings)


def _ingest_config(wanted: Compared) -> dict[str, Any]:
    own = {"sphere_radius_mm": wanted.sphere_radius_mm, "unit": wanted.unit}
    return {**wanted.ingest, **own}


def _scanner_config(
    planner: Planner, wanted: Compared, scan: VirtualScan
) -> dict[str, Any]:
    return {
        **planner.virtual_lab,
        "scale_mm": wanted.scale_mm,
        "ball_radius_mm": wanted.sphere_radius_mm,
        "seed": scan.seed,
    }


def figure(
    planner: Planner,
    drawn: Drawn,
    compared: Mapping[str, tuple[Job, Job, Job]],
    style: FigureStyle,
) -> Job:
    """The figure, with a row for each comparison and then for each run alone."""
    for name in drawn.comparisons:
        if name not in compared:
            raise InputError(f"{WORKFLOW}: figures.{drawn.name} shows {name}")
    alone = [
        (label, planner.shown(drawn.name, label, words))
        for label, words in drawn.cases.items()
    ]
    alone += planner.study(drawn.study) if drawn.study else []
    alone += [(name, _calibration(planner, name)) for name in drawn.calibrations]
    alone += [(name, _measured_set(planner, name)) for name in drawn.sets]
    alone += [
        (label, _parts(planner, drawn.name, label, words))
        for label, words in drawn.parts.items()
    ]
    rows = [compared[name] for name in drawn.comparisons]
    job = _drawn(drawn, rows, alone, style)
    return planner.jobs.setdefault(job.key, job)


def _drawn(
    drawn: Drawn,
    rows: Sequence[tuple[Job, Job, Job]],
    simulations: Sequence[tuple[str, Job]],
    style: FigureStyle,
) -> Job:
    labels = [*drawn.comparisons, *(label for label, _ in simulations)]
    reads: dict[str, Job | list[Job]] = {
        "simulated": [row[0] for row in rows] + [job for _, job in simulations]
    }
    if rows:
        reads["spheres"] = [row[1] for row in rows]
        reads["comparisons"] = [row[2] for row in rows]
    if len(set(labels)) < len(labels):
        raise InputError(f"{WORKFLOW}: figures.{drawn.name} names a row twice")
    config = {"figure": drawn.name, "labels": labels, **style.model_dump()}
    module = module_of(drawn.name)
    return job_for("figure", drawn.name, config, reads, modules=[module])
