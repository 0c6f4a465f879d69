"""Fourier surfaces, point clouds, meshes, other norms, moved targets."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.targets.analytic_surfaces import (
    Cylinder,
    FourierBlob,
    FourierCylinder,
    Plane,
    Sphere,
)
from sim.mechanism.targets.sampled_surfaces import (
    CloudTarget,
    MeshTarget,
    closest_on_triangles,
    normals_of,
)
from sim.mechanism.targets.target_interface import Target
from sim.mechanism.targets.transformed import AlongAxis, Moved, perturbed
from tests.sim.mechanism.reference import load

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


def test_nearest_points_of_a_fourier_cylinder_are_the_known_ones():
    known: dict[str, Any] = load("closest_points")
    expected = known["targets"]["fourier_cylinder"]
    sizes = expected["params"]
    target = FourierCylinder(sizes["R"], sizes["a"], sizes["b"], sizes["c"])
    assert_allclose(
        target.closest(np.array(known["points"])), expected["closest"], atol=1e-8
    )


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


def tetrahedra(count: int, rng: np.random.Generator) -> MeshTarget:
    corners = rng.normal(size=(count, 1, 3)) * 2.0 + rng.normal(size=(count, 4, 3))
    faces = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    triangles = (4 * np.arange(count)[:, None, None] + faces).reshape(-1, 3)
    return MeshTarget(corners.reshape(-1, 3), triangles)


def test_mesh_gives_the_nearest_point_of_all_its_triangles(rng):
    mesh, asked = tetrahedra(40, rng), rng.uniform(-4.0, 4.0, (60, 3))
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
            "not among 0 to 2",
        ),
        (lambda: FourierCylinder(1.0, (2.0,), (0.0,)), "has a negative radius"),
        (lambda: FourierCylinder(1.0, (0.1,), ()), "1 cosines, 0 sines"),
        (lambda: FourierBlob(1.0, (1.2,), ((1, 0, 0),), (0.0,)), "add up to 1.2"),
        (lambda: AlongAxis(Sphere(1.0), (0.0, 0.0, 0.0)), "must be a direction"),
        (lambda: perturbed(Plane(), seed=0, turn=-1.0, shift=0.0), "turn of the pose"),
    ],
)
def test_impossible_targets_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
