"""What a command says when it stops: one line, and the exit status.

0: done.  1: something ran and failed, its steps kept.  2: refused before the first
step, nothing written.
"""

import errno
import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ParamSpec

from pipeline.terminal.words import visible
from sim.convergence import NotConvergedError

P = ParamSpec("P")

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
UNMAPPED = "failed to map segment"  # the loader's words of memory it could not have
RIGHTS = "give this user the right to, or work in a copy of the folder"
PLACE = "a file or a broken link stands where a folder belongs: move it away"
BY_HAND = {
    errno.EFBIG: "raise the limit of a file's size (ulimit -f)",
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS,
    errno.EEXIST: PLACE,
    errno.ENOTDIR: PLACE,
    errno.ELOOP: "a link there leads to itself: move it away",
}
TRACEBACK_VARIABLE = "MORPHTRACK_TRACEBACK"


class InputError(Exception):
    """Input that is refused; the message says what, where, the value and the remedy."""


class RunFailedError(Exception):
    """A run that started and failed; the message says why and where its steps are."""


class PrunedError(Exception):
    """A run that its search ended early: others did better; its steps are kept."""


class SeveralRunsError(Exception):
    """What several runs of one command raised, by what tells the runs apart."""

    def __init__(self, errors: Mapping[str, Exception]) -> None:
        super().__init__("; ".join(f"{run}: {e}" for run, e in errors.items()))
        self.errors = errors


def one_line(error: BaseException) -> str:
    """The message of `error` on a single line; its type where it has no message."""
    text = visible(" ".join(str(error).split()))
    return text or type(error).__name__


def by_reason(refused: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names that were refused, joined, and their reason: every reason once.

    A reason that several have loses the path before it, which ends in their name.
    """
    told: dict[str, list[str]] = {}
    for name, reason in refused.items():
        path, _, rest = reason.partition(": ")
        told.setdefault(rest if Path(path).stem == name else reason, []).append(name)
    for reason, names in told.items():
        yield ", ".join(names), reason if len(names) > 1 else refused[names[0]]


def is_full_disk(error: BaseException) -> bool:
    """Whether there was no room left to write to, or a file may not be as large."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return isinstance(error, OSError) and error.errno in full


def lacks_memory(error: BaseException | None) -> bool:
    """Whether memory could not be had, also while a library was loaded."""
    if error is None:
        return False
    unmapped = isinstance(error, ImportError | OSError) and UNMAPPED in str(error)
    return isinstance(error, MemoryError) or unmapped or lacks_memory(error.__context__)


def is_failing_disk(error: BaseException) -> bool:
    """Whether the disk, or the way to it, could not do what it should."""
    return isinstance(error, OSError) and error.errno in (errno.EIO, errno.ESTALE)


def lacks_machine(error: BaseException | None) -> bool:
    """Whether disk or memory were full or failed, or a process was killed.

    That says nothing about a run. Also where another error came of it, such as of a
    file that was never made, and where Python itself lost what went wrong, as compiled
    libraries do that get no memory.
    """
    if error is None:
        return False
    full = lacks_memory(error) or is_full_disk(error) or is_failing_disk(error)
    lost = isinstance(error, ChildProcessError | SystemError)
    return full or lost or lacks_machine(error.__context__)


NO_PLACE = (errno.EROFS, errno.ELOOP, errno.ENAMETOOLONG)
TOLD = (
    InputError,
    RunFailedError,
    NotConvergedError,
    ValueError,
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
    KeyboardInterrupt,
)


def is_told(error: BaseException) -> bool:
    """Whether `error` is about input or a run; any other is a defect."""
    if isinstance(error, SeveralRunsError):
        return all(map(is_told, error.errors.values()))
    no_place = isinstance(error, OSError) and error.errno in NO_PLACE
    return isinstance(error, TOLD) or lacks_machine(error) or no_place


def _status(error: BaseException) -> int:
    if isinstance(error, SeveralRunsError):
        return min(map(_status, error.errors.values()))  # something ran and failed
    if isinstance(error, RunFailedError | NotConvergedError) or lacks_machine(error):
        return FAILED
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else REFUSED


def _lines(error: BaseException) -> list[str]:
    """What is said of `error`, a line a run."""
    if isinstance(error, SeveralRunsError):
        return [
            line.replace("error: ", f"error: {run}: ", 1)
            for run, one in error.errors.items()
            for line in _lines(one)
        ]
    if isinstance(error, KeyboardInterrupt):
        return ["interrupted"]
    where = "memory ran out: " if lacks_memory(error) else ""
    return [f"error: {where}{one_line(error).rstrip(': ')}{_remedy(error)}"]


def _remedy(error: BaseException) -> str:
    if lacks_memory(error):
        return ": free memory, or use fewer --cores; the same command tries it again"
    rest = ", then the same command goes on where it was"
    if is_failing_disk(error):
        return f": look at the disk, or the way to it{rest}"
    number = error.errno if isinstance(error, OSError) else None
    if number in BY_HAND:
        return f": {BY_HAND[number]}{rest}"
    return f": make room{rest}" if is_full_disk(error) else ""


def command(main: Callable[P, int]) -> Callable[P, int]:
    """Turn what `main` raises about its input or its run into one line and a status.

    Any other exception is a defect and keeps its traceback; so does everything
    when the environment sets MORPHTRACK_TRACEBACK.
    """

    @functools.wraps(main)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return main(*args, **kwargs)
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get(TRACEBACK_VARIABLE) or not is_told(error):
                raise
            print("\n".join(_lines(error)), file=sys.stderr)
            return _status(error)

    return guarded
