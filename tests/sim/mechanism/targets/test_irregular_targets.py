"""Fourier surfaces, point clouds, meshes, other norms, moved targets.

The smooth surface of a cloud: its error, its slopes, and morphs onto it.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import (
    Cylinder,
    FourierBlob,
    FourierCylinder,
    Plane,
    Sphere,
    closest_on_ellipsoid,
)
from sim.mechanism.targets.sampled_surfaces import (
    CloudTarget,
    MeshTarget,
    SmoothCloud,
    closest_on_triangles,
    normals_of,
)
from sim.mechanism.targets.target_interface import Target, slopes_of, smoothed
from sim.mechanism.targets.transformed import AlongAxis, Moved, Rescaled, perturbed
from tests.sim.mechanism.random_structures import BESIDE, random_structure, spiral

BLOB = FourierBlob(
    1.5,
    (0.2, 0.15, 0.1),
    ((2.0, 0.0, 1.0), (0.0, 3.0, 0.0), (1.0, 2.0, 3.0)),
    (0.1, 0.5, 0.9),
    (0.1, -0.1, 0.2),
)
TUBE = FourierCylinder(1.4, (-0.1, 0.05), (0.05, -0.08), (0.05, 0.03, 0.0))
SMOOTH: dict[str, Target] = {"blob": BLOB, "tube": TUBE}


def gap(target: Target, points: Floats) -> Floats:
    distance: Floats = np.linalg.norm(target.closest(points) - points, axis=1)
    return distance


@pytest.mark.parametrize("name", SMOOTH)
def test_no_sample_of_an_irregular_surface_is_nearer(name, rng):
    target, points = SMOOTH[name], rng.uniform(-2.5, 2.5, (60, 3))
    around = rng.uniform(-4.0, 4.0, (20_000, 3))
    samples = target.closest(around)
    assert_allclose(target.closest(samples[:200]), samples[:200], atol=1e-8)
    nearest = np.array([np.linalg.norm(samples - p, axis=1).min() for p in points])
    assert np.all(gap(target, points) <= nearest + 1e-9)
    assert np.median(nearest - gap(target, points)) < 0.01


@pytest.mark.parametrize("name", SMOOTH)
def test_wireframe_of_an_irregular_surface_lies_on_it(name):
    around = np.array([[-1.0, -1.0, -0.5], [1.0, 1.0, 0.5]])
    vertices, edges = SMOOTH[name].wireframe(around)
    assert_allclose(SMOOTH[name].closest(vertices), vertices, atol=1e-8)
    assert edges.max() < len(vertices)


def test_cloud_gives_its_nearest_point(rng):
    points, asked = rng.normal(size=(500, 3)), rng.normal(size=(40, 3))
    goals = CloudTarget(points).closest(asked)
    every = np.linalg.norm(asked[:, None] - points, axis=2)
    assert_allclose(np.linalg.norm(goals - asked, axis=1), every.min(axis=1))
    in_sums = CloudTarget(points, norm=1).closest(asked)
    sums = np.abs(asked[:, None] - points).sum(axis=2)
    assert_allclose(np.abs(in_sums - asked).sum(axis=1), sums.min(axis=1))


def test_normals_of_a_plane_are_its_normal(rng):
    flat = np.column_stack([rng.uniform(-1, 1, (200, 2)), np.zeros(200)])
    assert_allclose(np.abs(normals_of(flat)[:, 2]), 1.0, atol=1e-12)


def test_mesh_gives_the_nearest_point_of_all_its_triangles(rng):
    """Those of 40 tetrahedra."""
    tips = rng.normal(size=(40, 1, 3)) * 2.0 + rng.normal(size=(40, 4, 3))
    faces = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    triangles = (4 * np.arange(40)[:, None, None] + faces).reshape(-1, 3)
    mesh = MeshTarget(tips.reshape(-1, 3), triangles)
    asked = rng.uniform(-4.0, 4.0, (60, 3))
    corners = mesh.vertices[mesh.triangles]
    nearest = [
        np.linalg.norm(
            closest_on_triangles(np.tile(p, (len(corners), 1)), corners) - p, axis=1
        ).min()
        for p in asked
    ]
    assert_allclose(gap(mesh, asked), nearest, rtol=1e-13)


def test_nearest_point_of_a_triangle_beats_every_point_in_it(rng):
    corners, p = rng.normal(size=(300, 3, 3)), rng.normal(size=(300, 3))
    found = closest_on_triangles(p, corners)
    share = rng.dirichlet(np.ones(3), (300, 400))
    inside = np.einsum("qsk,qki->qsi", share, corners)
    others = np.linalg.norm(inside - p[:, None], axis=2).min(axis=1)
    assert np.all(np.linalg.norm(found - p, axis=1) <= others + 1e-12)
    weights = np.linalg.lstsq(
        np.concatenate([corners[0].T, np.ones((1, 3))]), np.append(found[0], 1.0)
    )[0]
    assert weights.min() > -1e-9
    assert_allclose(corners[0].T @ weights, found[0], atol=1e-9)


def test_along_an_axis_a_node_meets_the_surface_on_its_own_line(rng):
    target = AlongAxis(Sphere(1.5), (0.0, 0.0, 2.0))
    points = np.column_stack([rng.uniform(-1, 1, (50, 2)), rng.uniform(2, 3, 50)])
    goals = target.closest(points)
    assert_allclose(goals[:, :2], points[:, :2])
    assert_allclose(goals[:, 2], np.sqrt(2.25 - np.square(points[:, :2]).sum(axis=1)))


def test_a_node_whose_line_misses_keeps_its_nearest_point():
    far = np.array([[3.0, 0.0, 1.0]])
    found = AlongAxis(Sphere(1.5), (0.0, 0.0, 1.0)).closest(far)
    assert_allclose(found, Sphere(1.5).closest(far))


def test_moved_target_is_the_target_in_another_frame(rng):
    points = rng.normal(size=(30, 3))
    turned = Moved(Cylinder(1.0), turn=(0.0, np.pi / 2, 0.0), shift=(0.0, 0.4, 0.0))
    expected = Cylinder(1.0, (0.0, 0.4, 0.0), (1.0, 0.0, 0.0))
    assert_allclose(turned.closest(points), expected.closest(points), atol=1e-14)
    vertices, _ = turned.wireframe(points)
    assert_allclose(turned.closest(vertices), vertices, atol=1e-13)


def test_perturbation_is_the_seed_s_and_no_other():
    first, again, other = (
        perturbed(Plane(), seed=seed, turn=0.01, shift=0.1) for seed in (1, 1, 2)
    )
    assert first.turn == again.turn
    assert first.shift != other.shift
    assert np.abs(first.turn).max() < 0.05


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CloudTarget(np.zeros((0, 3))), "no points"),
        (lambda: CloudTarget(np.array([[0.0, np.nan, 0.0]])), "not finite"),
        (lambda: CloudTarget(np.zeros((2, 3)), norm=3), "choose 1 or 2"),
        (
            lambda: MeshTarget(np.zeros((3, 3)), np.zeros((0, 3), dtype=int)),
            "no triangles",
        ),
        (
            lambda: MeshTarget(np.zeros((3, 3)), np.array([[0, 1, 3]])),
            "outside 0 to 2",
        ),
        (lambda: FourierCylinder(1.0, (2.0,), (0.0,)), "has a negative radius"),
        (lambda: FourierCylinder(1.0, (0.1,), ()), "equally many, not 1 and 0"),
        (lambda: FourierBlob(1.0, (1.2,), ((1, 0, 0),), (0.0,)), "add up to 1.2"),
        (lambda: AlongAxis(Sphere(1.0), (0.0, 0.0, 0.0)), "must be a direction"),
        (lambda: perturbed(Plane(), seed=0, turn=-1.0, shift=0.0), "turn of the pose"),
    ],
)
def test_impossible_targets_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


AXES = np.array(BESIDE.semi_axes)


def scan(count: int, noise: float = 0.0, seed: int = 1) -> Floats:
    """Synthetic points of the ellipsoid about the origin, not evenly spread."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(count, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return u * AXES + noise * rng.normal(size=(count, 3))


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
    points = scan(4000, noise=0.01 * (kind == "noisy")) + np.array(BESIDE.centre)
    normals = normals_of(points) if kind == "normals" else None
    end = end_of(random_structure(seed), CloudTarget(points, normals))
    assert end.stop is not None
    assert end.gradient < 1e-9
    here = BESIDE.closest(end.g)
    away = np.linalg.norm(end.g - here, axis=1).max()
    assert away < (0.02 if kind == "noisy" else 5e-4)


def test_points_that_are_no_surface_are_refused():
    filled = np.random.default_rng(3).normal(size=(200, 3))
    with pytest.raises(NotConvergedError, match="do not form a surface near"):
        SmoothCloud.of(filled).closest(2.0 * filled)


def test_nodes_whose_goals_jump_are_named_and_what_is_said_helps():
    """Beside outliers nearest points jump, and no step ends there."""
    points, made = spiral(1000) * AXES + BESIDE.centre, random_structure(1)
    outliers = np.random.default_rng(0).uniform(-2.0, 2.0, (30, 3))
    with pytest.raises(NotConvergedError, match=r"of nodes 1 jump.*remove outliers"):
        end_of(made, CloudTarget(np.vstack([points, outliers])), 30)
    assert end_of(made, CloudTarget(points), 30).gradient <= 1e-9
