"""Giving a job to a process that has imported already what the job needs.

Whoever gives it waits for its end, hands on what it says and Ctrl-C, and makes the job
itself where that process is not there, is not sure of its code, or is lost meanwhile.
"""

import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

WARM = "MORPHTRACK_WARM"  # where such a process listens; OFF where none is wanted
OFF = "off"
STARTED, INTERRUPT = b"started", b"interrupt"
PATIENCE_SECONDS = 60.0  # until a job starts: packages may still be imported
LONGEST = 64  # bytes of an answer


def handed_over(words: Sequence[str], streams: Sequence[int] = (0, 1, 2)) -> int | None:
    """The exit status of a command that another process ran; None if none did.

    Parameters
    ----------
    streams : descriptors of standard input, output and errors
    """
    place = os.environ.get(WARM, OFF)
    if place == OFF or not hasattr(socket, "SOCK_SEQPACKET"):
        return None
    message: dict[str, Any] = {"words": list(words), "place": str(Path.cwd())}
    message["names"] = dict(os.environ)
    with (
        contextlib.suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection,
    ):
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(place)
        with _ctrl_c_for(connection) as handed_on:
            socket.send_fds(connection, [json.dumps(message).encode()], [*streams])
            if connection.recv(LONGEST) == STARTED:
                connection.settimeout(None)
                status = connection.recv(LONGEST)
                if status:
                    return int(status)
                if handed_on:
                    raise KeyboardInterrupt
                print("note: its process is lost: made here", file=sys.stderr)
    return None


@contextlib.contextmanager
def _ctrl_c_for(connection: socket.socket) -> Iterator[list[int]]:
    """Leave it to the job to answer Ctrl-C; the second one is answered here.

    Yields
    ------
    what was handed on
    """
    handed_on: list[int] = []

    def hand_on(number: int, _: object) -> None:
        try:
            if handed_on:
                raise KeyboardInterrupt
            handed_on.append(number)
            connection.send(INTERRUPT)
        except OSError:
            raise KeyboardInterrupt from None

    before = signal.signal(signal.SIGINT, hand_on)
    try:
        yield handed_on
    finally:
        signal.signal(signal.SIGINT, before)
