"""What a disk keeps when the power fails: what was synced, of the rest what it likes.

Names (files made, renamed, removed) are kept in order up to some moment, or all but a
late one; of a file's content that was not synced, nothing, half, or zeros.
"""

import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

CUTS = (
    "cut, files empty", "cut, files half", "cut, files zero", "cut, names lost",
    "cut, a name late",
)  # fmt: skip

State = tuple[int, int, int]


def _state(path: str) -> State:
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


@dataclass
class Disk:
    """Remembers how to undo what was done to names, and which content was synced.

    Parameters
    ----------
    root : all that is looked at
    aside : holds what was removed or replaced, on the same file system
    """

    root: Path
    aside: Path
    _undo: list[tuple[str, str, Callable[[], None]]] = field(default_factory=list)
    _synced: set[State] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.aside.mkdir(exist_ok=True)
        self._link, self._rename = os.link, os.rename
        self._unlink, self._rmdir, self._mkdir = os.unlink, os.rmdir, os.mkdir
        self._open = open
        self._synced = {_state(name) for name in self._files()}

    def _files(self) -> list[str]:
        return [
            os.path.join(place, name)
            for place, _, names in os.walk(self.root)
            for name in names
            if not os.path.islink(os.path.join(place, name))
        ]

    def note(self, kind: str, *names: str) -> None:
        """Take down what a call is about to do."""
        if kind == "fsync":
            self._sync(names[-1])
        elif kind == "rename" and names[0]:
            old, new = names
            kept = self._kept(new)
            self._undo.append((kind, new, lambda: self._renamed_back(old, new, kept)))
        elif kind == "unlink":
            gone, kept = names[-1], self._kept(names[-1])
            if kept:
                self._undo.append((kind, gone, lambda: self._rename(kept, gone)))
        elif kind in {"create", "symlink", "link"} and not os.path.lexists(names[-1]):
            self._undo.append((kind, names[-1], lambda: self._unlink(names[-1])))
        elif kind == "mkdir" and not os.path.lexists(names[-1]):
            self._undo.append((kind, names[-1], lambda: shutil.rmtree(names[-1])))
        elif kind == "rmdir":
            self._undo.append((kind, names[-1], lambda: self._mkdir(names[-1])))

    def _kept(self, name: str) -> str:
        if not os.path.lexists(name) or (
            os.path.isdir(name) and not os.path.islink(name)
        ):
            return ""
        kept = str(self.aside / str(len(self._undo)))
        with suppress(FileExistsError):
            self._link(name, kept, follow_symlinks=False)
        return kept

    def _renamed_back(self, old: str, new: str, kept: str) -> None:
        self._rename(new, old)
        if kept:
            self._rename(kept, new)

    def _sync(self, name: str) -> None:
        if not name:  # the whole file system
            self._synced.update(_state(file) for file in self._files())
            self._undo = []
        elif os.path.isdir(name):  # its names are safe, and what was done before them
            durable = [
                i
                for i, (_, at, _) in enumerate(self._undo)
                if os.path.dirname(at) == name
            ]
            self._undo = self._undo[durable[-1] + 1 :] if durable else self._undo
        else:
            self._synced.add(_state(name))

    def moved(self, old: str, new: str) -> "Disk":
        """The same of a copy at `new` of what is at `old` now."""
        there = copy(self)
        there._synced = {
            _state(name)
            for name in self._files()
            if _state(f"{old}{name[len(new) :]}") in self._synced
        }
        return there

    def cut(self, way: str, seed: int) -> None:
        """Leave what a disk may hold after the power failed now."""
        chance = random.Random(f"{way} {seed}")
        unsynced = [name for name in self._files() if _state(name) not in self._synced]
        for name in unsynced:
            self._lose(name, way)
        if way == "cut, names lost" and self._undo:
            first = chance.randrange(len(self._undo))
            for _, _, back in reversed(self._undo[first:]):
                with suppress(OSError):
                    back()
        if way == "cut, a name late":
            renames = [entry for entry in self._undo if entry[0] == "rename"]
            if renames:
                with suppress(OSError):
                    chance.choice(renames)[2]()

    def _lose(self, name: str, way: str) -> None:
        size = os.stat(name).st_size
        with self._open(name, "r+b") as file:
            if way == "cut, files empty":
                file.truncate(0)
            elif way == "cut, files half":
                file.truncate(size // 2)
            elif way == "cut, files zero":
                file.write(b"\0" * size)
