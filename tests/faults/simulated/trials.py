"""One fault, one plain rerun, and what the outside checker counts then."""

import contextlib
import gc
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults import outside_checker
from tests.faults.conftest import patience
from tests.faults.simulated.calls import CRASHED, WAYS, Calls, Fault, counted
from tests.faults.simulated.disk import CUTS, Disk
from tests.faults.simulated.projects import PAIRS, PROJECTS, in_one_process, run_as
from tests.faults.simulated.schedule import interleaved
from tests.faults.simulated.server import URI, StandIn, answered
from tests.faults.simulated.sql import counted_statements
from tests.pipeline.conftest import furnish

HANGS_AFTER = 180.0  # seconds of a machine that has nothing else to do
NONE = Fault()
RERUN_AFTER = 10.0  # seconds of the simulated clock: a person types, a machine starts


@dataclass(frozen=True)
class Ended:
    """How a process ended: its status, what it said, and the calls it made."""

    status: int
    said: str
    calls: tuple[str, ...]
    hung: bool = False


@dataclass
class Simulation:
    """A project furnished once, in which commands are made to fail.

    Parameters
    ----------
    name : of PROJECTS
    embedded : whether MLflow keeps its own SQLite, in place of the stand-in
    """

    name: str
    where: Path
    embedded: bool = False
    tried: int = 0
    found: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        plant, self._make = PROJECTS[self.name]
        self._template = self.where / "template"
        self._template.mkdir()
        furnish(self._template)
        plant(self._template / "conf")
        os.environ.pop("MLFLOW_TRACKING_URI", None)
        if not self.embedded:
            os.environ["MLFLOW_TRACKING_URI"] = URI
        self._number = 0
        for _ in range(2):  # the first warms this process up: imports, compiled kernels
            folder = self._new()
            self._here(self._make, folder, folder / "said")
        folder = self._new()
        clean = self.once(folder)
        assert clean.status == 0, clean.said
        self.calls = clean.calls
        self.expected = self._census(folder)
        assert not self._findings(folder), self._findings(folder)
        gc.freeze()  # so that forks need no copy of what is there

    def _new(self) -> Path:
        self._number += 1
        folder = self.where / f"{self._number}"
        folder.mkdir()
        (folder / "conf").symlink_to(self._template / "conf")
        return folder

    def _here(
        self,
        work: Callable[[], int],
        folder: Path,
        said: Path,
        fault: Fault = NONE,
        *,
        later: float = 0.0,
        turn: Callable[[], None] = lambda: None,
        tracks: bool = True,
    ) -> tuple[int, Calls]:
        """Do a work in this process; its status and its calls."""
        run_as(folder)
        results = folder / "results"
        disk = Disk(results, folder / "aside") if fault.way in CUTS else None
        calls = Calls(results, fault, disk, turn, behind=-later)
        answering = (
            counted_statements(calls)
            if self.embedded
            else answered(StandIn(folder / "server", calls))
        )
        with (
            said.open("w", buffering=1) as file,
            contextlib.redirect_stdout(file),
            contextlib.redirect_stderr(file),
            answering,
            in_one_process(calls, tracks=tracks),
            counted(calls),
        ):
            try:
                status = work()
            except Exception:
                traceback.print_exc()
                status = 1
        return status, calls

    def once(self, folder: Path, fault: Fault = NONE, later: float = 0.0) -> Ended:
        """Make it in a process of its own, which a fault may end."""
        said, counts = folder / "said", folder / "calls"

        def work() -> int:
            status, calls = self._here(self._make, folder, said, fault, later=later)
            counts.write_text("\n".join(calls.made))
            return status

        status, hung = in_child(work)
        made = tuple(counts.read_text().split("\n")) if counts.exists() else ()
        counts.unlink(missing_ok=True)
        return Ended(status, said.read_text(), made, hung)

    def pair(self, name: str, seed: int) -> list[str]:
        """Two commands at once, the first of them killed by every second seed."""
        before, *works = PAIRS[name]
        folder = self._new()
        in_child(lambda: self._here(before, folder, folder / "said")[0])
        most = len(self.calls)
        at = random.Random(f"{name} {seed}").randrange(1, most) if seed % 2 else 0
        fault = Fault("crash before" if at else "", at)
        said = [folder / f"said{i}" for i in range(2)]

        def doing(i: int) -> Callable[[Callable[[], None]], int]:
            own = NONE if i else fault
            return lambda turn: self._here(
                works[i], folder, said[i], own, turn=turn, tracks=False
            )[0]

        statuses = interleaved([doing(0), doing(1)], seed, patience(HANGS_AFTER))
        wrong = [f"hang: {name}"] if min(statuses) < 0 else []
        wrong += [
            f"traceback: {_last(text)}"
            for path in said
            if "Traceback" in (text := path.read_text())
        ]
        return self._after(folder, wrong)

    def trial(self, fault: Fault) -> list[str]:
        """Fail, make it again, and say what is wrong then."""
        folder = self._new()
        first = self.once(folder, fault)
        wrong = [f"hang: {fault}"] if first.hung else []
        if "Traceback" in first.said:
            wrong.append(f"traceback: {_last(first.said)}")
        return self._after(folder, wrong)

    def _after(self, folder: Path, wrong: list[str]) -> list[str]:
        """One plain rerun, and the outside checker."""
        again = self.once(folder, later=RERUN_AFTER)
        if again.hung:
            wrong.append("hang: the rerun")
        if again.status:
            wrong.append(f"rerun: ended with {again.status}: {_last(again.said)}")
        wrong += self._findings(folder)
        wrong += outside_checker.differences(self._census(folder), self.expected)
        self.tried += 1
        self.found.update(line.partition(":")[0] for line in wrong)
        shutil.rmtree(folder)
        return wrong

    def faults(self, ways: tuple[str, ...] = tuple(WAYS)) -> Iterator[Fault]:
        """Every call, failing in every way that it can."""
        for at, call in enumerate(self.calls, 1):
            kind = kind_of(call)
            yield from (Fault(way, at) for way in ways if WAYS[way](kind))

    def _census(self, folder: Path) -> dict[str, Any]:
        return outside_checker.census(folder, self._stored(folder))

    def _findings(self, folder: Path) -> list[str]:
        return outside_checker.findings(folder, self._stored(folder))

    def _stored(self, folder: Path) -> list[dict[str, Any]] | None:
        if self.embedded:
            return None
        return StandIn(folder / "server", Calls(folder)).runs()

    def replay(self, fault: Fault) -> str:
        """The line that makes a fault happen again."""
        sql = " --sql" if self.embedded else ""
        words = f'{self.name} "{fault.way}" {fault.at}{sql}'
        return f"python -m tests.faults.simulated {words}"


def in_child(work: Callable[[], int]) -> tuple[int, bool]:
    """The exit status of `work` in a forked process; whether it had to be killed."""
    child = os.fork()
    if not child:
        status = 70
        try:
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(ValueError, OSError):
                sys.stdout.flush()
            os._exit(status)
    end = time.monotonic() + patience(HANGS_AFTER)
    pause = 0.0005
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), False
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return CRASHED, True
        time.sleep(pause)
        pause = min(0.005, pause * 1.5)


def kind_of(call: str) -> str:
    """What a call is, without the name it is about."""
    return "after sql" if call.startswith("after sql") else call.partition(" ")[0]


def _last(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


@contextlib.contextmanager
def simulation(name: str, *, embedded: bool = False) -> Iterator[Simulation]:
    """A simulation in memory, where there is a memory disk."""
    before, said = Path.cwd(), dict(os.environ)
    absent = dict.fromkeys({"dbruntime", "pyspark"} - sys.modules.keys())
    sys.modules.update(absent)  # type: ignore[arg-type]  # MLflow seeks them each time
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                made = Simulation(name, Path(place).resolve(), embedded)
            yield made
        finally:
            gc.unfreeze()
            for name in absent:
                del sys.modules[name]
            os.chdir(before)
            os.environ.clear()
            os.environ.update(said)
