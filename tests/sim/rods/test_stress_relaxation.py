"""One law for stiffness and damping: relaxation, complex modulus, Kramers-Kronig."""

import numpy as np
import pytest

from sim.rods.stress_relaxation import Relaxation, prony
from tests.sim.rods.complex_modulus import complex_modulus, relaxed

LAW = Relaxation(modulus=2.0e5, share=0.1, exponent=0.3)
SERIES = prony(LAW)


@pytest.mark.parametrize("exponent", [0.1, 0.3, 0.5])
def test_prony_series_follows_the_law_over_seven_decades(exponent):
    law = Relaxation(2.0e5, 0.1, exponent)
    t = np.logspace(-4, 3, 60)
    relaxing = relaxed(prony(law), t) - 2.0e5
    assert relaxing == pytest.approx(relaxed(law, t) - 2.0e5, rel=2e-3)


def test_more_terms_a_decade_leave_less_ripple():
    t = np.logspace(-2, 2, 60)
    ripple = [
        np.abs(relaxed(prony(LAW, per_decade=n), t) / relaxed(LAW, t) - 1.0).max()
        for n in (1, 2)
    ]
    assert ripple[1] < 0.05 * ripple[0]


def test_prony_series_has_the_complex_modulus_of_the_law():
    w = np.logspace(0, 2.5, 30)
    whole, parts = complex_modulus(LAW, w), complex_modulus(SERIES, w)
    assert parts.real == pytest.approx(whole.real, rel=5e-4)
    assert parts.imag == pytest.approx(whole.imag, rel=3e-3)


def test_an_elastic_material_neither_relaxes_nor_damps():
    law = Relaxation(2.0e5)
    assert relaxed(prony(law), 0.1) == pytest.approx(2.0e5)
    assert complex_modulus(prony(law), 40.0) == pytest.approx(2.0e5)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"modulus": 0.0}, "modulus"),
        ({"modulus": 1.0, "share": -0.1}, "share"),
        ({"modulus": 1.0, "exponent": 1.0}, "below 1"),
    ],
)
def test_laws_without_sense_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        Relaxation(**values)
