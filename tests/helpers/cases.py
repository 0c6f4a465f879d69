"""Shipped cases, built as the commands build them."""

import copy
from functools import cache
from typing import Any, TypeVar

from hydra.utils import instantiate

from pipeline.config.build_objects import build
from pipeline.config.hydra import Composer
from tests.pipeline.shipped_cases import config_of

Case = TypeVar("Case")


@cache
def _composed(name: str, overrides: tuple[str, ...]) -> Any:
    composer = Composer()
    return composer.compose("simulate", [f"case={name}", *overrides])["case"]


def composed(kind: type[Case], name: str, *overrides: str) -> Case:
    """The case `name` of conf with overrides such as case.max_steps=4."""
    built = build(copy.deepcopy(_composed(name, overrides)), "case")
    assert isinstance(built, kind)
    return built


def changed(kind: type[Case], name: str, **values: Any) -> Case:
    """The case `name` of conf with some of its values replaced; Hydra's own errors."""
    case = instantiate({**config_of(name), **values}, _convert_="object")
    assert isinstance(case, kind)
    return case
