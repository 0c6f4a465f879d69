"""The jobs of a study: list its runs, run a batch of them, search."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from analysis.experimental_designs import Design, Point
from pipeline.config.hydra import Composer
from pipeline.runs import study_members
from pipeline.runs.atomic_files import write_text
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job, failed_attempts, finished, run_record
from pipeline.runs.run_keys import files_named, identity
from pipeline.runs.step_jobs import planned_digest
from pipeline.steps.simulate import perform
from pipeline.terminal import DONE, FAILED, InputError, RunFailedError, one_line

RUNS_A_BATCH = 50  # at least, so that the start of a process is shared by many runs


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """A study and the composed configuration of its case.

    Parameters
    ----------
    base : of the case, before a point sets values
    """

    study: study_members.Study
    base: dict[str, Any]
    composer: Composer

    @classmethod
    def read(cls, name: str, composer: Composer, words: Sequence[str] = ()) -> Self:
        """The study of conf/study/<name>.yaml, with overrides such as samples=8."""
        study = study_members.read_study(name, words)
        return cls(
            study, composer.outline("simulate", [f"case={study.case}"]), composer
        )

    @property
    def is_adaptive(self) -> bool:
        """Whether its points are found by a search."""
        return self.study.design is Design.ADAPTIVE

    @cached_property
    def points(self) -> list[Point]:
        """The points of a study that is no search."""
        return self.study.points()

    @cached_property
    def members(self) -> list[study_members.Member]:
        """The runs of the study, each key once."""
        return study_members.members(self.study, self.composer)

    def check(self) -> None:
        """Refuse a study of which the first runs are all refused."""
        if not self.is_adaptive:
            first = self.points[: study_members.MOST_REFUSED]
            study_members.check_first(
                study_members.members(self.study, self.composer, first)
            )

    @cached_property
    def batches(self) -> list[str]:
        """The names of its batches, <number>-of-<count>."""
        fitting = -(-len(self.points) // RUNS_A_BATCH)
        count = min(max(fitting, 2), self.study.batches, len(self.points))
        return [f"{number}-of-{count}" for number in range(1, count + 1)]

    def points_of(self, batch: str) -> list[Point]:
        """The points that a batch runs."""
        if batch not in self.batches:
            raise InputError(
                f"study {self.study.name} has no batch {batch}: choose "
                f"{self.batches[0]} to {self.batches[-1]}"
            )
        number, _, count = batch.partition("-of-")
        return self.points[int(number) - 1 :: int(count)]

    def config(self, batch: str = "") -> dict[str, Any]:
        """What decides a batch; without a name, the whole study."""
        if not batch:
            return {"study": self.study.model_dump(mode="json"), "base": self.base}
        own = {"fixed": self.study.fixed, "points": self.points_of(batch)}
        return {"base": self.base, **own}

    def identity(self, batch: str = "") -> dict[str, Any]:
        """The same with code and versions."""
        return identity(
            "search" if self.is_adaptive else "simulate", self.config(batch)
        )

    @cached_property
    def code(self) -> str:
        """The digest of the code that its runs are made by."""
        return str(self.identity()["code"])

    def planned(self, batch: str = "") -> str:
        """The planned digest of a batch, or of the whole study."""
        return planned_digest(self.identity(batch))

    def inputs(self, batch: str = "") -> list[str]:
        """Files from outside that the runs of a batch read, or all runs."""
        if self.is_adaptive:
            vary = self.study.vary.items()
            points = [{k: v} for k, vs in vary if isinstance(vs, list) for v in vs]
        else:
            points = self.points_of(batch) if batch else self.points
        return sorted(set(files_named([self.base, self.study.fixed, *points])))

    def files(self) -> list[str]:
        """What the table of the study is made from."""
        folder = study_members.study_directory(self.study.name)
        if self.is_adaptive:
            return [str(folder / "trials.csv")]
        batches = [
            study_members.batch_file(self.study.name, batch) for batch in self.batches
        ]
        return [str(folder / "members.json"), *map(str, batches)]


def list_members(plan: StudyPlan) -> int:
    """Write the list of all runs; return how many points are no run of their own."""
    study_members.check_first(plan.members)
    study_members.write_members(plan.study, plan.members)
    return len(plan.points) - len(plan.members)


def run_batch(plan: StudyPlan, batch: str, *, retry_failed: bool = False) -> int:
    """Run the points of a batch; the exit status.

    A run that fails by itself is a row of the study. Its next attempt would fail again,
    so there is none unless `retry_failed`.
    """
    study, rows = plan.study, []
    for member in study_members.members(study, plan.composer, plan.points_of(batch)):
        status = _status_of(member.job, retry_failed=retry_failed)
        if not status:
            return FAILED
        rows.append(f"{member.job.key},{status}\n")
    text = "".join(["key,status\n", *rows])
    write_text(study_members.batch_file(study.name, batch), text)
    return DONE


def _status_of(job: Job, *, retry_failed: bool) -> str:
    """How the run of a job ended; "" if it was stopped from outside."""
    if finished(job.key):
        return "finished"
    before = failed_attempts(job.key)
    if not before or retry_failed:
        try:
            run_once(job, lambda out: perform(job, {}, out))
        except RunFailedError as error:
            print(f"error: {job.name} {job.key}: {one_line(error)}", file=sys.stderr)
            before = failed_attempts(job.key)
        else:
            return "finished"
    return str(run_record(before[-1])["status"]) if before else ""
