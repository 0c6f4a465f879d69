"""What moved most, in a file's own coordinates."""

import numpy as np
import pytest

from pipeline.cases.record import LengthUnit, moved_most

START = np.array([[0.0, 0.0], [0.1, 0.0]])


@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        (LengthUnit(), "node 1 farthest, by 0.05 m to (0.07, 0.04) m"),
        (
            LengthUnit("mm", 1e-3, by_place=True),
            "the point at (100, 0) mm farthest, by 50 mm to (70, 40) mm",
        ),
        (LengthUnit(""), "node 1 farthest, by 0.05 to (0.07, 0.04)"),
    ],
)
def test_the_node_that_moved_most_is_told_with_its_way_and_end(lengths, said):
    end = START + np.array([[1e-9, 0.0], [-0.03, 0.04]])
    assert moved_most(START, end, lengths) == said


def test_where_nothing_moved_no_node_is_named():
    for end in (START, START + 1e-17):
        assert moved_most(START, end, LengthUnit()) == "no node"
