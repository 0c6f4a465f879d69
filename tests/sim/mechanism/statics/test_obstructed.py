"""Elastic structures with bodies that cannot pass and ranges that are not left."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    fix,
)
from sim.mechanism.obstacles import Obstacles, Touch
from sim.mechanism.statics.elastic import Elastic
from sim.mechanism.statics.equilibrium import (
    Equilibrium,
    EquilibriumOptions,
    approach,
    at_rest,
    inertia,
)
from sim.mechanism.statics.loaded_structure import LoadedStructure, two_bars
from sim.mechanism.structure import Structure
from tests.sim.mechanism.solid_structures import ranges, solids

EXACT = EquilibriumOptions(tolerance=1e-9)
STIFFNESS, LOAD, RADIUS = 2.0, 3.0, 0.2
GAP = 3e-5  # of contacts, from what kappa leaves


def touching(body: LoadedStructure, found: Equilibrium) -> list[Touch]:
    return Obstacles.of(body.structure).touching(found.z, found.kappa)


def hanging(at: float, load: float) -> LoadedStructure:
    """A ball that goes up and down on a spring between the origin and a ball below."""
    r = np.array([[0.0, 0, 0], [0.0, 0, -1.0], [0.0, 0, -at]])
    sideways = [Constraint(ConstraintKind.FIX, (1, axis), 0.0) for axis in (0, 1)]
    rows = ConstraintTable.of([*fix(r, 0), *fix(r, 2), *sideways])
    made = Structure(r, rows, np.arange(3))
    balls = solids(balls=[(1, RADIUS), (2, RADIUS)])
    force = np.zeros((3, 3))
    force[1, 2] = -load
    springs = Elastic.between(r, np.array([[0, 1]]), STIFFNESS)
    return LoadedStructure(replace(made, solids=balls), springs, force, np.zeros(3))


def test_a_stop_carries_what_the_spring_does_not():
    body = hanging(at=2.0, load=LOAD)
    found = at_rest(body, EXACT)
    way = 1.0 - 2.0 * RADIUS  # from rest down to contact
    assert_allclose(found.r()[1, 2], -1.0 - way, atol=GAP)
    (touch,) = touching(body, found)
    assert_allclose(touch.force, LOAD - STIFFNESS * way, rtol=1e-4)
    assert touch.room > 0.0
    assert_allclose(found.support[2, 2], touch.force, rtol=1e-9)  # pushed down
    assert found.unbalanced <= EXACT.tolerance
    assert inertia(body, found) == (0, 0)


@pytest.mark.parametrize("most", [1.6, 9.0])
def test_a_range_of_a_spring_carries_the_rest(most):
    body = hanging(at=8.0, load=LOAD)
    bounds = ranges((ConstraintKind.DIST, (0, 1), 0.25, most**2))
    body = replace(body, structure=replace(body.structure, ranges=bounds))
    found = at_rest(body, EXACT)
    free = 1.0 + LOAD / STIFFNESS
    assert_allclose(-found.r()[1, 2], min(free, most), atol=GAP)
    force = [2.0 * most * touch.force for touch in touching(body, found)]  # per length
    carried = max(LOAD - STIFFNESS * (most - 1.0), 0.0)
    assert_allclose(max(force), carried, rtol=1e-4, atol=1e-4)


def test_a_truss_that_snaps_is_stopped_on_its_way():
    """Down to 0.1 below the line of its supports, where a ball stands in the way."""
    body, low = two_bars(height=0.3, stiffness=50.0, load=0.7), -0.1
    stop: Floats = np.array([[0.0, 0.0, low - 2.0 * RADIUS]])
    made = body.structure
    r = np.vstack([made.r0, stop])
    rows = made.constraints.followed_by(ConstraintTable.of(fix(r, 3)))
    balls = solids(balls=[(2, RADIUS), (3, RADIUS)])
    structure = Structure(r, rows, np.arange(4), made.bodies, solids=balls)
    body = LoadedStructure(
        structure, body.elastic, np.vstack([body.force, np.zeros(3)]), np.zeros(4)
    )
    *way, found = approach(body, EXACT)
    assert_allclose(found.r()[2, 2], low, atol=GAP)
    long, rest = np.hypot(1.0, low), np.hypot(1.0, 0.3)
    up = -2.0 * 50.0 * (long - rest) * low / long  # of both bars on the apex
    (touch,) = touching(body, found)
    assert_allclose(touch.force, 0.7 - up, rtol=1e-4)
    obstacles = Obstacles.of(structure)
    for before, after in pairwise([*way, found]):
        assert obstacles.allows(before.r(), after.r())


def test_an_overlap_at_the_start_is_refused_by_name():
    with pytest.raises(ValueError, match="node 1 and the sphere of node 2 overlap"):
        at_rest(hanging(at=1.3, load=LOAD), EXACT)
