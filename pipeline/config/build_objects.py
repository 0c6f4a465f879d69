"""The objects that a composed configuration describes.

Hydra makes them: frozen dataclasses that check themselves.
"""

import inspect
import math
import pydoc
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from numpy import ndarray

from pipeline.config.config_files import no_key, parts_of
from pipeline.terminal import InputError, one_line

# What a `_target_` may begin with. This catches a misspelt name early; it is no guard
# against foreign code, since a project folder is code.
OWN_MODULES = ("pipeline.cases.", "pipeline.io.", "pipeline.measured.", "sim.")
LARGEST = 1e150
SEQUENCES = (Sequence, list, tuple)
ARRAY = "array_sha256"  # key of an array whose values a configuration does not hold


def check_target(target: str, where: str) -> None:
    """Refuse a name that is none of this project's objects."""
    if not target.startswith(OWN_MODULES):
        allowed = " and ".join(f"{module}*" for module in OWN_MODULES)
        raise InputError(f"{where}._target_ is {target}: name one of {allowed}")
    if _located(target) is None:
        raise InputError(f"{where}._target_ {target} does not exist: correct it")


def _located(target: str) -> Any:
    """What a dotted name names; None if nothing does. Its import raises what it may."""
    try:
        return pydoc.locate(target)
    except pydoc.ErrorDuringImport as error:
        raise error.value or error from None


def parameters_of(target: str) -> dict[str, inspect.Parameter]:
    """What a class or function of this project takes; nothing foreign is imported."""
    made = _located(target) if target.startswith(OWN_MODULES) else None
    return dict(inspect.signature(made).parameters) if callable(made) else {}


def _check(where: str, value: Any) -> None:
    """Refuse a part of which no object can be built."""
    if isinstance(value, int | float) and LARGEST < abs(value) < math.inf:
        raise InputError(f"{where} is {value!r}: give a number up to {LARGEST:g}")
    if isinstance(value, str) and "${" in value:
        raise InputError(f"{where} is {value!r}: remove the nested ${{...}}")
    if not isinstance(value, Mapping):
        return
    if ARRAY in value:
        raise InputError(
            f"{where} is an array made in Python, recorded by its digest only: run the "
            "step from Python, or define the case in a file"
        )
    if "_target_" in value:
        check_target(str(value["_target_"]), where)
    for key, taken in parameters_of(str(value.get("_target_", ""))).items():
        given, hint = value.get(key), taken.annotation
        for null in _nulls(given, hint, f"{where}.{key}") if key in value else ():
            left_out = taken.default is not inspect.Parameter.empty and "[" not in null
            remedy = f", or leave the key out with ~{null}" if left_out else ""
            raise InputError(f"{null} is null: give a value{remedy}")
        if hint is bool and isinstance(given, str):
            raise InputError(f"{where}.{key} is {given!r}: write true or false")
        if isinstance(given, str | int | float) and not _is_plain(hint):
            raise InputError(
                f"{where}.{key} is {given!r}, but is a group of keys: write "
                f"{where}.{key}.KEY=VALUE (--cfg job lists them)"
            )


def build(config: Any, where: str) -> Any:
    """The object that `config` describes; one that is not sound is refused."""
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    parts = list(parts_of(config, where))
    for place, value in parts:
        _check(place, value)
    try:
        return instantiate({where: config}, _convert_="all")[where]
    except InstantiationException as error:
        # Hydra writes entry 1 of `phases` as `phases1`.
        key = str(error).rpartition("full_key: ")[2]
        place = next((p for p, _ in parts if re.sub(r"[][]", "", p) == key), where)
        target = re.findall(r"target '([\w.]+)'", str(error))
        message = _message(error.__cause__ or error, place, "".join(target[:1]))
        raise InputError(message) from error.__cause__


def _nulls(given: Any, hint: Any, where: str) -> Iterator[str]:
    """The places of null in a value, where its type takes none."""
    kind, among = typing.get_origin(hint), typing.get_args(hint)
    if kind is typing.Annotated:
        yield from _nulls(given, hint.__origin__, where)
    elif kind in (typing.Union, types.UnionType):
        lists = [
            one for one in among if typing.get_origin(one) in (*SEQUENCES, ndarray)
        ]
        several = lists if lists and isinstance(given, list) else among
        yield from min((list(_nulls(given, one, where)) for one in several), key=len)
    elif given is None:
        if hint not in (None, types.NoneType, Any, object, inspect.Parameter.empty):
            yield where
    elif kind is ndarray and isinstance(given, list):
        for k, one in enumerate(given):
            yield from _nulls(one, hint, f"{where}[{k}]")
    elif kind in SEQUENCES and isinstance(given, list):
        each = among if len(among) == len(given) else among[:1] * len(given)
        for k, (one, of) in enumerate(zip(given, each, strict=True)):
            yield from _nulls(one, of, f"{where}[{k}]")
    elif kind in (Mapping, dict) and isinstance(given, Mapping):
        for key, one in given.items():
            yield from _nulls(one, among[1], f"{where}.{key}")


def _is_plain(hint: Any) -> bool:
    """Whether a word or a number, or several, may stand where this is asked for."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_plain(one) for one in typing.get_args(hint))
    if typing.get_origin(hint) is typing.Annotated:
        return _is_plain(hint.__origin__)
    if isinstance(hint, type):
        return issubclass(hint, str | int | float | Enum) or hint is object
    if typing.get_origin(hint) in SEQUENCES:
        return all(_is_plain(one) for one in typing.get_args(hint) if one is not ...)
    return typing.get_origin(hint) not in (Mapping, Callable, dict)


def _message(error: BaseException, where: str, target: str) -> str:
    """The error of the object that could not be built, with its place."""
    if isinstance(error, TypeError):
        extra = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        lacks = re.search(r"missing .* argument.?: '(\w+)'", str(error))
        if extra:
            return f"{where} {no_key(extra.group(1), list(parameters_of(target)))}"
        if lacks:
            name = lacks.group(1)
            return f"{where} has no {name}: add it, or omit ~{where}.{name}"
    own = re.sub(r"\[\d+\]$", "", where).rpartition(".")[2]
    return f"{where}: {one_line(error).removeprefix(f'{own}: ')}"
