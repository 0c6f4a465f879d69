"""Shares of the long tests: every test in one of them, whatever the day."""

from itertools import chain

import pytest

from tests.shares import in_share

NAMES = [f"tests/sim/test_{i}.py::test_it[{i % 7}]" for i in range(500)]


def test_all_shares_together_are_all_tests_once():
    shares = [[n for n in NAMES if in_share(n, f"{k}/12")] for k in range(1, 13)]
    assert sorted(chain.from_iterable(shares)) == sorted(NAMES)
    assert min(map(len, shares)) > 20


@pytest.mark.parametrize("wrong", ["0/3", "4/3", "3"])
def test_a_share_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="with K from 1 to N"):
        in_share(NAMES[0], wrong)
