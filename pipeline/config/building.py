"""The objects that a composed configuration describes, built by Hydra.

Only this project's own: frozen dataclasses that check themselves.
"""

import pydoc
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from pipeline.config.checking import no_key
from pipeline.config.hydra import said_by
from pipeline.terminal.errors import InputError, one_line

# Objects that a configuration may name: never the world's, none that writes files.
OWN_MODULES = ("pipeline.cases.", "pipeline.formats.", "sim.")
NOT_NAMED = (
    "pipeline.formats.printed_files.", "pipeline.formats.vtk_series.",
    "sim.kernel_cache.", "sim.kernel_parts.", "sim.kernels.", "sim.numba_flags.",
    "sim.pointed.",
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
    if not own:
        allowed = " and ".join(f"{module}*" for module in OWN_MODULES)
        raise InputError(
            f"{where}._target_ is {target}: only this project's own {allowed} "
            "may be named"
        )


def _check_targets(config: Any, where: str) -> None:
    """Refuse foreign objects, and words that would still become something else."""
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
    """The object that `config` describes; one that is not sound is refused."""
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate

    _check_targets(config, where)
    _check_kinds(config, where)
    try:
        return instantiate(config, _convert_="object")
    except InstantiationException as error:
        raise InputError(_said(error, where, config)) from error


def _check_kinds(config: Any, where: str) -> None:
    """Refuse a word or a number in place of what is described by keys of its own."""
    if isinstance(config, Mapping):
        for key, value in config.items():
            _check_kinds(value, f"{where}.{key}")
        for key, hint in _hints(str(config.get("_target_", ""))).items():
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


def _said(error: BaseException, where: str, config: Any) -> str:
    """What the object that could not be built says, and which node described it."""
    found = re.search(r"full_key: (\S+)", str(error))
    node, here = _place_of(found.group(1) if found else "", where, config)
    cause = error.__cause__
    if isinstance(cause, TypeError):
        extra = re.search(r"unexpected keyword argument '(\w+)'", str(cause))
        lacks = re.search(r"missing .* argument.?: '(\w+)'", str(cause))
        if extra:
            known = [k for k in _hints(str(here.get("_target_", ""))) if k != "return"]
            return f"{node} {no_key(extra.group(1), known)}"
        if lacks:
            name = lacks.group(1)
            return (
                f"{node} has no {name}, which it needs: add it, or leave out "
                f"~{node}.{name}"
            )
    return f"{node}: {said_by(error) if cause is None else one_line(cause)}"


def _place_of(key: str, where: str, config: Any) -> tuple[str, Mapping[str, Any]]:
    """The name of a node and what describes it; Hydra writes phases[0] as phases0."""
    for part in filter(None, key.split(".")):
        name, number = part, ""
        if isinstance(config, Mapping) and part not in config:
            name, number = re.fullmatch(r"(.*?)(\d*)", part).groups()  # type: ignore
        config = config.get(name, {}) if isinstance(config, Mapping) else {}
        where = f"{where}.{name}"
        if number and isinstance(config, Sequence) and int(number) < len(config):
            config, where = config[int(number)], f"{where}[{number}]"
    return where, config if isinstance(config, Mapping) else {}
