"""A process that draws one run: it imports what draws while the run is computed.

The process is this module. It reads the folder of a run and draws it; it ends by itself
where its caller does.
"""

import atexit
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

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
        if process is not None:
            process.kill()
            process.communicate()


def _started() -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "pipeline.report.drawing_process"],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # no memory for another process
        return None


def _draw(process: subprocess.Popen[bytes] | None, directory: Path) -> None:
    """What the process cannot draw is drawn here, and raises here."""
    if process is not None:
        process.communicate(os.fsencode(directory.absolute()))
        if process.returncode == 0:
            return
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
    if directory := sys.stdin.buffer.read():
        write_pictures(Path(os.fsdecode(directory)))


if __name__ == "__main__":
    main()
