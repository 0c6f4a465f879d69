"""Runs of the plan that go to a shelf, and runs that come from one."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline.store.digests import DIGESTS
from pipeline.store.keys import file_digest
from pipeline.store.plan_file import TABLE, Document
from pipeline.store.runs import RESULTS, Job, finished
from pipeline.terminal.errors import InputError
from pipeline.workflow.acceptance import DRAWN, Kept, repeated
from pipeline.workflow.run import jobs_of, perform_name


class RunPlace(Protocol):
    """Where runs are kept by key (pipeline.crate.shelf)."""

    def has(self, key: str, files: str) -> bool:
        """Whether a run is there whose SHA256SUMS has the digest `files`."""

    def put(self, directory: Path) -> int:
        """Keep a finished run; the bytes that it takes."""

    def take(self, key: str, listed: Mapping[str, str]) -> Path:
        """Bring a run here that holds what is listed of it."""


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
    for job in jobs:
        directory = finished(job.key, results)
        if directory and not shelf.has(job.key, file_digest(directory / DIGESTS)):
            yield shelf.put(directory)


def pull(
    found: Mapping[str, Document],
    listed: Mapping[str, Mapping[str, str]],
    shelf: RunPlace,
) -> Pulled:
    """Bring what the plan wants and the list holds; what is read comes first.

    Parameters
    ----------
    listed : digests of what each run holds, by key
    """
    came: list[Job] = []
    missing = []
    for name, document in found.items():
        if document["step"] == TABLE:
            continue  # made of what came, in seconds
        try:
            jobs = jobs_of(name)
        except InputError:
            missing.append(name)
            continue
        for job in jobs:
            row = listed.get(job.key)
            if row and not finished(job.key) and shelf.has(job.key, row["files"]):
                shelf.take(job.key, row)
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


@contextmanager
def made_again(job: Job, results: Path = RESULTS) -> Iterator[tuple[Path, Path]]:
    """A run that is made again, and as it came, while the block lasts."""
    directory = finished(job.key, results)
    assert directory is not None  # it has just come
    with repeated(Kept(job, directory), results) as again:
        yield again, directory
