"""One law for stiffness and damping: relaxation in time, and its Prony series."""

import numpy as np
import pytest

from sim.relaxation import Relaxation, prony

LAW = Relaxation(modulus=2.0e5, share=0.1, exponent=0.3)


def test_a_step_of_strain_relaxes_by_the_power() -> None:
    t = np.logspace(-4, 3, 40)
    assert LAW.relaxed(t) == pytest.approx(2.0e5 * (1.0 + 0.1 * t**-0.3))


@pytest.mark.parametrize("exponent", [0.1, 0.3, 0.5])
def test_prony_series_follows_the_law_over_seven_decades(exponent: float) -> None:
    law = Relaxation(2.0e5, 0.1, exponent)
    t = np.logspace(-4, 3, 60)
    relaxing = prony(law).relaxed(t) - 2.0e5
    assert relaxing == pytest.approx(law.relaxed(t) - 2.0e5, rel=2e-3)


def test_more_terms_a_decade_leave_less_ripple() -> None:
    t = np.logspace(-2, 2, 60)
    ripple = [
        np.abs(prony(LAW, per_decade=n).relaxed(t) / LAW.relaxed(t) - 1.0).max()
        for n in (1, 2)
    ]
    assert ripple[1] < 0.05 * ripple[0]


def test_an_elastic_material_does_not_relax() -> None:
    law = Relaxation(2.0e5)
    assert law.relaxed(0.1) == 2.0e5
    assert prony(law).relaxed(40.0) == pytest.approx(2.0e5)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"modulus": 0.0}, "modulus"),
        ({"modulus": 1.0, "share": -0.1}, "share"),
        ({"modulus": 1.0, "exponent": 1.0}, "below 1"),
    ],
)
def test_laws_without_sense_are_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Relaxation(**values)
