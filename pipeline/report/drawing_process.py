"""A process that draws one run: it imports what draws while the run is computed.

The process is this module. It reads the folder of a run and draws it; it ends where
there is none to read.
"""

import atexit
import gc
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pipeline.runs.child_process import Process, start_child
from pipeline.runs.summary import PAGE, PICTURE

Draw = Callable[[Path], None]


@contextmanager
def drawing(ahead: bool) -> Iterator[Draw]:
    """A function that writes picture and page of a finished run, where they are not.

    Parameters
    ----------
    ahead : start the process, unless this one has imported what draws already
    """
    process = _started() if ahead and "matplotlib" not in sys.modules else None
    try:
        yield partial(_draw, process)
    finally:
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)  # it removes what it has half written
            process.communicate()


def _started() -> Process | None:
    try:
        return start_child(__name__)
    except OSError:  # it is drawn without
        return None


def _draw(process: Process | None, directory: Path) -> None:
    """What the process does not draw is drawn here, and raises here."""
    if process is not None:
        process.communicate(str(directory.absolute()))
    if not all((directory / name).is_file() for name in (PICTURE, PAGE)):
        from pipeline.report.one_run import write_pictures

        write_pictures(directory)


def main() -> None:
    """Draw the run whose folder is on the standard input, if there is one."""
    gc.disable()
    atexit.register(gc.freeze)
    from analysis.figures import run_picture  # noqa: F401  ahead of the run
    from pipeline.report.one_run import write_pictures
    from pipeline.report.scene import packed_plotly

    packed_plotly()
    if directory := sys.stdin.buffer.read().decode("utf-8", "surrogateescape"):
        write_pictures(Path(directory))


if __name__ == "__main__":
    main()
