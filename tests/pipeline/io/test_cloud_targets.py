"""Targets that cases read from files; test_faces reads meshes of every format."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.io.scanned_targets import cloud_file, mesh_file, points
from tests.pipeline.io.test_faces import solid


def test_a_mesh_is_a_target_in_the_scale_of_the_case(tmp_path):
    (tmp_path / "a.stl").write_bytes(solid("stl"))
    mesh = mesh_file(str(tmp_path / "a.stl"), scale=0.5)
    asked = np.array([[2.0, 2.0, 2.0], [0.5, 0.5, -1.0], [3.0, 0.0, 0.0]])
    expected = [[2 / 3, 2 / 3, 2 / 3], [0.5, 0.5, 0.0], [2.0, 0.0, 0.0]]
    assert_allclose(mesh.closest(asked), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("shape.step", "ISO-10303-21;\n", "shape.step: the suffix .step is not"),
        ("empty.obj", "# nothing\n", "no triangles"),
        (
            "points.xyz",
            "0 0 0\n1 0 0\n0 1 0\n",
            r"points.xyz: .* no triangles: give a mesh",
        ),
        ("two.stl", "solid\nvertex 0 0 0\nvertex 1 0 0\nendsolid\n", "2 vertices, "),
    ],
)
def test_files_without_a_mesh_are_refused(name, content, words, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=words):
        mesh_file(str(tmp_path / name))


def test_a_scan_is_a_target_in_the_unit_of_the_case(tmp_path):
    rows = np.array([[0.0, 0, 0], [40.0, 0, 0], [0.0, 40.0, 0]])
    np.savetxt(tmp_path / "scan.xyz", rows)
    target = cloud_file(str(tmp_path / "scan.xyz"), unit="mm", mm_per_unit=40.0)
    found = target.closest(np.array([[0.9, 0.1, 0.0]]))
    assert_allclose(found, [[1.0, 0.0, 0.0]])


def test_points_and_scales_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"give each as \[x, y, z\]"):
        points([[0.0, 1.0]])
    with pytest.raises(ValueError, match="no points"):
        points([])
    with pytest.raises(ValueError, match="mm_per_unit is 0: it must be positive"):
        cloud_file("scan.xyz", mm_per_unit=0)
    with pytest.raises(ValueError, match="scale is 0: it must be positive"):
        mesh_file("a.stl", scale=0)
