"""Nearest points of the target shapes."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.mechanism.targets.analytic_surfaces import (
    Circle,
    Cylinder,
    Ellipsoid,
    FourierCylinder,
    Plane,
    Sphere,
    closest_on_ellipsoid,
    on_sphere,
)
from sim.mechanism.targets.target_interface import Target, slopes_of
from tests.sim.mechanism.reference import load
from tests.sim.mechanism.targets.test_irregular_targets import SMOOTH

KNOWN: dict[str, Target] = {
    "sphere": Sphere(1.3, (0.1, 0.2, 0.3)),
    "cylinder": Cylinder(2.0, (0.05, 0.03, -2.0), (1.0, 0.05, 0.0)),
    "circle": Circle(1.7, (0.06, 0.04, 0.0)),
    "ellipsoid": Ellipsoid((1.9, 1.6, 1.3), (0.05, 0.03, 0.2)),
}
ALL: dict[str, Target] = {**KNOWN, "plane": Plane((0.1, 0.2, 0.3), (1.0, 2.0, 2.0))}


@pytest.mark.parametrize("name", [*KNOWN, "fourier_cylinder"])
def test_nearest_points_are_the_known_ones(name):
    known: dict[str, Any] = load("closest_points")
    expected = known["targets"][name]
    sizes = expected["params"]
    target = KNOWN.get(name) or FourierCylinder(*(sizes[key] for key in "Rabc"))
    found = target.closest(np.array(known["points"]))
    assert_allclose(found, expected["closest"], atol=1e-8)


SLOPED = {**SMOOTH, **KNOWN}


@pytest.mark.parametrize("name", SLOPED)
def test_slopes_are_those_of_the_nearest_points(name, rng):
    target = SLOPED[name]
    points = target.closest(rng.uniform(-3.0, 3.0, (50, 3)))
    points += rng.uniform(-0.4, 0.4, points.shape)  # inside, too
    S, v = slopes_of(target, points, target.closest(points)), rng.normal(size=(50, 3))
    assert S is not None
    assert_allclose(S, S.transpose(0, 2, 1), atol=1e-14)
    remainder = []
    for h in (1e-3, 5e-4):
        ahead = target.closest(points + h * v) - target.closest(points - h * v)
        exact = 2.0 * h * np.einsum("pij,pj->pi", S, v)
        remainder.append(np.abs(ahead - exact).max())
    assert remainder[0] < 1e-6
    assert remainder[0] / remainder[1] > 7.0  # third order


@pytest.mark.parametrize("name", ALL)
def test_wireframe_lies_on_the_target_in_short_edges(name, rng):
    around = rng.uniform(-1.0, 1.0, (30, 3)) + np.array([0.0, 0.0, 1.0])
    vertices, edges = ALL[name].wireframe(around)
    assert_allclose(ALL[name].closest(vertices), vertices, atol=1e-13)
    assert edges.min() >= 0
    assert edges.max() < len(vertices)
    length = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
    assert length.min() > 0.0
    assert length.max() < 0.6


@pytest.mark.parametrize("name", ["sphere", "cylinder", "circle", "ellipsoid"])
def test_where_all_directions_are_equal_one_is_chosen(name):
    target = ALL[name]
    centre = np.array([getattr(target, "centre")], dtype=float)  # noqa: B009
    goal = target.closest(centre)
    assert np.isfinite(goal).all()
    assert_allclose(target.closest(goal), goal, atol=1e-13)
    assert_allclose(target.closest(centre), goal)


def test_what_is_no_place_has_no_nearest_point_on_an_ellipsoid():
    points = np.array([[np.nan, 0.0, 0.0], [3.0, 0.0, 0.0]])
    found = closest_on_ellipsoid(points, np.array([1.0, 2.0, 3.0]))
    assert np.isnan(found[0]).any()
    assert_allclose(found[1], [1.0, 0.0, 0.0])


def test_points_in_planes_of_symmetry_find_their_ellipsoid():
    a = np.array([1.9, 1.6, 1.3])
    points = np.array(
        [[0, 0, 0], [0.1, 0, 0], [1.5, 0, 0], [0, 0.1, 0], [0.3, -0.2, 0], [0, 0, 4]],
        dtype=float,
    )
    found = closest_on_ellipsoid(points, a)
    assert_allclose(((found / a) ** 2).sum(axis=1), 1.0, atol=1e-14)
    distance = np.linalg.norm(points - found, axis=1)
    u, v = np.meshgrid(np.linspace(0, np.pi, 361), np.linspace(0, 2 * np.pi, 721))
    shell = a * on_sphere(u.ravel(), v.ravel())
    nearest = [np.linalg.norm(shell - p, axis=1).min() for p in points]
    assert_allclose(distance, nearest, atol=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sphere(-1.0),
        lambda: Cylinder(1.0, axis=(0.0, 0.0, 0.0)),
        lambda: Circle(float("nan")),
        lambda: Plane((0.0, 0.0), (0.0, 0.0, 1.0)),
        lambda: Ellipsoid((1.0, 0.0, 1.0)),
    ],
)
def test_impossible_targets_are_refused_by_name_and_value(make):
    with pytest.raises(ValueError, match=r"target: .* must be"):
        make()
