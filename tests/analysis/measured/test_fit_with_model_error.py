"""Fits to records: the closed form of a line, held inputs, a record left out."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from analysis.measured.fit_with_model_error import (
    Input,
    Solved,
    estimate_unfitted,
    growth,
    left_out,
    linear_about,
    posterior,
)
from analysis.measured.model_error import Departure, ModelError
from analysis.measured.predicted_quantities import Quantities, RecordInputs, curve
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from tests.analysis.measured.toy import AT, NONE, fitted, given, line, records

LOADS = {"a": 1.0, "b": 2.0, "c": 3.0}
U = 0.1
AIMS = {"force": 1e-9}  # no room for a model error
FREE = [
    Input("E", 1.0, np.inf, fitted=True, positive=True),
    Input("level", 0.5, np.inf, fitted=True),
]


def design(loads: dict[str, float]) -> Floats:
    return np.vstack(
        [np.column_stack([load * AT, np.ones(5)]) for load in loads.values()]
    )


def data(rng: np.random.Generator, loads: dict[str, float]) -> dict[str, Floats]:
    return {
        name: 2.0 * load * AT + 0.3 + rng.normal(0.0, U, 5)
        for name, load in loads.items()
    }


def test_a_line_is_fitted_as_least_squares_do(rng):
    y = data(rng, LOADS)
    after, near = posterior(
        given(fitted(records(LOADS), y, U), FREE, AIMS), {"force": NONE}
    )
    A = design(LOADS)
    expected = np.linalg.lstsq(A, np.concatenate([*y.values()]), rcond=None)[0]
    found = [after.inputs["E"], after.inputs["level"]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(after.noise, U**2 * np.linalg.inv(A.T @ A), rtol=1e-4)
    np.testing.assert_allclose(near.J, A, rtol=1e-6)
    assert np.abs(after.model).max() < 1e-6 * np.abs(after.noise).max()


def test_what_is_known_beforehand_counts_as_a_measurement(rng):
    y = data(rng, LOADS)
    inputs = [Input("E", 1.9, 0.02, fitted=True), FREE[1]]
    after, _ = posterior(
        given(fitted(records(LOADS), y, U), inputs, AIMS), {"force": NONE}
    )
    A = np.vstack([design(LOADS) / U, [1 / 0.02, 0.0]])
    right = np.append(np.concatenate([*y.values()]) / U, 1.9 / 0.02)
    expected = np.linalg.lstsq(A, right, rcond=None)[0]
    settled = 1e-3 * np.sqrt(after.noise[0, 0])  # a fit stops there
    assert after.inputs["E"] == pytest.approx(expected[0], abs=settled)
    np.testing.assert_allclose(after.noise, np.linalg.inv(A.T @ A), rtol=1e-4)


def test_a_held_input_moves_the_fit_the_other_way(rng):
    """With `level` held at its value but uncertain, E moves by -G S dlevel."""
    of = fitted(records(LOADS), data(rng, LOADS), U)
    inputs = [FREE[0], Input("level", 0.3, 0.05)]
    after, _ = posterior(given(of, inputs, AIMS), {"force": NONE})
    other = [FREE[0], Input("level", 0.35, 0.05)]
    moved, _ = posterior(given(of, other, AIMS), {"force": NONE})
    assert after.held == ("level",)
    expected = after.inputs["E"] - after.gain[0, 0] * 0.05
    assert moved.inputs["E"] == pytest.approx(expected, rel=1e-6)
    assert after.gain[0, 0] > 0.1


def test_an_uncertain_number_of_a_record_widens_the_fit(rng):
    y = data(rng, LOADS)
    sure, _ = posterior(
        given(fitted(records(LOADS), y, U), FREE, AIMS), {"force": NONE}
    )
    vague = fitted(records(LOADS, 0.2), y, U)
    after, near = posterior(given(vague, FREE, AIMS), {"force": NONE})
    assert near.own.shape == (15, 3)
    G = np.linalg.pinv(design(LOADS))
    expected = U**2 * G @ G.T + (G @ near.own) @ (G @ near.own).T
    np.testing.assert_allclose(after.noise, expected, rtol=1e-3)
    assert after.noise[0, 0] > 2 * sure.noise[0, 0]


@pytest.mark.parametrize("gone", [["b"], ["a", "b"]])
def test_records_left_out_are_fitted_without_them(rng, gone):
    """The model is linear here: one step is the whole way."""
    loads = {**LOADS, "d": 4.0}
    y = data(rng, loads)
    of = fitted(records(loads), y, U)
    _, near = posterior(given(of, FREE, AIMS), {"force": NONE})
    without = left_out(near, {"force": NONE}, gone)
    rest = {k: v for k, v in loads.items() if k not in gone}
    A = design(rest)
    expected = np.linalg.lstsq(A, np.concatenate([y[k] for k in rest]), rcond=None)[0]
    found = [without.inputs["E"], without.inputs["level"]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(without.noise, U**2 * np.linalg.inv(A.T @ A), rtol=1e-4)


LONG = {name: float(k) for k, name in enumerate("abcdefghijkl", 1)}


def growth_by(rng: np.random.Generator, apart: float, u: float = 0.01) -> ModelError:
    """Of a line where each load is off by 0.4, conditions being so far apart."""
    y = {n: 2.0 * x * AT + 0.3 + rng.normal(0.0, 0.4) for n, x in LONG.items()}
    of = given(fitted(records(LONG), y, u), FREE, {"force": 1.0})
    near = linear_about(of, {"E": 2.0, "level": 0.3})
    conditions = {(name,): apart for name in LONG}
    return growth([near], {"force": NONE}, conditions)["force"]


def test_growth_is_what_conditions_left_out_are_off_by_over_their_distance(rng):
    found = [growth_by(rng, 1.0) for _ in range(12)]
    assert np.exp(np.mean([np.log(g.sd[0]) for g in found])) == pytest.approx(
        0.4, rel=0.3
    )
    assert {g.records for g in found} == {12}
    near, far = (growth_by(np.random.default_rng(3), by) for by in (0.25, 1.0))
    assert near.sd[0] == pytest.approx(4.0 * far.sd[0], rel=0.1)
    assert growth_by(rng, 1.0, u=3.0).sd[0] < 0.3 * far.sd[0] + 0.3


def test_growth_without_conditions_is_its_prior(rng):
    of = given(fitted(records(LOADS), data(rng, LOADS), U), FREE, {"force": 0.7})
    near = linear_about(of, {"E": 2.0, "level": 0.3})
    found = growth([near], {"force": NONE}, {})["force"]
    assert (found.sd[0], found.records) == (pytest.approx(0.7, rel=0.1), 0)


def test_growth_is_of_the_residuals_from_a_fit_without_the_condition(rng, monkeypatch):
    """In a linear model one step is least squares; u is noise, fit and held inputs."""
    seen = []
    monkeypatch.setattr(
        "analysis.measured.fit_with_model_error.estimate",
        lambda own, *_: seen.extend(own),
    )
    y = data(rng, LOADS)
    inputs = [FREE[0], Input("level", 0.3, 0.05)]
    of = given(fitted(records(LOADS), y, U), inputs, AIMS)
    near = linear_about(of, {"E": 1.0, "level": 0.3})
    growth([near], {"force": NONE}, {("c",): 2.0})
    a = np.concatenate([load * AT for load in (1.0, 2.0)])
    slope = a @ (np.concatenate([y["a"], y["b"]]) - 0.3) / (a @ a)
    np.testing.assert_allclose(seen[0].e, (y["c"] - 0.3 - 3.0 * slope * AT) / 2.0)
    held = 0.05 * (1.0 - 3.0 * AT * a.sum() / (a @ a))
    square = U**2 + (3.0 * AT * U) ** 2 / (a @ a) + held**2
    np.testing.assert_allclose(seen[0].u, np.sqrt(square) / 2.0, rtol=1e-5)


def bent(parameters: Mapping[str, float], record: RecordInputs) -> Quantities:
    """force = exp(E load at) + level, which no line is."""
    steep = np.exp(parameters["E"] * record.numbers["load"] * AT)
    return {"force": curve(AT, steep + parameters["level"])}


def test_a_bent_model_is_fitted_to_fewer_records_all_the_way():
    """Where the record that is left out was far off: 0.5 and 0.3 made the others."""
    of = records(LOADS)
    y = {n: np.exp(0.5 * load * AT) + 0.3 for n, load in LOADS.items()}
    y["c"] = y["c"] + 3.0 * AT
    rows = replace(fitted(of, y, U), predict=bent)
    _, near = posterior(given(rows, FREE, AIMS), {"force": NONE})
    assert near.inputs["E"] > 0.65
    without = left_out(near, {"force": NONE}, ["c"])
    assert without.inputs["E"] == pytest.approx(0.5, abs=5e-3)
    assert without.inputs["level"] == pytest.approx(0.3, abs=5e-3)


def test_a_fit_to_fewer_records_that_comes_to_no_end_says_so():
    of = fitted(records(LOADS), {n: load**2 * AT for n, load in LOADS.items()}, U)
    _, near = posterior(given(of, FREE, AIMS), {"force": NONE})
    wrong = replace(near, J=-0.3 * near.J)
    with pytest.raises(NotConvergedError, match="without c the fit did not converge"):
        left_out(wrong, {"force": NONE}, ["c"])


def test_model_errors_that_have_not_settled_are_refused(rng, monkeypatch):
    """One round sees them change once: that is no end."""
    of = fitted(records(LOADS), data(rng, LOADS), U)
    posterior(given(of, FREE, {"force": 0.1}), {"force": NONE})
    monkeypatch.setattr("analysis.measured.fit_with_model_error.ROUNDS", 1)
    with pytest.raises(NotConvergedError, match="model error of force still changes"):
        posterior(given(of, FREE, {"force": 0.1}), {"force": NONE})


def test_scatter_beside_uncertain_inputs_of_records_is_refused():
    of = fitted(records(LOADS, 0.1), {n: load * AT for n, load in LOADS.items()}, U)
    each = {"force": replace(NONE, kind=Departure.SCATTER)}
    with pytest.raises(
        ValueError, match=r"force is of type scatter, .* set it to constant"
    ):
        posterior(given(of, FREE, AIMS), each)


def test_model_error_is_learnt_of_what_a_fit_did_not_use(rng):
    """Eight records, each off by a constant of its own."""
    of = records({f"r{k}": 1.0 + k for k in range(8)})
    values = {"E": 2.0, "level": 0.0}
    off = 0.7 * rng.standard_normal(8)
    measured = {
        name: line(values, one)["force"].value + d
        for (name, one), d in zip(of.items(), off, strict=True)
    }
    rows, errors = fitted(of, measured, 0.01), {"force": NONE}
    found = estimate_unfitted(given(rows, (), {"force": 0.5}), values, errors)
    assert found["force"].sd[0] == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.3)
    assert found["force"].records == 8
    assert estimate_unfitted(rows.without(of), values, errors) == errors


def test_the_parts_of_the_covariance_add_up(rng):
    """C = [G D G' + C L C] + [G K G'] with a model error that is not small."""
    of = given(fitted(records(LOADS), data(rng, LOADS), U), FREE, AIMS)
    near = linear_about(of, {"E": 2.0, "level": 0.3})
    error = {"force": NONE.__class__(NONE.kind, 1.0, False, NONE.at, np.array([0.3]))}
    after = Solved.of(near, error).posterior
    V = U**2 * np.eye(15) + 0.3**2 * np.kron(
        0.5 * np.eye(3) + 0.5 * np.ones((3, 3)), np.ones((5, 5))
    )
    A = design(LOADS)
    C = np.linalg.inv(A.T @ np.linalg.solve(V, A))
    np.testing.assert_allclose(after.noise + after.model, C, rtol=1e-6)
    assert (np.linalg.eigvalsh(after.model) > -1e-12).all()


def test_a_parameter_that_must_be_positive_stays_so():
    y = {name: -0.4 * load * AT + 0.3 for name, load in LOADS.items()}
    inputs = [Input("E", 0.5, 0.01, fitted=True, positive=True), FREE[1]]
    after, _ = posterior(
        given(fitted(records(LOADS), y, 1.0), inputs, AIMS), {"force": NONE}
    )
    assert after.inputs["E"] > 0


@pytest.mark.parametrize(("jump", "ends"), [(0.004, True), (0.03, False)])
def test_a_prediction_that_jumps_where_the_fit_lies_is_met_to_a_tenth(jump, ends):
    """Above level 0.3 forces are higher: on neither side is a place that is right."""

    def jumping(parameters: Mapping[str, float], record: RecordInputs) -> Quantities:
        above = 0.5 if parameters["level"] > 0.3 else -0.5
        moved = {**parameters, "level": parameters["level"] + above * jump}
        return line(moved, record)

    y = {n: 2.0 * load * AT + 0.3 for n, load in LOADS.items()}
    y["c"] = y["c"] + 1.0
    of = fitted(records(LOADS), y, U)
    _, near = posterior(given(of, FREE, AIMS), {"force": NONE})
    near = replace(near, of=replace(near.of, predict=jumping))
    if ends:
        without = left_out(near, {"force": NONE}, ["c"])
        assert without.inputs["level"] == pytest.approx(0.3, abs=2 * jump)
        assert without.inputs["E"] == pytest.approx(2.0, abs=1e-3)
    else:
        with pytest.raises(
            NotConvergedError, match="without c the fit did not converge"
        ):
            left_out(near, {"force": NONE}, ["c"])
