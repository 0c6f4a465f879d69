"""E, S and L of [dJ23]."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.morph.structure.measures import (
    characteristic_length,
    distance_error,
    shape_factor,
)
from tests.sim.morph.reference import load


def test_measures_have_their_known_values() -> None:
    known = load("metrics")
    r, g = np.array(known["r"]), np.array(known["g"])
    L = characteristic_length(r)
    found = [L, distance_error(r, g, L), shape_factor(r, L)]
    assert_allclose(found, [known["L"], known["E"], 1.0], rtol=1e-12)


def test_shape_factor_ignores_placement_and_labels(rng: np.random.Generator) -> None:
    r = rng.normal(size=(20, 3))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = rng.permutation(r @ turn.T + [3.0, 1.0, -2.0])
    assert shape_factor(moved, 1.3) == pytest.approx(shape_factor(r, 1.3), rel=1e-13)


def test_error_ignores_the_unit(rng: np.random.Generator) -> None:
    r, g = rng.normal(size=(2, 12, 3))
    in_m = distance_error(r, g, characteristic_length(r))
    in_mm = distance_error(1e3 * r, 1e3 * g, characteristic_length(1e3 * r))
    assert in_mm == pytest.approx(in_m, rel=1e-13)
