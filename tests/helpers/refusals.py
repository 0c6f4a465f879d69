"""Refusals: one line that says what is wrong, where, the value and the remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pipeline.terminal import InputError


@contextmanager
def refused_in_one_line(*words: str) -> Iterator[None]:
    """The block is refused, in one line that has all the words."""
    with pytest.raises((ValueError, InputError)) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message
