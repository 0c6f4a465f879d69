import numpy as np
import pytest
from matplotlib.text import Text

from analysis.figures.lint import faults
from analysis.figures.validation_set import ComparedSet, simulated_against_scanned
from analysis.validation.validation_set import summarise


def test_bias_scatter_and_coverage_are_those_of_the_errors():
    found = summarise(np.array([0.1, 0.3, 0.2]), np.array([0.2, 0.1, 0.1]), 2.0)
    assert found.bias == pytest.approx(0.2)
    assert found.scatter == pytest.approx(0.1)
    assert found.bias_u == pytest.approx(0.1 / np.sqrt(3))
    assert found.coverage == pytest.approx(2 / 3)
    assert found.chi_square == pytest.approx((0.25 + 9.0 + 4.0) / 3)


def test_honest_uncertainties_give_a_chi_square_of_one(rng):
    u = rng.uniform(0.5, 2.0, 4_000)
    found = summarise(rng.normal(0.0, u), u, 2.0)
    assert found.chi_square == pytest.approx(1.0, abs=0.1)
    assert found.coverage == pytest.approx(0.9545, abs=0.015)


def test_one_comparison_has_no_scatter():
    assert np.isnan(summarise(np.array([0.1]), np.array([0.2]), 2.0).scatter)


def test_nothing_and_no_uncertainty_are_refused():
    with pytest.raises(ValueError, match="no comparison to summarise"):
        summarise(np.empty(0), np.empty(0), 2.0)
    with pytest.raises(ValueError, match="number 1 has u_val = 0"):
        summarise(np.zeros(2), np.array([0.1, 0.0]), 2.0)


def test_the_plot_marks_verdicts_and_names_its_runs():
    two = np.array([0.9, 0.8])
    found = ComparedSet(
        ("circle", "control"),
        ("agrees", "differs"),
        ("key1", "key2"),
        two,
        two + 0.01,
        0.01 * two,
        0.01 * two,
        0.02 + 0 * two,
        two,
        two,
        two,
        synthetic=True,
        k=2.0,
    )
    figure = simulated_against_scanned(
        found, summarise(np.full(1, -0.01), two[:1], 2.0)
    )
    legend = [t.get_text() for t in figure.legends[0].get_texts()]
    assert legend == ["equal", "agrees", "differs", "most by chance", "margin"]
    below = {text.get_gid(): text.get_text() for text in figure.texts}
    assert "key1" in below["identity"]
    assert "synthetic" in " ".join(below.values())


def test_of_one_comparison_no_scatter_is_said() -> None:
    one = np.array([0.9])
    columns = (one, one + 0.001, 0.01 * one, 0.01 * one, 0.02 * one, one, one, one)
    found = ComparedSet(
        ("a",), ("agrees",), ("key1",), *columns, synthetic=False, k=2.0
    )
    figure = simulated_against_scanned(found, summarise(np.full(1, -0.001), one, 2.0))
    said = " ".join(text.get_text() for text in figure.findobj(Text))
    assert "scatter" not in said
    assert "error -0.0010" in said
    assert not [fault for fault in faults(figure) if "no number" in fault]
