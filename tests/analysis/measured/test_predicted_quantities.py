"""Series of a quantity: compared where they reach, never beyond."""

import numpy as np
import pytest

from analysis.measured.predicted_quantities import RecordInputs, curve, one_value


def test_a_series_is_taken_on_a_grid_where_it_reaches_only():
    series = curve(np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 4.0]), 0.5)
    on = series.on(np.array([-1.0, 0.5, 2.0, 3.0, 3.5]))
    np.testing.assert_allclose(on.at, [0.5, 2.0, 3.0])
    np.testing.assert_allclose(on.value, [1.0, 3.0, 4.0])
    np.testing.assert_allclose(on.u, 0.5)


def test_places_that_turn_back_are_refused():
    series = curve(np.array([0.0, 1.0, 0.5]), np.zeros(3))
    with pytest.raises(ValueError, match="strictly increasing"):
        series.on(np.array([0.2]))


def test_nothing_is_told_across_a_hole():
    """A loop that was opened by a third only was bridged by a straight line."""
    at = np.array([0.0, 1.0, 2.0, 7.0, 8.0])
    found = curve(at, 2.0 * at).on(np.arange(0.0, 8.1, 0.5))
    assert found.at.tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 7.0, 7.5, 8.0]
    np.testing.assert_allclose(found.value, 2.0 * found.at)


def test_a_series_of_nan_is_refused():
    with pytest.raises(ValueError, match="nan or inf"):
        one_value(float("nan"))


def test_a_record_is_shifted_in_one_number_only():
    record = RecordInputs("a", {"mass": 1.0, "level": 2.0}, {"mass": 0.1})
    shifted = record.shifted("mass", 0.1)
    assert shifted.numbers == {"mass": 1.1, "level": 2.0}
    assert record.numbers["mass"] == 1.0


def test_u_of_a_value_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="mas has u but no value"):
        RecordInputs("a", {"mass": 1.0}, {"mas": 0.1})
