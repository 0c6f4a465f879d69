"""Wires that are knotted, that loop each other, and limbs that hold a body."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pipeline.config.building import build as hydra_build
from pipeline.terminal.errors import InputError
from sim.arrays import Floats
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.touching import contacts_of, near
from tests.pipeline.cases.test_space_rod import build
from tests.pipeline.shipped_cases import config_of
from tests.recorded import recorded


def _overlap(case: Any, step: SpaceMotionStep) -> float:
    """By how much any two skins are within each other."""
    world = case.space_world
    what = near(world.rod, world.touching, step.x, 0.0)
    gap = contacts_of(world.rod, world.touching, what, step.x, None).gap
    return -float(gap.min(initial=0.0))


@np.errstate(divide="ignore", invalid="ignore")  # parallel ones cross nowhere
def _crossings(x: Floats) -> list[tuple[float, float]]:
    """Where (edge + share) a curve seen from above goes over, and under, itself."""
    found = []
    for i in range(len(x) - 1):
        for j in range(i + 2, len(x) - 1):
            d, e = x[i + 1] - x[i], x[j + 1] - x[j]
            by = x[j] - x[i]
            area = d[0] * e[1] - d[1] * e[0]
            s = (by[0] * e[1] - by[1] * e[0]) / area
            u = (by[0] * d[1] - by[1] * d[0]) / area
            if 0.0 <= s < 1.0 and 0.0 <= u < 1.0:
                above = (x[i] + s * d)[2] > (x[j] + u * e)[2]
                found.append((i + s, j + u) if above else (j + u, i + s))
    return found


def _determinant(x: Floats) -> int:
    """Of the knot of a curve whose ends are far away: 1 if loose, 3 of a trefoil.

    Arcs run from one crossing under to the next; at each, twice the arc above less both
    arcs below vanishes in a colouring (Fox). Any minor tells.
    """
    crossings = _crossings(x)
    under = np.sort([low for _, low in crossings])
    rows = np.zeros((len(crossings), len(crossings) + 1))
    for row, (high, low) in zip(rows, crossings, strict=True):
        k = int(np.searchsorted(under, low))
        row[int(np.searchsorted(under, high))] += 2.0
        row[k] -= 1.0
        row[k + 1] -= 1.0
    return round(abs(float(np.linalg.det(rows[:, 1:])))) if len(rows) else 1


def test_the_determinant_tells_a_trefoil_from_a_loop() -> None:
    t = np.linspace(-2.2, 2.2, 60)
    trefoil = np.column_stack([t**3 - 3 * t, t**4 - 4 * t**2, t**5 - 10 * t])
    assert _determinant(trefoil) == 3
    assert _determinant(trefoil * [1.0, 1.0, 0.0] + t[:, None] * [0.0, 0.0, 1.0]) == 1


def _pulls_by_bending_and_friction(case: Any, steps: list[SpaceMotionStep]) -> None:
    """F - B k^2 / 2 is what friction takes over the way on which strands slide.

    Both go through the braid at the speed of the ends, against each other. The mean of
    both over the swinging of the knot.
    """
    first, last = steps[0], steps[-1]
    taken = last.moving.ledger.friction - first.moving.ledger.friction
    slid = 2.0 * case.speed * (last.time - first.time)
    bent = [0.5 * case.wire.bending * case.across(step) ** 2 for step in steps]
    more = np.mean([case.pull(step) for step in steps]) - np.mean(bent)
    assert more == pytest.approx(taken / slid, rel=0.06)


@pytest.mark.parametrize(
    ("values", "tightened"),
    [
        ({"duration": 0.03, "rests": 0.01}, False),
        pytest.param({}, True, marks=pytest.mark.long),
    ],
)
def test_a_knot_stays_a_knot_and_nothing_passes_through(
    values: dict[str, Any], tightened: bool
) -> None:
    case = build("knot", **values)
    steps, recorder = recorded(case)
    assert {_determinant(step.x) for step in steps} == {3}
    assert max(_overlap(case, step) for step in steps) <= 1.001e-6 * case.wire.radius
    ledger = steps[-1].moving.ledger
    assert ledger.complementarity <= 1e-11
    assert ledger.friction > 0.0
    if tightened:
        told = recorder.summary()
        assert told["R_over_h"] < 25.0
        _pulls_by_bending_and_friction(case, [s for s in steps if s.time > 0.199])
        assert 0.65 < told["F_R2_over_B"] < 1.1


@pytest.mark.long
def test_a_knot_without_friction_pulls_by_half_of_its_bending() -> None:
    """F R^2 / B = 1/2 where the loop runs across the pull; mean over its swinging."""
    case = build("knot", friction=0.0)
    told = [case.ends(step)["F_R2_over_B"] for step in case.steps() if step.time > 0.25]
    assert np.mean(told) == pytest.approx(0.5, rel=0.07)


def test_two_looped_wires_are_elastica_of_two_legs() -> None:
    case = build("lasso", duration=0.15)
    steps, recorder = recorded(case)
    told = recorder.summary()
    assert told["width_over_elastica"] == pytest.approx(1.0, rel=0.05)
    assert told["k2_over_elastica"] == pytest.approx(1.0, rel=0.1)
    assert told["touching"] == 1
    assert max(_overlap(case, step) for step in steps) <= 1.001e-6 * case.wire.radius


def test_wires_that_press_rest_in_long_steps_that_are_not_cut() -> None:
    """Their contact force would throw each by two radii in a step of 1 ms."""
    case = build("lasso")
    options = replace(case.options, h=1e-3)
    steps = list(moves(case.space_world, options, 0.02))
    assert sum(step.substeps for step in steps) == 20
    assert sum(step.iterations for step in steps) <= 140


def test_a_move_that_turns_edges_far_does_not_throw_the_next() -> None:
    """It lengthens them; 574 iterations where Newton's matrix takes that as a pull.

    245 where the matrix of the first guess is taken again after a far move.
    """
    case = build("lasso")
    options = replace(case.options, h=8e-3)
    steps = list(moves(case.space_world, options, case.duration))
    assert sum(step.iterations for step in steps) <= 220


def test_contacts_that_follow_slowly_are_drawn_on() -> None:
    """By 8 steps of a knot, in which they contract by 0.35; 580 iterations if not."""
    case = build("knot")
    options = replace(case.options, h=8e-3)
    steps = list(moves(case.space_world, options, case.duration))
    assert sum(step.iterations for step in steps) <= 560
    assert max(_overlap(case, step) for step in steps) <= 1.001e-6 * case.wire.radius
    assert steps[-1].moving.ledger.complementarity <= 1e-11


@pytest.mark.long
def test_the_error_of_looped_wires_falls_with_their_edges() -> None:
    left = []
    for edges in (21, 41):
        _, recorder = recorded(build("lasso", edges=edges))
        left.append(abs(recorder.summary()["k2_over_elastica"] - 1.0))
    assert left[1] < 0.45 * left[0]


@pytest.mark.parametrize("share", [0.7, 1.35])
def test_limbs_lift_a_body_from_the_friction_of_a_beam_on(share: float) -> None:
    """Three of them push as straight beams of their curvature would."""
    least = build("gripper").least_friction
    case = build("gripper", friction=share * least, every=25)
    steps, recorder = recorded(case)
    told = recorder.summary()
    assert told["palm_lifted"] == pytest.approx(7.5e-3)
    if share < 1.0:
        assert told["lifted"] < 1e-4
        return
    assert told["lifted"] > 0.9 * told["palm_lifted"]
    assert told["aside"] < 1e-9
    assert told["complementarity"] < 1e-11
    for one, other in pairwise(steps[-3:]):  # of a steady lift
        given = other.moving.ledger.given - one.moving.ledger.given
        rod, v = case.space_world.rod, case.speed
        weight = rod.mass.sum() * (9.81 + case.damping.alpha * v)
        held = rod.held.all(axis=1)
        own = rod.mass[held].sum() * (9.81 + case.damping.alpha * v)
        assert given / (v * (other.time - one.time)) == pytest.approx(
            weight - own, rel=0.05
        )


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("knot", {"edges": 20}, "edges is 20: give 40 or more"),
        ("knot", {"speed": 0.0}, "speed must be positive"),
        ("knot", {"loop": 0.002, "braid": 0.004}, "within edge"),
        ("lasso", {"edges": 40}, "give an odd number from 9 up"),
        ("lasso", {"force": -1.0}, "force must be positive"),
        ("gripper", {"edges": 3}, "edges is 3: give 4 or more"),
        ("gripper", {"apart": 0.009}, "within edge"),
    ],
)
def test_bad_values_are_refused_in_one_line(
    name: str, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        hydra_build(config_of(name) | values, "case")
    assert "\n" not in str(caught.value)
