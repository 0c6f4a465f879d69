"""The flat lattice of triangles: its counts, its links, its rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.morph.library.triangle_lattice import triangle_lattice


def test_nine_rows_of_five_and_four_have_41_nodes_and_96_links() -> None:
    lattice = triangle_lattice(9, 5, 3.0)
    assert (len(lattice.r), len(lattice.links)) == (41, 96)
    assert np.bincount(lattice.direction).tolist() == [32, 32, 32]
    d = lattice.r[lattice.links[:, 1]] - lattice.r[lattice.links[:, 0]]
    assert_allclose(np.linalg.norm(d, axis=1), 3.0, rtol=1e-12)
    angle = np.degrees(np.arctan2(d[:, 1], d[:, 0]))
    assert_allclose(angle, np.array([0.0, 60.0, 120.0])[lattice.direction], atol=1e-9)
    assert lattice.nodes_of(-1).tolist() == [36, 37, 38, 39, 40]


def test_sizes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="rows of 1 nodes"):
        triangle_lattice(3, 1, 1.0)
    with pytest.raises(ValueError, match="spacing is -1"):
        triangle_lattice(3, 3, -1.0)
