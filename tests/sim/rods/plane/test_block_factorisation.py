"""Factorisation in 2 x 2 blocks beside dense algebra."""

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.block_factorisation import (
    BlockMatrix,
    BlockPattern,
    analyse,
    backward,
    empty,
    factorise,
    forward,
    unit_forward,
    weighted_product,
)
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.elastic_energy import multiply
from sim.rods.plane.rod import Rod, RodMaterial, ring

RODS = [
    star(StarShape(arc_edges=5, tail_edges=2), RodMaterial()),
    ring(0.05, 30, RodMaterial()),
]


def _filled(
    rod: Rod, rng: np.random.Generator
) -> tuple[BlockPattern, BlockMatrix, Floats]:
    """A definite matrix with the pattern of a rod: blocks, and dense by columns."""
    n = len(rod.nodes)
    pattern = analyse(n, rod.edges, rod.bends)
    matrix = empty(pattern)
    used = np.unique(np.concatenate([pattern.edge_slot, pattern.bend_slot.ravel()]))
    matrix.lower[used] = rng.standard_normal((len(used), 4))
    matrix.diagonal[:] = rng.standard_normal((n, 3)) + np.array([30.0, 1.0, 30.0])
    dense = np.zeros((n, 2, n, 2))
    for j in range(n):
        xx, xy, yy = matrix.diagonal[j]
        dense[j, :, j, :] = [[xx, xy], [xy, yy]]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i, block = pattern.row[p], matrix.lower[p].reshape(2, 2)
            dense[i, :, j, :], dense[j, :, i, :] = block, block.T
    return pattern, matrix, dense.reshape(2 * n, 2 * n)


@pytest.mark.parametrize("rod", RODS, ids=["star", "ring"])
def test_blocks_solve_and_give_entries_of_the_inverse_as_a_dense_matrix(rod, rng):
    pattern, matrix, dense = _filled(rod, rng)
    z = rng.standard_normal((len(rod.nodes), 2))
    expected = np.linalg.solve(dense, z.ravel())
    product = np.empty_like(z)
    multiply(pattern, matrix, z, product)
    assert product.ravel() == pytest.approx(dense @ z.ravel(), rel=1e-12)
    assert factorise(pattern, matrix)
    forward(pattern, matrix, z)
    backward(pattern, matrix, z)
    assert z.ravel() == pytest.approx(expected, rel=1e-9)
    inverse, n = np.linalg.inv(dense), len(rod.nodes)
    y, z = np.empty((n, 2)), np.empty((n, 2))
    for a, b in ((3, 3), (0, n - 1), (7, 2)):
        unit_forward(pattern, matrix, a, 0, y)
        unit_forward(pattern, matrix, b, 1, z)
        found = weighted_product(pattern, matrix, a, y, z)
        assert found == pytest.approx(inverse[2 * a, 2 * b + 1], rel=1e-9)


def test_an_indefinite_matrix_is_noticed(rng):
    pattern, matrix, _ = _filled(RODS[0], rng)
    matrix.diagonal[5, 0] = -1.0
    assert not factorise(pattern, matrix)


def test_fill_grows_in_proportion_to_the_nodes():
    """The cost of a step is linear in N only if this is."""
    sizes = []
    for k in (1, 10):
        rod = star(StarShape().refined(k), RodMaterial())
        pattern = analyse(len(rod.nodes), rod.edges, rod.bends)
        sizes.append(len(pattern.update) / len(rod.nodes))
    assert sizes[1] < 1.3 * sizes[0]
