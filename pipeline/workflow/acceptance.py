"""Keeping results over a change of code that should not have changed them.

A sample is made again: one run of each kind, and one in twenty of all. Where each comes
out as it was, to the bit, the others are kept; else none is. Figures are drawn anew;
what another value, file or version decides is made.
"""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.store.accepted import CodeAcceptance, accept_run
from pipeline.store.attempts import claim, record_run
from pipeline.store.keys import targets
from pipeline.store.receipts import content_digest
from pipeline.store.runs import RESULTS, Job, Needs, finished, run_record
from pipeline.terminal.errors import RunFailedError
from pipeline.workflow.steps_table import STEPS
from pipeline.workflow.why import ExpectedRun, Reasoned

SHARE = 20  # one run in so many is made again
CODE = "code: "
DRAWN = "figure"


@dataclass(frozen=True)
class Kept:
    """A run that a change of code alone would make again.

    Parameters
    ----------
    job : as it would be run
    then : directory of the run as it was made
    """

    job: Job
    then: Path

    @property
    def kind(self) -> tuple[str, ...]:
        """The step, and what it builds."""
        return self.job.step, *sorted(set(targets(self.job.config)))

    @property
    def name(self) -> str:
        """Step and name, as a person knows it."""
        return f"{self.job.step} {self.job.name}"


def keepable(told: Iterable[Reasoned], results: Path = RESULTS) -> list[Kept]:
    """The runs of a plan that differ from what is there by their code alone."""
    runs = [run for one in told for run in one.runs]
    return [kept for run in runs if (kept := _kept(run, results)) is not None]


def _kept(run: ExpectedRun, results: Path) -> Kept | None:
    if run.then is None or finished(run.job.key, results):
        return None
    then = finished(str(run.then["key"]), results)
    of_code = bool(run.reasons) and all(r.startswith(CODE) for r in run.reasons)
    same = run.then["identity"]["config"] == run.job.identity["config"]
    if then is None or not of_code or not same or run.job.step == DRAWN:
        return None
    return Kept(run.job, then)


def sample_of(kept: Sequence[Kept]) -> list[Kept]:
    """One of each kind and one in twenty, drawn by what they are."""
    chance = random.Random(" ".join(sorted(one.job.key for one in kept)))
    mixed = chance.sample(kept, len(kept))
    of_kinds = {one.kind: one for one in mixed}
    first = list(of_kinds.values())
    rest = [one for one in mixed if one not in first]
    wanted = -(-len(kept) // SHARE)
    return first + rest[: max(0, wanted - len(first))]


@contextmanager
def repeated(kept: Kept, results: Path = RESULTS) -> Iterator[Path]:
    """A run made again, of what it read then; its directory, while the block lasts."""

    def body(out: Path) -> dict[str, object]:
        return STEPS[kept.job.step].perform(kept.job, _read_then(kept, results), out)

    directory = claim(kept.job, results)
    try:
        record_run(directory, kept.job, body)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _read_then(kept: Kept, results: Path) -> Needs:
    """What the run read, or what holds the same now."""
    needs = run_record(kept.then)["needs"]

    def place(role: str, key: str) -> Path:
        found = finished(key, results)
        if found is None:
            raise RunFailedError(
                f"the run that it read as {role} is gone (results/runs/{key})"
            )
        return found

    return {
        role: place(role, key)
        if isinstance(key, str)
        else [place(role, one) for one in key]
        for role, key in needs.items()
    }


def turned(
    sample: Iterable[Kept], said: Callable[[str], None], results: Path = RESULTS
) -> Iterator[str]:
    """The names of a sample that came out other than they were."""
    for one in sample:
        with repeated(one, results) as again:
            alike = content_digest(again) == content_digest(one.then)
        said(f"{'same bits' if alike else 'differs'}  {one.name}")
        if not alike:
            yield one.name


def accept_all(
    kept: Iterable[Kept], acceptance: CodeAcceptance, results: Path = RESULTS
) -> None:
    """Keep each run, what is read before what reads it."""
    for one in kept:
        accept_run(one.job, one.then, acceptance, results)
