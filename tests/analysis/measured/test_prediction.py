"""Intervals of predictions: by source, as wide as they say, never wider than of use."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from analysis.measured.fit_with_model_error import Input, Posterior, posterior
from analysis.measured.predicted_quantities import (
    Predict,
    Quantities,
    RecordInputs,
    one_value,
)
from analysis.measured.prediction import Family, Numerics, predicted, quantile
from analysis.measured.prediction_verdicts import compared, coverage
from tests.analysis.measured.toy import (
    AT,
    FAMILY,
    NONE,
    family,
    fitted,
    given,
    line,
    records,
)

E_FREE = Input("E", 1.0, np.inf, fitted=True)
LEVEL = Input("level", 0.3, np.inf, fitted=True)
PLAIN = Numerics()


def known(inputs: Mapping[str, float], u: Mapping[str, float]) -> Posterior:
    """Inputs that are held, without a fit."""
    Q = len(u)
    none = np.zeros((0, 0))
    return Posterior(
        dict(inputs), (), tuple(u), np.array([*u.values()]), none, none,
        np.zeros((0, Q)), {"force": NONE},
    )  # fmt: skip


def square(parameters: Mapping[str, float], record: RecordInputs) -> Quantities:
    return {"force": one_value(parameters["E"] ** 2 + record.numbers.get("load", 0.0))}


def test_inputs_are_taken_through_the_model_with_their_bend():
    """Of x^2 with x normal about m: variance 4 m^2 u^2 + 2 u^4."""
    record = RecordInputs("r", {"load": 1.0}, {"load": 0.3})
    after = known({"E": 2.0}, {"E": 0.5})
    table = predicted(square, record, after, [Input("E", 2.0, 0.5)], family, PLAIN)
    expected = 4 * 4 * 0.25 + 2 * 0.5**4 + 0.3**2
    assert table["u_input"].iloc[0] ** 2 == pytest.approx(expected, rel=1e-9)


def test_the_fit_goes_along_with_a_held_input(rng):
    """A level that the fit makes up for changes the predicted values less."""
    loads = {"a": 1.0, "b": 2.0}
    y = {n: 2 * load * AT + 0.3 + rng.normal(0, 0.01, 5) for n, load in loads.items()}
    of = fitted(records(loads), y, 0.01)
    inputs = [E_FREE, Input("level", 0.3, 0.2)]
    after, _ = posterior(given(of, inputs, {"force": 1e-9}), {"force": NONE})
    record = records({"c": 1.5})["c"]
    table = predicted(line, record, after, inputs, family, PLAIN)
    by_itself = np.full(5, 0.2)
    compensated = 0.2 * (1 - after.gain[0, 0] * 1.5 * AT)
    np.testing.assert_allclose(table["u_input"], np.abs(compensated), rtol=1e-6)
    assert (table["u_input"] <= by_itself + 1e-12).all()


def test_a_family_may_have_its_model_error_from_another():
    error = replace(NONE, sd=np.array([0.2]))
    after = replace(known({"E": 2.0}, {}), errors={"other": error})
    borrowed = Family("force", "N", aim=5.0, errors_from="other")
    record, inputs = RecordInputs("r", {"load": 1.0}), [Input("E", 2.0, 0.0)]
    table = predicted(square, record, after, inputs, lambda _: borrowed, PLAIN)
    np.testing.assert_allclose(table["u_model"], 0.2)


def test_half_the_step_tells_the_discretisation_error():
    """f(h) = 1 + h^2 with h = 0.2: its error 0.04, of which 0.03 shows."""

    def with_step(h: float) -> Predict:
        def predict(
            parameters: Mapping[str, float], record: RecordInputs
        ) -> Quantities:
            del parameters, record
            return {"force": one_value(1.0 + h**2)}

        return predict

    numerics = Numerics(refined=with_step(0.1))
    record, after = RecordInputs("r"), known({}, {})
    table = predicted(with_step(0.2), record, after, [], family, numerics)
    assert table["u_num"].iloc[0] == pytest.approx(1.25 * 0.04 / 1.15, rel=1e-9)


def test_an_interval_is_never_wider_than_of_use():
    wide = replace(FAMILY, aim=0.5, repeat_sd=0.1, u=0.2)

    def of(quantity: str) -> Family:
        assert quantity == "force"
        return wide

    record, after = RecordInputs("r"), known({"E": 3.0}, {"E": 2.0})
    table = predicted(square, record, after, [Input("E", 3.0, 2.0)], of, PLAIN)
    assert table["half_width"].iloc[0] == 1.0
    assert table["u_noise"].iloc[0] == pytest.approx(np.hypot(0.1, 0.2))
    relative = Family("force", "N", aim=0.1, relative=True, repeat_sd=0.5)
    np.testing.assert_allclose(relative.widest(np.array([1.0, -20.0])), [1.5, 4.0])


def test_an_interval_widens_away_from_the_fitted_conditions():
    """By t of the conditions and one for the prior, beyond what is of use nearby."""
    added = replace(NONE, sd=np.array([0.5]), records=2)
    after = replace(known({"E": 3.0}, {"E": 0.05}), growth={"force": added})
    record, inputs = RecordInputs("r"), [Input("E", 3.0, 0.05)]
    near, far = (
        predicted(square, record, after, inputs, family, PLAIN, distance=by).iloc[0]
        for by in (0.0, 2.0)
    )
    assert far["u_model"] == pytest.approx(1.0)
    expected = np.hypot(near["half_width"], 3.1824 * 1.0)
    assert far["half_width"] == pytest.approx(expected, rel=1e-4)
    assert far["half_width"] > 2 * FAMILY.aim
    assert near["u_model"] == 0.0


def test_few_records_tell_less_of_the_model_error():
    assert quantile(0) == pytest.approx(1.96, abs=1e-3)
    assert quantile(2) == pytest.approx(4.303, abs=1e-3)
    assert quantile(12) == pytest.approx(2.179, abs=1e-3)


@pytest.mark.long
def test_intervals_hold_as_often_as_they_say():
    """Six fitted records and one more, a wrong model, 150 times: 95 % within chance."""
    shares = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        loads = {f"r{k}": float(load) for k, load in enumerate(rng.uniform(1, 3, 7))}
        shared = rng.normal(0.0, 0.3 / np.sqrt(2))
        own = {n: shared + rng.normal(0.0, 0.3 / np.sqrt(2)) for n in loads}
        y = {n: 2 * x * AT + own[n] + rng.normal(0, 0.05, 5) for n, x in loads.items()}
        of = records(loads)
        some = {n: of[n] for n in list(of)[:6]}
        fit_to = fitted(some, y, 0.05)
        inputs = [E_FREE, Input("level", 0.0, 1e-6)]
        after, _ = posterior(
            given(fit_to, inputs, {"force": 0.3}), {"force": NONE_FROM}
        )
        table = predicted(line, of["r6"], after, inputs, _noisy, PLAIN)
        rows = fitted({"r6": of["r6"]}, y, 0.05).rows
        shares.append(coverage(compared(rows, table)).value)
    assert 0.90 < np.mean(shares) < 0.995


NONE_FROM = replace(NONE, sd=np.array([0.15]))
_NOISY = Family("force", "N", aim=10.0, u=0.05)


def _noisy(quantity: str) -> Family:
    del quantity
    return _NOISY


def vanishing(parameters: Mapping[str, float], record: RecordInputs) -> Quantities:
    """A force that is the input, and a state 3 x that is there above x = 1 only."""
    del record
    x = parameters["E"]
    state = {"state": one_value(3.0 * x)} if x > 1.0 else {}
    return {"force": one_value(x)} | state


def test_a_state_that_an_input_takes_away_is_counted():
    """At 1.2 -+ 0.5 it is there above only: u is that end's change, and it is said."""
    after = replace(known({"E": 1.2}, {"E": 0.5}), errors={"force": NONE})
    inputs, record = [Input("E", 1.2, 0.5)], RecordInputs("r")
    table = predicted(vanishing, record, after, inputs, lambda _: FAMILY, PLAIN)
    np.testing.assert_allclose(table["u_input"], [0.5, 1.5], rtol=1e-12)
    assert table.attrs["note"].startswith("state: 1 of 2 perturbed runs")
    after = replace(after, inputs={"E": 1.2}, u_held=np.array([0.1]))
    whole = predicted(vanishing, record, after, inputs, lambda _: FAMILY, PLAIN)
    assert whole.attrs["note"] == ""


def test_a_state_that_is_there_on_neither_side_is_refused():
    def between(parameters: Mapping[str, float], record: RecordInputs) -> Quantities:
        del record
        x = parameters["E"]
        return {"state": one_value(x)} if abs(x - 1.0) < 0.1 else {}

    after = known({"E": 1.0}, {"E": 0.5})
    with pytest.raises(ValueError, match="the model predicts no value if"):
        predicted(
            between,
            RecordInputs("r"),
            after,
            [Input("E", 1.0, 0.5)],
            lambda _: FAMILY,
            PLAIN,
        )
