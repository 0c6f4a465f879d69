"""Model error: what residuals tell of it, and how it is carried."""

import numpy as np
import pytest

from analysis.measured.model_error import (
    Departure,
    ModelError,
    Residuals,
    correlation,
    estimate,
)
from sim.core.arrays import Floats

AT = np.linspace(0.0, 1.0, 8)


def error_of(kind: Departure, sd: float = 0.0, *, relative: bool = False) -> ModelError:
    return ModelError(kind, 0.3, relative, np.zeros(1), np.array([sd]))


def residuals(
    rng: np.random.Generator,
    truth: ModelError,
    records: int,
    u: float,
    level: float = 1.0,
) -> Residuals:
    at, record = np.tile(AT, records), np.repeat(np.arange(records), len(AT))
    predicted = np.full(len(at), level)
    K = truth.covariance(at, record, predicted)
    e = np.linalg.cholesky(K + 1e-12 * np.eye(len(K))) @ rng.standard_normal(len(K))
    e = e + rng.normal(0.0, u, len(e))
    none = np.zeros((len(e), 0))
    return Residuals(e, np.full(len(e), u), at, record, predicted, none)


@pytest.mark.parametrize("kind", [Departure.CONSTANT, Departure.CURVE])
def test_the_deviation_of_many_records_is_found(rng, kind):
    found = []
    for _ in range(12):
        several = [residuals(rng, error_of(kind, 0.4), 30, 0.1)]
        found.append(estimate(several, error_of(kind), 1.0, np.eye(0)).sd[0])
    assert np.exp(np.log(found).mean()) == pytest.approx(0.4, rel=0.25)


def test_scatter_is_found_where_it_is(rng):
    at = np.repeat([0.0, 1.0], 4_000)
    e = rng.normal(0.0, np.hypot(0.1, np.where(at == 0, 0.2, 0.8)))
    record = np.zeros(len(e), dtype=np.int64)
    one = Residuals(e, np.full(len(e), 0.1), at, record, e, np.zeros((len(e), 0)))
    narrow = ModelError(Departure.SCATTER, 0.1, False, np.zeros(1), np.zeros(1))
    found = estimate([one], narrow, 1.0, np.eye(0))
    np.testing.assert_allclose(
        found.deviation(np.array([0.0, 1.0]), e[:2]), [0.2, 0.8], rtol=0.06
    )


def test_noise_alone_is_no_model_error(rng):
    of = [residuals(rng, error_of(Departure.CONSTANT, 1e-9), 20, 0.5)]
    found = estimate(of, error_of(Departure.CONSTANT), 1.0, np.eye(0))
    assert found.sd[0] < 0.2
    assert found.records == 20


def test_a_relative_error_follows_the_predicted_value():
    error = error_of(Departure.CONSTANT, 0.05, relative=True)
    np.testing.assert_allclose(error.deviation(AT, 10.0 * AT), 0.5 * AT)


def test_parameters_that_were_fitted_hide_part_of_the_error(rng):
    """A slope that could take everything up leaves the prior: the deviation grows."""
    base = residuals(rng, error_of(Departure.CONSTANT, 0.05), 2, 0.01)
    free = Residuals(
        base.e, base.u, base.at, base.record, base.predicted,
        np.eye(2)[base.record] * 10.0,
    )  # fmt: skip
    few = estimate([base], error_of(Departure.CONSTANT), 1.0, np.eye(0)).sd[0]
    hidden = estimate([free], error_of(Departure.CONSTANT), 1.0, np.zeros((2, 2))).sd[0]
    assert hidden > 2 * few


@pytest.mark.parametrize("kind", list(Departure))
def test_departures_have_a_covariance_that_can_be_one(kind):
    record = np.repeat([0, 1, 2], len(AT))
    at: Floats = np.tile(AT, 3)
    K = error_of(kind, 0.3).covariance(at, record, np.ones(len(at)))
    np.testing.assert_allclose(np.diag(K), 0.09)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    far = correlation(Departure.CURVE, 0.3, np.array([0.0, 0.3, 3.0]))
    assert 0.3 < far[0, 1] < 0.6
    assert far[0, 2] < 1e-5
