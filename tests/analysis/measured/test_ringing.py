"""Period and damping of series that are known."""

import numpy as np
import pytest

from analysis.measured.ringing import ringing, running_mean
from sim.arrays import Floats

TIME = np.arange(0.0, 5.0, 0.01)


def ring(period: float, ratio: float, phase: float = 0.0) -> Floats:
    """A damped oscillation about 47 mm."""
    w = 2 * np.pi / period
    decay = ratio / np.sqrt(1 - ratio**2) * w
    return np.asarray(47.0 + 4.0 * np.exp(-decay * TIME) * np.cos(w * TIME + phase))


@pytest.mark.parametrize("period", [0.13, 0.234, 0.31])
@pytest.mark.parametrize("ratio", [0.02, 0.055])
def test_period_and_damping_of_a_damped_oscillation(
    period: float, ratio: float
) -> None:
    found = ringing(TIME, ring(period, ratio))
    assert found.period == pytest.approx(period, rel=2e-3)
    assert found.damping_ratio == pytest.approx(ratio, rel=2e-2)
    assert found.first_extremum == pytest.approx(period / 2, rel=2e-2)


def test_creep_and_a_shift_change_neither(rng: np.random.Generator) -> None:
    plain = ringing(TIME, ring(0.234, 0.05))
    crept = ring(0.234, 0.05) + 20.0 - 0.3 * np.log10(1 + TIME / 0.1)
    noisy = crept + rng.normal(0.0, 0.003, len(TIME))
    found = ringing(TIME + 3.0, noisy)
    assert found.period == pytest.approx(plain.period, rel=2e-3)
    assert found.damping_ratio == pytest.approx(plain.damping_ratio, rel=3e-2)


def test_a_period_that_lengthens_is_the_mean_of_its_half_periods() -> None:
    """Phase 2 pi t / T (1 - e t): extrema where it is a multiple of pi."""
    T, e = 0.2, 0.05
    phase = 2 * np.pi / T * TIME * (1 - e * TIME)
    found = ringing(TIME, np.exp(-TIME) * np.cos(phase))
    fine = np.linspace(0.0, 2.0, 200_001)
    turns = np.interp(np.arange(1, 12), 2 / T * fine * (1 - e * fine), fine)
    assert found.period == pytest.approx((turns[10] - turns[0]) / 5, rel=2e-3)


def test_a_running_mean_leaves_lines_alone() -> None:
    line = 2.0 + 3.0 * TIME
    mean = running_mean(TIME, line, 0.2)
    inside = np.abs(TIME - TIME.mean()) < TIME.mean() - 0.1
    np.testing.assert_allclose(mean[inside], line[inside], rtol=1e-12)


def test_too_short_a_series_is_refused() -> None:
    with pytest.raises(ValueError, match="extrema after the release"):
        ringing(TIME[:80], ring(0.3, 0.05)[:80])


def test_uneven_times_are_refused() -> None:
    with pytest.raises(ValueError, match="even times"):
        ringing(TIME**1.1, ring(0.3, 0.05))
