"""Fits of models whose answer is known, and what they say of themselves."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from analysis.calibration.parameter_fit import (
    FitStop,
    Measurements,
    errors_with_baselines,
    fit,
    outcome,
)
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError

T = np.linspace(0.0, 4.0, 21)
BOTH = np.array([True, True])


def _decay(p: Floats) -> tuple[Floats, Floats]:
    """p0 exp(-p1 t)."""
    e = np.exp(-p[1] * T)
    return p[0] * e, np.column_stack([e, -p[0] * T * e])


def _data(value: Floats, u: float) -> Measurements:
    return Measurements(value, np.full(len(value), u), T <= 3.0)


def test_a_line_has_the_parameters_and_covariance_of_the_textbook(rng):
    def line(p: Floats) -> tuple[Floats, Floats]:
        return p[0] + p[1] * T, np.column_stack([np.ones_like(T), T])

    data = Measurements(
        2.0 - 0.7 * T + 0.1 * rng.normal(size=21), np.full(21, 0.1), T < 9.0
    )
    *_, last = fit(line, np.array([1.0, 1.0]), data, positive=~BOTH)
    found = outcome(last, data)
    slope, intercept = np.polyfit(T, data.value, 1)
    assert_allclose(last.p, [intercept, slope], rtol=1e-6)
    spread = ((T - T.mean()) ** 2).sum()
    assert found.u[1] == pytest.approx(0.1 / np.sqrt(spread), rel=1e-6)
    assert found.correlation[0, 1] == pytest.approx(
        -T.mean() / np.sqrt((T**2).mean()), rel=1e-6
    )
    assert found.enlarged == 1.0
    assert found.predicted_u[0] == pytest.approx(found.u[0], rel=1e-6)


@pytest.mark.parametrize(("decimals", "noise"), [(3, 0.1), (2, 0.01)])
def test_a_rough_model_ends_a_fit_where_it_can_tell_no_more(rng, decimals, noise):
    """Also where u was stated far too large, so that chi2 / (m - P) is far below 1."""

    def rough(p: Floats) -> tuple[Floats, Floats]:
        f, J = _decay(p)
        return np.round(f, decimals), J

    truth = np.array([3.0, 0.4])
    data = _data(_decay(truth)[0] + noise * rng.normal(size=21), 0.1)
    *_, exact = fit(_decay, np.array([1.0, 2.0]), data, positive=BOTH)
    with pytest.raises(NotConvergedError, match="no change of the parameters"):
        list(fit(rough, np.array([1.0, 2.0]), data, positive=BOTH))
    *_, last = fit(rough, np.array([1.0, 2.0]), data, positive=BOTH, blurred=1e-2)
    assert last.stop is FitStop.SETTLED
    assert (np.abs(last.p - exact.p) < 0.1 * outcome(exact, data).u).all()


def test_exact_measurements_give_exact_parameters():
    truth = np.array([3.0, 0.4])
    data = _data(_decay(truth)[0], 0.0)
    steps = list(fit(_decay, np.array([1.0, 2.0]), data, positive=BOTH))
    assert steps[-1].stop is FitStop.EXACT
    assert_allclose(steps[-1].p, truth, rtol=1e-8)
    assert np.all(np.diff([step.chi2 for step in steps]) < 0.0)


def test_true_parameters_lie_within_their_uncertainty(rng):
    """Over 200 draws, (p - truth)^T C^-1 (p - truth) is chi2 of 400 degrees."""
    truth, total = np.array([3.0, 0.4]), 0.0
    for _ in range(200):
        data = _data(_decay(truth)[0] + 0.05 * rng.normal(size=21), 0.05)
        *_, last = fit(_decay, np.array([2.0, 0.6]), data, positive=BOTH)
        found = outcome(last, data)
        away = last.p - truth
        total += float(away @ np.linalg.solve(found.covariance, away))
    assert 305.0 < total < 506.0  # 0.1 % on either side


def test_residuals_beyond_the_stated_u_enlarge_it(rng):
    truth = np.array([3.0, 0.4])
    value = _decay(truth)[0] + 0.2 * rng.normal(size=21)
    ends = []
    for u in (0.02, 0.0):
        data = _data(value, u)
        *_, last = fit(_decay, np.array([2.0, 0.6]), data, positive=BOTH)
        ends.append(outcome(last, data))
    assert ends[0].enlarged > 5.0
    assert_allclose(ends[0].u, ends[1].u, rtol=1e-3)  # the residuals alone decide


def test_parameters_that_measurements_do_not_tell_are_named():
    """The third changes nothing; the last two only as a product."""

    def model(p: Floats) -> tuple[Floats, Floats]:
        e = np.exp(-p[0] * T)
        zero = np.zeros_like(T)
        slope = np.column_stack([-T * p[2] * p[3] * e, zero, p[3] * e, p[2] * e])
        return p[2] * p[3] * e, slope

    data = _data(2.0 * np.exp(-0.5 * T), 0.01)
    start = np.array([1.0, 5.0, 1.0, 1.0])
    *_, last = fit(model, start, data, positive=np.full(4, True))
    found = outcome(last, data)
    assert found.determined.tolist() == [True, False, False, False]
    assert np.isinf(found.u[1:]).all()
    assert last.p[0] == pytest.approx(0.5, rel=1e-6)
    assert last.p[1] == 5.0
    assert last.p[2] * last.p[3] == pytest.approx(2.0, rel=1e-6)
    assert np.isfinite(found.predicted_u).all()


def test_too_few_measurements_are_refused():
    data = Measurements(np.ones(5), np.full(5, 0.1), np.arange(5) < 1)
    with pytest.raises(ValueError, match=r"has 1 measurement for 2 parameters \(a, b"):
        data.refuse_fewer_than(["a", "b"])
    data.refuse_fewer_than(["a"])
    unknown = replace(data, u=np.zeros(5))
    with pytest.raises(ValueError, match="and one more because no u is given"):
        unknown.refuse_fewer_than(["a"])
    with pytest.raises(ValueError, match="measurement 1 has u = 0"):
        replace(data, u=np.array([0.1, 0.0, 0.1, 0.1, 0.1]))


def test_a_fit_that_does_not_end_says_so():
    data = _data(_decay(np.array([3.0, 0.4]))[0], 0.1)
    steps = fit(_decay, np.array([1.0, 2.0]), data, positive=BOTH, max_steps=1)
    with pytest.raises(NotConvergedError, match="can still fall by"):
        list(steps)


def test_errors_stand_beside_those_of_the_start_and_of_the_mean():
    table = pd.DataFrame(
        {
            "quantity": "y",
            "value": [1.0, 3.0, 5.0],
            "u": 0.1,
            "part": ["fit", "fit", "held out"],
            "nominal": [0.0, 2.0, 4.0],
            "fitted": [1.0, 3.0, 4.5],
        }
    )
    fitted, held_out = errors_with_baselines(table).to_dict("records")
    assert (fitted["rms"], fitted["rms_nominal"], fitted["rms_mean"]) == (0.0, 1.0, 1.0)
    assert (held_out["rms"], held_out["rms_mean"], held_out["bias"]) == (0.5, 3.0, -0.5)
