"""The objects that a composed configuration describes.

Only this project's own: frozen dataclasses that check themselves.
"""

import math
import pydoc
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from pipeline.config.checking import no_key
from pipeline.terminal.errors import InputError, one_line

# Objects that a configuration may name: never the world's, none that writes files.
OWN_MODULES = ("pipeline.cases.", "pipeline.formats.", "sim.")
LARGEST = 1e150
NOT_NAMED = (
    "pipeline.formats.printed_files.", "pipeline.formats.vtk_series.",
    "sim.kernels.", "sim.pointed.",
)  # fmt: skip


def check_target(target: str, where: str) -> None:
    """Refuse a name that is not, or does not lead to, one of our own objects."""
    own = target.startswith(OWN_MODULES) and not target.startswith(NOT_NAMED)
    own = own and not any(part.startswith("_") for part in target.split("."))
    if own:
        found = pydoc.locate(target)
        if found is None:
            raise InputError(f"{where}._target_ is {target}: there is no such object")
        home = f"{getattr(found, '__module__', '')}."
        own = home.startswith(OWN_MODULES) and not home.startswith(NOT_NAMED)
        own = own and _describes(found)
    if not own:
        allowed = " and ".join(f"{module}*" for module in OWN_MODULES)
        raise InputError(
            f"{where}._target_ is {target}: only this project's own {allowed} "
            "may be named, classes and functions that are said to return one of them"
        )


def _describes(found: Any) -> bool:
    """Whether a class, or a function whose hints say that it makes one's object.

    A compiled kernel is neither: it writes to memory where its arguments say.
    """
    if isinstance(found, types.FunctionType):
        found = typing.get_type_hints(found).get("return")
    return isinstance(found, type) and found.__module__.startswith(
        ("pipeline.", "sim.")
    )


def _check_targets(config: Any, where: str) -> None:
    """Refuse foreign objects, words that would still become something else, and numbers
    whose square is none.
    """
    if isinstance(config, int | float) and LARGEST < abs(config) < math.inf:
        raise InputError(
            f"{where} is {config!r}: numbers of a case are not beyond 1e150"
        )
    if isinstance(config, str) and "${" in config:
        raise InputError(
            f"{where} is {config!r}: ${{...}} is not read twice: remove it"
        )
    if isinstance(config, Mapping):
        if "_target_" in config:
            check_target(str(config["_target_"]), where)
        for key, value in config.items():
            _check_targets(value, f"{where}.{key}")
    elif isinstance(config, Sequence) and not isinstance(config, str):
        for i, value in enumerate(config):
            _check_targets(value, f"{where}[{i}]")


def build(config: Any, where: str) -> Any:
    """The object that `config` describes; one that is not sound is refused.

    As Hydra's `instantiate` makes it, without wrapping each number of a list.
    """
    _check_targets(config, where)
    _check_kinds(config, where)
    return _made(config, where)


def _made(config: Any, where: str) -> Any:
    """What is described here, made of what is described within, in plain containers."""
    if isinstance(config, Mapping):
        parts = {k: _made(v, f"{where}.{k}") for k, v in config.items()}
        target = parts.pop("_target_", None)
        if target is None:
            return parts
        for key in parts:
            if not isinstance(key, str):
                raise InputError(f"{where} has the key {key!r}, which is no word")
        made: Any = pydoc.locate(str(target))
        try:
            return made(**parts)
        except Exception as error:
            raise InputError(_said(error, where, str(target))) from error
    if isinstance(config, Sequence) and not isinstance(config, str):
        return [_made(value, f"{where}[{i}]") for i, value in enumerate(config)]
    return config


def _check_kinds(config: Any, where: str) -> None:
    """Refuse a word or a number in place of what is described by keys of its own."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            _check_kinds(value, f"{where}.{key}")
        for key, hint in _hints(str(config.get("_target_", ""))).items():
            if hint is bool and isinstance(config.get(key), str):
                raise InputError(
                    f"{where}.{key} is {config[key]!r}: write true or false"
                )
            if isinstance(config.get(key), str | int | float) and not _is_plain(hint):
                raise InputError(
                    f"{where}.{key} is {config[key]!r}, and is made of keys of its "
                    f"own: see them with --cfg job, write {where}.{key}.KEY=VALUE"
                )
    elif isinstance(config, Sequence) and not isinstance(config, str):
        for i, value in enumerate(config):
            _check_kinds(value, f"{where}[{i}]")


def _hints(target: str) -> dict[str, Any]:
    """What the parameters of a class or function are said to be."""
    made: Any = pydoc.locate(target) if target else None
    if made is None:
        return {}
    return typing.get_type_hints(made)


def _is_plain(hint: Any) -> bool:
    """Whether a word or a number, or several, may stand where this is asked for."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_plain(one) for one in typing.get_args(hint))
    if isinstance(hint, type):
        return issubclass(hint, str | int | float | Enum) or hint is object
    if typing.get_origin(hint) in (Sequence, list, tuple):
        return all(_is_plain(one) for one in typing.get_args(hint) if one is not ...)
    return typing.get_origin(hint) not in (Mapping, Callable, dict)


def _said(error: Exception, where: str, target: str) -> str:
    """What the object that could not be built says, and which node described it."""
    if isinstance(error, TypeError):
        extra = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        lacks = re.search(r"missing .* argument.?: '(\w+)'", str(error))
        if extra:
            known = [k for k in _hints(target) if k != "return"]
            return f"{where} {no_key(extra.group(1), known)}"
        if lacks:
            name = lacks.group(1)
            return (
                f"{where} has no {name}, which it needs: add it, or leave out "
                f"~{where}.{name}"
            )
    own = re.sub(r"\[\d+\]$", "", where).rpartition(".")[2]
    return f"{where}: {one_line(error).removeprefix(f'{own}: ')}"
