"""How far a workflow is, read from its files: whoever runs the jobs, and wherever."""

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from pipeline.store.leases import is_alive, owner, running_directories
from pipeline.store.receipts import receipt_path
from pipeline.store.runs import RESULTS, run_record
from pipeline.store.variations import Variations
from pipeline.terminal.board import Doing, Going
from pipeline.terminal.errors import InputError

SETTLED_SECONDS = 2.0  # after which a last line of a log is taken for its last
TAIL = 4096  # bytes of a log or table that are looked at
ENOUGH = 3  # results, before a time is estimated from them


def spoken(name: str, study: str = "") -> str:
    """A name of the plan as a person reads it: its step, then what it is made for."""
    step, _, of = name.partition("/")
    if study and of.startswith(f"{study}."):
        of = f"{study}, batch {of.removeprefix(f'{study}.')}"
    return f"{step.replace('_', ' ')} {of}"


def last_walls(results: Path = RESULTS) -> dict[str, float]:
    """Seconds that the latest run of each name took."""
    found: dict[str, tuple[str, float]] = {}
    for path in (results / "runs").glob("*/run.json"):
        try:
            record = run_record(path.parent)
            name, at = f"{record['step']}/{record['name']}", str(record["started"])
            if at > found.get(name, ("", 0.0))[0]:
                found[name] = at, float(record["wall_s"])
        except (InputError, KeyError, TypeError, ValueError):
            continue  # an edited record is told by the report
    return {name: wall for name, (_, wall) in found.items()}


def log_path(name: str, results: Path = RESULTS) -> Path:
    """Where the job of <step>/<name> says what it says."""
    return results / "log" / f"{name}.log"


def _tail(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []


def _stamp(name: str, results: Path) -> int:
    """When its receipt was written; 0 where there is none."""
    try:
        return receipt_path(name, results).stat().st_mtime_ns
    except OSError:
        return 0


class PlanWatch:
    """Looks at what of a plan is made, is being made, or has failed.

    Parameters
    ----------
    names : what is not made yet
    """

    def __init__(
        self, plan: Mapping[str, Any], names: Sequence[str], results: Path = RESULTS
    ) -> None:
        self._results, self._names, self._entries = results, names, plan["names"]
        self._before = {name: _stamp(name, results) for name in names}
        self._began = time.time()
        self._walls = last_walls(results)
        self._at_once = 1
        self._variations = Variations(results)
        self.finished: list[str] = []

    def look(self) -> Going:
        """How far it is now."""
        for name in self._names:
            if name not in self.finished and self._is_made(name):
                self.finished.append(name)
        running = [d for d in running_directories(self._results) if is_alive(d)]
        records = {d: r for d in running if (r := owner(d))}
        busy = {self._reference(record) for record in records.values()}
        self._at_once = max(self._at_once, len(records))
        return Going(
            len(self._names),
            [self._spoken(name) for name in self.finished],
            [self._doing(d, record) for d, record in records.items()],
            self.failures(busy, SETTLED_SECONDS),
            self._seconds_left(records),
            "" if records or self.finished else "starting",
        )

    def failures(
        self, busy: Collection[str] = (), settled: float = 0.0
    ) -> list[tuple[str, str]]:
        """Names that failed, and why: what the log of each says last.

        Parameters
        ----------
        busy : names, or studies, of which something runs
        settled : seconds for which a log must have said nothing more
        """
        found = []
        for name in self._names:
            own = {name, self._entries[name]["study"]}.intersection(busy)
            done = own or self._is_made(name)
            why = "" if done else self._reason(name, settled)
            if why:
                found.append((self._spoken(name), why))
        return found

    def _reason(self, name: str, settled: float) -> str:
        path = log_path(name, self._results)
        try:
            written = path.stat().st_mtime
        except OSError:
            return ""
        if written < self._began or time.time() - written < settled:
            return ""
        lines = [line for line in _tail(path) if line.strip()]
        if not lines:
            return ""
        if lines[-1].startswith("error: "):
            return f"{_said(lines[-1], name)} ({path})"
        traced = any(line.startswith("Traceback") for line in lines)
        return f"{lines[-1]} ({path})" if traced else ""

    def _is_made(self, name: str) -> bool:
        return _stamp(name, self._results) not in (0, self._before[name])

    def _spoken(self, name: str) -> str:
        return spoken(name, self._entries[name]["study"])

    @staticmethod
    def _reference(record: Mapping[str, Any]) -> str:
        study = str(record.get("tags", {}).get("study", ""))
        return study or f"{record['step']}/{record['name']}"

    def _doing(self, directory: Path, record: Mapping[str, Any]) -> Doing:
        seconds = _since(str(record.get("started", "")))
        study = str(record.get("tags", {}).get("study", ""))
        called = self._variations.beside(record["name"], study, record.get("key", ""))
        name = spoken(f"{record['step']}/{called}")
        said = _step_of(directory / "steps.csv")
        return Doing(f"{name} (study {study})" if study else name, seconds, said)

    def _seconds_left(self, records: Mapping[Path, Mapping[str, Any]]) -> float | None:
        """From what the same took last time, else from what the others took.

        None where nobody knows: too few are made, or what runs took longer than that.
        """
        if len(self.finished) < ENOUGH:
            return None
        left = [name for name in self._names if name not in self.finished]
        each = (time.time() - self._began) * self._at_once / len(self.finished)
        known = [w for name in self.finished if (w := self._walls.get(name))]
        usual = median(known) if known else each
        spent = sum(_since(str(r.get("started", ""))) for r in records.values())
        whole = sum(self._walls.get(name, max(usual, each)) for name in left)
        return (whole - spent) / self._at_once if whole > spent else None


def _said(line: str, name: str) -> str:
    """What an error line says beside the name that failed."""
    step, _, of = name.partition("/")
    return line.removeprefix("error: ").removeprefix(f"{step} {of}: ")


def _since(started: str) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(started)).total_seconds()
    except (TypeError, ValueError):
        return 0.0


def _step_of(table: Path) -> str:
    """The step that a run wrote last."""
    lines = _tail(table)
    number = lines[-1].partition(",")[0] if len(lines) > 1 else ""
    return f"step {number}" if number.isdecimal() else ""
