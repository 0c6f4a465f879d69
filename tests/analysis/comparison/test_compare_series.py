import numpy as np
import pandas as pd
import pytest

from analysis.comparison.compare_series import (
    COLUMNS,
    FITTED,
    HELD_OUT,
    check_series,
    compare_series,
    simulated_curve,
    with_simulated,
)
from analysis.figures.measured_series import measured_series

TIME = np.linspace(0.0, 2.0, 201)
RUN = pd.DataFrame({"time": TIME, "x_c": TIME**2})


def measurements(at, value, part=HELD_OUT, u=0.01):
    rows = {"quantity": "x_c", "at": at, "value": value, "u": u, "part": part}
    return check_series(pd.DataFrame(rows), "markers.csv")


def test_errors_are_simulated_minus_measured():
    at = np.array([0.5, 1.0, 1.5])
    (error,) = compare_series(measurements(at, at**2 - 0.1), RUN, "time")
    assert error.bias == pytest.approx(0.1, abs=1e-9)
    assert error.rms == pytest.approx(0.1, abs=1e-9)
    assert (error.count, error.outside) == (3, 0)


def test_the_baseline_is_what_the_fitted_part_knows():
    table = pd.concat(
        [
            measurements(np.array([0.2, 0.4]), np.array([1.0, 3.0]), FITTED),
            measurements(np.array([1.0, 1.2]), np.array([5.0, 5.0])),
        ]
    )
    held = next(e for e in compare_series(table, RUN, "time") if e.part == HELD_OUT)
    assert held.baseline_rms == pytest.approx(3.0)
    assert held.skill == pytest.approx(1 - held.rms**2 / 9.0)


def test_without_a_fitted_part_the_baseline_is_the_first_measurement():
    at = np.array([0.0, 1.0])
    (error,) = compare_series(measurements(at, at), RUN, "time")
    assert error.baseline_rms == pytest.approx(np.sqrt(0.5))


def test_measurements_beyond_the_run_are_counted_and_not_extrapolated():
    at = np.array([1.0, 5.0])
    (error,) = compare_series(measurements(at, at**2), RUN, "time")
    assert (error.count, error.outside) == (1, 1)
    with pytest.raises(ValueError, match=r"covers 0 to 2, but .* has no measurement"):
        compare_series(measurements(at + 9.0, at), RUN, "time")


def test_where_the_load_stands_still_the_last_step_counts():
    """A sheet is folded without a load, then loaded: the curve starts folded."""
    run = pd.DataFrame({"load": [0.0, 0.0, 0.0, 1.0, 2.0], "u": [9.0, 5, 1, 2, 3]})
    at, value = simulated_curve(run, "load", "u")
    assert at.tolist() == [0.0, 1.0, 2.0]
    assert value.tolist() == [1.0, 2.0, 3.0]


def test_a_falling_abscissa_serves_and_one_that_turns_back_is_refused():
    at, value = simulated_curve(RUN.assign(time=-TIME), "time", "x_c")
    assert np.all(np.diff(at) > 0)
    assert value[0] == 4.0
    back = pd.DataFrame({"d": [0.0, 1.0, 0.5], "f": [0.0, 1.0, 2.0]})
    with pytest.raises(ValueError, match=r"d reverses at row 2 .* \(1\): compare al"):
        simulated_curve(back, "d", "f")


def test_every_measurement_stands_beside_what_was_simulated_there():
    table = with_simulated(measurements(np.array([1.0, 1.5, 9.0]), 0.0), RUN, "time")
    np.testing.assert_allclose(table["simulated"][:2], [1.0, 2.25], rtol=1e-12)
    assert np.isnan(table["simulated"][2])


def test_synthetic_measurements_are_never_called_measured():
    table = measurements(np.array([0.5]), np.array([0.25]))
    errors = compare_series(table, RUN, "time")
    runs = [("simulated", "abc")]
    figure = measured_series(table, RUN, "time", errors, runs, synthetic=True)
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert "synthetic, held out" in labels
    assert "synthetic" in figure.texts[-1].get_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "n/a"}, "row 1: value must be a finite number, not 'n/a'"),
        ({"u": -1.0}, r"row 1: u must be 0 \(not known\) or more, not -1"),
        ({"part": "train"}, "part is 'train': choose one of 'fit', 'held out'"),
    ],
)
def test_bad_measurements_are_refused_by_their_row(change, said):
    row = {"quantity": "x_c", "at": 0.0, "value": 1.0, "u": 0.0, "part": "fit"} | change
    with pytest.raises(ValueError, match=said):
        check_series(pd.DataFrame([row]), "markers.csv")


def test_missing_columns_are_named():
    with pytest.raises(ValueError, match=r"markers\.csv has no column part"):
        check_series(
            pd.DataFrame({c: [1] for c in ("quantity", "at", "value", "u")}),
            "markers.csv",
        )
    with pytest.raises(ValueError, match=r"markers\.csv has no measurement"):
        check_series(pd.DataFrame(columns=list(COLUMNS)), "markers.csv")
    table = measurements(np.array([1.0]), np.array([1.0])).assign(quantity="y_c")
    with pytest.raises(ValueError, match="no column y_c: they have time, x_c"):
        compare_series(table, RUN, "time")


def test_the_figure_shows_the_curve_the_points_and_the_errors():
    at = np.array([0.5, 1.0])
    table = measurements(at, at**2)
    errors = compare_series(table, RUN, "time")
    figure = measured_series(table, RUN, "time", errors, [("simulated", "abc")])
    (panel,) = figure.axes
    assert panel.get_ylabel() == "centroid $x_c$ (m)"
    assert "held out: rms" in panel.get_title()
    assert "abc" in figure.texts[-1].get_text()
