"""What `sim.syntax` told of files before: kept by their bytes, so that it is never old.

Reading the trees of the hundred modules behind a run takes half a CPU second. What was
told of a module's file is kept beside compiled kernels, with digests of its bytes and
of `sim.syntax`, and the Python that read it; where one of them differs, it is read
again. A file that is missing, damaged or not ours to write costs that time only.
"""

import atexit
import contextlib
import hashlib
import json
import os
import sys
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

Told = tuple[str, frozenset[str]]
NAME = "trees.json"


class KnownCode:
    """What is known of files, and is kept in a folder once the process ends.

    Parameters
    ----------
    folder : where it is kept
    teller : the bytes of what tells it
    """

    def __init__(self, folder: Path, teller: bytes) -> None:
        self._file = folder / NAME
        self._teller = f"{sys.implementation.cache_tag} {_digest(teller)}"
        self._known = self._read()
        self._new = False

    def told(self, key: str, text: bytes, tell: Callable[[bytes], Told]) -> Told:
        """What was told of these bytes before, or is told now."""
        digest = _digest(text)
        known = self._known.get(key)
        if known is not None and known[0] == digest:
            return known[1], frozenset(known[2])
        tree, imported = tell(text)
        self._known[key] = [digest, tree, sorted(imported)]
        self._new = True
        return tree, imported

    def keep(self) -> None:
        """Put it in place whole, if anything is new and the folder can be written."""
        if not self._new:
            return
        aside = self._file.with_suffix(f".{uuid.uuid4().hex}")
        with contextlib.suppress(OSError, MemoryError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(json.dumps({self._teller: self._known}))
            aside.replace(self._file)
        self._new = False

    def _read(self) -> dict[str, list[Any]]:
        """What is there, of the same teller; else nothing."""
        try:
            if self._file.stat().st_uid not in (0, os.getuid()):
                return {}
            known = json.loads(self._file.read_bytes())[self._teller]
            return {k: [str(a), str(b), list(c)] for k, (a, b, c) in known.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


@cache
def known_code(folder: Path, teller: Path) -> KnownCode:
    """That of a folder, kept as the process ends."""
    known = KnownCode(folder, teller.read_bytes())
    atexit.register(known.keep)
    return known
