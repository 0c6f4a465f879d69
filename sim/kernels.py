"""How the compiled loops of the solvers are made: by numba, compiled once a machine.

`numba.njit` has no types of its own; this wrapper keeps the function's, so that
mypy still checks the callers of a kernel. Kernels compile at their first call.

Numba's own cache looks at the file of a kernel only, and not at the kernels that it
calls in other files: an edit there would leave old code running. So each package has
a cache named by the digest of all the files that its kernels may call into.
"""

import functools
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])

ROOT = Path(__file__).resolve().parent.parent
SHARED = ("sim/*.py", "sim/contact/*.py")  # what kernels of every package may call


def kernel(function: Function) -> Function:
    """Compile at the first call; division by zero gives inf or nan, as in numpy."""
    return compiled(function)


def compiled(function: Function, **options: Any) -> Function:
    """Compile at the first call, with further `options` of `numba.njit`."""
    with _cache_of(function.__module__):
        compiler = numba.njit(cache=True, error_model="numpy", **options)
        return cast(Function, compiler(function))


@functools.cache
def code_digest(package: str) -> str:
    """Changes with every file that a kernel of `package` may call into."""
    own = ROOT.joinpath(*package.split("."))
    files = {path for pattern in SHARED for path in ROOT.glob(pattern)}
    digest = hashlib.sha256()
    for path in sorted(files | set(own.rglob("*.py"))):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


@contextmanager
def _cache_of(module: str) -> Iterator[None]:
    """Let numba keep what is compiled here in the cache of this state of the code."""
    package = ".".join(module.split(".")[:2])
    before = numba.config.CACHE_DIR
    base = Path(before) if before else ROOT / ".numba_cache"
    if before or os.access(ROOT, os.W_OK):
        numba.config.CACHE_DIR = str(base / f"{package}-{code_digest(package)}")
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
