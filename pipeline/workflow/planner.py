"""Jobs that are wanted, each once, under the names that people know them by."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.config.hydra import Composer
from pipeline.store.case_job import planned as planned_case
from pipeline.store.case_job import sound_case
from pipeline.store.keys import file_digest, identity, rebuilds_cases, targets
from pipeline.store.plan_file import Batch, Document, documents
from pipeline.store.runs import Job
from pipeline.studies.file import Study, read_study
from pipeline.studies.members import Member, batches, members

Reads = Mapping[str, Job | list[Job]]


def job_for(
    step: str,
    name: str,
    config: Mapping[str, Any],
    reads: Reads,
    paths: Sequence[str] = (),
    tags: Mapping[str, str] | None = None,
    modules: Sequence[str] = (),
) -> Job:
    """A job under a key of the plan: made of the keys of what it reads."""
    read = [j for v in reads.values() for j in ([v] if isinstance(v, Job) else v)]
    if rebuilds_cases(step, frozenset(modules)):
        of_cases = {m for job in read for m in (*targets(job.config), *job.modules)}
        modules = sorted({*modules, *of_cases})
    needs = {
        role: value.key if isinstance(value, Job) else [job.key for job in value]
        for role, value in reads.items()
    }
    files = [file_digest(Path(path)) for path in paths]
    known = identity(step, config, upstream=needs, files=files, modules=modules)
    tags = dict(tags or {})
    return Job(step, name, known, config, needs, tuple(paths), tags, tuple(modules))


def label_in_name(text: str) -> str:
    """A label of a figure's row as part of a name."""
    return re.sub(r"[^\w.+=-]+", "_", text)


class Planner:
    """Collects the jobs that a workflow wants, each key once."""

    def __init__(self, composer: Composer) -> None:
        self.composer = composer
        self.jobs: dict[str, Job] = {}
        self._names: set[tuple[str, str]] = set()
        self.studies: dict[str, tuple[Study, list[Member]]] = {}
        self.units: dict[str, str] = {}  # of structures, by the key of their run

    def add(self, job: Job) -> Job:
        """The job, once; of two that are called the same, the second is numbered.

        The runs of a study share the name of their case: its table tells them apart.
        A run that is wanted by itself as well belongs to the study.
        """
        if "study" in job.tags:
            known = self.jobs.get(job.key, job)
            self.jobs[job.key] = replace(known, tags=dict(known.tags) | dict(job.tags))
        if job.key in self.jobs:
            return self.jobs[job.key]
        if "study" not in job.tags:  # the others are called after their batch
            name, number = job.name, 1
            while (job.step, name) in self._names:
                name, number = f"{job.name}-{number + 1}", number + 1
            job = replace(job, name=name)
            self._names.add((job.step, name))
        self.jobs[job.key] = job
        return job

    @cached_property
    def virtual_lab(self) -> dict[str, Any]:
        """The settings of virtual scans, composed once for all comparisons."""
        from pipeline.steps.virtual_scan import scanner_settings

        return scanner_settings()

    def shown(self, figure: str, label: str, words: Sequence[str]) -> Job:
        """The run that a figure shows; a case as it is has the case's name."""
        as_it_is = re.fullmatch(r"case=([\w-]+)", words[0]) if len(words) == 1 else None
        name = as_it_is[1] if as_it_is else f"{figure}.{label_in_name(label)}"
        return self.simulation(name, words)

    def simulation(self, name: str, overrides: Sequence[str]) -> Job:
        """The run of a case with its overrides."""
        config = self.composer.compose("simulate", overrides)
        case = sound_case(config)
        job = self.add(planned_case(name, config))
        self.units[job.key] = getattr(getattr(case, "structure", None), "unit", "")
        return job

    def study(self, name: str) -> list[tuple[str, Job]]:
        """The runs of a study by label."""
        if name not in self.studies:
            study = read_study(name)
            self.studies[name] = study, members(study, self.composer)
        _, found = self.studies[name]
        return [(member.label, self.add(member.job)) for member in found]

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

    def documents(self) -> dict[str, Document]:
        """What a plan of all jobs says of each name."""
        studies = {
            name: [member.job.key for member in found]
            for name, (_, found) in self.studies.items()
        }
        return documents(self.batches(), studies)
