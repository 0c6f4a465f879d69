"""The way back to the constraints, with its last step taken once more."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.morph.equations.retraction import retract
from sim.morph.equations.system import (
    LinearConstraints,
    linearise,
    system_of,
)
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.units import rescaled
from sim.morph.structure.constraints import ConstraintTable, dist
from sim.morph.structure.structure import Structure
from tests.sim.morph.random_structures import random_structure


@pytest.fixture(autouse=True)
def _mixed_with_one_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.morph.equations.retraction.RENEWALS", 0)
    monkeypatch.setattr("sim.morph.equations.retraction.MIXED", 0)


def residuals(base: LinearConstraints, z: Floats, wanted: float) -> list[float]:
    """Of each iteration from z on: the first that is less than the one before."""
    normal, seen = base.factorise(), [np.inf]
    while seen[-1] > wanted:
        found = retract(base, normal, z, float(np.nextafter(seen[-1], 0.0)), 0.0)
        assert found is not None
        seen.append(found[1].residual)
    return seen[1:]


def without_mixing(
    base: LinearConstraints, z: Floats, wanted: float
) -> tuple[list[float], Floats]:
    """The residuals of eq. (12) by the pseudo-inverse of J, and where it ends."""
    J = [base.transpose_times(row).ravel() for row in np.eye(base.system.m)]
    inverse, seen = np.linalg.pinv(np.array(J)), list[float]()
    while True:
        there = linearise(base.system, z)
        seen.append(there.residual)
        if there.residual <= wanted:
            return seen, z
        z = z - (inverse @ there.c).reshape(z.shape)


@pytest.mark.parametrize("length", [1.3, 1.7])
def test_of_one_link_the_iterations_are_those_of_the_secant(length: float) -> None:
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


def beside(seed: int, unit: float = 1.0) -> tuple[LinearConstraints, Floats]:
    """A random structure with links, an angle and a volume held, and a place off it."""
    made = random_structure(seed)
    aside = 2e-2 * np.random.default_rng(0).normal(size=made.r0.shape)
    z = unit * (made.r0 + aside)
    made = rescaled(made, 1.0 / unit)
    return linearise(system_of(made), made.r0), z


@pytest.mark.parametrize("seed", [1, 14])
def test_it_takes_fewer_iterations_to_the_same_point(seed: int) -> None:
    """Where these constraints are met by motions along J^T alone."""
    base, z = beside(seed)
    plain, end = without_mixing(base, z, 1e-12)
    assert len(residuals(base, z, 1e-12)) <= len(plain) - 3
    found = retract(base, base.factorise(), z, 1e-12, 0.0)
    assert found is not None
    assert np.abs(found[0] - end).max() < 1e-11
    assert np.abs(z - end).max() > 1e-2


@pytest.mark.parametrize("seed", [1, 14])
@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_it_goes_the_same_way_in_every_unit(seed: int, unit: float) -> None:
    """As rows of lengths squared and cubed weigh alike, each beside its own scale."""
    one, other = (residuals(*beside(seed, u), 1e-11) for u in (1.0, unit))
    assert_allclose(other, one, rtol=1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e150, 1e200])
def test_from_what_is_no_place_there_is_no_way_back(value: float) -> None:
    sheet = triangle_sheet(2, 2)
    base = linearise(system_of(sheet), sheet.r0)
    z = sheet.r0.copy()
    z[0, 0] = value
    with np.errstate(all="ignore"):
        assert retract(base, base.factorise(), z, 1e-12, 1e-12) is None
