"""What a command says when it stops: one line, and the exit status.

0: done.  1: something ran and failed, its steps kept.  2: refused before the first
step, nothing written.
"""

import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

from sim.newton import NotConvergedError

P = ParamSpec("P")

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
TRACEBACK_VARIABLE = "MORPHTRACK_TRACEBACK"


class InputError(Exception):
    """Input that is refused; the message says what, where, the value and the remedy."""


class RunFailedError(Exception):
    """A run that started and failed; the message says why and where its steps are."""


class PrunedError(Exception):
    """A run that its search ended early: others did better; its steps are kept."""


def one_line(error: BaseException) -> str:
    """The message of `error` on a single line; its type where it has no message."""
    text = " ".join(str(error).split())
    return text or type(error).__name__


def is_full_disk(error: BaseException) -> bool:
    """Whether there was no room left to write to."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_read_only(error: BaseException) -> bool:
    """Whether the file system takes nothing at all."""
    return isinstance(error, OSError) and error.errno == errno.EROFS


def _status(error: BaseException) -> int:
    if isinstance(error, RunFailedError | NotConvergedError) or is_full_disk(error):
        return FAILED
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else REFUSED


def _said(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if is_full_disk(error):
        return (
            f"error: {one_line(error)}: make room, then the same command goes on "
            "where it was"
        )
    return f"error: {one_line(error)}"


def _stopped(error: BaseException) -> int:
    """Say why a command stops, where `error` is caught; return its exit status."""
    if os.environ.get(TRACEBACK_VARIABLE):
        raise error
    print(_said(error), file=sys.stderr)
    return _status(error)


def command(main: Callable[P, int]) -> Callable[P, int]:
    """Turn what `main` raises about its input or its run into one line and a status.

    Any other exception is a defect and keeps its traceback; so does everything
    when the environment sets MORPHTRACK_TRACEBACK.
    """

    @functools.wraps(main)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return main(*args, **kwargs)
        except (
            InputError,
            RunFailedError,
            NotConvergedError,
            ValueError,
            FileNotFoundError,
            IsADirectoryError,
            NotADirectoryError,
            PermissionError,
            KeyboardInterrupt,
        ) as error:
            return _stopped(error)
        except OSError as error:
            if not (is_full_disk(error) or is_read_only(error)):
                raise
            return _stopped(error)

    return guarded
