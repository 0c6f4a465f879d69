"""The way back to the constraints, with its last step taken once more."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.constraint_projection import retract
from sim.mechanism.constraint_system import (
    LinearConstraints,
    linearise,
    system_of,
)
from sim.mechanism.constraints import ConstraintTable, dist
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.structure import Structure


@pytest.fixture(autouse=True)
def _mixed_with_one_factor(monkeypatch):
    monkeypatch.setattr("sim.mechanism.constraint_projection.RENEWALS", 0)
    monkeypatch.setattr("sim.mechanism.constraint_projection.MIXED", 0)


def residuals(base: LinearConstraints, z: Floats, wanted: float) -> list[float]:
    """Of each iteration from z on: the first that is less than the one before."""
    normal, seen = base.factorise(), [np.inf]
    while seen[-1] > wanted:
        found = retract(base, normal, z, float(np.nextafter(seen[-1], 0.0)), 0.0)
        assert found is not None
        seen.append(found[1].residual)
    return seen[1:]


@pytest.mark.parametrize("length", [1.3, 1.7])
def test_of_one_link_the_iterations_are_those_of_the_secant(length):
    """The first is by the slope 2 l at its own length l, 1.5."""
    own = 1.5
    r = np.array([[0.0, 0.0, 0.0], [own, 0.0, 0.0]])
    link = Structure(r, ConstraintTable.of([dist(r, 0, 1)]), np.arange(2))
    z = np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]])
    seen = residuals(linearise(system_of(link), r), z, 1e-12)
    d, slope, c = length, 2.0 * own, length**2 - own**2
    for residual in seen:
        assert_allclose(residual, abs(c) / own**2, rtol=1e-4, atol=1e-14)
        before, d = d, d - c / slope
        c, c_before = d**2 - own**2, c
        slope = (c - c_before) / (d - before)
    assert len(seen) == 6


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e150, 1e200])
def test_from_what_is_no_place_there_is_no_way_back(value):
    sheet = triangle_sheet(2, 2)
    base = linearise(system_of(sheet), sheet.r0)
    z = sheet.r0.copy()
    z[0, 0] = value
    with np.errstate(all="ignore"):
        assert retract(base, base.factorise(), z, 1e-12, 1e-12) is None
