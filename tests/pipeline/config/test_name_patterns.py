"""Regular expressions of others: what may search without an end is refused."""

import re
import time

import pytest

from pipeline.config.name_patterns import LONGEST, checked_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a*)*b",
        "(a|aa)+b",
        "(|a)+b",
        "(a|a?)+b",
        "(?:.*,)*b",
        "a?" * 30 + "a" * 30,
        ".*" * 4 + "b",
        "(a{1,9}){1,99}b",
        "(?=(a+)+b)",
        "(x)?(?(1)(a+)+b|c)",
        "(?>(a+)+b)",
        "(a+?)+?b",
        "((a+)(?:b))*+c",
    ],
)
def test_what_may_search_without_an_end_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="may search without an end"):
        checked_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(" * 9999, 3, None])
def test_what_is_no_pattern_is_refused(pattern: object) -> None:
    with pytest.raises(ValueError, match="is no pattern"):
        checked_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        ".*" * 3 + "x",
        "a*" * 3 + "x",
        "(.*)(a|aa)(a*)x",
        "(?=a*)(a*)(a*)x",
        "(a?){5}(a*)(a*)x",
        "(ab)*(a|b)*c",
        "",
    ],
)
def test_what_is_kept_ends_soon_for_the_worst_of_names(pattern: str) -> None:
    checked_pattern(pattern)
    began = time.process_time()
    assert pattern == "" or not re.fullmatch(pattern, "a" * LONGEST)
    assert time.process_time() - began < 3.0  # 0.1 s where nothing else is done
