"""Whether anything is new since a command last took in all results.

Told by the contents of code and conf, and by names, sizes and times of what else such a
command reads: every file of runs, receipts and tables. What stands in no such file,
such as a server's database, is not judged here.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.store.files import read_json, write_json
from pipeline.store.runs import RESULTS
from pipeline.terminal.errors import InputError
from pipeline.workflow.fresh import state_of_inputs

READ = ("plan", "made", "runs", "failed", "own", "study", "accepted")


def state_of_results(results: Path = RESULTS) -> str:
    """A digest of what there is, and of what it is looked at with."""
    files = sorted(entry for name in READ for entry in _below(results / name))
    text = json.dumps([state_of_inputs(set()), files], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _below(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of each file below a folder; a link counts as itself."""
    if not folder.is_dir():
        return
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path))
        else:
            found = entry.stat(follow_symlinks=False)
            yield entry.path, found.st_size, found.st_mtime_ns


class Seen:
    """What a command had taken in when it last ended well.

    Parameters
    ----------
    command : its name
    left : the file it leaves; where that is gone or changed, everything is new
    """

    def __init__(self, command: str, left: Path, results: Path = RESULTS) -> None:
        self._file = results / "seen" / f"{command}.json"
        self._left, self._results = left, results

    def now(self) -> str:
        """The state to remember, taken before the command begins."""
        return state_of_results(self._results)

    def holds(self, state: str) -> bool:
        """Whether nothing is new."""
        try:
            return bool(read_json(self._file) == self._known(state))
        except (InputError, OSError):
            return False

    def remember(self, state: str) -> None:
        """What the command began with is taken in."""
        with contextlib.suppress(OSError):  # it left nothing to be known by
            write_json(self._file, self._known(state))

    def _known(self, state: str) -> dict[str, object]:
        left = self._left.stat()
        return {"state": state, "left": [left.st_size, left.st_mtime_ns]}
