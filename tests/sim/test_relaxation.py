"""One law for stiffness and damping: relaxation, complex modulus, Kramers-Kronig."""

import numpy as np
import pytest
from scipy.integrate import quad

from sim.relaxation import Relaxation, prony
from tests.sim.complex_modulus import complex_modulus, relaxed

LAW = Relaxation(modulus=2.0e5, share=0.1, exponent=0.3)
SERIES = prony(LAW)


@pytest.mark.parametrize("exponent", [0.1, 0.3, 0.5])
def test_prony_series_follows_the_law_over_seven_decades(exponent: float) -> None:
    law = Relaxation(2.0e5, 0.1, exponent)
    t = np.logspace(-4, 3, 60)
    relaxing = relaxed(prony(law), t) - 2.0e5
    assert relaxing == pytest.approx(relaxed(law, t) - 2.0e5, rel=2e-3)


def test_more_terms_a_decade_leave_less_ripple() -> None:
    t = np.logspace(-2, 2, 60)
    ripple = [
        np.abs(relaxed(prony(LAW, per_decade=n), t) / relaxed(LAW, t) - 1.0).max()
        for n in (1, 2)
    ]
    assert ripple[1] < 0.05 * ripple[0]


def test_prony_series_has_the_complex_modulus_of_the_law() -> None:
    w = np.logspace(0, 2.5, 30)
    whole, parts = complex_modulus(LAW, w), complex_modulus(SERIES, w)
    assert parts.real == pytest.approx(whole.real, rel=5e-4)
    assert parts.imag == pytest.approx(whole.imag, rel=3e-3)


def test_complex_modulus_is_the_transform_of_the_relaxation() -> None:
    """At i w = p > 0, where p int E(t) exp(-p t) dt does not oscillate."""
    p = 30.0
    transformed, _ = quad(
        lambda u: float(relaxed(LAW, u / p)) * np.exp(-u), 0.0, 60.0, limit=200
    )
    assert complex_modulus(LAW, -1j * p).real == pytest.approx(transformed, rel=1e-6)


@pytest.mark.parametrize("w", [5.0, 27.0, 48.0, 300.0])
def test_storage_follows_from_loss_by_kramers_and_kronig(w: float) -> None:
    """E'(w) - E'(0) = 2 w^2 / pi PV int_0^inf E''(x) / (x (w^2 - x^2)) dx.

    With x = w exp(-s) for x < w and w exp(s) above, both halves meet the pole at s = 0,
    and 1 / (1 - exp(-2 s)) = 1 + 1 / (exp(2 s) - 1) takes it out.
    """
    loss_here = complex_modulus(SERIES, w).imag

    def slope(s: float) -> float:
        x = w * np.exp(s)
        other = complex_modulus(SERIES, w * np.exp(-s)).imag
        return float((other - complex_modulus(SERIES, x).imag) / np.expm1(2.0 * s))

    far, _ = quad(slope, 1e-9, 30.0, limit=400)
    past, _ = quad(
        lambda s: complex_modulus(SERIES, w * np.exp(-s)).imag, 0.0, 40.0, limit=400
    )
    assert loss_here > 0.0
    storage = SERIES.equilibrium + 2.0 / np.pi * (past + far)
    assert storage == pytest.approx(complex_modulus(SERIES, w).real, rel=1e-6)


def test_what_relaxes_damps() -> None:
    """tan delta of the power alone is tan(m pi / 2) at every rate."""
    extra = complex_modulus(LAW, np.array([1.0, 50.0])) - 2.0e5
    assert extra.imag / extra.real == pytest.approx(np.tan(0.15 * np.pi))


def test_an_elastic_material_neither_relaxes_nor_damps() -> None:
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
def test_laws_without_sense_are_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Relaxation(**values)
