"""YAML files of our own: read with one loader, refused with the line that is wrong."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from pipeline.errors import InputError, one_line


class _Loader(yaml.SafeLoader):
    """YAML that refuses a key given twice; 1e-6 is a number in it, as in Hydra."""


def _unique_mapping(loader: _Loader, node: yaml.MappingNode) -> Any:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen:
            mark = key.start_mark
            raise InputError(
                f"{mark.name}, line {mark.line + 1}: {key.value!r} appears twice: "
                "rename or remove one of them"
            )
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)


def read_mapping(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping."""
    try:
        with path.open(encoding="utf-8") as file:
            loaded = yaml.load(file, _Loader)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no {path} in {Path.cwd()}: check its name, or run from the "
            "project's own folder"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {one_line(error)}") from error
    return mapping(loaded, str(path))


def mapping(value: Any, where: str) -> dict[str, Any]:
    """`value` as a mapping; nothing at all is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a mapping, not {value!r}")
    return {str(k): v for k, v in value.items()}


def check_keys(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse a key that nobody reads."""
    names = list(known)
    for key in given:
        if key not in names:
            raise InputError(f"{where} has no key {key!r}: it knows {', '.join(names)}")
