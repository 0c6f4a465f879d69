"""What goes on: a table that moves at a terminal, plain lines elsewhere."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pipeline.terminal.streams import steered
from pipeline.terminal.words import duration

if TYPE_CHECKING:
    from rich.console import Group

FAILURES_SHOWN = 5
ROOM = 8  # columns that a name and what is said of it leave for the rest


@dataclass(frozen=True)
class Doing:
    """One thing that is being made: what it is, for how long, how far it is."""

    name: str
    seconds: float
    said: str = ""


@dataclass(frozen=True)
class Going:
    """How far everything is.

    Parameters
    ----------
    finished : names of what was made, in the order of their ends
    failed : names with reasons
    seconds_left : an estimate, or None
    """

    wanted: int
    finished: Sequence[str] = ()
    doing: Sequence[Doing] = ()
    failed: Sequence[tuple[str, str]] = ()
    seconds_left: float | None = None
    said: str = ""


class Shown(Protocol):
    """Something that shows how far everything is, as often as it is told."""

    def show(self, going: Going) -> None:
        """Take in how far everything is now."""


@dataclass
class PlainLines:
    """A line for each end; nothing moves."""

    told: set[str] = field(default_factory=set)

    def show(self, going: Going) -> None:
        """Print what is new."""
        width = len(str(going.wanted))
        for i, name in enumerate(going.finished, 1):
            if name not in self.told:
                print(f"[{i:{width}}/{going.wanted}] {name}", flush=True)
        for name, why in going.failed:
            if name not in self.told:
                print(f"failed: {name}: {why}", flush=True)
        self.told |= {*going.finished, *(name for name, _ in going.failed)}


@dataclass
class MovingTable:
    """A table that is drawn anew in place."""

    live: Any
    title: str

    def show(self, going: Going) -> None:
        """Draw it."""
        self.live.update(drawn(self.title, going), refresh=True)


def heading(title: str, going: Going) -> str:
    """How far, in one line."""
    parts = [f"{title}: {len(going.finished)} of {going.wanted} made"]
    if going.failed:
        parts.append(f"{len(going.failed)} failed")
    if going.seconds_left is not None:
        parts.append(f"about {duration(going.seconds_left)} left")
    return ", ".join([*parts, going.said] if going.said else parts)


def drawn(title: str, going: Going) -> "Group":
    """What the table shows."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    rows = Table.grid(padding=(0, 2), expand=False)
    rows.add_column(no_wrap=True, overflow="ellipsis", ratio=None)
    rows.add_column(justify="right", no_wrap=True, min_width=6)
    rows.add_column(no_wrap=True, overflow="ellipsis")
    for one in going.doing:
        rows.add_row(Text(one.name), duration(one.seconds), Text(one.said, "dim"))
    bar = Table.grid()  # which ends its line; a bar alone does not
    bar.add_row(ProgressBar(max(1, going.wanted), len(going.finished), _bar_width()))
    more = len(going.failed) - FAILURES_SHOWN
    failures = [
        Text(f"failed: {name}: {why}", "red", no_wrap=True, overflow="ellipsis")
        for name, why in going.failed[:FAILURES_SHOWN]
    ]
    if more > 0:
        failures.append(Text(f"and {more} more failed", "red"))
    return Group(
        Text(heading(title, going), "bold", no_wrap=True, overflow="ellipsis"),
        bar,
        rows,
        *failures,
    )


def _bar_width() -> int:
    return max(8, min(60, shutil.get_terminal_size().columns - ROOM))


@contextmanager
def board(title: str) -> Iterator[Shown]:
    """Something to show how far everything is: what moves is gone after the block."""
    if not sys.stdout.isatty():
        yield PlainLines()
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, markup=False)
    if console.is_dumb_terminal:
        yield PlainLines()
        return
    with (
        steered(sys.stdout),
        Live(console=console, auto_refresh=False, transient=True) as live,
    ):
        yield MovingTable(live, title)
