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

Kernels may be handed a named tuple of many arrays by its address (`pointed`). Numba
passes a named tuple as its parts, of an array some seven: a function that takes
a hundred arrays has seven hundred arguments, and so has every call of it. That was most
of what compiling such functions cost. Here a kernel gets one address instead, of the
addresses, shapes and strides of all parts, and reads those that it names. `work.x[i]`
means the same in both.

The parts stay where they are while a kernel runs, whatever is written into them; LLVM
may rely on it, and reads an address once.
"""

import contextlib
import fcntl
import functools
import gc
import hashlib
import json
import logging
import os
import platform
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba.core import cgutils, event, types
from numba.core.types.containers import BaseTuple
from numba.core.types.misc import unliteral
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import get_itemsize

from sim.core.imported_code import PACKAGES, SOURCE_ROOT, code_closure, module_file

Function = TypeVar("Function", bound=Callable[..., object])

STARTED = time.time()
CLOCK_GRAIN = 0.02  # s by which a file's time may lag: it is the last tick's
SELDOM = 100_000  # new objects between two looks for cycles: what compiling makes stays
# This level of LLVM makes a first run shorter by a fifth, and no later one longer.
os.environ.setdefault("NUMBA_OPT", "1")
numba.config.reload_config()
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
    if hasattr(made, "get_call_template"):  # else compiling is off
        made.get_call_template = functools.partial(_without_literals, made)
    folder = _folder_of(function)
    if folder is not None and hasattr(made, "enable_caching"):  # else compiling is off
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder)
        try:
            made.enable_caching()
        finally:
            numba.config.CACHE_DIR = before
    return cast(Function, made)


def _without_literals(made: Any, args: Any, kws: Any) -> Any:
    """How another kernel calls this one: a constant has the type of a variable.

    Numba would compile the kernel once more for each constant that it is called with.
    """
    plain = tuple(unliteral(kind) for kind in args)
    named = {name: unliteral(kind) for name, kind in kws.items()}
    return type(made).get_call_template(made, plain, named)


def _folder_of(function: Callable[..., object]) -> Path | None:
    """Where a kernel is cached; None if it cannot be.

    Without that folder numba would choose one next to the kernel's file, which an edit
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
    """The folder of the cache: one that can be written to."""
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR)
    if os.access(SOURCE_ROOT, os.W_OK):
        return SOURCE_ROOT / ".numba_cache"
    return Path.home() / ".cache" / "morphtrack" / "kernels"


LOG = logging.getLogger(__name__)
PATIENCE = 3.0  # s, after which a process says that it waits
WAITING = "waiting for another process that compiles"


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
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waiting = threading.Timer(PATIENCE, LOG.warning, [WAITING])
                    waiting.start()
                    fcntl.flock(self._file, fcntl.LOCK_EX)
                    waiting.cancel()

    def on_end(self, _event: event.Event) -> None:
        """Let others compile."""
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._collections)
            if self._file is not None:
                self._file.close()
                self._file = None
        self._threads.release()


class FirstCompilation(event.Listener):  # type: ignore[misc]
    """Logs that this process compiles, once."""

    logged = False

    def on_start(self, _event: event.Event) -> None:
        if not self.logged:
            self.logged = True
            LOG.warning(
                "compiling this solver, once for this machine: "
                "about 30 s on an idle processor"
            )

    def on_end(self, _event: event.Event) -> None:
        """Nothing to say."""


event.register("numba:compiler_lock", OneProcessCompiles())
event.register("numba:compile", FirstCompilation())


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


Whole = TypeVar("Whole", bound=tuple[Any, ...])


def pointed(whole: Whole) -> Whole:
    """What kernels read as the named tuple `whole`; the tuple, without compilation.

    Parts are arrays, records, numbers, truth values and named tuples of these. The
    tuple lives as long as what is returned.
    """
    if numba.config.DISABLE_JIT:
        return whole
    return cast(Whole, Pointed(whole))


class Pointed:
    """A named tuple and where its parts are; named tuples in it likewise."""

    def __init__(self, whole: tuple[Any, ...]) -> None:
        self.whole = type(whole)(*map(_by_address, whole))
        self.numba_type = PointedType(numba.typeof(self.whole))
        self.words = np.array(list(_words(self.whole)), dtype=np.uint64)
        self.address = self.words.ctypes.data

    def __getattr__(self, name: str) -> Any:
        """A part, where this stands in for the tuple."""
        return getattr(self.whole, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has addresses of its own."""
        return Pointed, (self.whole,)


def _by_address(part: Any) -> Any:
    inner = isinstance(part, tuple) and hasattr(part, "_fields")
    return Pointed(part) if inner else part


def _words(part: Any) -> Iterator[int]:
    """The parts in words of 64 bits, as `_read` reads them."""
    if isinstance(part, Pointed):
        yield part.address
    elif isinstance(part, tuple):
        for inner in part:
            yield from _words(inner)
    elif isinstance(part, np.ndarray):
        yield part.__array_interface__["data"][0]
        yield from (length % 2**64 for length in (*part.shape, *part.strides))
    elif isinstance(part, np.record):
        yield np.frombuffer(part, np.uint8).__array_interface__["data"][0]
    elif isinstance(part, float):
        yield struct.unpack("=Q", struct.pack("=d", part))[0]
    elif isinstance(part, int):
        yield part % 2**64
    else:
        raise TypeError(
            f"an argument is a {type(part).__name__}: give arrays and numbers"
        )


class PointedType(types.Type):
    """Numba's type of `Pointed`, by that of its tuple."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        super().__init__(f"Pointed({whole})")


register_model(PointedType)(models.OpaqueModel)


@typeof_impl.register(Pointed)  # type: ignore[untyped-decorator]
def _typeof(value: Pointed, _context: Any) -> PointedType:
    return value.numba_type


@unbox(PointedType)  # type: ignore[untyped-decorator]
def _unbox(_kind: PointedType, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(pointer, is_error=failed)


@infer_getattr
class PointedAttributes(AttributeTemplate):  # type: ignore[misc]
    """An attribute has the type that it has in the tuple."""

    key = PointedType

    def generic_resolve(self, pointed: PointedType, name: str) -> Any:
        """The type of a part; None if there is none of that name."""
        whole = pointed.whole
        return dict(zip(whole.fields, whole.types, strict=True)).get(name)


@lower_getattr_generic(PointedType)  # type: ignore[untyped-decorator]
def _attribute(context: Any, builder: Any, kind: Any, pointer: Any, name: str) -> Any:
    at = kind.whole.fields.index(name)
    place = sum(map(_size, kind.whole.types[:at]))
    words = builder.bitcast(pointer, cgutils.intp_t.as_pointer())
    return _read(context, builder, kind.whole.types[at], words, place)


def _size(kind: Any) -> int:
    """Of a part, in words."""
    if isinstance(kind, BaseTuple):
        return sum(map(_size, kind.types))
    return 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


def _read(context: Any, builder: Any, kind: Any, words: Any, place: int) -> Any:
    """Read a part from its words, the first of which is at `place`."""
    if isinstance(kind, BaseTuple):
        parts = []
        for inner in kind.types:
            parts.append(_read(context, builder, inner, words, place))
            place += _size(inner)
        return context.make_tuple(builder, kind, parts)
    read = [_word(builder, words, place + k) for k in range(_size(kind))]
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, read)
    made = context.get_value_type(kind)
    if isinstance(kind, types.Record | PointedType):
        return builder.inttoptr(read[0], made)
    if isinstance(kind, types.Boolean):
        return cgutils.is_not_null(builder, read[0])
    return builder.bitcast(read[0], made)


def _array(context: Any, builder: Any, kind: Any, read: list[Any]) -> Any:
    """An array without a reference count, as numba represents it."""
    made = context.get_value_type(kind)
    model, value = context.data_model_manager[kind], cgutils.get_null_value(made)
    at = model.get_field_position
    parts = {
        "nitems": reduce(builder.mul, read[1 : 1 + kind.ndim]),
        "itemsize": context.get_constant(types.intp, get_itemsize(context, kind)),
        "data": builder.inttoptr(read[0], made.elements[at("data")]),
        "shape": cgutils.pack_array(builder, read[1 : 1 + kind.ndim]),
        "strides": cgutils.pack_array(builder, read[1 + kind.ndim :]),
    }
    for name, part in parts.items():
        value = builder.insert_value(value, part, at(name))
    return value


def _word(builder: Any, words: Any, place: int) -> Any:
    word = builder.load(cgutils.gep_inbounds(builder, words, place))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word
