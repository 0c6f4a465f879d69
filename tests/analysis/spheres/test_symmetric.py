import numpy as np
import pytest

from analysis.spheres.centre_votes import eigenvalues


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_eigenvalues_are_those_of_lapack(rng, scale):
    for _ in range(50):
        half = rng.normal(size=(3, 3))
        C = scale * half @ half.T
        xx, xy, xz, yy, yz, zz = C[np.triu_indices(3)]
        found = eigenvalues(xx, xy, xz, yy, yz, zz)
        assert found == pytest.approx(np.linalg.eigvalsh(C), abs=1e-12 * np.trace(C))


def test_a_multiple_of_the_identity_has_one_eigenvalue():
    assert eigenvalues(2.0, 0.0, 0.0, 2.0, 0.0, 2.0) == (2.0, 2.0, 2.0)
