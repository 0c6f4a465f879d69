"""Patterns, meshes and their stiffness."""

import numpy as np
import pytest

from sim.origami.model.mesh import narrowed_corners
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.pattern import CreasePattern
from tests.sim.origami.sheets import (
    MATERIAL,
    compliant_strip,
    concentrated_strip,
    strip,
)


def test_panels_are_drawn_in_by_half_a_crease_width():
    corners = narrowed_corners(strip(3), 1, 2e-3)
    assert corners[:, 0] == pytest.approx([0.021, 0.039, 0.039, 0.021])
    assert corners[:, 1] == pytest.approx([0.0, 0.0, 0.02, 0.02])


def test_a_crease_in_three_lines_is_as_stiff_as_one_hinge():
    """Fold shares 1/4, 1/2, 1/4 in series have the stiffness L E t^3 / 12 W."""
    mesh = compliant_strip(2)
    k, share = mesh.hinge_stiffness, mesh.hinge_share
    rims, middle = k[share == 0.25], k[share == 0.5].sum()
    assert 1 / (1 / rims + 0).sum() == pytest.approx(rims[0] / 2)
    series = 1.0 / (1.0 / rims[0] + 1.0 / middle + 1.0 / rims[1])
    assert series == pytest.approx(MATERIAL.whole_crease(0.02), rel=1e-12)
    assert share.sum() == pytest.approx(1.5)  # both halves of the middle fold together


def test_a_bar_between_two_panels_has_the_stiffness_of_both():
    mesh = concentrated_strip(2)
    shared = mesh.bar.tolist().index([1, 4])
    alone = mesh.bar.tolist().index([0, 3])
    ratio = mesh.bar_stiffness[shared] / mesh.bar_stiffness[alone]
    assert ratio == pytest.approx(2.0)


def test_node_tags_name_the_vertices_a_node_stems_from():
    mesh = compliant_strip(2)
    assert mesh.tag[mesh.corner, 0].tolist() == [0, 1, 4, 3, 1, 2, 5, 4]
    assert mesh.tag[8:11].tolist() == [[1, -1], [4, -1], [1, 4]]
    assert len(set(mesh.tag[mesh.centre, 0])) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"panel_modulus": 0.0}, "panel_modulus must be positive, not 0.0"),
        ({"crease_thickness": -1e-4}, "crease_thickness must be positive"),
        ({"panel_thickness": [1e-3, -1e-3]}, "panel_thickness of panel 1 must be"),
        ({"crease_width": 0.0}, "crease_width must be positive"),
        ({"panel_poisson": 0.5}, "panel_poisson must be between"),
    ],
)
def test_impossible_materials_are_refused(change, said):
    given = {
        "panel_modulus": 1.0,
        "crease_modulus": 1.0,
        "panel_thickness": 1.0,
        "crease_thickness": 1.0,
        "crease_width": 1.0,
    }
    with pytest.raises(ValueError, match=said):
        SheetMaterial(**{**given, **change})


SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.0]]


@pytest.mark.parametrize(
    ("vertices", "panels", "said"),
    [
        (SQUARE, [], "has no panels"),
        (SQUARE, [[0, 1]], "panel 0 has corners"),
        (SQUARE, [[0, 1, 9]], "panel 0 names vertex 9"),
        (SQUARE, [[0, 1, 4]], "panel 0 has no area"),
        (SQUARE, [[0, 1, 2, 3], [2, 5, 4, 1]], "panels 0 and 1 pass edge 1-2"),
        (np.zeros((3, 2)), [[0, 1, 2]], "shape"),
        ([[0, 0, 0], [np.nan, 0, 0], [0, 1, 0]], [[0, 1, 2]], "vertex 1 is not at a f"),
    ],
)
def test_impossible_patterns_are_refused(vertices, panels, said):
    with pytest.raises(ValueError, match=said):
        CreasePattern(np.array(vertices), panels)


def test_adjusted_nodes_must_be_as_many_as_the_mesh_has():
    with pytest.raises(ValueError, match="2 node positions are given for 13 nodes"):
        compliant_strip(2).adjusted([[0, 0, 0], [1, 0, 0]])
