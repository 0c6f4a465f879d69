"""What a person sees and types: errors of one line, names, output and progress.

Exit statuses are 0: done.  1: something ran and failed, its steps stay.  2: refused
before the first step, nothing written.

Nothing that is printed steers the terminal, as a name in a file of others could.
"""

import codecs
import errno
import functools
import io
import locale
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TextIO

from sim.core.options import NotConvergedError

SPELT = {"±": "+-", "–": "-", "—": "-", "“": '"', "”": '"', "…": "...", "·": ","}
SPELLING = "morphtrack.spelling"  # for streams whose encoding lacks a character


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(SPELT.get(sign, "?") for sign in missing), error.end


codecs.register_error(SPELLING, _spell)
# What steers a terminal, breaks a line or turns the direction in which it is written.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
BREAKS = "\n\t"


def visible(text: str, allowed: str = "") -> str:
    """Text of a file of others, without what would steer the terminal."""
    return CONTROL.sub(lambda sign: sign[0] if sign[0] in allowed else "?", text)


NODES = re.compile(  # a node, nodes or a link; no number with a point and no range
    r"\b(?:node (\d++)|nodes (\d++(?:(?:, | and )\d++(?! more))*+)"
    r"|(?:link|rod) (\d++-\d++))(?!\.\d| to | \()"
)


def named_nodes(text: str, names: Sequence[str]) -> str:
    """A text that numbers nodes, with their names in brackets where they have names."""
    known = {str(i): name for i, name in enumerate(names)}

    def named(found: re.Match[str]) -> str:
        parts = re.split(r"(\d+)", found[found.lastindex or 0])
        return f"{found[0]} ({''.join(known.get(part, part) for part in parts)})"

    return NODES.sub(named, text) if names else text


def in_columns(texts: Mapping[str, str], width: int = 0) -> list[str]:
    """A line a name, with its text."""
    width = max(width, *map(len, texts)) if texts else width
    return [f"  {name:{width}}  {text}".rstrip() for name, text in texts.items()]


def aligned(rows: list[list[str]], width: int = 80) -> list[str]:
    """Rows in columns; where they are too wide, each cell of a row on a line.

    Parameters
    ----------
    rows : the first of them heads the columns
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if sum(widths) + 2 * len(widths) <= width:
        return [
            "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
    head, *others = rows
    lines = []
    for first, *cells in others:
        lines.append(first)
        lines += [f"  {h}: {c}" for h, c in zip(head[1:], cells, strict=True) if c]
    return lines


def shown_path(path: Path) -> Path:
    """A path as it is typed from here."""
    whole, here = path.absolute(), Path.cwd()
    return whole.relative_to(here) if whole.is_relative_to(here) else path


P = ParamSpec("P")

DONE, FAILED, REFUSED, INTERRUPTED = 0, 1, 2, 130
UNMAPPED = "failed to map segment"  # the loader's words of memory it could not have
RIGHTS = "give this user access rights, or work in a copy of the folder"
PLACE = "a file or a broken link has the name of a needed folder: move it away"
BY_HAND = {
    errno.EFBIG: "raise the file size limit (ulimit -f)",
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: RIGHTS,
    errno.EEXIST: PLACE,
    errno.ENOTDIR: PLACE,
    errno.ELOOP: "a link in the path points to itself: move it away",
}
TRACEBACK_VARIABLE = "MORPHTRACK_TRACEBACK"


class InputError(Exception):
    """Input that is refused; the message says what, where, the value and the remedy."""


class ShownError(InputError):
    """Input that is refused after work on it, which is kept because it shows why."""


class EditedError(InputError):
    """An input that changed while it was read; the same command reads it again."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} changed while it was read: run it again")


class RunFailedError(Exception):
    """A run that started and failed; the message says why and where its steps are."""


class PrunedError(Exception):
    """A run that its search ended early: others did better; its steps stay."""


class SeveralRunsError(Exception):
    """What several runs of one command raised, by the overrides of each run."""

    def __init__(self, errors: Mapping[str, Exception]) -> None:
        super().__init__("; ".join(f"{run}: {e}" for run, e in errors.items()))
        self.errors = errors


def one_line(error: BaseException) -> str:
    """The message of `error` on a single line; its type where it has no message."""
    text = visible(" ".join(str(error).split()))
    return text or type(error).__name__


@contextmanager
def refusing(*kinds: type[Exception], place: str = "") -> Iterator[None]:
    """Refuse input with the words of errors of these kinds, after a place if given."""
    try:
        yield
    except kinds as error:
        where = f"{place}: " if place else ""
        raise InputError(f"{where}{one_line(error)}") from error


def file_of_step(path: Path, step: str) -> Path:
    """A file that a step makes; refused where it is not there."""
    if not path.is_file():
        raise InputError(f"{path} does not exist: run morphtrack {step} first")
    return path


def by_reason(refused: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names that were refused, joined, and their reason: every reason once.

    A reason that several have loses the path before it, which ends in their name.
    """
    names_of: dict[str, list[str]] = {}
    for name, reason in refused.items():
        path, _, rest = reason.partition(": ")
        own = rest if Path(path).stem == name else reason
        names_of.setdefault(own, []).append(name)
    for reason, names in names_of.items():
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
EXPECTED = (
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


def is_expected(error: BaseException) -> bool:
    """Whether `error` is about input or a run; any other is a defect."""
    if isinstance(error, SeveralRunsError):
        return all(map(is_expected, error.errors.values()))
    no_place = isinstance(error, OSError) and error.errno in NO_PLACE
    return isinstance(error, EXPECTED) or lacks_machine(error) or no_place


def _status(error: BaseException) -> int:
    if isinstance(error, SeveralRunsError):
        return min(map(_status, error.errors.values()))  # something ran and failed
    if isinstance(error, RunFailedError | NotConvergedError) or lacks_machine(error):
        return FAILED
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else REFUSED


def _lines(error: BaseException) -> list[str]:
    """The lines printed for `error`, one a run."""
    if isinstance(error, SeveralRunsError):
        return [
            line.replace("error: ", f"error: {run}: ", 1)
            for run, one in error.errors.items()
            for line in _lines(one)
        ]
    if isinstance(error, KeyboardInterrupt):
        return ["interrupted: run the same command again to continue"]
    where = "memory ran out: " if lacks_memory(error) else ""
    return [f"error: {where}{one_line(error).rstrip(': ')}{_remedy(error)}"]


def _remedy(error: BaseException) -> str:
    if isinstance(error, RunFailedError) and error.__cause__ is not None:
        error = error.__cause__
    if lacks_memory(error):
        return ": free memory, or use fewer --cores; the same command tries it again"
    rest = ", then run the same command again to resume"
    if is_failing_disk(error):
        return f": check the disk or its connection{rest}"
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
            if os.environ.get(TRACEBACK_VARIABLE) or not is_expected(error):
                raise
            print("\n".join(_lines(error)), file=sys.stderr)
            return _status(error)

    return guarded


def close_to(name: str, known: Collection[str]) -> str:
    """A question that offers the names nearest to `name`; empty where none is near."""
    best = get_close_matches(name, known, cutoff=0.85)  # beside which no other is shown
    near = best or get_close_matches(name, known)
    if not near:  # those of which a word is near, as arm,x=1 has arm
        words = {k: re.split(r"[^a-zA-Z0-9_]", k) for k in known}
        near = [k for k in known if get_close_matches(name, words[k])][:3]
    return f"did you mean {' or '.join(near)}?" if near else ""


def nearest(path: Path, otherwise: str = "") -> str:
    """A remedy for a path that is not there: what is named alike in its folder."""
    there = path.parent.iterdir() if path.parent.is_dir() else ()
    near = [p for p in sorted(there) if get_close_matches(path.stem, [p.stem])]
    others = [p for p in near if p.name != path.name]
    alike = [p for p in others if p.suffix == path.suffix] or others
    remedy = close_to(path.name, [p.name for p in alike])
    return remedy or otherwise or f"looked in {path.parent.absolute()}"


def commas(values: Collection[Any]) -> str:
    """A remedy, if one of the values is a text such as "50 0"."""
    texts = (value for value in values if isinstance(value, str))
    return "; separate them by commas" if any(" " in text for text in texts) else ""


def natural(name: str) -> list[tuple[int, int, str]]:
    """A name as people sort it: dejong-2, dejong-3, dejong-10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts]


def no_such(what: str, name: str, known: Collection[str]) -> InputError:
    """The refusal of `name`, which is none of `known`.

    Parameters
    ----------
    what : what was looked for and where, such as "conf/case has no case"
    """
    remedy = close_to(name, known) or f"choose one of {', '.join(known) or '(none)'}"
    return InputError(f"{what} {name!r}: {remedy}")


def no_option(option: str, known: Collection[str], command: str) -> InputError:
    """The refusal of an option that a command does not have."""
    name = option.partition("=")[0]
    remedy = close_to(name, known) or f"{command} --help lists them"
    if name == "--case":
        remedy = "name a case without dashes, case=NAME"
    return InputError(f"{command} has no option {name}: {remedy}")


OUTPUT = 1  # the number of standard output


class _Left(io.FileIO):
    """A stream whose reader may go: what is written from then on is lost.

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


def outlive_readers() -> None:
    """Go on, whoever stops reading standard output or the errors of this process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed before this process began
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        if isinstance(stream, io.TextIOWrapper):
            outliving = _Plain(
                io.BufferedWriter(_Left(stream.fileno(), "w", closefd=False)),
                encoding=stream.encoding,
                errors=SPELLING if stream.errors == "strict" else stream.errors,
                line_buffering=stream.line_buffering or stream.write_through,
            )
            setattr(sys, name, outliving)


EVERY = 10.0  # s between lines of progress


@contextmanager
def progress(name: str) -> Iterator[Callable[[str], None]]:
    """A bar at a terminal; elsewhere, such as in a log, a line now and then.

    Yields
    ------
    a function to call after each step, with what the bar says then
    """
    if not sys.stderr.isatty():
        due, steps = time.monotonic() + EVERY, 0

        def line(text: str) -> None:
            nonlocal due, steps
            steps += 1
            if time.monotonic() >= due:
                print(f"{name}: step {steps}, {text}", file=sys.stderr, flush=True)
                due = time.monotonic() + EVERY

        yield line
        return
    from tqdm import tqdm
    from tqdm.contrib.logging import logging_redirect_tqdm

    with (
        steered(sys.stderr),
        logging_redirect_tqdm(),
        tqdm(desc=name, unit=" steps") as bar,
    ):

        def show(text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update()

        yield show


@contextmanager
def kept_locale() -> Iterator[None]:
    """Undo what lib3mf does when it writes or reads: it sets the locale to C."""
    held = locale.setlocale(locale.LC_ALL)
    try:
        yield
    finally:
        locale.setlocale(locale.LC_ALL, held)


CPUINFO = Path("/proc/cpuinfo")


@cache
def machine() -> str:
    """What this machine calls its processor."""
    if CPUINFO.is_file():
        for line in CPUINFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
