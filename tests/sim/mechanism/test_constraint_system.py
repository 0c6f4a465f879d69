"""Places of entries are found once for all structures that differ in lengths alone."""

import gc
import weakref
from dataclasses import replace
from weakref import WeakValueDictionary

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sim.linalg.sparse_ldl import analyse
from sim.mechanism import constraint_system
from sim.mechanism.constraint_projection import closed
from sim.mechanism.constraint_system import (
    hessian_pattern_of,
    linearise,
    state,
    system_of,
)
from sim.mechanism.mobility import mobility
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.structure import Structure, with_solids
from sim.mechanism.targets.analytic_surfaces import Cylinder


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """No topology that other tests of this process still hold."""
    monkeypatch.setattr(constraint_system, "_living", WeakValueDictionary())


@pytest.fixture
def analyses(monkeypatch):
    """Sizes of the matrices whose sparsity has been analysed."""
    sizes: list[int] = []
    analyse = constraint_system.analyse

    def counted(
        n: int,
        *rest: np.ndarray,
        order: np.ndarray | None = None,
        _analyse: object = analyse,
    ) -> object:
        sizes.append(n)
        return _analyse(n, *rest, order=order)  # type: ignore[operator]

    monkeypatch.setattr(constraint_system, "analyse", counted)
    return sizes


def longer(structure: Structure) -> Structure:
    """The same with links one per cent longer."""
    table = structure.constraints
    table = replace(table, constant=1.02 * table.constant)
    return replace(structure, constraints=table)


def test_nodes_are_eliminated_as_their_coordinates_would_be():
    pattern = hessian_pattern_of(system_of(triangle_sheet(4, 5)).topology)
    by_coordinates = analyse(pattern.factor.n, pattern.rows, pattern.cols)
    assert_array_equal(pattern.factor.order, by_coordinates.order)


def test_alternating_structures_are_analysed_once_each(analyses):
    small, large = triangle_sheet(1, 2), triangle_sheet(2, 2)
    for _ in range(3):
        for sheet in (small, large):
            hessian_pattern_of(system_of(sheet).topology)
    assert len(analyses) == 4  # J J^T and K of two topologies
    for sheet in (small, large, small, large):
        *_, last = morph_newton(sheet, Cylinder(2.0), NewtonOptions(tolerance=1e-6))
        assert mobility(sheet, last.state).rank > 0
    unscaled = len(analyses)
    assert unscaled <= 8  # and of what is morphed in a unit of its own
    list(morph_newton(small, Cylinder(2.0), NewtonOptions(tolerance=1e-6)))
    assert len(analyses) == unscaled


def test_other_lengths_have_the_same_places_and_their_own_numbers(analyses):
    sheet = triangle_sheet(1, 2)
    other = longer(sheet)
    one, two = system_of(sheet), system_of(other)
    assert one.topology is two.topology
    assert len(analyses) == 1
    assert linearise(one, state(sheet)).residual < 1e-14
    assert linearise(two, state(other)).residual == pytest.approx(0.02 / 1.02)
    assert linearise(two, closed(two, other, 1e-12)).residual <= 1e-12


def test_other_nodes_have_other_places():
    sheet, other = triangle_sheet(1, 2), triangle_sheet(2, 1)
    assert system_of(sheet).topology is not system_of(other).topology


def test_the_memory_goes_with_the_last_structure():
    sheet = with_solids(triangle_sheet(1, 2), ball_radius=0.05)
    other = longer(sheet)
    places = weakref.ref(system_of(sheet).topology)
    pattern = weakref.ref(hessian_pattern_of(system_of(other).topology))
    *_, _last = morph_newton(sheet, Cylinder(2.0), NewtonOptions(tolerance=1e-6))
    del sheet
    gc.collect()
    assert places() is not None
    assert pattern() is not None
    del other
    gc.collect()
    assert places() is None
    assert pattern() is None
