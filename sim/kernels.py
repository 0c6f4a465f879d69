"""How the compiled loops of the solvers are made: by numba, compiled once a machine.

`numba.njit` has no types of its own; this wrapper keeps the function's, so that
mypy still checks the callers of a kernel. Kernels compile at their first call.

Numba keeps what it compiled. Its cache looks at the file of a kernel and not at those
of the kernels that it calls, so that each module has a folder of its own, named by the
digest of the syntax trees of all modules that its kernels may call into: an edit in any
of these compiles again. The folders stand in `.numba_cache` of the project, or in
NUMBA_CACHE_DIR.

Numba's index of a kernel is not made for two writers. So processes compile, read and
write one after the other, and one that waited takes over what the other compiled.
"""

import contextlib
import fcntl
import functools
import gc
import hashlib
import json
import os
import platform
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core import event

from sim.syntax import PACKAGES, SOURCE_ROOT, code_closure, module_file

Function = TypeVar("Function", bound=Callable[..., object])

STARTED = time.time()
CLOCK_GRAIN = 0.02  # s by which a file's time may lag: it is the last tick's
SELDOM = 100_000  # new objects between two looks for cycles: what compiling makes stays
WITHOUT_EFFECT = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DEBUG_CACHE")


def kernel(function: Function) -> Function:
    """Compile at the first call; division by zero gives inf or nan, as in numpy."""
    return compiled(function)


def inlined(function: Function) -> Function:
    """Compile as a part of the one kernel that calls it."""
    return compiled(function, inline="always")


def released(function: Function) -> Function:
    """Compile to run without Python's lock, so that threads help."""
    return compiled(function, nogil=True)


def compiled(function: Function, **options: Any) -> Function:
    """Compile at the first call, with further `options` of `numba.njit`."""
    made = numba.njit(error_model="numpy", **options)(function)
    folder = _folder_of(function)
    if folder is not None and hasattr(made, "enable_caching"):  # else compiling is off
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            made.enable_caching()
        finally:
            numba.config.CACHE_DIR = before
    return cast(Function, made)


def _folder_of(function: Callable[..., object]) -> Path | None:
    """Where a kernel is kept; None if it cannot be.

    Without that folder numba would look for one beside the kernel's file, which an edit
    of another kernel does not change.
    """
    digest = _digest_of(function)
    if digest is None:
        return None
    folder = _base() / f"{function.__module__}-{digest}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def _base() -> Path:
    """The folder for all that is kept: one that can be written to."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if os.access(SOURCE_ROOT, os.W_OK):
        return SOURCE_ROOT / ".numba_cache"
    return Path.home() / ".cache" / "morphtrack" / "kernels"


class OneProcessCompiles(event.Listener):  # type: ignore[misc]
    """Holds a file's lock while this process has numba's lock of its compiler."""

    def __init__(self) -> None:
        self._threads = threading.RLock()
        self._depth = 0
        self._collections = gc.get_threshold()
        self._file: IO[str] | None = None

    def on_start(self, _event: event.Event) -> None:
        """Wait for other processes; without a folder to write to, go on."""
        self._threads.acquire()
        self._depth += 1
        if self._depth == 1:
            self._collections = gc.get_threshold()
            gc.set_threshold(SELDOM, *self._collections[1:])
            with contextlib.suppress(OSError):
                _base().mkdir(parents=True, exist_ok=True)
                self._file = (_base() / "lock").open("a")
                fcntl.flock(self._file, fcntl.LOCK_EX)

    def on_end(self, _event: event.Event) -> None:
        """Let others compile."""
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._collections)
            if self._file is not None:
                self._file.close()
                self._file = None
        self._threads.release()


event.register("numba:compiler_lock", OneProcessCompiles())


def _digest_of(function: Callable[..., object]) -> str | None:
    """As `code_digest`; None for what no file of this project defines by name."""
    module = function.__module__
    file, written_in = module_file(module), Path(function.__code__.co_filename)
    if file is None or not written_in.exists() or not file.samefile(written_in):
        return None
    if "." in function.__qualname__ or _changed(file):
        return None
    return code_digest(module)


@functools.cache
def code_digest(module: str) -> str | None:
    """Changes with all that decides what the kernels of `module` compile to.

    None if any of its files was written after this process began: it may then hold an
    older state of the code than the files do.
    """
    own = {*PACKAGES, module.partition(".")[0]}
    trees, _ = code_closure([module], own, carriers=(code_closure.__module__,))
    files = [file for name in trees if (file := module_file(name))]
    if any(_changed(file) for file in files):
        return None
    decides = [
        trees,
        [sys.implementation.cache_tag, platform.machine()],
        [made.__version__ for made in (numba, llvmlite, np)],
        {
            name: value
            for name, value in os.environ.items()
            if name.startswith("NUMBA_") and name not in WITHOUT_EFFECT
        },
    ]
    text = json.dumps(decides, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _changed(file: Path) -> bool:
    return file.stat().st_ctime > STARTED - CLOCK_GRAIN
