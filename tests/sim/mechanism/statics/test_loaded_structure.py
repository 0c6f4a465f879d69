"""Links whose length follows temperature, against closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.constraints import ConstraintTable, fix
from sim.mechanism.named_structures import triangle_lattice
from sim.mechanism.statics.elastic_parts import deform
from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import (
    BarredLattice,
    LoadedStructure,
    Strut,
    thermal_links,
)
from sim.mechanism.structure import Structure

EXACT = EquilibriumOptions(tolerance=1e-12, residual=1e-12)
LATTICE = triangle_lattice(9, 5, 3.0)
HELD, BAR = LATTICE.nodes_of(0), LATTICE.nodes_of(-1)
BARRED = BarredLattice.of(LATTICE.r, LATTICE.links, HELD, BAR)


def struts(stretch: Floats | float, modulus: Floats | float, d: float = 0.0) -> Strut:
    count = np.ones(len(LATTICE.links))
    return Strut(stretch * count, modulus * count, d)


def shape(made: Strut, shrunk: float = 0.0) -> Floats:
    """Nodes at rest, about the middle of the row that is held."""
    found = at_rest(BARRED.with_struts(made, shrunk), EXACT)
    assert found.negative == 0
    middle = LATTICE.r[HELD].mean(axis=0)
    nodes: Floats = middle + (1.0 - shrunk) * (found.r()[: len(LATTICE.r)] - middle)
    return nodes


def test_two_struts_in_line_share_their_length_by_stiffness():
    # k_1 (x - l_1) = k_2 (2 - x - l_2), k = E / lambda for equal lengths
    r = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    stretch, modulus = np.array([0.6, 0.9]), np.array([2.0, 0.5])
    rows = [*fix(r, 0), *fix(r, 1)[1:], *fix(r, 2)]
    structure = Structure(r, ConstraintTable.of(rows), np.arange(3))
    elastic = thermal_links(r, np.array([[0, 1], [1, 2]]), Strut(stretch, modulus))
    body = LoadedStructure(structure, elastic, np.zeros_like(r), np.zeros(3))
    rest = at_rest(body, EXACT).r()
    k = modulus / stretch
    expected = (k[0] * stretch[0] + k[1] * (2.0 - stretch[1])) / k.sum()
    assert_allclose(rest[1], [expected, 0.0, 0.0], atol=1e-12)


def test_a_node_takes_its_part_of_the_strain():
    r = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    made = Strut(np.array([0.5]), np.array([2.0]), 0.75)
    elastic = thermal_links(r, np.array([[0, 1]]), made)
    assert_allclose(elastic.rest_length, [0.75 + 2.25 * 0.5])
    assert_allclose(elastic.link_stiffness, [2.0 / (2.25 * 0.5)])
    strain = 1.0 - elastic.rest_length / 3.0
    assert_allclose(strain, (1.0 - 0.75 / 3.0) * (1.0 - 0.5))


def test_a_lattice_of_one_material_shrinks_evenly_where_its_bars_do():
    found = shape(struts(0.7, 1.3), shrunk=0.3)
    middle = LATTICE.r[HELD].mean(axis=0)
    expected = middle + 0.7 * (LATTICE.r - middle)
    assert_allclose(found, expected, atol=1e-9)


def test_forces_on_the_bar_vanish(rng):
    """The bar is free: links pull on it with neither force nor moment."""
    made = struts(rng.uniform(0.6, 1.0, 96), rng.uniform(0.5, 2.0, 96))
    body = BARRED.with_struts(made)
    found = at_rest(body, EXACT)
    pull = deform(body.elastic, found.r(), found.deformed.angle).gradient[BAR]
    r, size = found.r()[BAR], np.abs(found.deformed.tension).max()
    assert np.abs(pull).max() > 0.01 * size
    assert np.abs(pull.sum(axis=0)).max() < 1e-9 * size
    assert np.abs(np.cross(r, pull).sum(axis=0)).max() < 1e-8 * size


@pytest.mark.parametrize(
    ("stretch", "modulus", "d", "words"),
    [
        (0.0, 1.0, 0.0, "stretch 0 of strut 0"),
        (0.5, -1.0, 0.0, "modulus -1 of strut 0"),
        (0.5, np.nan, 0.0, "modulus nan of strut 0"),
        (0.5, 1.0, -0.1, "node_diameter -0.1 must be 0 or more"),
        (0.5, 1.0, 3.0, "node_diameter 3 of strut 0 must be below its length"),
    ],
)
def test_struts_that_cannot_be_are_refused(stretch, modulus, d, words):
    with pytest.raises(ValueError, match=words):
        thermal_links(LATTICE.r, LATTICE.links, struts(stretch, modulus, d))
