"""The leaves of a configuration, by dotted name."""

from collections.abc import Iterator, Mapping
from typing import Any


def flat(config: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a configuration with their dotted names."""
    if isinstance(config, Mapping) and config:
        for key, value in config.items():
            yield from flat(value, f"{name}.{key}" if name else str(key))
    elif isinstance(config, list | tuple) and any(
        isinstance(item, Mapping | list | tuple) for item in config
    ):
        for i, value in enumerate(config):
            yield from flat(value, f"{name}.{i}")
    elif name:
        yield name, config
