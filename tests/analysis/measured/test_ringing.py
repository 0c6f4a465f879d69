"""Period and damping of series that are known."""

import numpy as np
import pytest

from analysis.measured.quantities import extrema, ringing
from sim.core.arrays import Floats

TIME = np.arange(0.0, 5.0, 0.01)


def ring(period: float, ratio: float) -> Floats:
    """A damped oscillation about 47 mm, let go at an extremum."""
    w = 2 * np.pi / period
    decay = ratio / np.sqrt(1 - ratio**2) * w
    late = np.arctan2(decay, w)  # slope 0 at time 0
    wave = np.exp(-decay * TIME) * np.cos(w * TIME - late) / np.cos(late)
    return np.asarray(47.0 + 4.0 * wave)


@pytest.mark.parametrize("period", [0.13, 0.234, 0.31])
@pytest.mark.parametrize("ratio", [0.02, 0.055])
def test_period_and_damping_of_a_damped_oscillation(period, ratio):
    found = ringing(TIME, ring(period, ratio), 47.0)
    assert found[0] == pytest.approx(period, rel=5e-4)
    assert found[1] == pytest.approx(ratio, rel=2e-3)


def test_noise_and_a_shift_change_neither(rng):
    plain = ringing(TIME, ring(0.234, 0.05), 47.0)
    noisy = ring(0.234, 0.05) + rng.normal(0.0, 0.003, len(TIME))
    found = ringing(TIME + 3.0, noisy + 20.0, 67.0)
    assert found[0] == pytest.approx(plain[0], rel=2e-3)
    assert found[1] == pytest.approx(plain[1], rel=1e-2)


def test_a_wait_before_the_release_is_in_the_first_half_period():
    """Ten half periods of 0.1 s and 0.03 s of waiting: T = 0.2 + 0.03 / 5."""
    whole = ring(0.2, 0.05)
    late = np.concatenate([np.full(3, whole[0]), whole[:-3]])
    assert ringing(TIME, late, 47.0)[0] == pytest.approx(0.206, rel=1e-3)


def test_of_several_extrema_on_one_side_the_farthest_counts():
    """A kick makes the first fall stop for a while above rest."""
    kick = 1.5 * np.exp(-(((TIME - 0.04) / 0.015) ** 2))
    when, away = extrema(TIME, ring(0.234, 0.05) - 47.0 + kick)
    assert (np.sign(away[:11]) == (-1.0) ** np.arange(11)).all()
    assert when[1] == pytest.approx(0.117, abs=2e-3)


def test_it_follows_a_series_without_jumps():
    """Periods a hundredth of a frame apart, over a whole frame: none jumps."""
    periods = 0.234 + 1e-4 * np.arange(100) / 5
    found = [ringing(TIME, ring(T, 0.05), 47.0)[0] for T in periods]
    assert np.diff(found) == pytest.approx(np.full(99, 2e-5), abs=1.5e-5)


def test_too_short_a_series_is_refused():
    with pytest.raises(ValueError, match="5 extrema after the release, 10"):
        ringing(TIME[:80], ring(0.3, 0.05)[:80], 47.0)


def test_uneven_times_are_refused():
    with pytest.raises(ValueError, match="equal time steps"):
        ringing(TIME**1.1, ring(0.3, 0.05), 47.0)


def test_a_period_of_few_frames_is_refused():
    with pytest.raises(ValueError, match="too few samples"):
        ringing(TIME, ring(0.06, 0.02), 47.0)
