"""Plan what is wanted: python -m pipeline.plan.

Composes every configuration, gives each run its key, and writes the batches that
Snakemake fans out. What can be refused is refused here, before anything runs.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.arguments import OneLineParser
from pipeline.errors import InputError, command, one_line
from pipeline.figures.names import module_of
from pipeline.hydra_command import Composer
from pipeline.keys import file_digest, identity
from pipeline.plan_file import Batch, read_batch, write_plan
from pipeline.run import CONFIGS
from pipeline.runs import Job, finished
from pipeline.simulate import planned, sound_case
from pipeline.studies.file import Study, read_study
from pipeline.studies.members import Member, batches, members, write_members
from pipeline.workflow_file import (
    WORKFLOW,
    Compared,
    Drawn,
    MeasuredSeries,
    VirtualScan,
    Workflow,
    read_workflow,
)


def _job(
    step: str,
    name: str,
    config: Mapping[str, Any],
    needs: Mapping[str, str | list[str]],
    paths: Sequence[str] = (),
    tags: Mapping[str, str] | None = None,
) -> Job:
    files = [file_digest(Path(path)) for path in paths]
    return Job(
        step,
        name,
        identity(step, config, upstream=needs, files=files),
        config,
        needs,
        tuple(paths),
        dict(tags or {}),
    )


class Planner:
    """Collects the jobs that a workflow wants, each key once."""

    def __init__(self, composer: Composer) -> None:
        self._composer = composer
        self.jobs: dict[str, Job] = {}
        self._names: set[tuple[str, str]] = set()
        self.studies: dict[str, tuple[Study, list[Member]]] = {}

    def _add(self, job: Job) -> Job:
        """The job, once; of two that are called the same, the second has its key too.

        The runs of a study share the name of their case: its table tells them apart.
        A run that is wanted by itself as well belongs to the study.
        """
        if "study" in job.tags:
            known = self.jobs.get(job.key, job)
            self.jobs[job.key] = replace(known, tags=dict(known.tags) | dict(job.tags))
        if job.key in self.jobs:
            return self.jobs[job.key]
        if (job.step, job.name) in self._names:
            job = replace(job, name=f"{job.name}-{job.key[:8]}")
        self._names.add((job.step, job.name))
        self.jobs[job.key] = job
        return job

    def simulation(self, name: str, overrides: Sequence[str]) -> Job:
        """The run of a case with its overrides."""
        config = self._composer.compose("simulate", overrides)
        sound_case(config)
        return self._add(planned(name, config))

    def study(self, name: str) -> list[tuple[str, Job]]:
        """The runs of a study by label."""
        if name not in self.studies:
            study = read_study(name)
            self.studies[name] = study, members(study, self._composer)
        _, found = self.studies[name]
        return [(member.label, self._add(member.job)) for member in found]

    def batches(self) -> list[Batch]:
        """A batch each job, but the runs of a study dealt to few."""
        alone = [job for job in self.jobs.values() if "study" not in job.tags]
        of_studies: dict[str, list[Job]] = {}
        for job in self.jobs.values():
            if "study" in job.tags:
                of_studies.setdefault(job.tags["study"], []).append(job)
        dealt = [
            batch
            for name, jobs in of_studies.items()
            for batch in batches(jobs, self.studies[name][0].batches)
        ]
        # A study before what is drawn from it: Snakemake takes the order of the plan.
        return [*dealt, *(Batch((job,)) for job in alone)]

    def compared(self, wanted: Compared) -> tuple[Job, Job, Job]:
        """Simulation, ingest and comparison that one entry of the workflow wants."""
        case = f"case={wanted.case}"
        simulated = self.simulation(wanted.case, [case, *wanted.overrides])
        spheres = self._ingest(wanted, simulated)
        needs = {"spheres": spheres.key, "simulated": simulated.key}
        tags = {"case": wanted.case}
        of_target = _checked("deviation", wanted, _deviation_config(wanted))
        placed = _job("deviation", wanted.name, of_target, dict(needs), tags=tags)
        needs["deviation"] = self._add(placed).key
        if wanted.input_draws:
            needs["input_uncertainty"] = self._printed_anew(wanted, simulated).key
        config = _checked("compare", wanted, _comparison_config(wanted))
        tags = tags | {"expect": wanted.expect}
        compared = self._add(_job("compare", wanted.name, config, needs, tags=tags))
        return simulated, spheres, compared

    def measured_series(self, wanted: MeasuredSeries) -> Job:
        """The comparison of a measured series with a run."""
        case = [f"case={wanted.case}", *wanted.overrides]
        simulated = self.simulation(wanted.case, case)
        config = {"along": wanted.along, "synthetic": wanted.synthetic}
        needs, paths = {"simulated": simulated.key}, [wanted.measured]
        tags = {"case": wanted.case}
        if wanted.synthetic:
            tags["synthetic"] = "true"
        return self._add(
            _job("compare_series", wanted.name, config, needs, paths, tags)
        )

    def calibration(self, name: str) -> Job:
        """A calibration from synthetic poses."""
        from pipeline.calibration.file import FOLDER, composed

        config = composed(FOLDER / f"{name}.yaml", self._composer)
        tags = {"synthetic": "true"}
        return self._add(_job("calibrate", name, config, {}, tags=tags))

    def parts(self, name: str, overrides: Sequence[str]) -> Job:
        """The printed parts of a case."""
        from pipeline.parts import parts_of, parts_settings

        settings = parts_settings()
        parts_of(settings)
        needs = {"simulated": self.simulation(name, overrides).key}
        return self._add(_job("parts", name, settings, needs))

    def _printed_anew(self, wanted: Compared, simulated: Job) -> Job:
        config = _checked("input_uncertainty", wanted, _printing_config(wanted))
        needs = {"simulated": simulated.key}
        tags = {"case": wanted.case}
        return self._add(
            _job("input_uncertainty", wanted.case, config, needs, tags=tags)
        )

    def _ingest(self, wanted: Compared, simulated: Job) -> Job:
        config = _checked("ingest", wanted, _ingest_config(wanted))
        tags = {"case": wanted.case}
        if not isinstance(wanted.scan, VirtualScan):
            paths = wanted.scan
            return self._add(_job("ingest", wanted.name, config, {}, paths, tags))
        if wanted.scan.of:
            simulated = self.simulation(f"{wanted.name}-scanned", wanted.scan.of)
        scan = _job(
            "virtual_scan",
            wanted.name,
            _checked("virtual_scan", wanted, _scanner_config(wanted, wanted.scan)),
            {"simulated": simulated.key},
            tags=tags | {"synthetic": "true"},
        )
        needs = {"scan": self._add(scan).key}
        tags = tags | {"synthetic": "true"}
        return self._add(_job("ingest", wanted.name, config, needs, tags=tags))


def _checked(step: str, wanted: Compared, config: dict[str, Any]) -> dict[str, Any]:
    """`config`, refused now rather than in the middle of the work if unsound."""
    try:
        CONFIGS[step]()(**config)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{WORKFLOW}: comparisons.{wanted.name} ({step}): {one_line(error)}"
        ) from error
    return config


def _printing_config(wanted: Compared) -> dict[str, Any]:
    """How the case is printed anew: by the errors that the comparison assumes."""
    shared = ("printing_sd_mm", "joint_play_sd_mm")
    given = {k: wanted.settings[k] for k in shared if k in wanted.settings}
    return {"scale_mm": wanted.scale_mm, "draws": wanted.input_draws, **given}


def _deviation_config(wanted: Compared) -> dict[str, Any]:
    """How spheres are told apart where the target is sought: as in the comparison."""
    shared = ("registration_sd_mm", "scan_scale_sd", "print_scale_sd", "printing_sd_mm")
    given = {k: wanted.settings[k] for k in shared if k in wanted.settings}
    return {"scale_mm": wanted.scale_mm, **given}


def _comparison_config(wanted: Compared) -> dict[str, Any]:
    return {"scale_mm": wanted.scale_mm, **wanted.settings}


def _ingest_config(wanted: Compared) -> dict[str, Any]:
    own = {"sphere_radius_mm": wanted.sphere_radius_mm, "unit": wanted.unit}
    return {**wanted.ingest, **own}


def _scanner_config(wanted: Compared, scan: VirtualScan) -> dict[str, Any]:
    from pipeline.virtual_scan import scanner_settings

    return {
        **scanner_settings(),
        "scale_mm": wanted.scale_mm,
        "ball_radius_mm": wanted.sphere_radius_mm,
        "seed": scan.seed,
    }


def _drawn(
    drawn: Drawn,
    compared: Mapping[str, tuple[Job, Job, Job]],
    simulations: Sequence[tuple[str, Job]],
) -> Job:
    """The figure, with a row for each comparison and then for each simulation alone."""
    rows = [compared[name] for name in drawn.comparisons]
    labels = [*drawn.comparisons, *(label for label, _ in simulations)]
    needs: dict[str, str | list[str]] = {
        "simulated": [row[0].key for row in rows] + [job.key for _, job in simulations]
    }
    if rows:
        needs["spheres"] = [row[1].key for row in rows]
        needs["comparisons"] = [row[2].key for row in rows]
    if len(set(labels)) < len(labels):
        raise InputError(f"{WORKFLOW}: figures.{drawn.name} names a row twice")
    config = {
        "figure": drawn.name,
        "labels": labels,
        "_target_": f"{module_of(drawn.name)}.draw",
    }
    return _job("figure", drawn.name, config, needs)


def _wanted(workflow: Workflow, only: str) -> tuple[list[Compared], list[Drawn]]:
    """All comparisons and figures, or the figure `only` and what it shows."""
    if only and only not in workflow.figures:
        raise InputError(
            f"there is no figure {only!r}: choose one of {', '.join(workflow.figures)}"
        )
    figures = [f for f in workflow.figures.values() if not only or f.name == only]
    shown = {name for figure in figures for name in figure.comparisons}
    compared = workflow.comparisons.values()
    return [c for c in compared if not only or c.name in shown], figures


def _planned(workflow: Workflow, only: str) -> tuple[Planner, dict[str, Any]]:
    """A planner that holds every job, and what they were planned for."""
    comparisons, figures = _wanted(workflow, only)
    with Composer() as composer:
        planner = Planner(composer)
        compared = {c.name: planner.compared(c) for c in comparisons}
        for series in () if only else workflow.series.values():
            planner.measured_series(series)
        for figure in figures:
            alone = [
                (label, planner.simulation(label, words))
                for label, words in figure.cases.items()
            ]
            alone += planner.study(figure.study) if figure.study else []
            alone += [(name, planner.calibration(name)) for name in figure.calibrations]
            for label, words in figure.parts.items():
                alone.append((label, planner.parts(label, words)))
            job = _drawn(figure, compared, alone)
            planner.jobs.setdefault(job.key, job)
    wanted = {
        "comparisons": {c: [job.key for job in jobs] for c, jobs in compared.items()},
        "figures": [figure.name for figure in figures],
        "studies": list(planner.studies),
    }
    return planner, wanted


def planned_jobs(workflow: Workflow, only: str = "") -> list[Job]:
    """The jobs that a plan would hold; nothing is written."""
    return list(_planned(workflow, only)[0].jobs.values())


def make_plan(workflow: Workflow, only: str = "") -> dict[str, Any]:
    """Plan a workflow, or the one figure `only` of it; write and return the plan."""
    planner, wanted = _planned(workflow, only)
    for study, found in planner.studies.values():
        write_members(study, found)
    return write_plan(planner.batches(), wanted)


@command
def main(argv: list[str] | None = None) -> int:
    """Write the plan and say what it holds."""
    parser = OneLineParser(prog="python -m pipeline.plan", description=__doc__)
    parser.add_argument("--figure", default="", help="plan only what this figure needs")
    plan = make_plan(read_workflow(), parser.parse_args(argv).figure)
    for key, batch in plan["batches"].items():
        done = all(finished(job.key) for job in read_batch(key))
        state = "done" if done else "wanted"
        runs = f" ({batch['jobs']} runs)" if batch["jobs"] > 1 else ""
        print(f"{key}  {state:6}  {batch['step']:12}  {batch['name']}{runs}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
