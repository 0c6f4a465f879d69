"""How the compiled loops of the solvers are made: by numba, compiled once a machine.

`numba.njit` has no types of its own; this wrapper keeps the function's, so that
mypy still checks the callers of a kernel. Kernels compile at their first call.

What was compiled is kept in a folder of its own for each module, named by the digest
of the syntax trees of all modules that its kernels may call into. A comment, a moved
project or a new date of a file compiles nothing again; an edit in any of these modules
does. The folders stand in `.numba_cache` of the project, or in NUMBA_CACHE_DIR, which
several checkouts may share.
"""

import functools
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np

from sim.kernel_cache import keep
from sim.kernel_parts import PartCompiler
from sim.numba_flags import compare_by_what_is_set
from sim.syntax import PACKAGES, SOURCE_ROOT, code_closure, module_file

Function = TypeVar("Function", bound=Callable[..., object])

STARTED = time.time()
CLOCK_GRAIN = 0.02  # s by which a file's time may lag: it is the last tick's
KNOWN = "0.68."  # the numba whose private interface `sim.kernel_cache` was tried with
WITHOUT_EFFECT = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DEBUG_CACHE")

if numba.__version__.startswith(KNOWN):
    compare_by_what_is_set()


def kernel(function: Function) -> Function:
    """Compile at the first call; division by zero gives inf or nan, as in numpy."""
    return compiled(function)


def inner(function: Function) -> Function:
    """Compile for other kernels only, without a way in from Python."""
    return compiled(function, no_cpython_wrapper=True)


def spine(function: Function) -> Function:
    """Compile as a part of the one kernel that calls it."""
    return compiled(function, inline="always")


def compiled(function: Function, **options: Any) -> Function:
    """Compile at the first call, with further `options` of `numba.njit`."""
    options = {"error_model": "numpy", "no_cfunc_wrapper": True, **options}
    if options.get("no_cpython_wrapper") and numba.__version__.startswith(KNOWN):
        options["pipeline_class"] = PartCompiler
    made = numba.njit(**options)(function)
    if not hasattr(made, "_cache"):  # compiling is off
        return cast(Function, made)
    _ignore_constants(made)
    if options.get("no_cpython_wrapper"):
        _close_to_python(made)
    digest = _digest_of(function)
    if digest:
        _keep(made, _base() / f"{function.__module__}-{digest}")
    return cast(Function, made)


def _ignore_constants(made: Any) -> None:
    """Let a constant in a call count as any value of its type: one specialisation."""
    general = made.get_call_template

    def template(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        plain = numba.types.unliteral
        named = {name: plain(arg) for name, arg in kws.items()}
        return general(tuple(plain(arg) for arg in args), named)

    made.get_call_template = template


def _close_to_python(made: Any) -> None:
    """Raise TypeError where Python calls what has no way in: numba would crash."""

    def refuse(*_args: Any, **_kws: Any) -> None:
        raise TypeError(f"{made.__name__} is for other kernels only: make it a kernel")

    made._compile_for_args = refuse
    made._insert = lambda *_args, **_kws: None  # so that numba never finds it compiled


def _keep(made: Any, folder: Path) -> None:
    """Let what is compiled for `made` be kept in `folder`.

    Another numba may have another interface. Its own cache also looks at path, date
    and line of a kernel, so that it compiles more often, but it is never wrong here.
    """
    if numba.__version__.startswith(KNOWN):
        keep(made, folder)
        return
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
    try:
        made.enable_caching()
    finally:
        numba.config.CACHE_DIR = before


def _base() -> Path:
    """The folder for all that is kept: one that can be written to."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if os.access(SOURCE_ROOT, os.W_OK):
        return SOURCE_ROOT / ".numba_cache"
    return Path.home() / ".cache" / "morphtrack" / "kernels"


def _digest_of(function: Callable[..., object]) -> str | None:
    """As `code_digest`; None for what is no named function of a file of this project.

    Numba gives the functions of one name the same symbols in different processes, and
    would link one in place of the other.
    """
    module, name = function.__module__, function.__qualname__
    file, written_in = module_file(module), Path(function.__code__.co_filename)
    if file is None or not written_in.exists() or not file.samefile(written_in):
        return None
    if "." in name or _changed(file):
        return None
    if hasattr(function.__globals__.get(name), "py_func"):
        raise ValueError(
            f"{module} has two kernels {name}: give one of them another name"
            " (after a reload: start Python again)"
        )
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
