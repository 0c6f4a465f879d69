"""A process that takes jobs of a test's own, at a socket that its words name."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

from pipeline.terminal.errors import command
from pipeline.workflow.warm import Warm


@command
def perform(words: list[str]) -> int:
    """Do what the first word says; the others name a file for what is told."""
    what, *files = words
    Path(*files or [os.devnull]).write_text(str(os.getpid()))
    if what == "say":
        print("said by", os.environ["WHOSE"], "in", Path.cwd().name)
        print("wrong", file=sys.stderr)
        return 7
    if what == "die" or "/" in what:
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stubborn":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if what in ("sleep", "stubborn"):
        time.sleep(30.0)
    if what == "fault":
        raise RuntimeError("a defect")
    return 0


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        print("ready", flush=True)
        Warm(listener, perform).serve(sys.stdin.fileno())
