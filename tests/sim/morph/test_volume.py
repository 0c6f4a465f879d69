"""Balls around the nodes, which cannot overlap."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.morph.constraints import dist
from sim.morph.measures import characteristic_length
from sim.morph.morph import Stop
from sim.morph.newton_morph import Newton, morph_newton
from sim.morph.sheets import triangle_sheet
from sim.morph.targets.ellipsoid import Ellipsoid
from sim.morph.targets.goals import Goals
from sim.morph.volume import REACH, Balls, barrier
from tests.sim.morph.mechanisms import structure

RADIUS = 0.33


def test_barrier_and_its_derivatives_leave_remainders_of_second_order() -> None:
    t, steps = np.array([0.05, 0.4, 0.9]), 10.0 ** -np.arange(2.0, 5.0)
    for order in (0, 1):
        value, slope = barrier(t)[order], barrier(t)[order + 1]
        left = [
            np.abs(barrier(t + h * t)[order] - value - h * t * slope) for h in steps
        ]
        rate = np.diff(np.log10(left), axis=0)
        assert_allclose(rate, -2.0, atol=0.1)
    assert_allclose(barrier(np.ones(1)), np.zeros((3, 1)), atol=0)


def close(rng: np.random.Generator) -> tuple[Balls, Floats]:
    r = 0.75 * np.indices((3, 2, 2)).reshape(3, -1).T + 0.03 * rng.normal(size=(12, 3))
    return Balls.of(structure(r, [dist(r, 0, 1)]), RADIUS), r


def test_push_is_the_gradient_of_the_energy(rng: np.random.Generator) -> None:
    balls, r = close(rng)
    push = balls.contacts(r, 0.7).push()
    assert np.abs(push).max() > 0.1
    assert_allclose(push.sum(axis=0), 0.0, atol=1e-13)
    along = rng.normal(size=r.shape)
    h = 1e-6
    slope = balls.energy(r + h * along, 0.7) - balls.energy(r - h * along, 0.7)
    assert (push * along).sum() == pytest.approx(slope / (2.0 * h), rel=1e-6)


def test_balls_on_one_link_do_not_feel_each_other(rng: np.random.Generator) -> None:
    balls, r = close(rng)
    apart = np.linalg.norm(r[:, None] - r, axis=2)
    near = np.argwhere(np.triu(apart < 2.0 * RADIUS * REACH, 1)).tolist()
    assert [0, 1] in near
    assert balls.pairs(r).tolist() == [pair for pair in near if pair != [0, 1]]


def test_two_balls_drawn_to_one_place_end_side_by_side() -> None:
    r = np.array([[-2.0, 0.1, 0], [2.0, 0, 0]])
    loose = structure(r, [])
    *_, last = morph_newton(loose, Goals(0.0 * r), Newton(ball_radius=RADIUS))
    apart = float(np.linalg.norm(last.r[1] - last.r[0]))
    assert 2.0 * RADIUS < apart < 2.0 * RADIUS + 1e-3
    assert_allclose(last.r.sum(axis=0), 0.0, atol=1e-7)


@pytest.mark.parametrize("axes", [(4.6, 4.0, 3.4), (3.3, 2.8, 2.4)])
def test_a_sheet_of_balls_enters_an_ellipsoid_without_an_overlap(
    axes: tuple[float, float, float],
) -> None:
    sheet = triangle_sheet(4, 4)
    target = Ellipsoid(axes, (0.05, 0.03, -0.8 * axes[2]))
    balls = Balls.of(sheet, RADIUS)
    *_, bare = morph_newton(sheet, target, Newton())
    assert balls.overlaps(bare.r) > 100
    steps = list(morph_newton(sheet, target, Newton(ball_radius=RADIUS)))
    assert all(balls.overlaps(step.r) == 0 for step in steps)
    moves = [np.linalg.norm(b.r - a.r, axis=1).max() for a, b in pairwise(steps)]
    assert max(moves) < RADIUS
    assert steps[-1].stop is Stop.GRADIENT
    assert steps[-1].gradient <= 1e-9
    assert steps[-1].residual <= 1e-10
    assert steps[-1].E < 0.02


def test_balls_that_overlap_at_the_start_are_refused_by_name() -> None:
    sheet = triangle_sheet(1, 1)
    with pytest.raises(ValueError, match=r"the balls of nodes \d+ and \d+ overlap"):
        next(morph_newton(sheet, Goals(sheet.r0), Newton(ball_radius=1.2)))
    with pytest.raises(ValueError, match="ball_radius must not be negative"):
        replace(Newton(), ball_radius=-1.0)


def test_far_balls_change_nothing() -> None:
    sheet = triangle_sheet(1, 2, variation=0.1)
    target = Goals(1.05 * sheet.r0)
    ends = [
        list(morph_newton(sheet, target, Newton(ball_radius=a)))[-1].r
        for a in (0.0, 0.05)
    ]
    L = characteristic_length(sheet.r0)
    assert np.abs(ends[1] - ends[0]).max() < 1e-7 * L
