"""Thick rods against Timoshenko and one relaxing mass; hung masses, and release."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import brentq, newton

from analysis.measured.quantities import extrema
from sim.core.arrays import Floats
from sim.rods.stress_relaxation import Relaxation, prony
from sim.rods.thick_rod import (
    AT_REST,
    Clamp,
    Prism,
    SectionMotion,
    Stress,
    ThickRod,
    TipMass,
    newton_step,
    parts,
    strains,
)
from sim.rods.thick_rod_motion import (
    Hold,
    ThickStep,
    crept_height,
    held,
    motion,
    rest,
    rest_height,
    ringing_heights,
    step,
)
from tests.sim.rods.complex_modulus import complex_modulus

E = 2.2e5
BLOCK = Prism(0.1, 0.03, 0.03, 1070.0)
LIGHT = replace(BLOCK, density=1e-6)
ELASTIC = Relaxation(E)


@pytest.mark.parametrize(("beyond", "elements"), [(0.0, 3), (0.02, 8)])
def test_a_load_at_or_beyond_the_tip_lowers_it_by_timoshenko(beyond, elements):
    """P L^3 / 3 EI + P L / k G A + P a L^2 / 2 EI, exact for any number of elements."""
    tip = TipMass(1e-6, beyond=beyond)
    rod = ThickRod(LIGHT, ELASTIC, tip=tip, elements=elements, gravity=9.81)
    load = 1e-6 * 9.81
    EI, kGA = E * BLOCK.second_moment, E * BLOCK.shear_area
    bent = load * (0.1**3 / 3.0 + beyond * 0.1**2 / 2.0) / EI
    expected = bent + load * 0.1 / kGA
    assert -rest(rod, E)[-1, 1] == pytest.approx(expected, rel=2e-4)


def test_cowper_s_factor_for_a_section_that_keeps_its_volume():
    assert BLOCK.shear_area == pytest.approx(
        10.0 * 1.499 / (12.0 + 11.0 * 0.499) * 9e-4 / 2.998
    )


def test_own_weight_lowers_the_tip_by_timoshenko_with_order_two():
    w, L = 1070.0 * 9e-4 * 1e-4, 0.1
    EI, kGA = E * BLOCK.second_moment, E * BLOCK.shear_area
    expected = w * L**4 / (8.0 * EI) + w * L**2 / (2.0 * kGA)
    error = [
        -rest(ThickRod(BLOCK, ELASTIC, elements=n, gravity=1e-4), E)[-1, 1] / expected
        - 1.0
        for n in (8, 16, 32, 64)
    ]
    order = np.log2(np.array(error[:-1]) / np.array(error[1:]))
    assert order == pytest.approx(2.0, abs=0.1)
    assert abs(error[1]) < 2e-3


def test_large_deflection_is_that_of_the_elastica():
    """P L^2 / EI = 1, 2: Mattiasson, IJNME 17 (1981), table I: v / L 0.30172, 0.49346.

    A slender block, whose stretch and shear add less than 1e-4.
    """
    thin = Prism(1.0, 0.01, 0.002, 1e-6)
    EI = E * thin.second_moment
    for load, expected in ((1.0, 0.30172), (2.0, 0.49346)):
        tip = TipMass(load * EI / 9.81)
        rod = ThickRod(thin, ELASTIC, tip=tip, elements=40)
        assert -rest(rod, E)[-1, 1] == pytest.approx(expected, abs=2e-4)


def test_a_soft_clamp_turns_by_its_spring():
    rod = ThickRod(LIGHT, ELASTIC, Clamp(turning=5.0), TipMass(1e-4))
    q, load = rest(rod, E), 1e-4 * 9.81
    assert q[0, 2] == pytest.approx(-load * 0.1 / 5.0, rel=1e-3)


def timoshenko_frequency(block: Prism, modulus: float, mass: float) -> float:
    """First w, rad/s, of a Timoshenko cantilever with a point mass at its tip.

    Timoshenko (1921): with k G A (w'' - psi') = -m w^2 w and so on, the solutions
    exp(s x) have s^4 + s^2 w^2 (rho / E + rho A / kGA) + ... = 0. Four of them meet
    w = psi = 0 at the clamp, M = 0 and Q = mass w^2 w at the tip.
    """
    EI, kGA = modulus * block.second_moment, modulus * block.shear_area
    mu, J, L = (
        block.density * block.area, block.density * block.second_moment, block.length,
    )  # fmt: skip

    def determinant(w: float) -> float:
        a = EI * kGA
        b = w * w * (EI * mu + kGA * J)
        c = w * w * mu * (J * w * w - kGA)
        s = np.roots([a, 0.0, b, 0.0, c]).astype(complex)
        ratio = (kGA * s**2 + mu * w * w) / (kGA * s)  # psi = ratio W
        e = np.exp(s * L)
        rows = np.array(
            [
                np.ones(4),
                ratio,
                EI * ratio * s * e,
                (kGA * (s - ratio) - mass * w * w) * e,
            ]
        )
        rows = rows / np.abs(rows).max(axis=1)[:, None]
        found = np.linalg.det(rows) / np.prod(s[0] - s[1:])
        return float(found.real if abs(found.real) > abs(found.imag) else found.imag)

    slow = np.sqrt(3.0 * EI / L**3 / (mass + 0.24 * mu * L))
    grid = np.linspace(0.5, 1.2, 57) * slow
    sign = np.sign([determinant(w) for w in grid])
    k = int(np.flatnonzero(sign[1:] != sign[:-1])[0])
    return float(brentq(determinant, grid[k], grid[k + 1], xtol=1e-10))


def test_small_motion_has_that_frequency_in_time():
    rod = ThickRod(BLOCK, ELASTIC, tip=TipMass(0.052), elements=16, gravity=0.0)
    start = held(rod, prony(ELASTIC), Hold(1e-5, 10.0))
    height = np.array(
        [s.q[-1, 1] for s in islice(motion(rod, prony(ELASTIC), start, 5e-4), 1500)]
    )
    down = np.flatnonzero((height[1:] <= 0.0) & (height[:-1] > 0.0))
    fine = down + height[down] / (height[down] - height[down + 1])
    period = (fine[-1] - fine[0]) / (len(fine) - 1) * 5e-4
    expected = 2.0 * np.pi / timoshenko_frequency(BLOCK, E, 0.052)
    assert period == pytest.approx(expected, rel=2e-3)


def test_one_relaxing_mass_rings_and_decays_as_its_complex_modulus_says():
    """M p^2 + K(p) = 0, K(p) = k E*(p / i) / E, by Newton in the complex plane.

    A light rod with a heavy point mass has one freedom, stiffness 1 / (L^3 / 3I +
    L / A_s) by modulus.
    """
    law = Relaxation(2.0e5, 0.1, 0.3)
    series = prony(law)
    rod = ThickRod(LIGHT, law, tip=TipMass(0.052), elements=2, gravity=0.0)
    flexible = 0.1**3 / (3.0 * BLOCK.second_moment) + 0.1 / BLOCK.shear_area
    iw = newton(
        lambda p: 0.052 * p * p + complex(complex_modulus(series, p / 1j)) / flexible,
        complex(-1.0, 26.0), tol=1e-10,
    )  # fmt: skip
    start = held(rod, series, Hold(1e-5, 1e5))
    time, height = np.array(
        [(s.time, s.q[-1, 1]) for s in islice(motion(rod, series, start, 5e-4), 3000)]
    ).T
    ring = (time > 0.3) & (time < 1.4)
    basis = np.exp(np.outer(time[ring], [iw, np.conj(iw)]))
    slow = np.column_stack(
        [np.ones(ring.sum()), time[ring] ** -0.3, time[ring] ** -1.3]
    )
    both = np.column_stack([basis.real[:, 0], basis.imag[:, 0], slow])
    left = height[ring] - both @ np.linalg.lstsq(both, height[ring], rcond=None)[0]
    assert np.abs(left).max() < 3e-3 * np.abs(height[ring]).max()


def test_creep_of_a_loaded_rod_is_that_of_the_equilibrium_modulus_in_the_end():
    law = Relaxation(2.0e5, 0.1, 0.3)
    series = prony(law)
    rod = ThickRod(BLOCK, law, tip=TipMass(0.05), gravity=9.81)
    now = held(rod, series, Hold(0.0, 3.0))
    for h in (1.0, 10.0, 100.0, 1e4, 1e6):
        now = step(rod, series, now, h, inertia=False)
    assert now.q[-1, 1] == pytest.approx(rest(rod, series.equilibrium)[-1, 1], rel=1e-4)


def test_an_elastic_rod_keeps_its_energy_and_a_relaxing_one_loses_it():
    def energy(law: Relaxation) -> Floats:
        series = prony(law)
        tip = TipMass(0.05, 0.01, 0.002)
        rod = ThickRod(BLOCK, law, Clamp(0.05, 10.0), tip, gravity=9.81)
        start = held(rod, series, Hold(0.0, 3.0))
        return np.array(
            [_energy(rod, s) for s in islice(motion(rod, series, start, 2.5e-4), 800)]
        )

    kept, lost = energy(ELASTIC), energy(Relaxation(2.0e5, 0.1, 0.3))
    swing = 0.05 * 9.81 * 0.03
    assert np.abs(kept - kept[0]).max() < 2e-3 * swing
    assert lost[-1] < kept[0] - 0.1 * swing


def _energy(rod: ThickRod, s: object) -> float:
    """Kinetic, elastic (of E) and potential energy, J, of a step."""
    q, v = s.q, s.v  # type: ignore[attr-defined]
    e = strains(q, rod.size)
    own = 0.5 * E * rod.size * float((rod.stiffness * e**2).sum())
    tip, a = rod.tip, q[-1, 2]
    u = np.array(
        [
            np.cos(a) * tip.beyond - np.sin(a) * tip.above,
            np.sin(a) * tip.beyond + np.cos(a) * tip.above,
        ]
    )
    p = v[-1, :2] + v[-1, 2] * np.array([-u[1], u[0]])
    kinetic = 0.5 * float((rod.inertia * v**2).sum())
    kinetic += 0.5 * tip.mass * float(p @ p)
    high = float(rod.inertia[:, 1] @ q[:, 1]) + tip.mass * (q[-1, 1] + u[1])
    clamp = rod.clamp.turning * (q[0, 2] + rod.clamp.tilt) ** 2
    return own + kinetic + rod.gravity * high + 0.5 * clamp


def test_the_matrix_is_the_slope_of_the_forces(rng):
    """Taylor's remainder falls with slope 2, elements, tip mass and clamp together."""
    tip = TipMass(0.05, 0.01, 0.003)
    rod = ThickRod(BLOCK, ELASTIC, Clamp(0.1, 10.0), tip, elements=4)
    q = rest(rod, E) + 1e-3 * rng.normal(size=(5, 3))
    memory = 100.0 * rng.normal(size=(4, 3))
    part, still, law = parts(rod), np.zeros_like(q), Stress(E, memory)
    before = SectionMotion(q, still, still)
    change, _, _ = newton_step(part, before, AT_REST, law, still)
    left = []
    for share in (0.2, 0.1, 0.05, 0.025):
        moved = SectionMotion(q + share * change, still, still)
        after, _, _ = newton_step(part, moved, AT_REST, law, still)
        left.append(np.abs(after - (1.0 - share) * change).max())
    order = np.log2(np.array(left[:-1]) / np.array(left[1:]))
    assert order[-1] > 0.9  # the Newton step from there errs by share x change^2


def test_rigid_motion_strains_nothing():
    rod = ThickRod(BLOCK, ELASTIC)
    q = rod.straight()
    turn = 0.7
    c, s = np.cos(turn), np.sin(turn)
    q[:, :2] = q[:, :2] @ np.array([[c, s], [-s, c]]) + [0.3, -0.1]
    q[:, 2] += turn
    assert strains(q, rod.size) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Prism(0.1, 0.03, -0.03, 1070.0), "height"),
        (lambda: Prism(0.1, 0.03, 0.03, 1070.0, 0.6), "poisson"),
        (lambda: Clamp(turning=0.0), "turning"),
        (lambda: TipMass(-0.1), "mass"),
        (lambda: ThickRod(BLOCK, ELASTIC, elements=0), "elements"),
    ],
)
def test_what_is_no_rod_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()  # type: ignore[operator]


def test_a_hand_beyond_the_tip_lifts_and_turns_it():
    """Lift F at a beyond the tip: F L^3 / 3 EI + F L / kGA + F a L^2 / 2 EI, and turn.

    The turn is F L^2 / 2 EI + F a L / EI.
    """
    rod = ThickRod(LIGHT, ELASTIC, elements=8, gravity=0.0)
    q = rest(rod, E, tip_height=1e-5, lever=0.03)
    EI, kGA = E * BLOCK.second_moment, E * BLOCK.shear_area
    lift = 1e-5 / (0.1**3 / 3 / EI + 0.1 / kGA + 0.03 * 0.01 / 2 / EI)
    assert q[-1, 1] == pytest.approx(1e-5)
    assert q[-1, 2] == pytest.approx(lift * (0.005 + 0.003) / EI, rel=1e-3)


MASS, SPRING, g = 0.052, 300.0, 9.81

HEAVIER = replace(BLOCK, density=1e-3)


def steps(rod: ThickRod, lifted: float, h: float, count: int) -> list[ThickStep]:
    """A rod lifted by `lifted` m from its rest and let go."""
    series = prony(rod.law)
    y = float(rest(rod, series.equilibrium)[-1, 1])
    start = held(rod, series, Hold(y + lifted, 10.0))
    return list(islice(motion(rod, series, start, h), count))


@pytest.mark.parametrize(("beyond", "above"), [(0.0, 0.0), (0.01, -0.02)])
def test_at_rest_it_weighs_as_much_as_a_rigid_mass_there(beyond, above):
    rigid = ThickRod(BLOCK, Relaxation(E), tip=TipMass(MASS, beyond, above))
    hung = replace(rigid, tip=replace(rigid.tip, spring=SPRING))
    assert rest(hung, E) == pytest.approx(rest(rigid, E), abs=1e-9)


@pytest.mark.parametrize("retardation", [0.0, 0.002])
def test_a_light_rod_and_its_link_ring_as_two_springs_in_a_row(retardation):
    """m s^2 + 1 / (1 / K + 1 / c (1 + s t)) = 0, s = -decay +- i w."""
    EI, kGA = E * BLOCK.second_moment, E * BLOCK.shear_area
    K = 1.0 / (0.1**3 / (3.0 * EI) + 0.1 / kGA)

    def balance(s: complex) -> complex:
        spring = SPRING * (1.0 + s * retardation)
        return complex(MASS * s * s + 1.0 / (1.0 / K + 1.0 / spring))

    slow = np.sqrt(1.0 / (1.0 / K + 1.0 / SPRING) / MASS)
    s = complex(newton(balance, complex(-0.1, slow)))
    tip = TipMass(MASS, spring=SPRING, retardation=retardation)
    rod = ThickRod(HEAVIER, Relaxation(E), tip=tip, gravity=0.02)
    made = steps(rod, 4e-6, 1e-3, 800)
    y = float(rest(rod, E)[-1, 1])
    high = np.array([one.hung[0] for one in made])
    rests = y - rod.gravity * tip.stretch
    when, away = extrema(np.arange(800) * 1e-3, high - rests)
    assert 2.0 * (when[5] - when[1]) / 4 == pytest.approx(2 * np.pi / s.imag, rel=1e-3)
    decay = np.log(abs(away[1] / away[5])) / (when[5] - when[1])
    assert decay == pytest.approx(-s.real, abs=0.01)


def test_a_link_pulls_only_and_a_slack_one_lets_the_mass_fall():
    """By the acceleration of the mass above that of a free fall."""
    tip = TipMass(MASS, spring=SPRING)
    rod = ThickRod(BLOCK, Relaxation(E), tip=tip, gravity=g)
    gentle, wild = (
        np.array([one.hung[2] for one in steps(rod, by, 1e-3, 80)]) + g
        for by in (0.004, 0.02)
    )
    assert gentle.min() > 1.0
    assert wild.min() == pytest.approx(0.0, abs=1e-9)
    assert np.sum(wild < 1e-9) > 5


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"spring": 0.0}, "above 0"),
        ({"spring": 9.0, "mass": 0.0}, "must be positive"),
        ({"retardation": -1.0}, "retard"),
    ],
)
def test_a_link_that_makes_no_sense_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        TipMass(**{"mass": MASS, **wrong})


HOLD = Hold(0.0, 3.0)


def test_an_elastic_rod_comes_back_to_where_it_had_hung():
    rod = ThickRod(BLOCK, Relaxation(2.2e5), tip=TipMass(0.05))
    series = prony(rod.law)
    assert rest_height(rod, series, 0.006, HOLD, 4.0) == pytest.approx(
        rest(rod, 2.2e5)[-1, 1], rel=1e-6
    )


def test_a_relaxing_rod_remembers_that_it_was_lifted():
    """After 4 s it is above its last rest, and it still sinks."""
    rod = ThickRod(BLOCK, Relaxation(2.0e5, 0.15, 0.28), tip=TipMass(0.05))
    series = prony(rod.law)
    last = rest(rod, series.equilibrium)[-1, 1]
    early, late = (rest_height(rod, series, 0.016, HOLD, t) for t in (4.0, 40.0))
    assert last < late < early < last + 1e-3


def test_creep_by_few_long_steps_is_that_after_ringing_through():
    """Half a second of ringing, then creep, against ringing for three seconds."""
    rod = ThickRod(BLOCK, Relaxation(2.0e5, 0.3, 0.28), tip=TipMass(0.02))
    series = prony(rod.law)
    _, early = ringing_heights(rod, series, HOLD, 0.8, 2e-3)
    whole, late = ringing_heights(rod, series, HOLD, 3.0, 2e-3)
    left = late.time - early.time
    crept = crept_height(rod, series, early, left, 0.05 * left)
    end = float(late.q[-1, 1])
    fall = float(whole(0.0)) - end
    assert crept == pytest.approx(end, abs=2e-3 * fall)


def test_heights_between_kept_steps_are_those_of_the_motion():
    rod = ThickRod(BLOCK, Relaxation(2.0e5, 0.15, 0.28), tip=TipMass(0.05))
    series = prony(rod.law)
    height, _ = ringing_heights(rod, series, HOLD, 0.3, 2e-3)
    steps = islice(motion(rod, series, held(rod, series, HOLD), 2e-3), 150)
    gone = [float(height(one.time)) - one.q[-1, 1] for one in steps]
    assert np.abs(gone).max() < 5e-6  # m, of a swing of 30 mm
