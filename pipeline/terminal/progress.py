"""A bar that moves while a person waits."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.terminal.streams import steered


@contextmanager
def progress(name: str, unit: str = "steps") -> Iterator[Callable[[str], None]]:
    """A bar at a terminal; nothing elsewhere.

    Yields
    ------
    a function to call after each step, with what the bar says then
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with steered(sys.stderr), tqdm(desc=name, unit=f" {unit}") as bar:

        def show(text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update()

        yield show
