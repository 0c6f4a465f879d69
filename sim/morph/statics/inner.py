"""Elastic parts and obstacles without loads and targets: what no rigid motion changes.

The part of the potential energy that motions of a mechanism keep to
(`sim.morph.dynamics`).
"""

import numpy as np
from scipy.sparse import coo_array, csr_array

from sim.arrays import Floats, Ints
from sim.morph.equations.curvature import HessianTerms, assemble
from sim.morph.equations.hessian import entries_of
from sim.morph.statics.elastic import deform, elastic_entries
from sim.morph.statics.potential import PotentialEnergy


def is_elastic(potential: PotentialEnergy) -> bool:
    """Whether there are elastic parts."""
    elastic = potential.loaded.elastic
    return len(elastic.links) + len(elastic.hinges) + len(elastic.panels) > 0


def inner_energy(potential: PotentialEnergy, z: Floats) -> float:
    """Of elastic parts and obstacles at z (n + k, 3); infinite where bodies overlap."""
    total = 0.0
    if is_elastic(potential):
        elastic = potential.loaded.elastic
        total += deform(elastic, z[: potential.system.n], elastic.rest_angle).energy
    if potential.obstacles is not None:
        total += potential.obstacles.energy(z, potential.kappa)
    return total


def inner_forces(potential: PotentialEnergy, z: Floats) -> tuple[Floats, csr_array]:
    """Slope (n, 3) and curvature (3n, 3n) of `inner_energy` at z (n + k, 3)."""
    n = potential.system.n
    slope, K = np.zeros((n, 3)), csr_array((3 * n, 3 * n))
    if is_elastic(potential):
        elastic = potential.loaded.elastic
        deformed = deform(elastic, z[:n], elastic.rest_angle)
        slope += deformed.gradient
        parts = (elastic.links, elastic.hinges, elastic.panels.nodes)
        K = K + _symmetric(deformed.curvature, *elastic_entries(*parts), 3 * n)
    if potential.obstacles is not None:
        contacts = potential.obstacles.contacts(z, potential.kappa)
        slope += contacts.push()[:n]
        linear, rows = contacts.linear, potential.system.m
        terms = HessianTerms(
            np.zeros((n, 3, 3)),
            np.concatenate([np.zeros(rows), contacts.y]),
            np.concatenate([np.zeros(rows), contacts.rho]),
            0.0,
            contacts.blocks,
        )
        blocks = contacts.pattern.blocks
        values = assemble(linear.system.layout, blocks, linear.B, z, terms)
        K = K + _symmetric(values, *entries_of(blocks), len(z) * 3)[: 3 * n, : 3 * n]
    return slope, K


def _symmetric(values: Floats, rows: Ints, cols: Ints, size: int) -> csr_array:
    """A matrix from the entries of its lower triangle."""
    lower = coo_array((values, (rows, cols)), shape=(size, size)).tocsr()
    upper = lower.T.tocsr()
    upper.setdiag(0.0)
    both: csr_array = lower + upper
    return both
