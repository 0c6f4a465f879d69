"""Where numba keeps one kernel: a file for each signature, shared by any processes.

Numba's own cache has an index for each kernel, named by its first line and valid for
one state of its file; two processes that add to it at once can lose or exchange what
they wrote. Here a folder stands for a state of the code (see `sim.kernels`), a file
in it for one kernel, one signature and one processor, and it says itself for which.
Files are put in place whole, and carry a digest, so that a damaged one counts as none.

One process compiles a kernel while others that need it wait and take it over: together
they would spend the same seconds on every core.

Numba keeps machine code as pickles, here as in its own cache: only files that this user
or the system's user wrote are read.

Of each module the eight folders used last are kept, and all used within a day; older
ones go when a new one is made. Should one go that somebody uses, it is compiled again.
"""

import contextlib
import fcntl
import hashlib
import io
import os
import pickle
import shutil
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from sim.numba_flags import few_collections

KEPT = 8
DAY = 86_400.0  # seconds
PATIENCE = 300.0  # seconds to wait for another process, which may be stopped
PAUSE = 0.05  # seconds between two looks whether it is ready


def keep(made: Any, folder: Path) -> None:
    """Let what is compiled for `made`, a dispatcher of numba, be kept in `folder`."""
    cache = KernelCache(made.py_func, folder)
    compile_or_load = made.compile

    def alone(sig: Any) -> Any:
        try:
            with few_collections():
                return compile_or_load(sig)
        finally:
            cache.release(sig)

    made._cache, made.compile = cache, alone


class KernelCache:
    """What a dispatcher of numba asks of its cache; errors of the disk count as none.

    Parameters
    ----------
    function : the kernel as it is written; no other of its module has its name
    folder : where its files stand; names the module and the state of the code
    """

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        self._name = function.__qualname__
        self._folder = folder
        self._claims: dict[Any, IO[str] | None] = {}

    @property
    def cache_path(self) -> str:
        """The folder, as numba's statistics show it."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled result for a signature, or None: then nobody else makes it."""
        rtsys.initialize(target_context)  # all else numba readies once it compiles
        key = self._key(sig, target_context.codegen())
        reduced = self._read(key)
        if reduced is None and sig not in self._claims:
            self._claims[sig] = _claim(self._file(key))
            reduced = self._read(key)
        return reduced and CompileResult._rebuild(target_context, *reduced)

    def release(self, sig: Any) -> None:
        """Let others compile this signature, if it could not be kept."""
        claim = self._claims.pop(sig, None)
        if claim:
            with contextlib.suppress(OSError):
                Path(claim.name).unlink()
            claim.close()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled result, if it holds no addresses of this process."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        key = self._key(sig, data.codegen)
        pickled = dumps((key, data._reduce()))
        with contextlib.suppress(OSError):
            _put(self._file(key), hashlib.sha256(pickled).digest() + pickled)

    def flush(self) -> None:
        """Forget this kernel."""
        for file in self._folder.glob(f"{self._name}-*.nbc"):
            file.unlink(missing_ok=True)

    def _read(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        try:
            file = self._file(key)
            if not is_trusted(file):
                return None
            content = file.read_bytes()
        except OSError:
            return None
        with contextlib.suppress(OSError):  # somebody else's folder serves as well
            os.utime(self._folder)
        digest, pickled = content[:32], content[32:]
        if hashlib.sha256(pickled).digest() != digest:
            return None
        kept_for, reduced = _Kept(io.BytesIO(pickled)).load()
        return reduced if kept_for == key else None

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return sig, codegen.magic_tuple()

    def _file(self, key: tuple[Any, ...]) -> Path:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return self._folder / f"{self._name}-{name}.nbc"


class _Kept(pickle.Unpickler):
    """Reads a kept kernel without the modules that its parts were written in.

    Only Python objects in a kernel would look for their globals, of which there are
    none; sums of arrays alone would else import most of SciPy.
    """

    def find_class(self, module: str, name: str, /) -> Any:
        return (
            _environment if name == "_rebuild_env" else super().find_class(module, name)
        )


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    known = lookup_environment(name)
    if known is None:
        known = Environment({"__name__": module})
        known.consts[:], known.env_name = constants, name
        Environment._memo[name] = known
    return known


def is_trusted(file: Path) -> bool:
    """Whether this user or the system's wrote it: it holds code that will be run."""
    return file.stat().st_uid in (os.geteuid(), 0)


def _claim(file: Path) -> IO[str] | None:
    """Be the only process that makes `file`; None once it is there, or without a lock.

    The system gives up the lock of a process that ends, however it ends.
    """
    with contextlib.suppress(OSError):
        if not file.parent.exists():
            _make_room(file.parent)
        claim, end = file.with_suffix(".lock").open("w"), time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if file.exists():
                    break
                time.sleep(PAUSE)
            else:
                return claim
        claim.close()
    return None


def _put(file: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    part = file.with_name(f"{file.name}.{uuid.uuid4().hex[:16]}")
    try:
        part.write_bytes(content)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _make_room(folder: Path) -> None:
    """Make a folder for a new state of a module; those long unused go."""
    folder.mkdir(parents=True, exist_ok=True)
    module = folder.name.rpartition("-")[0]
    used = {old: _last_use(old) for old in folder.parent.glob(f"{module}-*")}
    for old in sorted(used, key=lambda old: used[old], reverse=True)[KEPT:]:
        if used[old] < time.time() - DAY:
            shutil.rmtree(old, ignore_errors=True)


def _last_use(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # gone meanwhile
        return 0.0
