"""A mass that hangs from the tip of a thick rod on a spring that gives."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import newton

from analysis.measured.ringing import extrema
from sim.arrays import Floats
from sim.relaxation import Relaxation, prony
from sim.rod.thick.motion import Hold, ThickStep, held, motion
from sim.rod.thick.rest import rest
from sim.rod.thick.thick_rod import Prism, ThickRod, TipMass

E, MASS, SPRING, g = 2.2e5, 0.052, 300.0, 9.81
BLOCK = Prism(0.1, 0.03, 0.03, 1070.0)
LIGHT = replace(BLOCK, density=1e-3)


def steps(rod: ThickRod, lifted: float, h: float, count: int) -> list[ThickStep]:
    """A rod lifted by `lifted` m from its rest and let go."""
    series = prony(rod.law)
    y = float(rest(rod, series.equilibrium)[-1, 1])
    start = held(rod, series, Hold(y + lifted, 10.0))
    return list(islice(motion(rod, series, start, h), count))


@pytest.mark.parametrize(("beyond", "above"), [(0.0, 0.0), (0.01, -0.02)])
def test_at_rest_it_weighs_as_much_as_a_rigid_mass_there(
    beyond: float, above: float
) -> None:
    rigid = ThickRod(BLOCK, Relaxation(E), tip=TipMass(MASS, beyond, above))
    hung = replace(rigid, tip=replace(rigid.tip, spring=SPRING))
    assert rest(hung, E) == pytest.approx(rest(rigid, E), abs=1e-9)


@pytest.mark.parametrize("retardation", [0.0, 0.002])
def test_a_light_rod_and_its_link_ring_as_two_springs_in_a_row(
    retardation: float,
) -> None:
    """m s^2 + 1 / (1 / K + 1 / c (1 + s t)) = 0, s = -decay +- i w."""
    EI, kGA = E * BLOCK.second_moment, E * BLOCK.shear_area
    K = 1.0 / (0.1**3 / (3.0 * EI) + 0.1 / kGA)

    def balance(s: complex) -> complex:
        spring = SPRING * (1.0 + s * retardation)
        return complex(MASS * s * s + 1.0 / (1.0 / K + 1.0 / spring))

    slow = np.sqrt(1.0 / (1.0 / K + 1.0 / SPRING) / MASS)
    s = complex(newton(balance, complex(-0.1, slow)))
    tip = TipMass(MASS, spring=SPRING, retardation=retardation)
    rod = ThickRod(LIGHT, Relaxation(E), tip=tip, gravity=0.02)
    made = steps(rod, 4e-6, 1e-3, 800)
    y = float(rest(rod, E)[-1, 1])
    high = np.array([one.hung[0] for one in made])
    rests = y - rod.gravity * tip.stretch
    when, away = extrema(np.arange(800) * 1e-3, high - rests)
    assert 2.0 * (when[5] - when[1]) / 4 == pytest.approx(2 * np.pi / s.imag, rel=1e-3)
    decay = np.log(abs(away[1] / away[5])) / (when[5] - when[1])
    assert decay == pytest.approx(-s.real, abs=0.01)


def pulls(made: list[ThickStep]) -> Floats:
    """(n,) acceleration of the mass above that of a free fall."""
    return np.array([one.hung[2] for one in made]) + g


def test_a_link_pulls_only_and_a_slack_one_lets_the_mass_fall() -> None:
    tip = TipMass(MASS, spring=SPRING)
    rod = ThickRod(BLOCK, Relaxation(E), tip=tip, gravity=g)
    gentle, wild = (pulls(steps(rod, by, 1e-3, 80)) for by in (0.004, 0.02))
    assert gentle.min() > 1.0
    assert wild.min() == pytest.approx(0.0, abs=1e-9)
    assert np.sum(wild < 1e-9) > 5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"spring": 0.0}, "above 0"), ({"spring": 9.0, "gyration": 0.01}, "no gyration"),
     ({"spring": 9.0, "mass": 0.0}, "needs a mass"), ({"retardation": -1.0}, "retard")],
)  # fmt: skip
def test_a_link_that_makes_no_sense_is_refused(
    wrong: dict[str, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        TipMass(**{"mass": MASS, **wrong})
