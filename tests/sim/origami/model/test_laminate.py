"""Plies that grow, beside Timoshenko's closed form and panels that are tied."""

import pytest

from sim.origami.model.laminate import Laminate, Ply
from tests.sim.morph.statics.test_panels import E1, E2, H, strip, timoshenko
from tests.sim.origami.sheets import MATERIAL


@pytest.mark.parametrize("below", [0.5 * H, 0.25 * H])
def test_two_plies_curl_as_timoshenko_says(below: float) -> None:
    plies = Laminate([Ply(E1, below, 0.0), Ply(E2, H - below, 1.0)])
    exact = timoshenko(below / (H - below), E1 / E2, H)
    assert plies.curl() == pytest.approx(-exact, rel=1e-13)  # the outer one is above


def test_two_plies_curl_as_two_layers_of_tied_panels() -> None:
    coarse, fine = (strip(rows, 0.5 * H, 0.5 * H) for rows in (4, 8))
    plies = Laminate([Ply(E1, 0.5 * H, 0.0), Ply(E2, 0.5 * H, 1.0)])
    tied = fine + (fine - coarse) / 3.0  # of second order in the rows of panels
    assert -plies.curl() == pytest.approx(tied, rel=5e-3)


def test_one_material_in_three_plies_is_a_beam_that_does_not_curl() -> None:
    plies = Laminate([Ply(2e9, t, 5e-5) for t in (1e-5, 3e-5, 2e-5)])
    assert plies.curl() == pytest.approx(0.0, abs=1e-9)
    assert plies.rigidity == pytest.approx(2e9 * 6e-5**3 / 12.0, rel=1e-13)


def test_what_does_not_agree_with_the_crease_is_refused() -> None:
    whole = MATERIAL.crease_thickness
    for modulus, thickness, said in (
        (2e9, 0.6 * whole, "let them agree"),
        (3e9, 0.5 * whole, "give that"),
    ):
        with pytest.raises(ValueError, match=said):
            Laminate(2 * [Ply(modulus, thickness, 0.0)]).check(MATERIAL)
    with pytest.raises(ValueError, match="no plies"):
        Laminate([])
    with pytest.raises(ValueError, match="modulus must be positive"):
        Ply(-1.0, 1e-5, 0.0)
