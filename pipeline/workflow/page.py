"""The report while a workflow works."""

import subprocess
import time
from collections.abc import Sequence

from pipeline.store.runs import RESULTS
from pipeline.terminal.errors import DONE
from pipeline.workflow.processes import call_silently, command_line, environment
from pipeline.workflow.seen import Seen


class Page:
    """The report, written anew in the background as results come.

    It never works for more than a tenth of the time.
    """

    def __init__(self, kinds: Sequence[str] = ("compare", "figure")) -> None:
        self._kinds = kinds
        self._writer: subprocess.Popen[bytes] | None = None
        self._began = self._next = 0.0
        self._seen = self._state()

    def _state(self) -> set[tuple[str, int]]:
        """Which comparisons and figures there are, and since when."""
        places = [RESULTS / "made" / kind for kind in self._kinds]
        paths = [path for place in places if place.is_dir() for path in place.iterdir()]
        return {(str(path), path.stat().st_mtime_ns) for path in paths}

    def follow(self) -> None:
        """Begin to write it where there is something new and it is time."""
        now = time.monotonic()
        if self._writer is not None and self._writer.poll() is not None:
            self._next, self._writer = now + 9 * (now - self._began), None
        if self._writer is None and now >= self._next and self._state() != self._seen:
            self._seen, self._began = self._state(), now
            quiet, line = subprocess.DEVNULL, command_line("report")
            self._writer = subprocess.Popen(
                line, env=environment(), stdout=quiet, stderr=quiet
            )

    def finish(self) -> int:
        """Write it a last time, if there is anything new; the exit status."""
        if self._writer is not None:
            self._writer.wait()
        seen = Seen("report", RESULTS / "report" / "index.html")
        state = seen.now()
        if seen.holds(state):
            return DONE
        status = call_silently("report")
        if status == DONE:
            seen.remember(state)
        return status
