"""Patterns, meshes and their stiffness."""

import numpy as np
import pytest

from sim.origami.model.compliant import compliant_mesh, drawn_in
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.material import SheetMaterial
from sim.origami.pattern.pattern import CreasePattern
from tests.sim.origami.sheets import MATERIAL, compliant_strip, strip


def test_edges_are_numbered_as_the_panels_meet_them() -> None:
    pattern = strip(2)
    assert pattern.edges.tolist() == [
        [0, 3], [0, 1], [1, 4], [3, 4], [1, 2], [2, 5], [4, 5],
    ]  # fmt: skip
    assert pattern.creases.tolist() == [2]


def test_panels_are_drawn_in_by_half_a_crease_width() -> None:
    corners = drawn_in(strip(3), 1, 2e-3)
    assert corners[:, 0] == pytest.approx([0.021, 0.039, 0.039, 0.021])
    assert corners[:, 1] == pytest.approx([0.0, 0.0, 0.02, 0.02])


def test_a_slanted_free_edge_is_followed_when_a_panel_is_drawn_in() -> None:
    vertices = np.array(
        [[0, 0, 0], [2, 0, 0], [1, 1, 0], [0, 1, 0], [4, 0, 0], [4, 1, 0.0]]
    )
    pattern = CreasePattern(vertices, [[0, 1, 2, 3], [1, 4, 5, 2]])
    corners = drawn_in(pattern, 0, 0.2)
    along = corners[1] - vertices[1]
    assert along[1] == pytest.approx(0.0)
    crease = (vertices[2] - vertices[1]) / np.sqrt(2)
    assert np.linalg.norm(np.cross(along, crease)) == pytest.approx(0.1)


def test_a_crease_in_three_lines_is_as_stiff_as_one_hinge() -> None:
    """Fold shares 1/4, 1/2, 1/4 in series have the stiffness L E t^3 / 12 W."""
    mesh = compliant_strip(2)
    k, share = mesh.hinge_stiffness, mesh.hinge_share
    rims, middle = k[share == 0.25], k[share == 0.5].sum()
    assert 1 / (1 / rims + 0).sum() == pytest.approx(rims[0] / 2)
    series = 1.0 / (1.0 / rims[0] + 1.0 / middle + 1.0 / rims[1])
    assert series == pytest.approx(MATERIAL.whole_crease(0.02), rel=1e-12)
    assert share.sum() == pytest.approx(1.5)  # both halves of the middle fold together


def test_a_bar_between_two_panels_has_the_stiffness_of_both() -> None:
    mesh = concentrated_mesh(strip(2), MATERIAL)
    shared = mesh.bar.tolist().index([1, 4])
    alone = mesh.bar.tolist().index([0, 3])
    ratio = mesh.bar_stiffness[shared] / mesh.bar_stiffness[alone]
    assert ratio == pytest.approx(2.0)


def test_node_tags_name_the_vertices_a_node_stems_from() -> None:
    mesh = compliant_mesh(strip(2), MATERIAL)
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
        ({"panel_poisson": 0.5}, "panel_poisson must lie between"),
    ],
)
def test_impossible_materials_are_refused(change: dict[str, float], said: str) -> None:
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
    ("panels", "said"),
    [
        ([], "has no panels"),
        ([[0, 1]], "panel 0 has corners"),
        ([[0, 1, 9]], "panel 0 names vertex 9"),
        ([[0, 1, 4]], "panel 0 has no area"),
        ([[0, 1, 2, 3], [2, 5, 4, 1]], "panels 0 and 1 pass edge 1-2"),
    ],
)
def test_impossible_patterns_are_refused(panels: list[list[int]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CreasePattern(np.array(SQUARE), panels)


def test_vertices_must_be_finite_and_three_dimensional() -> None:
    with pytest.raises(ValueError, match="shape"):
        CreasePattern(np.zeros((3, 2)), [[0, 1, 2]])
    with pytest.raises(ValueError, match="vertex 1 is not a finite"):
        CreasePattern(np.array([[0, 0, 0], [np.nan, 0, 0], [0, 1, 0]]), [[0, 1, 2]])


def test_adjusted_nodes_must_be_as_many_as_the_mesh_has() -> None:
    with pytest.raises(ValueError, match="2 node positions are given for 13 nodes"):
        compliant_strip(2).adjusted([[0, 0, 0], [1, 0, 0]])
