"""Form, lengths and conformity of what a scan shows, by known answers."""

import numpy as np
import pytest

from analysis.spheres.cells import even_directions
from analysis.validation.inspection import (
    Conformity,
    Tolerance,
    ball_form,
    inspected_lengths,
    shown_pairs,
)

CENTRES = np.array([[0.0, 0, 0], [100, 0, 0], [0, 50, 0]])
COVARIANCE = np.diag([4e-4, 1e-4, 1e-4] * 3)


def length_of(tolerance=None, **more):
    asked = [] if tolerance is None else [Tolerance((1, 0), *tolerance)]
    (found,) = inspected_lengths(
        CENTRES, COVARIANCE, np.array([[0, 1]]), {"scale": 1e-4}, {"form": 0.01},
        asked, **more,
    )  # fmt: skip
    return found


def test_the_uncertainty_of_a_length_adds_up_by_component():
    found = length_of()
    assert found.length_mm == 100.0
    assert found.parts_mm == pytest.approx(
        {"sphere centres": np.sqrt(8e-4), "scale": 0.01, "form": np.sqrt(2) * 0.01}
    )
    assert found.U_mm == pytest.approx(2 * np.sqrt(8e-4 + 1e-4 + 2e-4))
    assert length_of(factor=1.01).length_mm == pytest.approx(101.0)


def test_what_two_centres_share_is_in_no_length():
    shared = COVARIANCE + np.tile(np.eye(3), (3, 3))
    (found,) = inspected_lengths(CENTRES, shared, np.array([[0, 1]]), {}, {})
    assert found.parts_mm["sphere centres"] == pytest.approx(np.sqrt(8e-4))


@pytest.mark.parametrize(
    ("tolerance", "decision"),
    [
        (None, None),
        ((99.9, 100.1), Conformity.CONFORMS),
        ((99.95, 100.1), Conformity.UNDECIDED),  # U is 0.066
        ((100.05, 100.2), Conformity.UNDECIDED),
        ((100.07, 100.2), Conformity.FAILS),
        ((99.8, 99.9), Conformity.FAILS),
    ],
)
def test_limits_are_guarded_by_the_expanded_uncertainty(tolerance, decision):
    assert length_of(tolerance).conformity == decision


def test_form_is_the_range_of_radial_residuals_on_the_ball():
    u = even_directions(4000)
    e = 0.02 * u[:, 2] * u[:, 0] * 2  # a harmonic of degree 2: from -0.02 to 0.02
    points = CENTRES[1] + (6.0 + e[:, None]) * u
    found = ball_form(points, CENTRES[1], 6.0)
    assert found is not None
    assert found.points == 4000
    assert found.whole_mm == pytest.approx(0.04, rel=0.01)
    assert 0.8 * found.whole_mm < found.most_mm < found.whole_mm
    beside = np.vstack([points, CENTRES[1] + 7.0 * u[:40], CENTRES[1] + 6.5 * u[:40]])
    assert ball_form(beside, CENTRES[1], 6.0) == pytest.approx(found)
    assert ball_form(points[:10], CENTRES[1], 6.0) is None


def test_lengths_with_limits_are_shown_before_the_shortest_and_longest():
    x = np.column_stack([np.arange(10.0) ** 2, np.zeros((10, 2))])
    shown = shown_pairs(x, 4, [Tolerance((5, 2), 1.0, 2.0)])
    assert shown.tolist()[0] == [2, 5]
    length = np.abs(x[shown[:, 0], 0] - x[shown[:, 1], 0])
    assert sorted(length[1:].tolist()) == [1.0, 3.0, 80.0, 81.0]
