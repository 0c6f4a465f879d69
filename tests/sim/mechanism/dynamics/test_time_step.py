"""Slopes of lengths and angles in the nodes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.dynamics.time_step import Coordinates
from sim.mechanism.statics.elastic_parts import angles_of


def values(made: Coordinates, r: Floats) -> Floats:
    """Lengths, angles between 0 and pi, angles of hinges."""
    a, b = made.lengths.T
    p, q, s = made.corners.T
    u, v = (d / np.linalg.norm(d, axis=1)[:, None] for d in (r[p] - r[q], r[s] - r[q]))
    corner = np.arccos(np.einsum("ij,ij->i", u, v))
    apart = np.linalg.norm(r[b] - r[a], axis=1)
    return np.concatenate([apart, corner, angles_of(made.hinges, r)])


def test_slopes_of_coordinates_are_their_derivatives(rng):
    r, v = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    made = Coordinates.of([[0, 1]], [[0, 1, 2], [4, 2, 3]], [[0, 1, 2, 3]])
    h = 1e-6
    change = values(made, r + h * v) - values(made, r - h * v)
    slope = np.einsum("inj,nj->i", made.slopes(r), v)
    assert_allclose(slope, change / (2.0 * h), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"lengths": [[0, 1.5]]},
            r"lengths has the nodes \[0, 1.5\]: give 2 node numbers",
        ),
        ({"lengths": [[0, 1], [2]]}, r"lengths has the nodes \[2\]"),
        ({"corners": [[0, 1]]}, r"corners has the nodes \[0, 1\]: give 3 node"),
    ],
)
def test_coordinates_that_are_none_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        Coordinates.of(**wrong)  # type: ignore[arg-type]


def test_nodes_that_are_not_there_are_refused():
    made = Coordinates.of(lengths=[[0, 99]])
    with pytest.raises(ValueError, match=r"length\(0, 99\) cannot be damped"):
        made.check(5)
