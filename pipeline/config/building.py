"""The objects that a composed configuration describes.

Hydra makes them: frozen dataclasses that check themselves.
"""

import math
import pydoc
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from pipeline.config.checking import no_key
from pipeline.terminal.errors import InputError, one_line

# What a `_target_` may begin with. This catches a misspelt name early; it is no guard
# against foreign code, since a project folder is code.
OWN_MODULES = ("pipeline.cases.", "pipeline.formats.", "sim.")
LARGEST = 1e150


def check_target(target: str, where: str) -> None:
    """Refuse a name that is none of this project's objects."""
    if not target.startswith(OWN_MODULES):
        allowed = " and ".join(f"{module}*" for module in OWN_MODULES)
        raise InputError(
            f"{where}._target_ is {target}: only this project's own {allowed} "
            "may be named"
        )
    if pydoc.locate(target) is None:
        raise InputError(f"{where}._target_ is {target}: there is no such object")


def _checked_targets(config: Any, where: str) -> Iterator[str]:
    """The places that name an object; refuses what no object can be made of."""
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
            yield where
        for key, value in config.items():
            yield from _checked_targets(value, f"{where}.{key}")
    elif isinstance(config, Sequence) and not isinstance(config, str):
        for i, value in enumerate(config):
            yield from _checked_targets(value, f"{where}[{i}]")


def build(config: Any, where: str) -> Any:
    """The object that `config` describes; one that is not sound is refused."""
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    places = list(_checked_targets(config, where))
    _check_kinds(config, where)
    try:
        return instantiate({where: config}, _convert_="all")[where]
    except InstantiationException as error:
        # Hydra writes entry 1 of `phases` as `phases1`.
        key = str(error).rpartition("full_key: ")[2]
        place = next((p for p in places if re.sub(r"[][]", "", p) == key), where)
        target = re.findall(r"target '([\w.]+)'", str(error))
        said = _said(error.__cause__ or error, place, "".join(target[:1]))
        raise InputError(said) from error.__cause__


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


def _said(error: BaseException, where: str, target: str) -> str:
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
