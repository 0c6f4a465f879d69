"""Verdicts, coverage by record, interval score, each worked out by hand."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.verdict_and_budget import Check, Verdict
from analysis.measured.prediction import Family
from analysis.measured.prediction_verdicts import (
    compared,
    coverage,
    distances,
    interval_score,
    judged,
    nearer,
    pooled_deviation,
    values_of,
    why,
)


def rows_of(
    errors: dict[str, list[float]], **columns: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measured values of 10, predicted ones off by `errors`, by record."""
    measured, prediction = [], []
    given = {
        "u_num": 0.0,
        "u_input": 0.1,
        "u_fit": 0.0,
        "u_model": 0.0,
        "half_width": 1.0,
    }
    for record, several in errors.items():
        for k, error in enumerate(several):
            key = {"record": record, "quantity": "force", "at": 0.1 * k}
            measured.append({**key, "measured": 10.0, "u": columns.get("u", 0.0)})
            value = {c: columns.get(c, v) for c, v in given.items()}
            prediction.append({**key, "value": 10.0 + error, **value})
    return pd.DataFrame(measured), pd.DataFrame(prediction)


def by_record(record: str, quantity: str) -> Family:
    """Records called stiff... are a family of their own, with a larger aim."""
    if quantity == "force" and record.startswith("stiff"):
        return Family("stiff", "N", aim=5.0)
    return Family("force", "N", aim=0.5)


def test_learnt_model_error_does_not_save_a_bad_model():
    """E = 0.4 at u_val = 0.1: differs, however wide the interval."""
    errors = {"a": [0.4, 0.4], "b": [0.4, 0.4]}
    for u_model in (0.0, 5.0):
        table = compared(*rows_of(errors, u_model=u_model))
        assert judged(table, by_record, 2.0)["verdict"].iloc[0] == "differs"
        np.testing.assert_allclose(table["u_val"], 0.1)
        np.testing.assert_allclose(table["u_predicted"], np.hypot(0.1, u_model))


def test_records_are_known_by_their_values_not_their_names():
    table = compared(*rows_of({"a": [0.0, 0.1], "b": [4.0, 4.2]}))
    known = table.assign(record=table["record"].str.upper() + "_1")
    apart = known["record"] == "A_1"
    known["measured"] += np.where(apart, 0.004, 0.02) * known["half_width"]
    assert values_of(table, known[~apart]) == {}
    assert values_of(table, known) == {"a": "A_1", "b": "A_1"}
    assert values_of(table, known[known["at"] == 0.0]) == {}  # as where all begin alike


def test_a_far_record_is_named_with_the_prediction_it_lies_by():
    """b misses by 4 half widths, a's prediction by none; c misses by less than one."""
    measured, prediction = rows_of({"a": [0.0, 0.1], "b": [4.0, 4.2], "c": [0.9, 0.9]})
    table = compared(measured, prediction)
    assert nearer(table, prediction) == {"b": "a"}
    assert nearer(table, prediction[prediction["record"] != "a"]) == {"b": "c"}
    assert nearer(table, prediction[1:]) == {"b": "c"}  # a has no value at one place
    assert nearer(table[table["record"] != "b"], prediction) == {}


@pytest.mark.parametrize(
    ("error", "u_input", "verdict"),
    [(0.1, 0.1, "agrees"), (0.1, 0.3, "inconclusive"), (-0.4, 0.1, "differs")],
)
def test_the_three_verdicts(error, u_input, verdict):
    table = compared(*rows_of({"a": [error] * 4}, u_input=u_input))
    line = judged(table, by_record, 2.0).iloc[0]
    assert line["verdict"] == verdict
    assert line["mean_E"] == pytest.approx(error)
    assert line["rms_E"] == pytest.approx(abs(error))


def test_a_number_without_a_unit_is_said_without_one():
    check = Check(0.0022, 0.0035, 0.007)
    said = why(Verdict.INCONCLUSIVE, check, 0.0075, "1")
    assert said == (
        "rms of E is 0.0022, k u_val is 0.007: their sum exceeds the aim of 0.0075: "
        "reduce u"
    )
    assert "0.0022 mm, k u_val is 0.007 mm" in why(
        Verdict.INCONCLUSIVE, check, 1.0, "mm"
    )


def test_one_quantity_is_judged_by_the_family_of_each_record():
    table = compared(*rows_of({"stiff_1": [2.0, 2.0], "a": [0.1, 0.1]}))
    lines = judged(table, by_record, 2.0).set_index("quantity")
    np.testing.assert_allclose(lines.loc[["stiff", "force"], "rms_E"], [2.0, 0.1])
    np.testing.assert_allclose(lines.loc[["stiff", "force"], "aim"], [5.0, 0.5])


def test_a_family_is_summed_up_in_one_line():
    """Six of ten records inside; resampled, 3 to 9 of ten are in 95 % (binomial)."""
    errors = {str(k): [0.2 if k < 6 else 1.5] for k in range(10)}
    line = judged(compared(*rows_of(errors)), by_record, 2.0).iloc[0]
    assert (line["records"], line["rows"], line["records_within_aim"]) == (10, 10, 6)
    assert (line["coverage_low"], line["coverage_high"]) == (0.3, 0.9)
    assert line["coverage"] == pytest.approx(0.6)
    assert line["rms_u_val"] == pytest.approx(0.1)
    assert line["half_width"] == pytest.approx(1.0)
    assert line["interval_score"] == pytest.approx(2.0 + 0.4 * 40 * 0.5)


def test_the_uncertainty_of_the_measured_value_counts():
    table = compared(*rows_of({"a": [0.4]}, u=0.3))
    assert table["u_val"].iloc[0] == pytest.approx(np.hypot(0.1, 0.3))
    assert judged(table, by_record, 2.0)["verdict"].iloc[0] == "inconclusive"


def test_coverage_counts_a_record_once():
    """A record of 100 rows outside and three of one row inside: 3 of 4."""
    errors = {"long": [2.0] * 100, "a": [0.0], "b": [0.9], "c": [-1.0]}
    found = coverage(compared(*rows_of(errors)))
    assert found.value == 0.75
    assert found.records == 4
    assert found.low < 0.75 < found.high


def test_the_interval_score_is_width_and_what_is_outside():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([2.0, 2.0, 2.0])
    found = interval_score(low, high, np.array([1.0, -0.1, 2.5]))
    np.testing.assert_allclose(found, [2.0, 2.0 + 40 * 0.1, 2.0 + 40 * 0.5])


def test_rows_are_compared_where_both_are():
    measured, prediction = rows_of({"a": [0.1, 0.2, 0.3]})
    found = compared(measured.iloc[1:], prediction.iloc[:2])
    assert len(found) == 1
    assert found["E"].iloc[0] == pytest.approx(0.2)
    assert bool(found["inside95"].iloc[0])


def test_distances_are_those_of_nodes_and_not_of_coordinates():
    """Nodes 5 and 0 mm off: 5 over the root of two; a record of one, 13 mm."""
    node = ["n_0_x", "n_0_y", "n_1_x", "n_1_y"]
    a = pd.DataFrame({"record": "a", "quantity": node, "at": 1.0, "E": [3.0, -4, 0, 0]})
    b = pd.DataFrame({"record": "b", "quantity": node[:2], "at": 1.0, "E": [5.0, 12]})
    found = distances(pd.concat([a, b]))
    assert found[["record", "at"]].to_numpy().tolist() == [["a", 1.0], ["b", 1.0]]
    assert found["rms"].to_list() == pytest.approx([np.sqrt(12.5), 13.0])


def test_repeats_of_a_test_differ_by_a_pooled_deviation():
    rows = pd.DataFrame(
        {
            "record": ["a1", "a2", "b1", "b2", "b3", "c"],
            "quantity": "force",
            "family": "force",
            "at": 0.0,
            "measured": [1.0, 2.0, 5.0, 5.0, 8.0, 7.0],
        }
    )
    groups = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b", "c": "c"}
    expected = np.sqrt((0.5 + 6.0) / 3)
    assert pooled_deviation(rows, groups)["force"] == pytest.approx(expected)
