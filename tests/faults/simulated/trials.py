"""One fault, one plain rerun, and what the outside checker counts then."""

import contextlib
import gc
import io
import os
import random
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from pathlib import Path
from typing import Any
from unittest import mock

from pipeline.store import attempts, leases
from tests.faults import outside_checker
from tests.faults.conftest import patience
from tests.faults.simulated.branches import Branches, digest, waited
from tests.faults.simulated.calls import ENDS, WAYS, Calls, Fault, counted
from tests.faults.simulated.disk import CUTS, Disk
from tests.faults.simulated.projects import PAIRS, PROJECTS, in_one_process, run_as
from tests.faults.simulated.schedule import interleaved
from tests.faults.simulated.server import URI, StandIn, answered
from tests.faults.simulated.sql import counted_statements
from tests.pipeline.conftest import furnish

HANGS_AFTER = 180.0  # seconds of a machine that has nothing else to do
NEVER = 1e6  # seconds until a heartbeat of what waits at its calls
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
    reruns: int = 0
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
        self._seen: dict[str, list[str]] = {}  # what was wrong, by digest of a folder
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
        branches: Branches | None = None,
    ) -> tuple[int, Calls]:
        """Do a work in this process; its status and its calls."""
        run_as(folder)
        results = folder / "results"
        cuts = fault.way in CUTS or branches is not None
        disk = Disk(results, folder / "aside") if cuts else None
        calls = Calls(results, fault, disk, turn, behind=-later, branches=branches)
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
            assert not any("\n" in call for call in calls.made)
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
        wrong += self._rerun(folder)
        shutil.rmtree(folder)
        return self._counted(wrong)

    def trial(self, fault: Fault) -> list[str]:
        """Fail, make it again, and say what is wrong then."""
        folder = self._new()
        first = self.once(folder, fault)
        wrong = _wrong(fault, first.hung, first.said) + self._rerun(folder)
        shutil.rmtree(folder)
        return self._counted(wrong)

    def trials(self, faults: Iterable[Fault]) -> Iterator[tuple[Fault, list[str]]]:
        """Each fault and what is wrong then, from one making wherever that can be.

        A connection to SQLite does not go on in a fork: what does not end the process
        there is made anew.
        """
        alone = [f for f in faults if self.embedded and f.way not in ENDS]
        folder, (here, there) = self._new(), Pipe()
        branches = Branches(folder, set(faults) - set(alone), there, ended)
        child = os.fork()
        if not child:
            here.close()
            os._exit(self._branching(folder, branches))
        there.close()
        self._seen.clear()
        with mock.patch.object(leases, "process_start", gone(child)):
            while here.poll(10 * patience(HANGS_AFTER)):
                try:
                    fault, hung = here.recv()
                except EOFError:
                    break
                wrong = _wrong(fault, hung, (folder / "said").read_text())
                state = digest(folder)  # what is the same on disk ends the same
                if state not in self._seen:
                    self._seen[state] = self._rerun(folder)
                yield fault, self._counted(wrong + self._seen[state])
                here.send("")
        status, hung = ended(child)
        assert (status, hung) == (0, False), (folder / "said").read_text()
        shutil.rmtree(folder)
        yield from ((fault, self.trial(fault)) for fault in alone)

    def _branching(self, folder: Path, branches: Branches) -> int:
        """Make it to its end, and be sure that these were the calls."""
        status = 70
        try:
            with mock.patch.object(attempts, "HEARTBEAT_SECONDS", NEVER):
                status, calls = self._here(
                    self._make, folder, folder / "said", branches=branches
                )
            if calls.branches is not None:
                same = [*map(kind_of, calls.made)] == [*map(kind_of, self.calls)]
                status = status if same else 71
        except BaseException:
            traceback.print_exc()
        return status

    def _counted(self, wrong: list[str]) -> list[str]:
        self.tried += 1
        self.found.update(line.partition(":")[0] for line in wrong)
        return wrong

    def _rerun(self, folder: Path) -> list[str]:
        """What is wrong after one plain rerun, by the outside checker."""
        wrong = []
        self.reruns += 1
        again = self.once(folder, later=RERUN_AFTER)
        if again.hung:
            wrong.append("hang: the rerun")
        if again.status:
            wrong.append(f"rerun: ended with {again.status}: {_last(again.said)}")
        wrong += self._findings(folder)
        wrong += outside_checker.differences(self._census(folder), self.expected)
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
    return ended(child)


def ended(child: int) -> tuple[int, bool]:
    """Its status, and whether it had to be killed."""
    return waited(child, patience(HANGS_AFTER))


def gone(process: int) -> Callable[[int], str]:
    """`process_start` for which this process, which waits here, has ended."""
    start = leases.process_start
    return lambda asked: "" if asked == process else start(asked)


def _wrong(fault: Fault, hung: bool, said: str) -> list[str]:
    wrong = [f"hang: {fault}"] if hung else []
    return wrong + ([f"traceback: {_last(said)}"] if "Traceback" in said else [])


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
