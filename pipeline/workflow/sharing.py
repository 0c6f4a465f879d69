"""Runs of the plan that go to a shelf, and runs that come from one."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pipeline.store.leaves import flat
from pipeline.store.plan_file import TABLE, Document
from pipeline.store.receipts import content_digest
from pipeline.store.runs import RESULTS, Job, finished, run_record
from pipeline.terminal.errors import InputError
from pipeline.workflow.acceptance import DRAWN, Kept, repeated
from pipeline.workflow.run import jobs_of, perform_name

CLOSE = 1e-6  # of a number, where the bits of another processor differ


class RunPlace(Protocol):
    """Where runs are kept by key (pipeline.crate.shelf)."""

    def keys(self) -> set[str]:
        """The runs that are there."""

    def put(self, directory: Path) -> int:
        """Keep a finished run; the bytes that it takes."""

    def take(self, key: str, content: str) -> Path:
        """Bring a run here that holds what `content` is the digest of."""


@dataclass(frozen=True)
class Pulled:
    """What came from a shelf.

    Parameters
    ----------
    jobs : whose runs came
    missing : names that it cannot make, since a run is not listed or not there
    """

    jobs: tuple[Job, ...]
    missing: tuple[str, ...]


def pushed(
    jobs: Iterable[Job], shelf: RunPlace, results: Path = RESULTS
) -> Iterator[int]:
    """Put each finished run on the shelf that is not there; the bytes of each."""
    there = shelf.keys()
    for job in jobs:
        directory = finished(job.key, results)
        if directory is not None and job.key not in there:
            there.add(job.key)
            yield shelf.put(directory)


def pull(
    found: Mapping[str, Document], listed: Mapping[str, str], shelf: RunPlace
) -> Pulled:
    """Bring what the plan wants and the list holds; what is read comes first.

    Parameters
    ----------
    listed : digests of what the runs hold, by key
    """
    came: list[Job] = []
    missing = []
    there = shelf.keys()
    for name, document in found.items():
        if document["step"] == TABLE:
            continue  # made of what came, in seconds
        try:
            jobs = jobs_of(name)
        except InputError:
            missing.append(name)
            continue
        for job in jobs:
            wanted = not finished(job.key) and job.key in listed
            if wanted and job.key in there:
                shelf.take(job.key, listed[job.key])
                came.append(job)
        if all(finished(job.key) for job in jobs):
            perform_name(name)  # its receipt
        else:
            missing.append(name)
    return Pulled(tuple(came), tuple(missing))


def drawn_by_lot(jobs: Sequence[Job], how_many: int) -> list[Job]:
    """Some of the runs that can be compared by numbers."""
    numbers = [job for job in jobs if job.step != DRAWN]
    return random.SystemRandom().sample(numbers, min(how_many, len(numbers)))


def compared(job: Job, results: Path = RESULTS) -> str:
    """How a run that is made again compares: same bits, alike to 1e-6, or differs."""
    directory = finished(job.key, results)
    assert directory is not None  # it has just come
    kept = Kept(job, directory)
    with repeated(kept, results) as again:
        if content_digest(again) == content_digest(directory):
            return "same bits"
        far = _apart(run_record(again)["result"], run_record(directory)["result"])
    return f"alike to {CLOSE:g}" if far <= CLOSE else f"differs by {far:.1e}"


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """The largest relative difference of two results; infinite where words differ."""
    first, second = dict(flat(one)), dict(flat(other))
    if first.keys() != second.keys():
        return float("inf")
    return max((_difference(first[n], second[n]) for n in first), default=0.0)


def _difference(a: Any, b: Any) -> float:
    if a == b or (a != a and b != b):
        return 0.0
    if not (isinstance(a, int | float) and isinstance(b, int | float)):
        return float("inf")
    return abs(a - b) / max(abs(a), abs(b))
