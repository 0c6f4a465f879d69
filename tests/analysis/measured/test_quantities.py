"""Force loops made by hand: what is read off them is what was put in."""

import numpy as np
import pytest

from analysis.measured.quantities import (
    PLACES,
    loop_quantities,
    loops_of,
    turning_points,
    zero_crossings,
)
from sim.core.arrays import Floats


def there_and_back(cycles: int = 3) -> Floats:
    """Closing from 0 to -1.6, then to 11 and back several times."""
    once = [np.arange(-1.6, 11.0, 0.02), np.arange(11.0, -1.6, -0.02)]
    return np.concatenate([np.arange(0.0, -1.6, -0.02), *once * cycles])


def friction(x: Floats) -> Floats:
    """0.25 N against the motion."""
    return 0.25 * np.sign(np.gradient(x))


def test_turning_points_are_found_through_jitter():
    x = there_and_back() + 0.05 * np.sin(7.0 * np.arange(len(there_and_back())))
    ends = x[turning_points(x)]
    assert len(ends) == 8
    np.testing.assert_allclose(ends[1:], [-1.6, 11.0] * 3 + [-1.6], atol=0.08)


def test_a_rubbing_spring_gives_its_spring_and_its_friction():
    """F = 2 x - 1 +- 0.25: zero at 0.5, work 10.8^2 - 10.8, half hysteresis 0.25."""
    x = there_and_back()
    found = loop_quantities(loops_of(x, 2.0 * x - 1.0 + friction(x)))
    np.testing.assert_allclose(found["force"].at, PLACES)
    np.testing.assert_allclose(found["force"].value, 2.0 * PLACES - 1.0, atol=0.01)
    assert found["half_hysteresis"].value[0] == pytest.approx(0.25, abs=0.01)
    assert found["zero_crossing_open"].value[0] == pytest.approx(0.5, abs=0.01)
    assert found["work"].value[0] == pytest.approx(10.8**2 - 10.8, rel=1e-3)
    assert "zero_crossing_closed" not in found


def test_the_first_loading_is_left_out_where_a_later_one_reaches_as_far():
    x = there_and_back()
    first = np.arange(len(x)) < np.flatnonzero(x > 10.98)[0] + 2
    force = 2.0 * x + 5.0 * first
    for cycles, extra in ((3, 0.0), (1, 2.5)):
        n = len(there_and_back(cycles))
        mean = loops_of(x[:n], force[:n]).mean_branch()
        off = (mean.value - 2.0 * mean.at)[(mean.at > 0) & (mean.at < 10.8)]
        np.testing.assert_allclose(off, extra, atol=0.1)


def test_both_stable_states_of_a_cubic():
    """F = (x - 0.31) (x - 3) (x - 8.07) rises through zero twice."""
    x = there_and_back()
    found = loop_quantities(loops_of(x, (x - 0.31) * (x - 3.0) * (x - 8.07)))
    assert found["zero_crossing_open"].value[0] == pytest.approx(0.31, abs=0.02)
    assert found["zero_crossing_closed"].value[0] == pytest.approx(8.07, abs=0.02)
    np.testing.assert_array_equal(zero_crossings(x[:5], -np.ones(5)), [])


def test_cycles_tell_the_uncertainty_of_their_mean():
    """Cycles at +1, 0, -1 after a first: each direction has the deviation 1."""
    x = there_and_back(4)
    cycle = np.searchsorted(turning_points(x)[[1, 3, 5, 7]], np.arange(len(x)))
    force = np.array([0.0, 9.0, 1.0, 0.0, -1.0])[np.minimum(cycle, 4)] + x
    loops = loops_of(x, force)
    assert (len(loops.closing), len(loops.opening)) == (3, 4)
    assert loops.mean_branch().u[30] > 1.0 / np.sqrt(3) / 2


def test_a_mean_over_a_length_is_that_of_straight_lines():
    """Of |x - 5|, over +-0.3: |x - 5| away from 5, there (0.3^2 + d^2) / 0.6."""
    x = there_and_back(1)
    off = np.abs(PLACES - 5.0)
    over = loops_of(np.round(x, 2), np.abs(np.round(x, 2) - 5.0), over=0.3)
    inner = (PLACES > -1.2) & (PLACES < 10.6)
    expected = np.where(off < 0.3, (0.09 + off**2) / 0.6, off)
    np.testing.assert_allclose(
        over.mean_branch().value[inner], expected[inner], atol=1e-9
    )


def test_a_record_that_never_comes_back_is_refused():
    x = np.arange(-1.6, 11.0, 0.1)
    with pytest.raises(ValueError, match="never opens"):
        loops_of(x, x)
