"""Why each run of a plan would be made, and what it took last time.

A run is compared with the one that its name stood for last. The plan is gone through
from what is read to what reads it; what would be made again is taken to come out as it
was, so that each run is told what is its own.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from pipeline.store.plan_file import TABLE, Document, of_batch, read_by, study_of
from pipeline.store.reasons import Record, differences, settings_apart
from pipeline.store.receipts import FAILED_RUN, Made, read_receipt
from pipeline.store.runs import RESULTS, Job, failed_attempts, finished, run_record
from pipeline.store.standing import DONE, PlannedName, job_of, run_names, standings
from pipeline.terminal.errors import InputError
from pipeline.workflow.watch import last_walls

KEPT = "kept"
NEVER = "never made"
MOST_COMPARED = 100  # runs of a study, among which the most alike is sought


@dataclass(frozen=True)
class ExpectedRun:
    """A run that the plan wants.

    Parameters
    ----------
    job : as it would be run if all that it reads came out as it was
    before : the run that it takes the place of
    then : the record of that one; None where there is none to compare with
    reasons : of its own to be made; none where it is there, or only what it reads is
        made again
    """

    job: Job
    before: Made | None
    then: Record | None
    reasons: tuple[str, ...]

    @property
    def wall_s(self) -> float | None:
        """What it took last time."""
        return None if self.then is None else float(self.then["wall_s"])


@dataclass(frozen=True)
class Reasoned:
    """A name of the plan, how it stands, and why.

    Parameters
    ----------
    state : as of its standing; KEPT where only what it reads is made again
    runs : that it stands for
    waits_for : names that are made again before it
    walls : seconds of last time of what would be made; None where nobody knows
    """

    state: str
    runs: tuple[ExpectedRun, ...] = ()
    waits_for: tuple[str, ...] = ()
    walls: tuple[float | None, ...] = ()

    @property
    def counted(self) -> Counter[str]:
        """Each reason with the number of runs that have it."""
        return Counter(reason for run in self.runs for reason in run.reasons)

    @property
    def wall_s(self) -> float | None:
        """What it took last time; None where that is not known of any run."""
        known = [wall for wall in self.walls if wall is not None]
        return sum(known) if known else None


def _settings(identity: Mapping[str, Any]) -> str:
    return json.dumps(identity["config"], sort_keys=True)


@dataclass(frozen=True)
class _MadeOfStudy:
    """What there is of a study.

    Parameters
    ----------
    known : runs by their configuration; a change of code deals them to other batches
    wanted : configurations
    """

    known: Mapping[str, tuple[Made, Record]]
    wanted: set[str]

    def alike(self, job: Job) -> tuple[Made | None, Record | None]:
        """The run of the same configuration, or the most alike that is not wanted."""
        same = self.known.get(_settings(job.identity))
        if same is not None:
            return same
        spare = (
            then for key, (_, then) in self.known.items() if key not in self.wanted
        )
        few = islice(spare, MOST_COMPARED)
        apart = [(settings_apart(then["identity"], job.identity), then) for then in few]
        return None, min(apart, key=lambda pair: pair[0], default=(0, None))[1]


class Why:
    """The reasons of a plan.

    Parameters
    ----------
    found : what the plan says of its names
    """

    def __init__(self, found: Mapping[str, Document], results: Path = RESULTS) -> None:
        self._found, self._results = found, results
        self._now = standings(found, results)
        self._made: dict[str, Made] = {}
        self._told: dict[str, Reasoned] = {}
        self._studies: dict[str, _MadeOfStudy] = {}

    def all(self) -> dict[str, Reasoned]:
        """Every name of the plan with its reasons."""
        return {name: self.of(name) for name in self._found}

    def of(self, name: str) -> Reasoned:
        """The reasons of one name."""
        if name not in self._told:
            read = {n for ns in read_by(self._found[name]).values() for n in ns}
            for needed in read:
                self.of(needed)
            waits_for = sorted(n for n in read if self._told[n].state != DONE)
            self._told[name] = self._reasoned(name, tuple(waits_for))
        return self._told[name]

    def _reasoned(self, name: str, waits_for: tuple[str, ...]) -> Reasoned:
        now, document = self._now[name], self._found[name]
        if document["step"] == TABLE:
            state = KEPT if waits_for and now.state != DONE else now.state
            return Reasoned(state, waits_for=waits_for)
        runs = tuple(self._runs(document, now))
        own = any(run.reasons for run in runs)
        state = KEPT if now.state != DONE and not own else now.state
        made = [r for r in runs if r.reasons or (state == KEPT and waits_for)]
        walls = tuple(self._wall(name, run) for run in made)
        return Reasoned(state, runs, waits_for, walls)

    def _runs(self, document: Document, now: PlannedName) -> Iterator[ExpectedRun]:
        for run, row in zip(run_names(document), document["jobs"], strict=True):
            job = job_of(row, self._made)
            before, then = self._before(document, job)
            known = Made(before.digest, job.key) if before else None
            self._made[run] = known or Made(f"not made: {of_batch(run)}", job.key)
            reasons = () if now.state == DONE else self._reasons(job, before, then)
            yield ExpectedRun(job, before, then, reasons)

    def _before(
        self, document: Document, job: Job
    ) -> tuple[Made | None, Record | None]:
        """The run that a job takes the place of, and the one to compare it with."""
        if document["batch"]:
            study = study_of(document)
            if study not in self._studies:
                self._studies[study] = self._study(job.step, study)
            return self._studies[study].alike(job)
        receipt = read_receipt(f"{document['step']}/{document['name']}", self._results)
        if receipt is None or len(receipt.runs) != 1:
            return None, None
        return receipt.runs[0], self._record(receipt.runs[0].key)

    def _study(self, step: str, study: str) -> "_MadeOfStudy":
        """The runs of a study that are there, or that failed by themselves."""
        found = []
        for path in sorted((self._results / "made" / step).glob(f"{study}.*")):
            receipt = read_receipt(f"{step}/{path.name}", self._results)
            records = (
                [(m, self._record(m.key)) for m in receipt.runs] if receipt else []
            )
            found += [(made, record) for made, record in records if record]
        documents = [d for d in self._found.values() if study_of(d) == study]
        return _MadeOfStudy(
            {_settings(then["identity"]): (made, then) for made, then in found},
            {_settings(row["identity"]) for d in documents for row in d["jobs"]},
        )

    def _record(self, key: str) -> Record | None:
        directory = finished(key, self._results)
        failed = [] if directory else failed_attempts(key, self._results)
        for place in [directory] if directory else failed[-1:]:
            try:
                record: dict[str, Any] = run_record(place)
            except InputError:
                return None  # an edited record is told by the report
            return record if "identity" in record and "wall_s" in record else None
        return None

    def _reasons(
        self, job: Job, before: Made | None, then: Record | None
    ) -> tuple[str, ...]:
        if finished(job.key, self._results):
            return ()
        failed = failed_attempts(job.key, self._results)
        if failed:
            return (f"failed: {run_record(failed[-1])['reason']}",)
        if then is None:
            return (_gone(before.key) if before else NEVER,)
        if then["key"] == job.key:
            return (_gone(job.key),)
        return (*differences(then, job, self._results), *_read_otherwise(then, job))

    def _wall(self, name: str, run: ExpectedRun) -> float | None:
        """Of the run it takes the place of, or of the latest that had its name."""
        if run.wall_s is not None or "study" in run.job.tags:
            return run.wall_s
        return self._last_walls.get(name)

    @cached_property
    def _last_walls(self) -> Mapping[str, float]:
        return last_walls(self._results)


def _gone(key: str) -> str:
    return f"gone: its run was removed (results/runs/{key})"


def _read_otherwise(then: Record, job: Job) -> Iterator[str]:
    """Roles in which a run would read what differs from what it read."""
    old, new = then["identity"]["upstream"], job.identity["upstream"]
    for role in sorted({*old, *new}):
        if old.get(role) != new.get(role):
            yield f"upstream: {role} is not what it read"


def is_made_of_failed(run: ExpectedRun) -> bool:
    """Whether the run that this one takes the place of had failed by itself."""
    return run.before is not None and run.before.digest == FAILED_RUN
