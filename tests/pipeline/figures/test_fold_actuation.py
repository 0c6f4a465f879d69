"""The figure of driven creases: its closed forms, and the runs it asks for."""

import numpy as np
import pytest

from analysis.figures.fold_actuation import HeatedFin, TurnedVertex
from pipeline.figures.fold_actuation import _bilayer, draw
from pipeline.terminal.errors import InputError
from tests.sim.morph.statics.test_panels import timoshenko


def test_the_series_ends_at_the_fin_and_cools_as_it_warmed() -> None:
    fin = HeatedFin(half=0.01, diffusivity=1e-5, loss=0.5, warming=3.0, off=100.0)
    x, m = np.linspace(0.0, 0.01, 5), np.sqrt(0.5 / 1e-5)
    lasting = 3.0 / 0.5 * m * 0.01 * np.cosh(m * (0.01 - x)) / np.sinh(m * 0.01)
    assert fin.rise(x, 90.0) == pytest.approx(lasting, rel=1e-3)
    assert fin.rise(x, 102.0) == pytest.approx(
        fin.rise(x, 90.0) - fin.rise(x, 2.0), rel=1e-3
    )


def test_a_moment_is_the_slope_of_the_energy_of_four_creases() -> None:
    vertex = TurnedVertex(np.zeros(1), np.zeros(1), 2.0, np.array([1.0, 0.3]))

    def energy(fold: float) -> float:
        other = 2.0 * np.arctan(0.3 * np.tan(0.5 * fold))
        return float(fold**2 + other**2)

    slope = (energy(1.0 + 1e-5) - energy(1.0 - 1e-5)) / 2e-5
    assert vertex.rigid_moment(np.ones(1))[0] == pytest.approx(slope, rel=1e-8)


def test_the_plies_of_the_figure_curl_as_timoshenko_says() -> None:
    plies = [{"modulus": 2.0, "thickness": 1.0, "expansion": 3.0},
             {"modulus": 5.0, "thickness": 2.0, "expansion": 1.0}]  # fmt: skip
    known = timoshenko(0.5, 0.4, 3.0)
    assert _bilayer({"laminate": {"plies": plies}}) == pytest.approx(2.0 * known)


def test_other_than_three_runs_are_refused() -> None:
    with pytest.raises(InputError, match="shows 3 runs, not 0"):
        draw([])
