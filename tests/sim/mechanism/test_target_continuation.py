"""Morphs by way of rounded and of smaller surfaces, which lead on to lower ends."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from sim.contact.bodies_that_may_meet import Solids
from sim.core.arrays import Floats
from sim.mechanism.global_search import (
    morph_rounded_first,
    smaller,
)
from sim.mechanism.morph_problem import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Ellipsoid, on_sphere
from sim.mechanism.targets.sampled_surfaces import MeshTarget, spread_points
from sim.mechanism.targets.target_interface import Goals, Target
from sim.mechanism.targets.transformed import Moved
from tests.sim.mechanism.random_structures import random_structure


def on_ellipsoid(count: int) -> Floats:
    """Points of OVAL, spread as on a spiral."""
    i = np.arange(count) + 0.5
    spiral = on_sphere(np.arccos(1 - 2 * i / count), np.pi * (1 + 5**0.5) * i)
    return np.add(OVAL.centre, OVAL.semi_axes * spiral)


OVAL = Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2))
MESH = MeshTarget(p := on_ellipsoid(200), ConvexHull(p).simplices.astype(np.int64))
CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
OPTIONS = NewtonOptions()


def cube(side: float) -> MeshTarget:
    faces = ConvexHull(CORNERS).simplices.astype(np.int64)
    return MeshTarget(side * (CORNERS - 0.5), faces)


def end_of(made: Structure, target: Target, options: NewtonOptions) -> MorphStep:
    *_, end = morph_rounded_first(made, target, options)
    return end


def test_facets_do_not_hold_a_structure_that_fits_the_surface():
    """At once onto the mesh it stays 0.0096 away; onto the ellipsoid it comes to it."""
    made = random_structure(44)
    *_, smooth = morph_newton(made, OVAL, OPTIONS)
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
    assert Moved(OVAL, *pose).rounded is None
    assert end_of(made, Moved(MESH, *pose), OPTIONS).E < 1e-6


def test_by_way_of_a_smaller_ellipsoid_a_structure_comes_to_one_that_it_fits():
    """At once it stays 0.08 away."""
    made = random_structure(3101)
    *_, at_once = morph_newton(made, OVAL, OPTIONS)
    steps = list(morph_rounded_first(made, OVAL, OPTIONS))
    assert at_once.E > 0.05
    assert steps[-1].E < 1e-6
    assert steps[-1].gradient <= OPTIONS.tolerance
    assert [step.stop is not None for step in steps].index(True) == len(steps) - 1
    assert [step.s for step in steps] == list(range(len(steps)))
    moved = [np.abs(b.r - a.r).max() for a, b in pairwise(steps)]
    assert max(moved) < 2.0  # each step goes on from the one before
    for step in steps:
        assert np.array_equal(step.g, OVAL.closest(step.r))
        assert step.residual <= OPTIONS.residual


def test_a_smaller_target_is_that_of_a_smaller_ellipsoid_about_its_middle():
    points = np.random.default_rng(1).normal(size=(20, 3))
    same = Ellipsoid((0.7 * 1.6, 0.7 * 1.3, 0.7), (0.0, 0.0, -1.2)).closest(points)
    about = smaller(OVAL, np.array([0.0, 0.0, -1.2])).closest(points)
    assert np.abs(about - same).max() < 1e-12


def test_given_goals_are_gone_to_at_once():
    made = random_structure(10)
    goals = Goals(made.r0 + np.random.default_rng(0).normal(size=made.r0.shape))
    for target in (goals, Moved(goals, (0.0, 0.0, 0.3))):
        one = list(morph_rounded_first(made, target, OPTIONS))
        two = list(morph_newton(made, target, OPTIONS))
        assert len(one) == len(two)
        assert np.array_equal(one[-1].r, two[-1].r)


def test_a_structure_with_bodies_is_led_at_once():
    made = random_structure(3)
    solid = replace(made, solids=Solids().with_spheres(len(made.r0), 0.05))
    one = list(morph_rounded_first(solid, OVAL, OPTIONS))
    two = list(morph_newton(solid, OVAL, OPTIONS))
    assert len(one) == len(two)
    assert np.array_equal(one[-1].r, two[-1].r)


def spacing(points: Floats) -> Floats:
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart.min(axis=1))


def test_points_are_spread_over_large_triangles_and_thinned_on_small_ones():
    coarse = spread_points(cube(1.0).vertices[cube(1.0).triangles])
    assert 150 <= len(coarse) <= 800
    assert np.abs(coarse).max(axis=1) == pytest.approx(0.5)  # on the cube
    fine = ConvexHull(coarse / np.linalg.norm(coarse, axis=1, keepdims=True))
    small = fine.points[fine.simplices]
    far = np.array([[[9.0, 0, 0], [9.0, 5, 0], [9.0, 0, 0.001]]])  # a sliver
    points = spread_points(np.concatenate([small, far]))
    on_sliver = points[points[:, 0] > 5]
    assert 10 < len(on_sliver) < 200
    assert np.diff(np.sort(on_sliver[:, 1])).max() < 2.0 * spacing(points).mean()
