"""Inertia correction, lowest modes and steps through negative curvature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.linalg.sparse import Factor, analyse, factorise
from sim.optimize.curvature import Spectrum, lowest_mode, positive_factor


def made(n: int, lowest: list[float], rng: np.random.Generator) -> Floats:
    """A symmetric matrix (n, n) with the given lowest eigenvalues, else 1 to 2."""
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.concatenate([lowest, np.linspace(1.0, 2.0, n - len(lowest))])
    return np.asarray(V * values @ V.T)


@pytest.mark.parametrize("lowest", [[0.5], [-0.3], [-0.7, -0.2], [0.0]])
def test_the_shift_makes_all_pivots_positive_and_finds_the_lowest_mode(lowest, rng):
    K, (row, col) = made(8, lowest, rng), np.tril_indices(8)

    def factor(shift: float) -> Factor:
        return factorise(analyse(8, row, col), (K + shift * np.eye(8))[row, col])

    found = positive_factor(factor, 1e-3)
    assert found.factor.negative == len(found.factor.dropped) == 0
    assert found.negative == sum(value < 0.0 for value in lowest)
    assert (found.shift > 0.0) == (lowest[0] <= 0.0)
    assert found.shift <= max(1e-3, -4.0 * lowest[0])
    v = lowest_mode(found.factor.solve, 8)
    assert_allclose(K @ v, lowest[0] * v, atol=2e-2)


def test_steps_go_down_and_are_as_long_as_asked_for():
    model = Spectrum.of(np.diag([2.0, -0.5, 1e-9]), 1e-3)
    slope = np.array([[1.0, -1.0, 0.2]])
    assert_allclose(model.step(slope, np.inf), [[-0.5, 2.0, -200.0]])
    short = model.step(slope, 0.1)
    assert_allclose(np.linalg.norm(short), 0.1, rtol=1e-9)
    assert (short * slope < 0.0).all()
