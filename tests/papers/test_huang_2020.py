"""Numbers and outcomes printed in [Hu20], Nature Communications 11:2233 (2020).

Not in the text (they are in its supplement): Young's modulus and thickness of the
limbs, damping, the constants of eq. (7), the shape and force of the jumper, the data
of Fig. 5. Those of `RodMaterial`, `Damping` and `Actuator` are stated assumptions. Two
printed outcomes do not come out with them, and are asserted here as they do come out:

* "the robot fails to roll up the incline when at theta = +6.0": ours climbs 10 degrees,
  and fails from 12 degrees on;
* from the crest "at the second cycle, the robot rolls multiple times, undergoes
  oscillatory motion, and settles stay at the trough": ours rolls over two limbs in the
  second cycle, over two more in the third, and is in the trough after the fourth.

The first hinges on the modulus: with 2.1 MPa instead of 3.0 MPa 6 degrees are too
steep. The modulus was not changed for that.
"""

import numpy as np
import pytest

from pipeline.cases.ribbon import RibbonCase
from pipeline.cases.robots import StarCase
from sim.rods.plane.builders import Ribbon, StarShape, star
from sim.rods.plane.ground import Ground, GroundPlane, Wave
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import RodMaterial
from sim.rods.plane.statics import solve_static
from tests.recorded import summary

NODES = 84  # Rolling robot
CURVED, STRAIGHT = 22.0e-3, 8.0e-3  # l_c, l_s, m
CURVATURE = 120.0  # 1/R_c, 1/m
DENSITY = 1912.0  # kg/m^3
HEIGHT = 0.05  # H, "approximately", m
EDGE = 2.5e-3  # "approximately", m
PERIMETER, RADIUS = 0.3, 0.048  # Rolling ribbon, m
FRICTION = 0.8
CYCLOID = 8.0 / (2.0 * np.pi)
CYCLE = 3.0  # s
LIMITS = (475.13e-6, 0.26401)  # sag, m, and way of a cycle over H, N to infinity
AMPLITUDE, PERIOD = 6.5e-3, 0.2  # of the wave, m
CREST, TROUGH = 0.25 * PERIOD, 0.75 * PERIOD


def test_the_star_is_that_of_fig_1():
    shape, material = StarShape(), RodMaterial()
    assert (shape.arc_length, shape.tail_length) == (CURVED, STRAIGHT)
    assert shape.curvature == CURVATURE
    assert material.density == DENSITY
    rod = star(shape, material)
    assert len(rod.nodes) == NODES
    assert np.ptp(rod.nodes[:, 1]) == pytest.approx(HEIGHT, rel=0.02)
    assert rod.rest_length == pytest.approx(EDGE, rel=0.08)
    assert StarCase().friction == FRICTION


def test_the_ribbon_is_that_of_fig_2():
    assert Ribbon().perimeter == PERIMETER
    assert Ribbon().radius == pytest.approx(RADIUS, rel=0.01)


def _delta(gamma: float, ratio: float) -> float:
    case = RibbonCase(Ribbon(gamma), ratio=ratio, duration=1.0, every=2)
    return float(summary(case)["delta"])


@pytest.mark.parametrize("gamma", [1.0, 5.0])
def test_delta_grows_with_friction_from_1_and_stays_beyond_ratio_1(gamma):
    """Fig. 2b."""
    delta = [_delta(gamma, ratio) for ratio in (0.0, 0.25, 0.5, 1.0, 1.5)]
    assert delta[0] == pytest.approx(1.0, abs=1e-3)
    assert delta[0] < delta[1] < delta[2] <= delta[3] + 5e-3
    assert delta[4] == pytest.approx(delta[3], rel=2e-3)


def test_a_rigid_ribbon_rolls_on_a_cycloid():
    assert _delta(8.0, 1.2) == pytest.approx(CYCLOID, rel=5e-3)


def _cycles(ground: Ground, cycles: int = 4) -> tuple[list[float], list[int]]:
    """Way in H and contact limb (as in Fig. 4) at the start and after each cycle."""
    case = StarCase(ground=ground, duration=cycles * CYCLE, every=200)
    ways, limbs = [], []
    for step in case.steps():
        cycle = step.time / CYCLE
        if abs(cycle - round(cycle)) < 1e-6:
            row = case.columns(step)
            ways.append(row["way_over_H"])
            limbs.append(int(row["contact_limb"]))
    return ways, limbs


def test_on_the_plane_the_star_rolls_by_one_limb_a_cycle():
    """Figs. 4 and 5d: from limb 5 to 6, limb 4 being switched on; then on."""
    ways, limbs = _cycles(GroundPlane())
    assert limbs == [5, 6, 7, 1, 2]
    assert np.diff(ways) == pytest.approx(np.diff(ways).mean(), rel=0.05)


def test_the_distance_falls_from_minus_3_to_plus_3_degrees():
    """Fig. 5d to f."""
    ends = [_cycles(GroundPlane(angle))[0][-1] for angle in (-3.0, 0.0, 3.0)]
    assert ends[0] > ends[1] > ends[2] > 0.5


def test_there_is_a_slope_that_the_star_cannot_climb():
    """Fig. 5g has it at 6 degrees, ours lies between 10 and 12: see the text above."""
    assert _cycles(GroundPlane(6.0))[1] == [5, 6, 7, 1, 2]
    ways, limbs = _cycles(GroundPlane(12.0))
    assert limbs == [5] * 5
    assert ways[-1] < 0.0


def test_from_the_crest_the_star_rolls_once_then_down_to_the_trough():
    """Fig. 5h: "rolls once at the first cycle", then further, to the trough: see above.

    The trough is 2 H from the crest.
    """
    ways, limbs = _cycles(Wave(AMPLITUDE, PERIOD, CREST))
    assert limbs == [5, 6, 1, 3, 4]
    assert ways[2] - ways[1] > 2.5 * (ways[1] - ways[0])
    trough = 0.5 * PERIOD / StarCase().height
    assert ways[4] == pytest.approx(trough, abs=0.1)


def test_from_the_trough_the_star_rolls_twice_then_fails():
    """Fig. 5i: "rolls once in the first two cycles, but fails ... in the third"."""
    ways, limbs = _cycles(Wave(AMPLITUDE, PERIOD, TROUGH))
    assert limbs[:4] == [5, 6, 7, 7]
    assert ways[2] > ways[1] + 0.1 > 0.2
    assert ways[3] < ways[2]


def test_a_softer_star_fails_on_6_degrees_as_printed():
    """What that outcome hinges on: 2.1 MPa, for the record, not our setting."""
    material = RodMaterial(modulus=2.1e6)
    case = StarCase(
        ground=GroundPlane(6.0), material=material, duration=12.0, every=1200
    )
    assert [int(case.columns(step)["contact_limb"]) for step in case.steps()] == [5] * 5


def test_the_way_of_the_star_does_not_depend_on_the_step():
    """Fig. 6 and Supplementary Fig. 5; the paper has no convergence from 10 ms up."""
    ways = []
    for h in (1e-3, 2.5e-3, 5e-3, 1e-2, 2e-2):
        case = StarCase(duration=3.0, every=10**6, options=StepOptions(h=h))
        ways.append(float(summary(case)["way_over_H"]))
    assert ways == pytest.approx([np.mean(ways)] * 5, rel=0.03)


def _sag_and_way(refinement: int) -> tuple[float, float]:
    """How far the centroid sinks at rest, m, and a cycle's way over H."""
    case = StarCase(duration=CYCLE, every=10**6, refinement=refinement)
    rod = star(case.shape.refined(refinement), case.material)
    sunk = rod.mass @ (rod.nodes - case.world.rod.nodes)[:, 1] / rod.mass.sum()
    return float(sunk), float(summary(case)["way_over_H"])


def test_sag_and_way_of_the_star_have_converged_at_84_nodes():
    """Supplementary Fig. 4; N = 84, 168, 336: within 1 % (84 / N)^2 of their limits.

    475.13 um and 0.26401 H, of order 2 by N = 672 and 1344.
    """
    found = np.array([_sag_and_way(k) for k in (1, 2, 4)])
    errors = np.abs(found / LIMITS - 1.0)
    assert (errors < 0.01 / np.array([[1.0], [4.0], [16.0]])).all()


def _sag(refinement: int) -> float:
    case = StarCase(refinement=refinement)
    rod = case.unsettled.rod
    sunk = rod.nodes - solve_static(case.unsettled, tolerance=1e-9).x
    return float(rod.mass @ sunk[:, 1] / rod.mass.sum())


def test_the_sag_of_the_star_is_of_order_two_in_nodes():
    """N = 672, 1344, 2688; about its limit of 475.13 um."""
    coarse, middle, fine = (_sag(k) for k in (8, 16, 32))
    assert (middle - coarse) / (fine - middle) == pytest.approx(4.0, abs=0.3)
    assert fine == pytest.approx(LIMITS[0], rel=5e-5)


@pytest.mark.long
def test_the_limits_of_sag_and_way_are_those_of_more_nodes_still():
    """Of order 2: N = 672 and 1344 foretell them."""
    coarse, fine = (np.array(_sag_and_way(k)) for k in (8, 16))
    assert fine + (fine - coarse) / 3.0 == pytest.approx(LIMITS, rel=2e-4)
    assert np.abs(coarse / LIMITS - 1.0).max() < 2e-4
