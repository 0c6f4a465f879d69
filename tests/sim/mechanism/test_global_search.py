"""Lower ends: by several starts, hops, and by way of rounded and smaller surfaces.

A node on a circle inside an ellipse has two minima.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from sim.contact.bodies_that_may_meet import Solids
from sim.core.options import NotConvergedError
from sim.mechanism import global_search
from sim.mechanism.constraint_system import linearise, system_of
from sim.mechanism.constraints import Constraint, ConstraintKind, dist, fix
from sim.mechanism.global_search import (
    Attempt,
    attempts_of,
    lowest,
    morph_rounded_first,
    smaller,
    walked,
    walked_away,
)
from sim.mechanism.morph_objective import MorphProblem, NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.obstacles import Obstacles
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Ellipsoid
from sim.mechanism.targets.sampled_surfaces import MeshTarget, spread_points
from sim.mechanism.targets.target_interface import Goals, Target
from sim.mechanism.targets.transformed import Moved
from tests.sim.mechanism.mechanisms import structure
from tests.sim.mechanism.random_structures import BESIDE, random_structure, spiral

OVAL = Ellipsoid((3.0, 2.0, 4.0), (0.0, 0.1, 0.0))
NEAR, FAR = 0.9, 1.1  # from the bottom and from the top of the unit circle to the oval
E_PER_LENGTH = np.sqrt(0.5) / 0.5  # two nodes, L = 1/2


def pointer(degrees: float = 10.0) -> Structure:
    angle = np.radians(degrees)
    r = np.array([[0.0, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    flat = Constraint(ConstraintKind.FIX, (1, 2), 0.0)
    made = structure(r, [*fix(r, 0), flat, dist(r, 0, 1)])
    return replace(made, leading=np.array([1]))


def searched(
    starts: int, hops: int = 0, seed: int = 0
) -> tuple[list[MorphStep], list[Attempt]]:
    steps = list(lowest(pointer(), OVAL, NewtonOptions(seed=seed), starts, hops))
    return steps, attempts_of(steps)


def test_of_two_minima_the_lower_is_kept_and_both_are_listed():
    *_, alone = morph_rounded_first(pointer(), OVAL, NewtonOptions())
    steps, attempts = searched(6)
    assert_allclose(alone.E, FAR * E_PER_LENGTH, rtol=1e-9)
    assert_allclose(steps[-1].E, NEAR * E_PER_LENGTH, rtol=1e-9)
    assert attempts[0].minimum == 1
    assert {attempt.minimum for attempt in attempts} == {0, 1}
    for attempt in attempts:
        wanted = (NEAR, FAR)[attempt.minimum] * E_PER_LENGTH
        assert_allclose(attempt.E, wanted, rtol=1e-9)


def test_of_minima_as_low_that_of_the_first_start_is_kept(monkeypatch):
    *_, alone = morph_rounded_first(pointer(), OVAL, NewtonOptions())

    def ended(_task, _begun, start, _hops):
        yield alone._replace(E=alone.E - 1e-9 * start, S=alone.S + 0.1 * start)

    monkeypatch.setattr(global_search, "_from", ended)
    steps, attempts = searched(3)
    assert steps[-1].start == 0
    assert [attempt.minimum for attempt in attempts] == [0, 1, 2]


def test_starts_are_those_of_their_seed_and_more_are_a_superset():
    few, more, other = (
        searched(count, seed=seed)[1] for seed, count in ((1, 3), (1, 5), (2, 3))
    )
    assert [a.steps for a in few] == [a.steps for a in more[:3]]
    assert [a.E for a in few] == [a.E for a in more[:3]]
    assert [a.gradient for a in few] != [a.gradient for a in other]


def test_a_start_that_fails_is_told_and_the_others_go_on():
    made, alone = pointer(), list(morph_rounded_first(pointer(), OVAL, NewtonOptions()))
    most = len(alone) - 2  # too few for the first start
    steps = lowest(made, OVAL, NewtonOptions(max_steps=most), 12)
    attempts = attempts_of(steps)
    assert "no convergence in" in attempts[0].failed
    assert attempts[0].minimum == -1
    assert 0 in {attempt.minimum for attempt in attempts}


def test_walks_keep_the_constraints_and_pass_no_body(rng):
    made = pointer()
    r = np.vstack([made.r0, [[0.95, -0.3, 0.0]]])
    rows = [*fix(r, 0), *fix(r, 2), dist(r, 0, 1)]
    flat = Constraint(ConstraintKind.FIX, (1, 2), 0.0)
    made = structure(r, [*rows, flat])
    made = replace(made, solids=Solids().with_spheres(3, 0.15))
    problem, z = MorphProblem.at(made, OVAL, NewtonOptions())
    for _ in range(8):
        there = walked(problem, z, rng)
        assert linearise(system_of(made), there).residual <= 1e-10
        assert Obstacles.of(made).overlaps(there[:3]) == 0
        assert np.arctan2(there[1, 1], there[1, 0]) > np.arctan2(-0.3, 0.95)


def test_where_no_start_converges_the_first_error_is_told():
    with pytest.raises(NotConvergedError, match="after 1 steps"):
        list(lowest(pointer(), OVAL, NewtonOptions(max_steps=1), 2))


def test_hops_from_the_higher_minimum_find_the_lower_one():
    _, alone = searched(1, 0)
    steps, attempts = searched(1, 12)
    assert_allclose(alone[0].E, FAR * E_PER_LENGTH, rtol=1e-9)
    assert_allclose(attempts[0].E, NEAR * E_PER_LENGTH, rtol=1e-9)
    assert steps[-1].gradient <= NewtonOptions().tolerance
    assert [step.s for step in steps] == list(range(len(steps)))


def test_hops_are_those_of_their_seed_and_more_are_a_superset():
    few, more = (searched(2, hops)[0] for hops in (3, 6))
    again = searched(2, 3)[0]
    assert [step.E for step in few] == [step.E for step in again]
    first = [step.E for step in few if step.start == 0][:-1]  # the last is told twice
    assert first == [step.E for step in more if step.start == 0][: len(first)]


def test_walks_away_keep_the_constraints_and_pass_no_body(rng):
    made = replace(pointer(90.0), solids=Solids().with_spheres(2, 0.15))
    problem, z = MorphProblem.at(made, OVAL, NewtonOptions())
    angles = []
    for _ in range(12):
        there = walked_away(problem, z, rng)
        assert linearise(system_of(made), there).residual <= 1e-10
        assert Obstacles.of(made).overlaps(there[:2]) == 0
        angles.append(np.degrees(np.arctan2(there[1, 1], there[1, 0])))
    assert max(np.abs(np.array(angles) - 90.0)) > 60.0  # one direction, not to and fro


POINTS = np.add(BESIDE.centre, BESIDE.semi_axes * spiral(200))
MESH = MeshTarget(POINTS, ConvexHull(POINTS).simplices.astype(np.int64))
CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
OPTIONS = NewtonOptions()


def end_of(made: Structure, target: Target, options: NewtonOptions) -> MorphStep:
    *_, end = morph_rounded_first(made, target, options)
    return end


def test_facets_do_not_hold_a_structure_that_fits_the_surface():
    """At once onto the mesh it stays 0.0096 away; onto the ellipsoid it comes to it."""
    made = random_structure(44)
    *_, smooth = morph_newton(made, BESIDE, OPTIONS)
    end = end_of(made, MESH, OPTIONS)
    assert smooth.E < 1e-6
    assert end.E < 1e-6
    assert end.gradient <= OPTIONS.tolerance


def test_goals_and_errors_of_every_step_are_those_of_the_mesh():
    steps = list(morph_rounded_first(random_structure(2), MESH, OPTIONS))
    assert [step.s for step in steps] == list(range(len(steps)))
    assert [step.stop is not None for step in steps].index(True) == len(steps) - 1
    for step in steps:
        assert np.array_equal(step.g, MESH.closest(step.r))
        assert step.residual <= OPTIONS.residual


def test_a_moved_mesh_is_rounded_too():
    made, pose = random_structure(9), ((0.0, 0.0, 0.3), (0.05, 0.0, 0.0))
    points = np.random.default_rng(1).normal(size=(20, 3))
    moved = Moved(MESH, *pose).rounded
    assert moved is not None
    assert MESH.rounded is not None
    plain = Moved(MESH.rounded, *pose).closest(points)
    assert np.array_equal(moved.closest(points), plain)
    assert Moved(BESIDE, *pose).rounded is None
    assert end_of(made, Moved(MESH, *pose), OPTIONS).E < 1e-6


def test_by_way_of_a_smaller_ellipsoid_a_structure_comes_to_one_that_it_fits():
    """At once it stays 0.08 away."""
    made = random_structure(3101)
    *_, at_once = morph_newton(made, BESIDE, OPTIONS)
    steps = list(morph_rounded_first(made, BESIDE, OPTIONS))
    assert at_once.E > 0.05
    assert steps[-1].E < 1e-6
    assert steps[-1].gradient <= OPTIONS.tolerance
    assert [step.stop is not None for step in steps].index(True) == len(steps) - 1
    assert [step.s for step in steps] == list(range(len(steps)))
    moved = [np.abs(b.r - a.r).max() for a, b in pairwise(steps)]
    assert max(moved) < 2.0  # each step goes on from the one before
    for step in steps:
        assert np.array_equal(step.g, BESIDE.closest(step.r))
        assert step.residual <= OPTIONS.residual


def test_a_smaller_target_is_that_of_a_smaller_ellipsoid_about_its_middle():
    points = np.random.default_rng(1).normal(size=(20, 3))
    same = Ellipsoid((0.7 * 1.6, 0.7 * 1.3, 0.7), (0.0, 0.0, -1.2)).closest(points)
    about = smaller(BESIDE, np.array([0.0, 0.0, -1.2])).closest(points)
    assert np.abs(about - same).max() < 1e-12


def test_to_given_goals_and_with_bodies_structures_are_led_at_once():
    made, bodies = random_structure(10), random_structure(3)
    goals = Goals(made.r0 + np.random.default_rng(0).normal(size=made.r0.shape))
    solid = replace(bodies, solids=Solids().with_spheres(len(bodies.r0), 0.05))
    moved = Moved(goals, (0.0, 0.0, 0.3))
    for led, target in ((made, goals), (made, moved), (solid, BESIDE)):
        one = list(morph_rounded_first(led, target, OPTIONS))
        two = list(morph_newton(led, target, OPTIONS))
        assert len(one) == len(two)
        assert np.array_equal(one[-1].r, two[-1].r)


def test_points_are_spread_over_large_triangles_and_thinned_on_small_ones():
    coarse = spread_points((CORNERS - 0.5)[ConvexHull(CORNERS).simplices])
    assert 150 <= len(coarse) <= 800
    assert np.abs(coarse).max(axis=1) == pytest.approx(0.5)  # on the cube
    fine = ConvexHull(coarse / np.linalg.norm(coarse, axis=1, keepdims=True))
    small = fine.points[fine.simplices]
    far = np.array([[[9.0, 0, 0], [9.0, 5, 0], [9.0, 0, 0.001]]])  # a sliver
    points = spread_points(np.concatenate([small, far]))
    on_sliver = points[points[:, 0] > 5]
    assert 10 < len(on_sliver) < 200
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    spacing = apart.min(axis=1).mean()
    assert np.diff(np.sort(on_sliver[:, 1])).max() < 2.0 * spacing
