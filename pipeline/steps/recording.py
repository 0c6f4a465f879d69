"""Run a case and record it: its steps as they are made, and how it ended.

A case is a problem; what of it is written down, its recorder says. steps.csv and the
arrays grow with every step, so that a kill leaves what was made.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from pipeline.store.checkpoints import (
    Arrays,
    Checkpoints,
    Earlier,
    Resumable,
    earlier_attempt,
)
from pipeline.store.files import GrowingTable, StepWriter, replace_columns, write_json
from pipeline.store.runs import Numbers
from pipeline.terminal.progress import progress

Tables = Mapping[str, Iterable[Mapping[str, float | str]]]


class Recorder(Protocol):
    """What one run records; it may add up what it sees."""

    def see(self, step: Any) -> None:
        """Take in the next step; it is told all of them, in order."""

    def row(self, step: Any) -> dict[str, float]:
        """A row of steps.csv, of the step that was seen last."""

    def arrays(self, step: Any) -> dict[str, NDArray[Any]]:
        """Its entry of each array in steps.npz."""

    def progress(self, step: Any) -> str:
        """What the progress bar says."""

    def documents(self) -> dict[str, Any]:
        """JSON files that are there before the first step."""

    def fixed_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of the run rather than of a step; asked for with the first step."""

    def summary(self) -> dict[str, float | str | int | bool]:
        """How the run ended: the stop rule that fired, and what it ended with."""

    def tables(self) -> dict[str, Iterable[Mapping[str, float | str]]]:
        """CSV files of the whole run, with their rows."""


@runtime_checkable
class Late(Protocol):
    """A recorder with columns of steps.csv that only the end tells: nan until then."""

    def late(self) -> Mapping[str, list[float]]:
        """The columns, with a value for each step that was seen."""


class Case(Protocol):
    """What the objects that conf/case describes have in common; it never changes."""

    def steps(self) -> Iterator[Any]:
        """Yield the solver's records; before the first is asked for nothing is done.

        NotConvergedError ends them honestly. Called again, they are the same.
        """

    def recorder(self) -> Recorder:
        """A recorder for one run."""


@runtime_checkable
class Continuable(Protocol):
    """A case whose run can go on from a state that its recorder gave."""

    def continued(self, state: Arrays) -> tuple[Recorder, Iterator[Any]]:
        """A recorder that knows what came before, and the steps after it."""


def record_steps(case: Case, name: str, out: Path, record_every: int = 1) -> Numbers:
    """Run the solver of `case`, write its steps into `out`, return its summary.

    A case that can continue goes on from the checkpoint of a killed attempt.
    """
    recorder, steps, earlier = case.recorder(), case.steps(), None
    if isinstance(case, Continuable) and (earlier := earlier_attempt(out)):
        recorder, steps = case.continued(earlier.state)
    for file, document in recorder.documents().items():
        write_json(out / file, document)
    recorded = _record(recorder, steps, earlier, name, out, record_every)
    if isinstance(recorder, Late):
        late = recorder.late().items()
        columns = {column: [values[i] for i in recorded] for column, values in late}
        replace_columns(out / "steps.csv", columns)
    _write_tables(recorder.tables(), out)
    return recorder.summary()


def _record(
    recorder: Recorder,
    steps: Iterator[Any],
    earlier: Earlier | None,
    name: str,
    out: Path,
    record_every: int,
) -> list[int]:
    """Write each `record_every`-th step and the last; return which were written."""
    checkpoints = (
        Checkpoints(recorder, out) if isinstance(recorder, Resumable) else None
    )
    recorded: list[int] = []
    i = first = 0 if earlier is None else earlier.index + 1
    step, written = None, True
    with StepWriter(out) as writer, progress(name) as show:
        if earlier is not None:
            _copy_steps(earlier, writer)
            write_json(out / "continued.json", {"from": earlier.attempt, "step": first})
        for i, step in enumerate(steps, first):
            recorder.see(step)
            if i == first:
                writer.fixed = recorder.fixed_arrays()
            written = i % record_every == 0
            if written:
                writer.append(recorder.row(step), recorder.arrays(step))
                recorded.append(i)
            if checkpoints is not None:
                checkpoints.keep(i, step, writer.steps)
            show(recorder.progress(step))
        if not written:
            writer.append(recorder.row(step), recorder.arrays(step))
            recorded.append(i)
    if checkpoints is not None:
        checkpoints.drop()
    return recorded


def _write_tables(tables: Tables, out: Path) -> None:
    for file, rows in tables.items():
        table = GrowingTable(out / file)
        for row in rows:
            table.append(row)
        table.close()


def _copy_steps(earlier: Earlier, writer: StepWriter) -> None:
    for k, row in enumerate(earlier.rows):
        writer.append(row, {name: part[k] for name, part in earlier.arrays.items()})
