"""Dataclasses that are checked by the types of their fields."""

from dataclasses import dataclass

import pytest

from sim.core.options import Checked, Positive


@dataclass(frozen=True, eq=False)
class Part(Checked):
    size: Positive


def test_those_without_an_equality_are_told_apart_by_identity():
    """Two of a kind were equal, whatever they held."""
    assert len({Part(1.0), Part(1.0), Part(2.0)}) == 3


def test_a_text_in_place_of_a_number_is_shown_as_one():
    with pytest.raises(ValueError, match=r"positive, not the text '1\.0\.1'$"):
        Part("1.0.1")  # type: ignore[arg-type]
