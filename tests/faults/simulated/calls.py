"""Calls to the operating system, counted; one of them fails as one likes."""

import builtins
import contextlib
import errno
import fcntl
import io
import os
import re
import select
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.faults.simulated.disk import CUTS, Disk

if TYPE_CHECKING:
    from tests.faults.simulated.branches import Branches

CRASHED = 77  # exit status of a process that a fault ended
SET_BACK = 3600.0  # seconds by which a clock jumps
TICK = 0.05  # seconds between two questions for the time that has passed

WRITES = {"create", "write", "rename", "link", "symlink", "mkdir", "truncate"}
READS = {"open", "read"}
PROCESS = re.compile(r"\.\d+(?=\.tmp$)")  # in the name of a file in passing
SQL = {"sql", "after sql"}
TORN = "torn write"
ENDS = {"crash before", "crash after", TORN, *CUTS}  # ways after which nobody goes on
WAYS: dict[str, Callable[[str], bool]] = {
    "crash before": lambda _: True,
    "crash after": lambda kind: kind not in READS | SQL,
    "ENOSPC": lambda kind: kind in WRITES,
    "EIO": lambda kind: kind in WRITES | READS | {"unlink", "rmdir", "fsync", "sql"},
    TORN: lambda kind: kind == "write",
    "400": lambda kind: kind == "http",
    "500": lambda kind: kind == "http",
    "timeout": lambda kind: kind == "http",
    "answer lost": lambda kind: kind == "http",
    "no process": lambda kind: kind == "start",
    "clock back": lambda kind: kind in WRITES | {"http", "start"},
    **dict.fromkeys(CUTS, lambda kind: kind in WRITES | {"unlink", "http", "fsync"}),
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A way to fail, and the call that fails.

    Parameters
    ----------
    way : of WAYS; "" for none
    at : number of the call, from 1
    """

    way: str = ""
    at: int = 0


@dataclass
class Calls:
    """Counts the calls of one process below `root`, and lets one fail.

    Parameters
    ----------
    turn : called before each call, where a scheduler decides who goes on
    """

    root: Path
    fault: Fault = field(default_factory=Fault)
    disk: Disk | None = None
    turn: Callable[[], None] = lambda: None
    made: list[str] = field(default_factory=list)
    behind: float = 0.0  # seconds that the clock was set back
    branches: "Branches | None" = None  # faults that are tried on the way
    quiet: bool = False  # nothing is counted: the harness itself is at work

    def call(
        self,
        kind: str,
        what: str,
        act: Callable[[], Any],
        *names: str,
        data: bytes = b"",
    ) -> Any:
        """Do `act`, unless this is the call that fails."""
        if self.quiet or threading.current_thread() is not threading.main_thread():
            return act()  # a heartbeat, every few seconds
        self.turn()
        name = os.path.basename(names[-1] if names else what)
        self.made.append(f"{kind} {PROCESS.sub('', name)}".strip())
        way = self.fault.way if len(self.made) == self.fault.at else ""
        if self.branches is not None:
            way = self.branches.at(self, kind, what, data, later=False)
        if way and not WAYS[way](kind):
            way = ""
        if way:
            self._before(way, kind, what, data)
        if self.disk is not None:
            self.disk.note(kind, *names)
        try:
            done = act()
        finally:  # also where the call itself is refused
            if self.branches is not None:
                self.branches.at(self, kind, what, data, later=True)
            if way == "crash after" or way in CUTS:
                self._end(way)
        if self.behind > 0 and names and kind != "unlink":
            self._stamp(names[-1])
        if way in {"answer lost", "clock back"}:
            self._after(way)
        return done

    def _before(self, way: str, kind: str, what: str, data: bytes) -> None:
        if way == "crash before":
            self._end(way)
        if way in {"ENOSPC", "EIO"}:
            number = getattr(errno, way)
            raise OSError(number, os.strerror(number), what)
        if way == TORN:
            os.write(int(what), data[: len(data) // 2])
            self._end(way)
        if way == "no process":
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), what)
        if kind == "http" and way in {"400", "500", "timeout"}:
            raise HttpFaultError(way)

    def _after(self, way: str) -> None:
        if way == "answer lost":
            raise HttpFaultError(way)
        self.behind = SET_BACK

    def _end(self, way: str) -> None:
        if way in CUTS and self.disk is not None:
            self.disk.cut(way, self.fault.at)
        os._exit(CRASHED)

    def _stamp(self, name: str) -> None:
        """Give what was written now the time that the clock shows."""
        at = REAL["time"]() - self.behind
        for path in (name, os.path.dirname(name)):
            with contextlib.suppress(OSError):
                REAL["utime"](path, (at, at), follow_symlinks=False)

    def concerns(self, path: Any) -> str:
        """The whole path of a file below `root`; "" for any other."""
        if not isinstance(path, str | os.PathLike):
            return ""
        name = os.path.abspath(os.fspath(path))
        return name if name.startswith(f"{self.root}/") else ""


class HttpFaultError(Exception):
    """What the stand-in of the server is to answer."""


REAL: dict[str, Callable[..., Any]] = {
    name: getattr(os, name)
    for name in (
        "replace", "rename", "link", "symlink", "unlink", "remove", "mkdir", "rmdir",
        "utime", "fsync", "open",
    )
} | {"io_open": io.open, "flock": fcntl.flock}  # fmt: skip
REAL |= {"select": select.select, "time": time.time}


class _Raw(io.FileIO):
    """A file whose reads and writes are calls."""

    calls: Calls

    def write(self, data: Any) -> int:
        held, number = bytes(data), str(self.fileno())
        act = super().write
        return int(
            self.calls.call(
                "write", number, lambda: act(held), str(self.name), data=held
            )
        )

    def readinto(self, buffer: Any) -> Any:
        act = super().readinto
        return self.calls.call("read", str(self.name), lambda: act(buffer))

    def readall(self) -> bytes:
        act = super().readall
        return bytes(self.calls.call("read", str(self.name), act))


def _opener(calls: Calls) -> Callable[..., Any]:
    def opened(
        file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None,
        errors: Any = None, newline: Any = None, closefd: bool = True,
        opener: Any = None,
    ) -> Any:  # fmt: skip
        name = calls.concerns(file)
        if not name or opener is not None:
            return REAL["io_open"](
                file, mode, buffering, encoding, errors, newline, closefd, opener
            )
        plain = mode.replace("b", "").replace("t", "")
        writes = any(letter in plain for letter in "wax+")
        kind = "open" if not writes else "create"
        raw = calls.call(kind, name, lambda: _Raw(name, plain), *[name] * writes)
        raw.calls = calls
        size = io.DEFAULT_BUFFER_SIZE
        if "+" in plain:
            buffered: Any = io.BufferedRandom(raw, size)
        else:
            buffered = (io.BufferedWriter if writes else io.BufferedReader)(raw, size)
        if "b" in mode:
            return buffered
        text = io.TextIOWrapper(buffered, encoding, errors, newline)
        text.mode = mode  # type: ignore[misc]
        return text

    return opened


def _named(name: Any, folder: int | None) -> Any:
    """A path, given beside an open folder or not."""
    if folder is None:
        return name
    return os.path.join(os.readlink(f"/proc/self/fd/{folder}"), os.fspath(name))


def _patched(calls: Calls) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    def one(kind: str, name: str) -> Callable[..., Any]:
        def act(path: Any, *more: Any, **how: Any) -> Any:
            whole = calls.concerns(_named(path, how.get("dir_fd")))
            do = REAL[name]
            if not whole:
                return do(path, *more, **how)
            return calls.call(kind, whole, lambda: do(path, *more, **how), whole)

        return act

    def two(kind: str, name: str) -> Callable[..., Any]:
        def act(source: Any, target: Any, *more: Any, **how: Any) -> Any:
            whole = calls.concerns(target)
            do = REAL[name]
            if not whole:
                return do(source, target, *more, **how)
            first = os.fspath(source) if kind == "symlink" else calls.concerns(source)
            done = lambda: do(source, target, *more, **how)  # noqa: E731
            return calls.call(kind, whole, done, first, whole)

        return act

    for kind, name in (("unlink", "unlink"), ("unlink", "remove"), ("mkdir", "mkdir")):
        yield os, name, one(kind, name)
    yield os, "rmdir", one("rmdir", "rmdir")
    yield os, "utime", one("utime", "utime")
    for kind, name in (("rename", "rename"), ("rename", "replace"), ("link", "link")):
        yield os, name, two(kind, name)
    yield os, "symlink", two("symlink", "symlink")

    def fsync(file: Any) -> None:
        number = file if isinstance(file, int) else file.fileno()
        whole = calls.concerns(os.readlink(f"/proc/self/fd/{number}"))
        if whole:
            calls.call(
                "fsync", whole, lambda: None, whole
            )  # a memory disk keeps nothing

    def opened(path: Any, flags: int, *more: Any, **how: Any) -> int:
        whole = calls.concerns(_named(path, how.get("dir_fd")))
        do = lambda: REAL["open"](path, flags, *more, **how)  # noqa: E731
        if not whole or not flags & os.O_CREAT:
            return int(do())
        return int(calls.call("create", whole, do, whole))

    def flock(file: Any, how: int) -> None:
        calls.call("flock", "", lambda: REAL["flock"](file, how))

    def waited(read: Any, write: Any, other: Any, seconds: Any = None) -> Any:
        if read or write or other:
            return REAL["select"](read, write, other, seconds)
        calls.turn()
        calls.behind -= seconds or 0.0  # what waits need not: its time has passed
        return [], [], []

    def synced(number: int) -> bool:
        whole = os.readlink(f"/proc/self/fd/{number}")
        calls.call("fsync", whole, lambda: None, "")
        return True

    from pipeline.store import durable

    yield durable, "_file_system", synced
    yield os, "fsync", fsync
    yield os, "open", opened
    yield fcntl, "flock", flock
    yield select, "select", waited
    yield io, "open", _opener(calls)
    yield builtins, "open", _opener(calls)
    yield time, "time", lambda: REAL["time"]() - calls.behind


@contextlib.contextmanager
def counted(calls: Calls) -> Iterator[Calls]:
    """Let the calls of the block go through `calls`."""
    passed = iter(range(10**9))
    ticking = SimpleNamespace(monotonic=lambda: next(passed) * TICK)
    with contextlib.ExitStack() as stack:
        for place, name, act in _patched(calls):
            stack.enter_context(mock.patch.object(place, name, act))
        stack.enter_context(mock.patch("pipeline.store.checkpoints.time", ticking))
        stack.enter_context(
            mock.patch("pipeline.store.attempts._now", partial(_now, calls))
        )
        yield calls


def _now(calls: Calls) -> str:
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(REAL["time"]() - calls.behind, UTC)
    return at.isoformat(timespec="milliseconds")
