"""Equilibria through negative curvature: few steps, and a minimum at the end."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.constraints import Constraint, ConstraintTable, dist, fix
from sim.mechanism.statics.elastic_parts import Elastic
from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.statics.potential_energy import PotentialEnergy
from sim.mechanism.structure import Structure

FEW = 40


def hung(seed: int) -> LoadedStructure:
    """Nodes in a tree of rigid and elastic links about one held, and more between
    them, with loads that turn it over."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 13))
    r: Floats = rng.normal(size=(n, 3))
    rows, elastic = list[Constraint](fix(r, 0)), []
    for node in range(1, n):
        before = int(np.linalg.norm(r[:node] - r[node], axis=1).argmin())
        if rng.random() < 0.5:
            rows.append(dist(r, before, node))
        else:
            elastic.append((before, node))
    for _ in range(n):
        a, b = rng.choice(n, 2, replace=False).tolist()
        elastic += [] if {(a, b), (b, a)} & set(elastic) else [(a, b)]
    links = Elastic.between(r, np.array(elastic, dtype=np.int64), 1.0)
    stiffness = 10.0 ** rng.uniform(-1.0, 1.5, len(elastic))
    force = np.where(rng.random((n, 1)) < 0.3, rng.normal(size=(n, 3)), 0.0)
    made = Structure(r, ConstraintTable.of(rows), np.arange(n))
    links = replace(links, link_stiffness=stiffness)
    return LoadedStructure(made, links, 3.0 * force, np.zeros(n))


@pytest.mark.parametrize("seed", range(12))
def test_structures_that_turn_over_come_to_rest(seed):
    found = at_rest(hung(seed), EquilibriumOptions(max_steps=FEW))
    assert found.unbalanced <= 1e-9
    assert found.negative == 0


def test_dense_curvature_is_the_change_of_the_gradient():
    problem = PotentialEnergy.of(hung(3))
    z, angle = problem.loaded.structure.r0, np.empty(0)
    point = problem.point(z, angle)
    v = np.random.default_rng(0).normal(size=z.shape)
    h = 1e-5

    def gradient(z: Floats) -> Floats:
        there = problem.point(z, angle)
        return there.gradient + there.linear.transpose_times(point.y)

    change = (gradient(z + h * v) - gradient(z - h * v)) / (2.0 * h)
    K = problem.dense_curvature(point)
    assert_allclose(K, K.T)
    assert_allclose(K @ v.ravel(), change.ravel(), atol=1e-6 * np.abs(change).max())
