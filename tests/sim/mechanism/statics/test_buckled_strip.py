"""A slender strip of panels, far softer in bending than along, past its buckling load.

It begins straight, where the energy falls along one bending alone, whose curvature is
some 1e-9 of that of a panel or less. Where it ends, the elastica says by the angle of
its tip alone (Timoshenko and Gere, Theory of Elastic Stability, 1961, sect. 2.7).
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipe, ellipk

from sim.mechanism.constrained_newton import DENSE
from sim.mechanism.constraints import ConstraintTable, fix
from sim.mechanism.statics.elastic_parts import Elastic, Panels, hinges_between
from sim.mechanism.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.structure import Structure

BAYS, BAY = 68, 0.4  # of two panels each; the first is clamped
LENGTH = (BAYS - 1) * BAY
SOFT = EquilibriumOptions(tolerance=1e-8)  # rounding leaves 3e-9 where loads are 1e-5
BUCKLES = 7.4e-6  # by the lowest eigenvalue of the dense matrix


def strip(load: float) -> LoadedStructure:
    """One wide, pressed along y at its last two nodes."""
    r = np.array([[i, BAY * j, 0.0] for j in range(BAYS + 1) for i in range(2)])
    triangles: list[tuple[int, int, int]] = []
    for a in range(0, 2 * BAYS, 4):
        triangles += [(a, a + 1, a + 2), (a + 1, a + 3, a + 2)]
        triangles += [(a + 2, a + 3, a + 5), (a + 2, a + 5, a + 4)]
    hinges = hinges_between(triangles)
    elastic = Elastic.between(r, np.empty((0, 2), np.int64), 1.0, hinges, 0.01)
    panels = Panels.between(r, np.array(triangles), 100.0, 0.3, 0.1)
    rows = [row for node in range(4) for row in fix(r, node)]
    made = Structure(r, ConstraintTable.of(rows), np.arange(len(r)))
    force = np.zeros_like(r)
    force[-2:, 1] = -0.5 * load
    return LoadedStructure(
        made, replace(elastic, panels=panels), force, np.zeros(len(r))
    )


def tip(found: Equilibrium) -> tuple[float, float, float]:
    """Deflection and height of the tip over the length, and k = sin(angle / 2)."""
    r = found.r()[::2]
    end, before = r[-1] - r[-2], r[-2] - r[-3]
    angles = [np.arctan2(abs(d[2]), d[1]) for d in (before, end)]
    angle = angles[1] + 0.5 * (angles[1] - angles[0])
    height = (r[-1, 1] - r[1, 1]) / LENGTH
    return abs(r[-1, 2]) / LENGTH, height, float(np.sin(0.5 * angle))


@pytest.mark.parametrize("ratio", [1.3, 2.0])
def test_a_large_straight_strip_buckles_into_the_elastica(ratio):
    body = strip(ratio * BUCKLES)
    assert body.structure.r0.size > DENSE
    found = at_rest(body, SOFT)
    assert found.negative == found.neutral == 0
    deflection, height, k = tip(found)
    K, E = ellipk(k**2), ellipe(k**2)
    assert_allclose(deflection, 2.0 * k / K, atol=0.01)
    assert_allclose(height, 2.0 * E / K - 1.0, atol=0.02)
    assert_allclose(ratio, (2.0 * K / np.pi) ** 2, rtol=0.03)
