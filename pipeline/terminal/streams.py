"""Output that its reader may leave, as head and less do, without ending the work."""

import io
import os
import sys
from typing import Any

from pipeline.terminal.words import SPELLING


class _Left(io.FileIO):
    """A stream whose reader may go: what is written from then on reaches nobody."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())  # for the processes called from here too
            os.close(nowhere)
            return len(data)


def _outliving(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    return io.TextIOWrapper(
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
