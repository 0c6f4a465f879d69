"""One making that stops at its calls, so that each fault begins where it strikes.

What a crash leaves is a copy of the folder at that moment. What goes on after a fault
goes on in a fork, whose open files are those of the copy. Then the folder is as it was.
"""

import fcntl
import hashlib
import os
import shutil
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from tests.faults.simulated.calls import ENDS, TORN, WAYS, Calls, Fault
from tests.faults.simulated.disk import CUTS

MODES = os.O_ACCMODE | os.O_APPEND | os.O_DIRECTORY | os.O_CLOEXEC
OWN = ("said", "aside", "calls", "conf")  # beside what a command leaves


class Branches:
    """Faults tried from one making.

    Parameters
    ----------
    folder : in which it is made
    faults : what to try
    told : hears of each fault, and says when the folder was looked at
    wait : the status of a child, and whether it had to be killed
    """

    def __init__(
        self,
        folder: Path,
        faults: Iterable[Fault],
        told: Connection,
        wait: Callable[[int], tuple[int, bool]],
    ) -> None:
        self._folder, self._told, self._wait = folder, told, wait
        self._kept = folder.with_name(f"{folder.name}.kept")
        self._ways: dict[tuple[int, bool], list[str]] = defaultdict(list)
        for fault in faults:
            later = fault.way == "crash after" or fault.way in CUTS
            self._ways[fault.at, later].append(fault.way)

    def at(
        self, calls: Calls, kind: str, name: str, data: bytes, *, later: bool
    ) -> str:
        """Try what strikes before or after this call; in a fork, the way to go on."""
        number = len(calls.made)
        for way in self._ways.get((number, later), ()):
            if not WAYS[way](kind):
                continue
            calls.quiet = True
            self._folder.rename(self._kept)
            copied(self._kept, self._folder)
            hung = False
            if way in ENDS:
                self._end(calls, way, number, name, data)
            else:
                process = os.getpid()
                child = os.fork()
                if not child:
                    self._go_on(calls, process)
                    return way
                hung = self._wait(child)[1]
            self._told.send((Fault(way, number), hung))
            self._told.recv()
            shutil.rmtree(self._folder)
            self._kept.rename(self._folder)
            calls.quiet = False
        return ""

    def _end(self, calls: Calls, way: str, number: int, name: str, data: bytes) -> None:
        """What is left of the copy where the process is gone now."""
        if way == TORN:
            at = os.lseek(int(name), 0, os.SEEK_CUR)
            with Path(self._ours(int(name))).open("r+b") as file:
                file.seek(at)
                file.write(data[: len(data) // 2])
        elif way in CUTS and calls.disk is not None:
            calls.disk.moved(str(self._kept), str(self._folder)).cut(way, number)

    def _ours(self, number: int) -> str:
        """The file of the copy that an open one is in what is kept; "" for others."""
        name = os.readlink(f"/proc/self/fd/{number}")
        kept = str(self._kept)
        inside = name == kept or name.startswith(f"{kept}/")
        assert not (inside and name.endswith(" (deleted)")), name
        return f"{self._folder}{name[len(kept) :]}" if inside else ""

    def _go_on(self, calls: Calls, process: int) -> None:
        """Be that process, with the files of the copy."""
        os.getpid = lambda: process  # type: ignore[assignment]
        os.chdir(self._folder)
        for number in map(int, os.listdir("/proc/self/fd")):
            with suppress(FileNotFoundError):  # what listed them
                name, said = self._ours(number), _about(number)
                if not name:
                    continue
                new = os.open(name, int(said["flags"][0], 8) & MODES)
                if not os.path.isdir(name):
                    os.lseek(new, int(said["pos"][0]), os.SEEK_SET)
                os.dup2(new, number, inheritable=False)
                os.close(new)
                if "FLOCK" in said.get("lock", ()):
                    fcntl.flock(number, fcntl.LOCK_EX)
        calls.disk, calls.branches, calls.quiet = None, None, False


def _about(number: int) -> dict[str, list[str]]:
    """What the system says of an open file: flags, pos, lock."""
    lines = Path(f"/proc/self/fdinfo/{number}").read_text().splitlines()
    return {key: rest.split() for key, _, rest in (x.partition(":") for x in lines)}


def copied(old: Path, new: Path) -> None:
    """Copy a folder, with its links of both kinds and all times."""
    links: dict[int, str] = {}

    def one(source: str, target: str) -> str:
        first = links.setdefault(os.lstat(source).st_ino, target)
        if first == target:
            return str(shutil.copy2(source, target, follow_symlinks=False))
        os.link(first, target, follow_symlinks=False)
        return target

    shutil.copytree(old, new, symlinks=True, copy_function=one)


def digest(folder: Path) -> str:
    """Names, times and content below a folder, but for what the trial itself wrote."""
    found = hashlib.sha256()
    for place, folders, files in os.walk(folder):
        folders.sort()
        if place == str(folder):
            folders[:] = [name for name in folders if name not in OWN]
            files = [name for name in files if name not in OWN]
        for name in [*folders, *sorted(files)]:
            path = os.path.join(place, name)
            about = os.lstat(path)
            found.update(f"{path}\0{about.st_mode} {about.st_mtime_ns}\0".encode())
            if os.path.islink(path):
                found.update(os.readlink(path).encode())
            elif name in files:
                found.update(f"{about.st_size}\0".encode() + Path(path).read_bytes())
    return found.hexdigest()


def waited(child: int, seconds: float) -> tuple[int, bool]:
    """The exit status of a child, and whether it had to be killed."""
    end, pause = time.monotonic() + seconds, 0.0005
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), False
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -signal.SIGKILL, True
        time.sleep(pause)
        pause = min(0.005, pause * 1.5)
