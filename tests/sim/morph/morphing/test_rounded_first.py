"""Morphs by way of rounded and of smaller surfaces, which lead on to lower ends."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.library.sheets import triangle_sheet
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.rounded_first import morph_rounded_first, smaller
from sim.morph.morphing.starts import attempts_of, lowest
from sim.morph.structure.solids import Solids
from sim.morph.structure.structure import Structure
from sim.morph.targets.ellipsoid import Ellipsoid
from sim.morph.targets.goals import Goals
from sim.morph.targets.mesh import MeshTarget, spread_points
from sim.morph.targets.pose import Moved
from sim.morph.targets.protocol import Target, smoothed
from tests.bench.bench_morph_classes import targets
from tests.sim.morph.random_structures import random_structure

MESH, OVAL, FOURIER = map(targets().__getitem__, ("mesh", "ellipsoid", "fourier"))
CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
OPTIONS = NewtonOptions()


def cube(side: float) -> MeshTarget:
    faces = ConvexHull(CORNERS).simplices.astype(np.int64)
    return MeshTarget(side * (CORNERS - 0.5), faces)


def end_of(made: Structure, target: Target, options: NewtonOptions) -> MorphStep:
    *_, end = morph_rounded_first(made, target, options)
    return end


def test_facets_do_not_hold_a_structure_that_fits_the_surface() -> None:
    """At once onto the mesh it stays 0.0096 away; onto the ellipsoid it comes to it."""
    made = random_structure(44)
    *_, smooth = morph_newton(made, OVAL, OPTIONS)
    end = end_of(made, MESH, OPTIONS)
    assert smooth.E < 1e-6
    assert end.E < 1e-6
    assert end.gradient <= OPTIONS.tolerance


def test_the_way_by_a_smaller_surface_is_gone_before_that_onto_facets() -> None:
    """With facets on the way back it took 66 steps, to the same E."""
    end = end_of(random_structure(9022), MESH, OPTIONS)
    assert end.s <= 60
    assert end.E < 0.0036


def test_the_last_steps_are_newtons_where_rows_are_nearly_dependent() -> None:
    """Solved to a hundredth of their size the last 27 steps kept 0.73 of it each."""
    steps = list(morph_rounded_first(random_structure(9136), FOURIER, OPTIONS))
    assert steps[-1].gradient < 0.01 * steps[-3].gradient
    assert steps[-1].s <= 60


def test_goals_and_errors_of_every_step_are_those_of_the_mesh() -> None:
    steps = list(morph_rounded_first(random_structure(2), MESH, OPTIONS))
    assert [step.s for step in steps] == list(range(len(steps)))
    assert [step.stop is not None for step in steps].index(True) == len(steps) - 1
    for step in steps:
        assert np.array_equal(step.g, MESH.closest(step.r))
        assert step.residual <= OPTIONS.residual


def test_a_moved_mesh_is_rounded_too() -> None:
    made, pose = random_structure(9), ((0.0, 0.0, 0.3), (0.05, 0.0, 0.0))
    points = np.random.default_rng(1).normal(size=(20, 3))
    moved = Moved(MESH, *pose).rounded
    assert moved is not None
    assert MESH.rounded is not None
    plain = Moved(MESH.rounded, *pose).closest(points)
    assert np.array_equal(moved.closest(points), plain)
    assert Moved(OVAL, *pose).rounded is None
    assert end_of(made, Moved(MESH, *pose), OPTIONS).E < 1e-6


def test_every_start_of_several_goes_onto_the_rounded_mesh_first() -> None:
    seen = list(lowest(random_structure(44), MESH, OPTIONS, 2))
    assert attempts_of(seen)[0].E < 1e-6


def test_by_way_of_a_smaller_ellipsoid_a_structure_comes_to_one_that_it_fits() -> None:
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


def test_on_its_way_to_a_cloud_goals_are_on_the_smooth_surface_all_along() -> None:
    """As those of a descent are, so that E does not jump between two measures."""
    made, scan = random_structure(3), targets()["scan"]
    *_, at_once = morph_newton(made, scan, OPTIONS)
    steps = list(morph_rounded_first(made, scan, OPTIONS))
    assert steps[-1].E < at_once.E - 1e-3
    for step in steps:
        assert_allclose(step.g, smoothed(scan).closest(step.r), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_way_by_a_smaller_target_never_ends_higher(seed: int) -> None:
    made = random_structure(seed)
    *_, at_once = morph_newton(made, OVAL, OPTIONS)
    assert end_of(made, OVAL, OPTIONS).E <= at_once.E


def test_a_smaller_target_is_that_of_a_smaller_ellipsoid_about_its_middle() -> None:
    points = np.random.default_rng(1).normal(size=(20, 3))
    same = Ellipsoid((0.7 * 1.6, 0.7 * 1.3, 0.7), (0.0, 0.0, -1.2)).closest(points)
    about = smaller(OVAL, np.array([0.0, 0.0, -1.2])).closest(points)
    assert np.abs(about - same).max() < 1e-12


def test_given_goals_are_gone_to_at_once() -> None:
    made = random_structure(10)
    goals = Goals(made.r0 + np.random.default_rng(0).normal(size=made.r0.shape))
    for target in (goals, Moved(goals, (0.0, 0.0, 0.3))):
        one = list(morph_rounded_first(made, target, OPTIONS))
        two = list(morph_newton(made, target, OPTIONS))
        assert len(one) == len(two)
        assert np.array_equal(one[-1].r, two[-1].r)


def test_a_structure_with_bodies_is_led_at_once() -> None:
    made = random_structure(3)
    solid = replace(made, solids=Solids().with_balls(len(made.r0), 0.05))
    one = list(morph_rounded_first(solid, OVAL, OPTIONS))
    two = list(morph_newton(solid, OVAL, OPTIONS))
    assert len(one) == len(two)
    assert np.array_equal(one[-1].r, two[-1].r)


@pytest.mark.parametrize("max_steps", [1, 2, 5])
def test_steps_of_both_descents_are_within_what_is_allowed(max_steps: int) -> None:
    seen, options = list[int](), NewtonOptions(max_steps=max_steps)
    with pytest.raises(NotConvergedError, match=f"after {max_steps} steps: raise max"):
        seen.extend(
            s.s for s in morph_rounded_first(random_structure(0), MESH, options)
        )
    assert seen == list(range(max_steps + 1))


def test_a_sheet_rests_on_a_cube_of_twelve_triangles() -> None:
    """Which has eight vertices: points between them make the surface rounded."""
    sheet = triangle_sheet(2, 2, side=0.3, link=0.2)
    end = end_of(sheet, cube(0.8), OPTIONS)
    assert end.stop is not None
    assert np.array_equal(end.g, cube(0.8).closest(end.r))


def spacing(points: Floats) -> Floats:
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.asarray(apart.min(axis=1))


def test_points_are_spread_over_large_triangles_and_thinned_on_small_ones() -> None:
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
