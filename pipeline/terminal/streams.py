"""Output that its reader may leave, as head and less do, without ending the work.

Nothing in it steers the terminal, as a name in a file of others could.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from pipeline.terminal.errors import is_full_disk
from pipeline.terminal.words import BREAKS, SPELLING, visible

OUTPUT = 1  # the number of standard output


class _Left(io.FileIO):
    """A stream whose reader may go: what is written from then on reaches nobody.

    So it is where a disk has no room for it, which standard output says once.
    """

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            full = is_full_disk(error)
            if not (full or isinstance(error, BrokenPipeError)):
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # for the processes called from here too
            os.close(nowhere)
            if full and self.fileno() == OUTPUT:
                raise
            return len(data)


class _Plain(io.TextIOWrapper):
    """A stream of words; what draws at a terminal steers it for as long as it does."""

    steered = False

    def write(self, text: str, /) -> int:
        return super().write(text if self.steered else visible(text, BREAKS))


@contextmanager
def steered(stream: TextIO) -> Iterator[None]:
    """Let a table or a bar move on a stream."""
    if not isinstance(stream, _Plain):
        yield
        return
    stream.steered = True
    try:
        yield
    finally:
        stream.steered = False


def _outliving(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    return _Plain(
        io.BufferedWriter(_Left(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=SPELLING if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering,
    )


def outlive_readers() -> None:
    """Go on, whoever stops reading standard output or the errors of this process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _outliving(stream))
