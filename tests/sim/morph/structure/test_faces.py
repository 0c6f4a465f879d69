"""Bodies are drawn around their outside, in whatever order their nodes are listed."""

import numpy as np

from sim.morph.structure.faces import body_faces


def test_a_flat_body_listed_across_is_no_bow_tie() -> None:
    r = np.array([[0, 0, 1], [3, 0, 1], [0, 1, 1], [3, 1, 1]], dtype=np.float64)
    (around,) = body_faces(r, (0, 1, 2, 3))
    sides = {frozenset(pair) for pair in zip(around, np.roll(around, 1), strict=True)}
    assert sides == {frozenset(p) for p in [(0, 1), (1, 3), (3, 2), (2, 0)]}


def test_a_body_in_space_has_the_triangles_of_its_hull() -> None:
    r = np.vstack([np.zeros(3), np.eye(3)])
    faces = {frozenset(face) for face in body_faces(r, (0, 1, 2, 3))}
    assert len(faces) == 4
