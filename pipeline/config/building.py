"""The objects that a composed configuration describes, built by Hydra.

Only this project's own: frozen dataclasses that check themselves.
"""

import pydoc
import re
from collections.abc import Mapping, Sequence
from typing import Any

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
    try:
        return instantiate(config, _convert_="object")
    except InstantiationException as error:
        raise InputError(_said(error, where)) from error


def _said(error: BaseException, where: str) -> str:
    """What the object that could not be built says, and which node described it."""
    found = re.search(r"full_key: (\S+)", str(error))
    node = f"{where}.{found.group(1)}" if found else where
    cause = error.__cause__
    if isinstance(cause, TypeError):
        extra = re.search(r"unexpected keyword argument '(\w+)'", str(cause))
        lacks = re.search(r"missing .* argument.?: '(\w+)'", str(cause))
        if extra:
            return f"{node} has no key {extra.group(1)!r}: remove it, or correct it"
        if lacks:
            return f"{node} has no {lacks.group(1)}: add one"
    return f"{node}: {said_by(error) if cause is None else one_line(cause)}"
