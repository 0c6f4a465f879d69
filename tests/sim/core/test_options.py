"""Dataclasses that are checked by the types of their fields."""

from dataclasses import dataclass

from sim.core.options import Checked, Positive


@dataclass(frozen=True, eq=False)
class Part(Checked):
    size: Positive


def test_those_without_an_equality_are_told_apart_by_identity():
    """Two of a kind were equal, whatever they held."""
    assert len({Part(1.0), Part(1.0), Part(2.0)}) == 3
