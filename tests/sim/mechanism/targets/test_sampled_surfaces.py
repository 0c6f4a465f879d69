"""The smooth surface of a cloud: its error, its slopes, and morphs onto it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.morph_problem import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import (
    Ellipsoid,
    closest_on_ellipsoid,
    on_sphere,
)
from sim.mechanism.targets.sampled_surfaces import (
    CloudTarget,
    SmoothCloud,
    normals_of,
)
from sim.mechanism.targets.target_interface import Target, slopes_of, smoothed
from sim.mechanism.targets.transformed import Moved, Rescaled
from tests.sim.mechanism.random_structures import random_structure

AXES = np.array([1.6, 1.3, 1.0])
LOW = Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2))


def scan(count: int, noise: float = 0.0, seed: int = 1) -> Floats:
    """Synthetic points of the ellipsoid about the origin, not evenly spread."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(count, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return u * AXES + noise * rng.normal(size=(count, 3))


def spiral(count: int) -> Floats:
    """Points of the unit sphere, evenly spread."""
    i = np.arange(count) + 0.5
    return on_sphere(np.arccos(1 - 2 * i / count), np.pi * (1 + 5**0.5) * i)


def asked(count: int = 60) -> Floats:
    return 1.1 * np.random.default_rng(5).normal(size=(count, 3))


def test_error_on_a_sphere_falls_with_the_cube_of_the_spacing():
    away = []
    for count in (400, 1600, 6400):
        found = SmoothCloud.of(spiral(count)).closest(asked())
        away.append(np.abs(np.linalg.norm(found, axis=1) - 1.0).max())
    assert away[0] < 1e-2
    assert away[0] / away[1] > 6.0
    assert away[1] / away[2] > 6.0


def test_points_of_a_plane_make_that_plane_beyond_their_rim_too():
    rng = np.random.default_rng(2)
    flat = np.column_stack([rng.uniform(-1, 1, (400, 2)), np.zeros(400)])
    surface = SmoothCloud.of(flat)
    points = np.array([[0.2, 0.1, 0.7], [1.4, -0.3, -0.5]])
    goals = surface.closest(points)
    assert_allclose(goals, points * [1, 1, 0], atol=1e-12)
    assert surface.is_beyond(goals).tolist() == [False, True]


def test_goals_are_feet_and_as_far_as_those_of_the_surface():
    surface = SmoothCloud.of(scan(4000))
    points = asked()
    goals = surface.closest(points)
    S = surface.slopes(points, goals)
    along = np.einsum("pij,pj->pi", S, points - goals)
    assert np.abs(along).max() < 1e-7
    exact = closest_on_ellipsoid(points, AXES)
    far, wanted = (np.linalg.norm(g - points, axis=1) for g in (goals, exact))
    assert_allclose(far, wanted, atol=5e-4)


def test_slopes_are_those_of_the_goals():
    surface = SmoothCloud.of(scan(2000))
    points = 1.3 * scan(20, seed=3)
    S = surface.slopes(points, surface.closest(points))
    v = np.random.default_rng(4).normal(size=points.shape)
    remainder = []
    for h in (1e-2, 5e-3):
        ahead = surface.closest(points + h * v) - surface.closest(points - h * v)
        exact = 2.0 * h * np.einsum("pij,pj->pi", S, v)
        remainder.append(np.abs(ahead - exact).max())
    assert remainder[0] < 1e-3
    assert remainder[0] / remainder[1] > 5.0  # third order


def test_sides_and_units_and_poses_change_nothing():
    points, at = scan(1500), asked(20)
    normals = normals_of(points)
    flips = np.where(np.arange(len(points)) % 2, 1.0, -1.0)[:, None]
    one = SmoothCloud.of(points, normals)
    goals = one.closest(at)
    other = SmoothCloud.of(points, flips * normals)
    assert_allclose(other.closest(at), goals, atol=1e-12)
    large: Target = Rescaled(CloudTarget(1e3 * points, normals), 1e3)
    posed = smoothed(Moved(large, (0.3, 0.2, -0.5), (0.1, 0.2, 0.3)))
    moved = posed.closest(at)
    S = slopes_of(posed, at, moved)
    assert S is not None
    assert np.abs(np.einsum("pij,pj->pi", S, at - moved)).max() < 1e-7
    assert_allclose(smoothed(large).closest(at), goals, atol=1e-11)
    sums = CloudTarget(points, norm=1)
    assert smoothed(sums) is sums


@pytest.mark.parametrize(
    ("points", "neighbours", "said"),
    [
        (np.eye(3), 30, "has 3 points: a smooth surface needs more than 30"),
        (np.zeros((60, 3)), 30, "point 0 of the target occurs more than 30 times"),
        (np.eye(3), 8, "neighbours of the target is 8: give at least 12"),
    ],
)
def test_too_few_points_are_refused(points, neighbours, said):
    with pytest.raises(ValueError, match=said):
        SmoothCloud.of(points, neighbours=neighbours)


def end_of(structure: Structure, target: Target, max_steps: int = 1000) -> MorphStep:
    *_, step = morph_newton(structure, target, NewtonOptions(max_steps=max_steps))
    return step


@pytest.mark.parametrize(
    "seed",
    [0, 4, *(pytest.param(s, marks=pytest.mark.long) for s in (1, 2, 3, 5, 6, 7, 8))],
)
@pytest.mark.parametrize("kind", ["bare", "normals", "noisy"])
def test_newton_converges_on_clouds(seed, kind):
    points = scan(4000, noise=0.01 * (kind == "noisy")) + np.array(LOW.centre)
    normals = normals_of(points) if kind == "normals" else None
    end = end_of(random_structure(seed), CloudTarget(points, normals))
    assert end.stop is not None
    assert end.gradient < 1e-9
    here = LOW.closest(end.g)
    away = np.linalg.norm(end.g - here, axis=1).max()
    assert away < (0.02 if kind == "noisy" else 5e-4)


def test_points_that_are_no_surface_are_refused():
    filled = np.random.default_rng(3).normal(size=(200, 3))
    with pytest.raises(NotConvergedError, match="do not form a surface near"):
        SmoothCloud.of(filled).closest(2.0 * filled)


def test_nodes_whose_goals_jump_are_named_and_what_is_said_helps():
    """Beside outliers nearest points jump, and no step ends there."""
    points, made = spiral(1000) * AXES + LOW.centre, random_structure(1)
    outliers = np.random.default_rng(0).uniform(-2.0, 2.0, (30, 3))
    with pytest.raises(NotConvergedError, match=r"of nodes 1 jump.*remove outliers"):
        end_of(made, CloudTarget(np.vstack([points, outliers])), 30)
    assert end_of(made, CloudTarget(points), 30).gradient <= 1e-9
