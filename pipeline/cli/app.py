"""The command morphtrack: its groups of commands, its start, and how it refuses."""

import atexit
import contextlib
import gc
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli import (
    mechanism_commands,
    result_commands,
    run_commands,
    scan_commands,
)
from pipeline.cli.options import joined, typed
from pipeline.steps.settings import STEPS
from pipeline.terminal import (
    DONE,
    INTERRUPTED,
    REFUSED,
    InputError,
    command,
    no_option,
    no_such,
    outlive_readers,
    steered,
)

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
SELDOM = 200_000  # new objects between two looks for cycles: what is imported stays
HERE = Path("pipeline/cli/app.py")  # in a folder that holds the code
GROUPS = (run_commands, scan_commands, mechanism_commands, result_commands)
COMMANDS = [str(c.name) for g in GROUPS for c in g.group.registered_commands]
HELP = ("-h", "--help")
LOGGED = {*STEPS, "make", "study", "mobility"}  # they make runs, for MLflow

app = typer.Typer(
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": HELP,
        "token_normalize_func": lambda name: name.replace("_", "-"),
    },
)
for of in GROUPS:
    app.add_typer(of.group)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"morphtrack {version('morphtrack')}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version",
        callback=_print_version,
        is_eager=True,
        help="Show the version and exit.",
    ),
]


@app.callback()
def morphtrack(_version: Version = False) -> None:
    """Simulate shape-morphing structures, find them in scans, and compare both.

    MORPHTRACK_TRACEBACK=1 shows where an error was raised.
    """


@command
def called(words: list[str]) -> int:
    """The exit status of a command line, after its output is written."""
    for word in words:
        if (text := word.encode(errors="replace").decode()) != word:
            raise InputError(f"{text} is not UTF-8: rename it")
    if words and not words[0].startswith("-"):
        name = words[0].replace("-", "_")
        if name not in COMMANDS:
            raise no_such("unknown command", words[0], COMMANDS)
        words = [name, *words[1:]]
    with _around(words):
        try:
            status = app(joined(words), prog_name="morphtrack", standalone_mode=False)
        except typer.TyperException as error:
            raise _refusal(error) from error
        except (InputError, ValueError) as error:
            if words[0] in STEPS and "--planned" not in words:  # by a person
                error.args = (typed(str(error)),)
            raise
        if status == INTERRUPTED:
            raise KeyboardInterrupt
    sys.stdout.flush()
    return status or DONE


def _around(words: list[str]) -> contextlib.AbstractContextManager[Any]:
    """What a command works in: one that makes runs has a process that logs them."""
    if set(HELP) & set(words):
        return steered(sys.stdout)  # Typer's help has colours at a terminal
    if words and words[0] in LOGGED:
        from pipeline.tracking.logging_process import logged

        return logged()
    return contextlib.nullcontext()


def _refusal(error: typer.TyperException) -> InputError:
    """Typer's complaint about a command line, in one line with its remedy."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "morphtrack"
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        return no_option(error.option_name, error.possibilities or (), path)
    message = " ".join(error.format_message().split()).rstrip(".")
    return InputError(f"{message[:1].lower()}{message[1:]}: {path} --help explains it")


def main() -> int:
    """Run the command that the command line names."""
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)  # else Python's end looks for cycles in all of it again
    outlive_readers()
    # solvers share their work among threads of their own: BLAS's would only spin
    os.environ.setdefault(BLAS_THREADS, "1")
    words = sys.argv[1:]
    if not words and "_MORPHTRACK_COMPLETE" not in os.environ:
        with contextlib.redirect_stdout(sys.stderr):
            called(["--help"])
        return REFUSED
    return called(words)


def installed() -> int:
    """The same from anywhere; a folder with a copy of the code runs its own."""
    if HERE.is_file() and not HERE.samefile(__file__):
        line = [sys.executable, "-m", "pipeline", *sys.argv[1:]]
        os.execv(sys.executable, line)
    return main()
