"""Named tuples of many arrays, handed to kernels by their address.

Numba passes a named tuple as its parts, of an array some seven: a function that takes
a hundred arrays has seven hundred arguments, and so has every call of it. That was most
of what compiling such functions cost. Here a kernel gets one address instead, of the
addresses, shapes and strides of all parts, and reads those that it names. `work.x[i]`
means the same in both.

The parts stay where they are while a kernel runs, whatever is written into them; LLVM
is told so, and reads an address once.
"""

import struct
from collections.abc import Iterator
from functools import reduce
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple
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

Whole = TypeVar("Whole", bound=tuple[Any, ...])


def pointed(whole: Whole) -> Whole:
    """What kernels read as the named tuple `whole`; the tuple, without compilation.

    Parts are arrays, records, numbers, truth values and named tuples of these. The
    tuple is kept alive as long as what is returned.
    """
    if numba.config.DISABLE_JIT:
        return whole
    return cast(Whole, Pointed(whole))


class Pointed:
    """A named tuple and where its parts are."""

    def __init__(self, whole: tuple[Any, ...]) -> None:
        self.whole = whole
        self.numba_type = PointedType(numba.typeof(whole))
        self.words = np.array(list(_words(whole)), dtype=np.uint64)
        self.address = self.words.ctypes.data


def _words(part: Any) -> Iterator[int]:
    """The parts in words of 64 bits, as `_read` reads them."""
    if isinstance(part, tuple):
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
        raise TypeError(f"pointed: {type(part).__name__}: give arrays and numbers")


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
    if isinstance(kind, types.Record):
        return builder.inttoptr(read[0], made)
    if isinstance(kind, types.Boolean):
        return cgutils.is_not_null(builder, read[0])
    return builder.bitcast(read[0], made)


def _array(context: Any, builder: Any, kind: Any, read: list[Any]) -> Any:
    """An array that nobody counts references to, as numba represents it."""
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
