"""null at any key of any shipped case: switched off, or refused in one line."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline.config.build_objects import _check, build
from pipeline.config.config_files import parts_of
from pipeline.terminal import InputError
from tests.pipeline.shipped_cases import NAMES, config_of

PYTHON = re.compile(r"NoneType|object is not|argument|unpack|ufunc|not supported|\n")
Path = tuple[str | int, ...]


def keys(here: Any, at: Path = ()) -> Iterator[Path]:
    """Of groups, and of the first entry of lists."""
    rows = here.items() if isinstance(here, dict) else ()
    if isinstance(here, list):
        rows = list(enumerate(here))[:1]
    for key, value in rows:
        if not str(key).startswith("_") and value is not None:
            yield (*at, key)
            yield from keys(value, (*at, key))


def nulls() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Configurations with one value taken away, each kind of object once."""
    seen = set()
    for name in NAMES:
        config = config_of(name)
        for path in keys(config):
            one = copy.deepcopy(config)
            here: Any = one
            for part in path[:-1]:
                here = here[part]
            kind = here.get("_target_") if isinstance(here, dict) else path
            if (config["_target_"], kind, path[-1]) not in seen:
                seen.add((config["_target_"], kind, path[-1]))
                here[path[-1]] = None
                yield path, one


def refusal(made: Callable[[], Any]) -> str:
    """The words of an input error; empty where there is none."""
    try:
        made()
    except InputError as error:
        return str(error)
    return ""


def test_null_is_taken_or_refused_in_words_of_the_case():
    taken = 0
    for path, config in nulls():
        words = refusal(lambda c=config: [_check(*p) for p in parts_of(c, "case")])
        if words:
            assert re.fullmatch(r"case\S* is null: give a value.*", words)
            continue
        taken += 1
        words = refusal(lambda c=config: build(c, "case"))
        assert not PYTHON.search(words), (path, words)
    assert 10 <= taken <= 40


def test_a_null_is_refused_with_its_remedy():
    config = copy.deepcopy(config_of("miura"))
    config["fold_tolerance"] = None
    with pytest.raises(InputError) as refused:
        build(config, "case")
    assert str(refused.value) == (
        "case.fold_tolerance is null: give a value, or leave the key out with "
        "~case.fold_tolerance"
    )
    config["fold_tolerance"], config["phases"][0]["fraction"] = 5.0, None
    with pytest.raises(InputError, match=r"\.fraction is null: give a value$"):
        build(config, "case")
    config["phases"] = [None]
    with pytest.raises(InputError, match=r"^case\.phases\[0\] is null: give a value$"):
        build(config, "case")
