"""Run a case and record it: its steps as they are made, and how it ended.

A case is a problem; what of it is written down, its recorder says. steps.csv (numbers)
and steps.npz (arrays) grow with every step, so that a kill leaves what was made.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pipeline.cases.record import Recorder, named_rows
from pipeline.runs.atomic_files import (
    GrowingTable,
    StepWriter,
    replace_columns,
    write_json,
)
from pipeline.runs.case_job import sound_case
from pipeline.runs.checkpoints import Arrays, Checkpoints, Earlier, earlier_attempt
from pipeline.runs.run_attempts import record_run
from pipeline.runs.run_directory import Job, Needs, Numbers, finished, run_record
from pipeline.runs.run_keys import canonical, files_named
from pipeline.terminal import (
    EditedError,
    InputError,
    RunFailedError,
    one_line,
    progress,
)
from sim.core.options import NotConvergedError


class Case(Protocol):
    """What the objects that conf/case describes have in common; it never changes."""

    def steps(self) -> Iterator[Any]:
        """Yield the solver's records; before the first is asked for nothing is done.

        NotConvergedError ends them honestly. Called again, they are the same.
        """

    def recorder(self) -> Recorder[Any, Any]:
        """A recorder for one run."""


@runtime_checkable
class Continuable(Protocol):
    """A case whose run can go on from a state that its recorder gave."""

    def continued(self, state: Arrays) -> tuple[Recorder[Any, Any], Iterator[Any]]:
        """A recorder that knows what came before, and the steps after it."""


def record_steps(
    case: Case,
    name: str,
    out: Path,
    record_every: int = 1,
    watch: Callable[[Mapping[str, float]], None] | None = None,
) -> Numbers:
    """Run the solver of `case`, write its steps into `out`, return its summary.

    A case that can continue goes on from the checkpoint of a killed attempt.

    Parameters
    ----------
    watch : takes the numbers of each step, and may end the run by an error
    """
    recorder, steps, earlier = case.recorder(), case.steps(), None
    if isinstance(case, Continuable) and (earlier := earlier_attempt(out)):
        recorder, steps = case.continued(earlier.state)
    documents = recorder.documents()
    for file, document in documents.items():
        write_json(out / file, document)
    recorded = _record(recorder, steps, earlier, name, out, record_every, watch)
    if late := recorder.late():
        columns = {name: [values[i] for i in recorded] for name, values in late.items()}
        replace_columns(out / "steps.csv", columns)
    for file, rows in recorder.tables().items():
        with closing(GrowingTable(out / file)) as table:
            for row in named_rows(rows, documents.get("structure.json", {})):
                table.append(row)
    return recorder.summary()


def _record(
    recorder: Recorder[Any, Any],
    steps: Iterator[Any],
    earlier: Earlier | None,
    name: str,
    out: Path,
    record_every: int,
    watch: Callable[[Mapping[str, float]], None] | None,
) -> list[int]:
    """Write each `record_every`-th step and the last; return which were written."""
    checkpoints = Checkpoints(recorder, out)
    recorded: list[int] = []
    i = first = 0 if earlier is None else earlier.index + 1
    step, written = None, True
    with closing(StepWriter(out)) as writer, progress(name) as show:
        if earlier is not None:
            for k, row in enumerate(earlier.rows):
                arrays = {name: part[k] for name, part in earlier.arrays.items()}
                writer.append(row, arrays)
            write_json(out / "continued.json", {"from": earlier.attempt, "step": first})
            where = f"step {first} of the attempt that was interrupted"
            print(f"continuing from {where}", file=sys.stderr)
        for i, step in enumerate(steps, first):
            recorder.see(step)
            if i == first:
                writer.fixed = recorder.fixed_arrays()
            written = i % record_every == 0
            if written:
                writer.append(recorder.row(step), recorder.arrays(step))
                recorded.append(i)
            checkpoints.keep(i, step, writer.steps)
            show(recorder.progress(step))
            if watch is not None:
                watch(recorder.row(step))
        if not written:
            writer.append(recorder.row(step), recorder.arrays(step))
            recorded.append(i)
    checkpoints.drop()
    return recorded


DEFAULT_RUN_DIR = "results"  # as conf/simulate.yaml says; it means: by key


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Run a job."""
    del needs  # a simulation reads no other run
    return run_case(sound_case(job.config), job, out)


def body_of(job: Job) -> Callable[[Path], Numbers]:
    """The function that makes the run of a job; its case is built and checked here.

    If the run is already there, no case is built: that takes seconds of imports.
    """
    if finished(job.key):
        return lambda out: perform(job, {}, out)
    case = sound_case(job.config)
    return lambda out: run_case(case, job, out)


def run_case(case: Case, job: Job, out: Path) -> Numbers:
    """Run the case of a job, built already."""
    found = record_steps(case, job.name, out, job.config.get("record_every", 1))
    if canonical(job.config) != job.identity["config"]:
        raise EditedError(" or ".join(files_named(job.config)))
    return found


def check_free(directory: Path, job: Job) -> None:
    """Refuse a folder of a user that holds anything but the run of `job`."""
    if (directory / "run.json").is_file():
        if run_record(directory)["key"] != job.key:
            raise InputError(
                f"{directory} holds another run: choose a new hydra.run.dir"
            )
    elif directory.is_dir() and any(directory.iterdir()):
        raise InputError(f"{directory} is not empty: choose a new hydra.run.dir")


def run_in(directory: Path, job: Job) -> Path:
    """Run in a folder of the caller, outside of results/runs."""
    directory.mkdir(parents=True, exist_ok=True)
    try:
        record_run(directory, job, lambda out: perform(job, {}, out))
    except NotConvergedError as error:
        raise RunFailedError(f"{one_line(error)} (see {directory})") from error
    return directory
