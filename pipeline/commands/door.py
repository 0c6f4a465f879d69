"""morphtrack COMMAND: finds the module of a command and calls it."""

import atexit
import gc
import importlib
import os
import sys
from pathlib import Path

from pipeline.commands.overview import COMMANDS, overview
from pipeline.terminal.errors import DONE, REFUSED, InputError, command
from pipeline.terminal.names import no_such
from pipeline.terminal.streams import outlive_readers

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
SELDOM = 200_000  # new objects between two looks for cycles: what is imported stays
HERE = Path("pipeline/commands/door.py")  # in a folder that holds the code


@command
def _called(words: list[str]) -> int:
    """The exit status of the command that `words` begin with, once all is said."""
    if words[0] in ("-h", "--help"):
        print(overview())
        sys.stdout.flush()
        return DONE
    for word in words:
        if (text := word.encode(errors="replace").decode()) != word:
            raise InputError(f"{text} is not UTF-8: rename it")
    name, *rest = words
    known = name.replace("-", "_")
    if known not in COMMANDS:
        raise no_such("there is no command", name, COMMANDS)
    status: int = importlib.import_module(f"pipeline.commands.{known}").main(rest)
    sys.stdout.flush()
    return status


def main() -> int:
    """Run the command that the command line names."""
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)  # else Python's end looks for cycles in all of it again
    outlive_readers()
    # solvers share their work among threads of their own: BLAS's would only spin beside
    os.environ.setdefault(BLAS_THREADS, "1")
    words = sys.argv[1:]
    if not words:
        print(overview(), file=sys.stderr)
        return REFUSED
    return _called(words)


def installed() -> int:
    """The same from anywhere; a folder with a copy of the code runs its own."""
    if HERE.is_file() and not HERE.samefile(__file__):
        line = [sys.executable, "-m", "pipeline", *sys.argv[1:]]
        os.execv(sys.executable, line)
    return main()
