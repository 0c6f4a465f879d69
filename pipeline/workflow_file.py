"""conf/workflow.yaml, read and checked: which comparisons and figures are wanted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from pipeline.errors import InputError

WORKFLOW = Path("conf/workflow.yaml")
UNITS = ("mm", "m", "cm", "inch")


@dataclass(frozen=True)
class VirtualScan:
    """A synthetic scan of a simulated end state, in place of a real one."""

    seed: int = 0
    of: tuple[
        str, ...
    ] = ()  # Hydra overrides of the run scanned; () is the one compared


@dataclass(frozen=True)
class Compared:
    """A scan beside a case.

    Parameters
    ----------
    scan : files, each one view, or a synthetic scan
    scale_mm : mm per unit of the case
    expect : verdict that a control must get, or ""
    """

    name: str
    case: str
    scan: tuple[str, ...] | VirtualScan
    sphere_radius_mm: float
    scale_mm: float
    unit: str = "mm"
    overrides: tuple[str, ...] = ()
    expect: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("sphere_radius_mm", "scale_mm"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value > 0:
                raise InputError(
                    f"{WORKFLOW}: comparisons.{self.name}.{name} must be a positive "
                    f"number, not {value!r}"
                )
        if self.unit not in UNITS:
            raise InputError(
                f"{WORKFLOW}: comparisons.{self.name}.unit is {self.unit!r}: "
                f"choose one of {', '.join(UNITS)}"
            )


@dataclass(frozen=True)
class Drawn:
    """A figure and the comparisons and cases it shows."""

    name: str
    comparisons: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Workflow:
    """Everything `make figures` makes."""

    comparisons: Mapping[str, Compared]
    figures: Mapping[str, Drawn]


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{WORKFLOW}: {where} must be a mapping, not {value!r}")
    return {str(k): v for k, v in value.items()}


def _known(given: Mapping[str, Any], kind: type, where: str) -> None:
    names = [f.name for f in fields(kind) if f.name != "name"]
    for key in given:
        if key not in names:
            raise InputError(
                f"{WORKFLOW}: {where} has no key {key!r}: it knows {', '.join(names)}"
            )


def _scan(value: Any, where: str) -> tuple[str, ...] | VirtualScan:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    if isinstance(value, dict) and list(value) == ["virtual"]:
        given = _mapping(value["virtual"], f"{where}.virtual")
        _known(given, VirtualScan, f"{where}.virtual")
        return VirtualScan(**given | {"of": tuple(given.get("of", ()))})
    raise InputError(
        f"{WORKFLOW}: {where} is {value!r}: give a list of files, "
        "or virtual: {seed: 1}"
    )


def _compared(name: str, given: dict[str, Any], defaults: dict[str, Any]) -> Compared:
    where = f"comparisons.{name}"
    whole = defaults | given
    _known(whole, Compared, where)
    for key in ("case", "scan"):
        if key not in whole:
            raise InputError(f"{WORKFLOW}: {where} has no {key}: add one")
    whole["scan"] = _scan(whole["scan"], f"{where}.scan")
    whole["overrides"] = tuple(whole.get("overrides", ()))
    try:
        return Compared(name=name, **whole)
    except TypeError as error:
        raise InputError(f"{WORKFLOW}: {where}: {error}") from error


def _drawn(name: str, given: dict[str, Any], known: Mapping[str, Compared]) -> Drawn:
    _known(given, Drawn, f"figures.{name}")
    for comparison in given.get("comparisons", ()):
        if comparison not in known:
            raise InputError(
                f"{WORKFLOW}: figures.{name} shows the comparison {comparison!r}, "
                f"which is not there: choose among {', '.join(known)}"
            )
    return Drawn(name, **{k: tuple(v) for k, v in given.items()})


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML that refuses a key given twice: two comparisons of one name, say."""


def _unique_mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> Any:
    seen: set[str] = set()
    for key, _ in node.value:
        if key.value in seen:
            raise InputError(
                f"{WORKFLOW}: {key.value!r} appears twice (line "
                f"{key.start_mark.line + 1}): rename one of them"
            )
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_UniqueKeyLoader.add_constructor(
    yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping
)


def read_workflow(path: Path = WORKFLOW) -> Workflow:
    """Read and check conf/workflow.yaml."""
    try:
        loaded = yaml.load(path.read_text(encoding="utf-8"), _UniqueKeyLoader)
    except FileNotFoundError as error:
        raise InputError(f"no {path} in {Path.cwd()}: run from the project") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML: {error}") from error
    whole = _mapping(loaded, "the file")
    _known(whole | {"comparisons": {}}, _Sections, "the file")
    defaults = _mapping(whole.get("defaults"), "defaults")
    comparisons = {
        name: _compared(name, _mapping(given, f"comparisons.{name}"), defaults)
        for name, given in _mapping(whole.get("comparisons"), "comparisons").items()
    }
    figures = {
        name: _drawn(name, _mapping(given, f"figures.{name}"), comparisons)
        for name, given in _mapping(whole.get("figures"), "figures").items()
    }
    return Workflow(comparisons, figures)


@dataclass(frozen=True)
class _Sections:
    defaults: Mapping[str, Any]
    comparisons: Mapping[str, Any]
    figures: Mapping[str, Any]
