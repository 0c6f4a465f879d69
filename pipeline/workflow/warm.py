"""One process that imports what jobs import, and is forked for each of them.

A job of a workflow is a process of its own, which imports for a second or two before it
works. Here that is done once: each job is a fork of this process, with the words,
folder, environment and streams of whoever gave it, its own leases and its own end. It
keeps nothing from one job to the next, and does one thing less where it is in doubt:
once any file of code or conf has changed, it takes no more jobs.

It ends with the command that began it (the end of its input tells it), after its jobs.
Who gives a job and is gone takes it along; whose job is lost here makes it again
(pipeline.workflow.handing).
"""

import contextlib
import gc
import importlib
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from pipeline.store.keys import named_modules
from pipeline.store.plan_file import TABLE, read_documents
from pipeline.store.runs import RESULTS
from pipeline.terminal.errors import DONE, FAILED, command, one_line
from pipeline.terminal.streams import outlive_readers
from pipeline.workflow.fresh import times_of_inputs
from pipeline.workflow.handing import INTERRUPT, LONGEST, OFF, STARTED, WARM
from pipeline.workflow.processes import environment

LOG = RESULTS / "log" / "warm.log"
SOCKET = "jobs"
FEWEST = 4  # jobs, for which it is worth while
STREAMS = 3
LARGEST = 200_000  # bytes of a message: words and environment
CTRL_C = (signal.SIGINT,)
SOON_SECONDS = 5.0  # in which who connects says what is wanted
END_SECONDS = 20.0

Perform = Callable[[list[str]], int]


@dataclass(frozen=True)
class Given:
    """A job in a process of its own, and who waits for it."""

    process: int
    handle: int  # of the process; readable once it has ended
    connection: socket.socket


class Warm:
    """Takes jobs at a socket.

    Parameters
    ----------
    perform : does what words say, in a fork of this process; returns an exit status
    """

    def __init__(self, listener: socket.socket, perform: Perform) -> None:
        self._listener, self._perform = listener, perform
        self._state = times_of_inputs()
        self._jobs: dict[int, Given] = {}
        self._events = selectors.DefaultSelector()
        self._watch(listener, self._take)

    def serve(self, until: int) -> None:
        """Take jobs until the descriptor `until` ends, then wait for the last ones."""
        signal.pthread_sigmask(signal.SIG_BLOCK, CTRL_C)  # kept for a job's start
        self._watch(until, partial(self._close, until))
        while self._jobs or until in self._events.get_map():
            for key, _ in self._events.select():
                if self._events.get_map().get(key.fd) == key:  # not gone meanwhile
                    key.data()

    def _watch(self, thing: int | socket.socket, then: Callable[[], None]) -> None:
        self._events.register(thing, selectors.EVENT_READ, then)

    def _close(self, until: int) -> None:
        self._events.unregister(until)
        self._events.unregister(self._listener)
        self._listener.close()

    def _take(self) -> None:
        connection, _ = self._listener.accept()
        connection.settimeout(SOON_SECONDS)
        streams: Sequence[int] = ()
        try:
            text, streams, *_ = socket.recv_fds(connection, LARGEST, STREAMS)
            message = json.loads(text)
            if len(streams) == STREAMS and self._state == times_of_inputs():
                self._begin(connection, message, streams)
                return
        except (OSError, ValueError):
            pass  # who gave it sees the end of the connection, and makes it alone
        finally:
            for stream in streams:
                os.close(stream)
        connection.close()

    def _begin(
        self,
        connection: socket.socket,
        message: Mapping[str, Any],
        streams: Sequence[int],
    ) -> None:
        connection.send(STARTED)  # fails where whoever gave it is gone
        process = os.fork()
        if process == 0:
            self._events.close()
            for other in [connection, *(job.connection for job in self._jobs.values())]:
                other.close()
            self._listener.close()
            _become(message, streams, self._perform)
        job = Given(process, os.pidfd_open(process), connection)
        self._jobs[process] = job
        self._watch(job.handle, partial(self._end, job))
        self._watch(connection, partial(self._heed, job))

    def _heed(self, job: Given) -> None:
        """Hand on Ctrl-C; a job whose giver is gone goes too."""
        said = b""
        with contextlib.suppress(OSError):
            said = job.connection.recv(LONGEST)
        if not said:
            self._events.unregister(job.connection)
        os.kill(job.process, signal.SIGINT if said == INTERRUPT else signal.SIGTERM)

    def _end(self, job: Given) -> None:
        """Say how a job ended; one that was killed is lost, and nothing is said."""
        _, how = os.waitpid(job.process, 0)
        with contextlib.suppress(OSError):
            if os.WIFEXITED(how):
                job.connection.send(str(os.WEXITSTATUS(how)).encode())
        for part in (job.handle, job.connection):
            with contextlib.suppress(KeyError, ValueError):
                self._events.unregister(part)
        os.close(job.handle)
        job.connection.close()
        del self._jobs[job.process]


def _become(message: Mapping[str, Any], streams: Sequence[int], do: Perform) -> None:
    """Be the process of one job, and end with it.

    Ctrl-C reaches it by whoever gave it, once: it is a process group of its own.
    """
    status = FAILED
    try:
        os.setpgid(0, 0)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(message["place"])
        os.environ.clear()
        os.environ.update(message["names"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CTRL_C)
        status = do(message["words"])
    finally:
        if sys.exc_info()[0] is not None:  # a defect
            traceback.print_exc()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def wanted_modules(plan: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """What the jobs of `names` import first; nothing where they are too few."""
    found = read_documents(plan)
    jobs = [name for name in names if found[name]["step"] != TABLE]
    if len(jobs) < FEWEST:
        return []
    return sorted(
        {
            module
            for name in jobs
            for row in found[name]["jobs"]
            for module in named_modules(
                found[name]["step"], row["config"], row["modules"]
            )
        }
    )


def is_local(profile: Path) -> bool:
    """Whether Snakemake runs its jobs on this machine."""
    file = profile / "config.yaml"
    said = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else None
    return isinstance(said, dict) and said.get("executor", "local") == "local"


def is_possible() -> bool:
    """Whether this system has what it takes, and nobody asked to do without."""
    known = hasattr(os, "pidfd_open") and hasattr(socket, "SOCK_SEQPACKET")
    return known and os.environ.get(WARM) != OFF


@contextlib.contextmanager
def warm(modules: Sequence[str], log: Path = LOG) -> Iterator[dict[str, str]]:
    """Such a process for as long as the block lasts, if there is anything to import.

    Yields
    ------
    what the environment of jobs must hold
    """
    begun = _begun(modules, log) if modules and is_possible() else None
    if begun is None:
        yield {WARM: OFF}
        return
    folder, process = begun
    try:
        yield {WARM: str(folder / SOCKET)}
    finally:
        _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _begun(
    modules: Sequence[str], log: Path
) -> tuple[Path, "subprocess.Popen[bytes]"] | None:
    """The folder of its socket and the process; None where it cannot be had."""
    folder: Path | None = None
    try:
        folder = Path(tempfile.mkdtemp(prefix="morphtrack-"))
        return folder, _listening(folder, modules, log)
    except OSError as error:  # no room, no process, a name too long for a socket
        print(f"note: each job imports by itself: {one_line(error)}", file=sys.stderr)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def _listening(
    folder: Path, modules: Sequence[str], log: Path
) -> "subprocess.Popen[bytes]":
    """Such a process, begun; jobs can be given to it from now on.

    It has a session of its own: where the terminal hangs up or the whole group of the
    command is killed, it is there to end the jobs.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(folder / SOCKET))
        listener.listen()
        number = str(listener.fileno())
        line = [sys.executable, "-m", __name__, str(folder), number, *modules]
        with log.open("w") as file:
            return subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                env=environment(),
                pass_fds=[listener.fileno()],
                start_new_session=True,
            )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Let it end its jobs; one that does not, such as a stopped one, is killed."""
    with contextlib.suppress(subprocess.TimeoutExpired, OSError):
        process.communicate(timeout=END_SECONDS)  # the end of its input
    process.kill()
    process.wait()


@command
def _made(words: list[str]) -> int:
    from pipeline.workflow.run import perform_name

    return perform_name(words[0])


def main() -> int:
    """Import, then serve at the socket that was inherited."""
    folder, number, *modules = sys.argv[1:]
    outlive_readers()
    with socket.socket(fileno=int(number)) as listener:
        try:
            taking = Warm(listener, _made)
            for module in ["pipeline.workflow.run", *modules]:
                importlib.import_module(module)
            gc.collect()
            gc.freeze()  # else every look for cycles copies what all forks share
            taking.serve(sys.stdin.fileno())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
