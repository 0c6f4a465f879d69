"""The sheet of triangles of Fig. 3 and the flat lattice: counts, links, rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.core.arrays import Floats
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.named_structures import triangle_lattice, triangle_sheet
from sim.mechanism.structure import Structure


def sides(sheet: Structure) -> Floats:
    """(t, 3) lengths of the sides of each triangle, ascending."""
    corners = sheet.r0.reshape(-1, 3, 3)
    lengths = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    return np.sort(lengths, axis=1)


@pytest.mark.parametrize(
    ("rows", "columns", "nodes", "links"), [(2, 2, 48, 67), (3, 3, 90, 128)]
)
def test_sheet_has_its_nodes_links_and_mobility(rows, columns, nodes, links):
    sheet = triangle_sheet(rows, columns)
    system = system_of(sheet)
    assert (system.n, system.m) == (nodes, links)
    dropped = linearise(system, state(sheet)).factorise().dropped
    assert len(dropped) == 0
    assert 3 * nodes - links == {48: 77, 90: 142}[nodes]


def test_rim_and_tips_are_what_their_names_say():
    sheet = triangle_sheet(3, 3)
    linked = {node for body in sheet.bodies if len(body) == 2 for node in body}
    tips = triangle_sheet(3, 3, leading="tips").leading
    assert set(tips.tolist()) == set(range(90)) - linked
    assert len(triangle_sheet(3, 3, leading="rim").leading) == 3 * len(tips) == 42


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: triangle_sheet(0, 2), "0 rows"),
        (lambda: triangle_sheet(2, 2, side=-1.0), "must be positive"),
        (lambda: triangle_sheet(2, 2, variation=0.5), "between 0 and 0.3"),
        (
            lambda: triangle_sheet(2, 2, leading="left"),
            "leading is 'left': choose one of all, rim, tips",
        ),
        (lambda: triangle_lattice(3, 1, 1.0), "rows is 3 and columns is 1"),
        (lambda: triangle_lattice(3, 3, -1.0), "spacing is -1"),
    ],
)
def test_impossible_sheets_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_nine_rows_of_five_and_four_have_41_nodes_and_96_links():
    lattice = triangle_lattice(9, 5, 3.0)
    assert (len(lattice.r), len(lattice.links)) == (41, 96)
    assert np.bincount(lattice.direction).tolist() == [32, 32, 32]
    d = lattice.r[lattice.links[:, 1]] - lattice.r[lattice.links[:, 0]]
    assert_allclose(np.linalg.norm(d, axis=1), 3.0, rtol=1e-12)
    angle = np.degrees(np.arctan2(d[:, 1], d[:, 0]))
    assert_allclose(angle, np.array([0.0, 60.0, 120.0])[lattice.direction], atol=1e-9)
    assert lattice.nodes_of(-1).tolist() == [36, 37, 38, 39, 40]
