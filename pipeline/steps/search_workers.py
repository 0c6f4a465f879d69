"""Processes that run the trials of a search, one at a time each, and report steps."""

import contextlib
import math
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pipeline.steps.recording import record_steps
from pipeline.store.attempts import run_once
from pipeline.store.case_job import sound_case
from pipeline.store.runs import Job, Ledger
from pipeline.terminal.errors import (
    FAILED,
    InputError,
    PrunedError,
    RunFailedError,
    lacks_machine,
    one_line,
)


@dataclass(frozen=True)
class Message:
    """What a worker says: a step of its run, or how the run ended.

    Parameters
    ----------
    step, value : of the run that is going; step is None at its end
    directory : where the record of the ended run is; None where it was refused
    """

    step: int | None = None
    value: float = 0.0
    directory: Path | None = None


class Watched:
    """A case that reports one of its numbers after each step and stops if told to.

    Parameters
    ----------
    report : told step and value; returns whether to go on
    """

    def __init__(
        self, case: Any, column: str, report: Callable[[int, float], bool]
    ) -> None:
        self._case = case
        self._column = column
        self._report = report

    def __getattr__(self, name: str) -> Any:
        return getattr(self._case, name)

    def steps(self) -> Iterator[Any]:
        """The steps of the case; PrunedError ends them early."""
        recorder = self._case.recorder()
        for step in self._case.steps():
            yield step
            recorder.see(step)
            numbers = recorder.row(step)
            if self._column not in numbers:
                raise InputError(
                    f"steps have no {self._column!r} to prune by: "
                    f"choose one of {', '.join(numbers)}"
                )
            value = float(numbers[self._column])
            if math.isfinite(value) and not self._report(_index(numbers), value):
                raise PrunedError(f"{self._column} is {value:g}: others were better")


def _index(numbers: dict[str, float]) -> int:
    return int(next(iter(numbers.values())))


@contextlib.contextmanager
def _alive() -> Iterator[None]:
    """While a worker is talked to; ChildProcessError where it is gone."""
    try:
        yield
    except (EOFError, OSError) as error:
        raise ChildProcessError(
            "a worker of the search was killed, or lacked memory or disk: "
            "the same command goes on with what has ended"
        ) from error


@dataclass(frozen=True)
class Worker:
    """The search's end of the line to a worker process."""

    connection: Connection

    def give(self, job: Job, prune_by: str) -> None:
        """Have it run a job."""
        with _alive():
            self.connection.send((job, prune_by))

    def answer(self, *, go_on: bool) -> None:
        """Answer the step that it reported."""
        with _alive():
            self.connection.send(go_on)

    def take(self) -> Message:
        """What it says next."""
        with _alive():
            message = self.connection.recv()
        assert isinstance(message, Message)
        return message


def serve(connection: Connection) -> None:
    """Run jobs until the search is gone."""
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            job, prune_by = connection.recv()
            connection.send(Message(directory=_ended(job, prune_by, connection)))


def _ended(job: Job, prune_by: str, connection: Connection) -> Path | None:
    """Run a job to its end, whatever that is; return where its record is.

    Where this machine could not run it, that says nothing about it: the worker ends.
    """

    def report(step: int, value: float) -> bool:
        connection.send(Message(step, value))
        return bool(connection.recv())

    def body(out: Path) -> dict[str, Any]:
        case = sound_case(job.config)
        watched = Watched(case, prune_by, report) if prune_by else case
        every = job.config.get("record_every", 1)
        return record_steps(watched, job.name, out, every)

    try:
        return run_once(job, body)
    except RunFailedError as error:
        print(f"{job.name} {job.key}: {one_line(error)}", file=sys.stderr)
        if lacks_machine(error):
            raise SystemExit(FAILED) from error
        return Ledger().directory(job.key)


@contextlib.contextmanager
def workers(number: int) -> Iterator[list[Worker]]:
    """Processes that wait for jobs; they end with the block, or with this process."""
    context = multiprocessing.get_context("spawn")
    crew, processes = [], []
    for _ in range(number):
        here, there = context.Pipe()
        process = context.Process(target=serve, args=(there,), daemon=True)
        process.start()
        there.close()
        crew.append(Worker(here))
        processes.append(process)
    try:
        yield crew
    finally:
        for worker in crew:
            worker.connection.close()
        for process in processes:
            process.join()
