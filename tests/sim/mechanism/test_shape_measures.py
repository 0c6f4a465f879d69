"""E, S and L of [dJ23], and the faces of bodies.

Bodies are drawn around their outside, in whatever order their nodes are listed.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.figures.panel_3d import body_faces
from sim.mechanism.shape_measures import (
    characteristic_length,
    distance_error,
    shape_factor,
)
from tests.sim.mechanism.reference import load


def test_measures_have_their_known_values():
    known = load("metrics")
    r, g = np.array(known["r"]), np.array(known["g"])
    L = characteristic_length(r)
    found = [L, distance_error(r, g, L), shape_factor(r, L)]
    assert_allclose(found, [known["L"], known["E"], 1.0], rtol=1e-12)


def test_shape_factor_ignores_placement_and_labels(rng):
    r = rng.normal(size=(20, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = rng.permutation(r @ turn.T + [3.0, 1.0, -2.0])
    assert shape_factor(moved, 1.3) == pytest.approx(shape_factor(r, 1.3), rel=1e-13)


def test_a_flat_body_listed_across_is_no_bow_tie():
    r = np.array([[0, 0, 1], [3, 0, 1], [0, 1, 1], [3, 1, 1]], dtype=np.float64)
    (around,) = body_faces(r, (0, 1, 2, 3))
    sides = {frozenset(pair) for pair in zip(around, np.roll(around, 1), strict=True)}
    assert sides == {frozenset(p) for p in [(0, 1), (1, 3), (3, 2), (2, 0)]}


def test_a_body_in_space_has_the_triangles_of_its_hull():
    r = np.vstack([np.zeros(3), np.eye(3)])
    faces = {frozenset(face) for face in body_faces(r, (0, 1, 2, 3))}
    assert len(faces) == 4
