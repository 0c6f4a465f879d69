"""Targets that cases read from files."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.formats.cloud_targets import cloud_file, points
from pipeline.formats.mesh_files import mesh_file

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
HEADER = (
    "ply\nformat {style} 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\nelement face 4\nproperty list uchar int vertex_indices\n"
    "end_header\n"
)


def stl() -> bytes:
    facet = np.dtype([("n", "<f4", 3), ("r", "<f4", (3, 3)), ("x", "<u2")])
    table = np.zeros(4, facet)
    table["r"] = CORNERS[FACES]
    return bytes(80) + (4).to_bytes(4, "little") + table.tobytes()


def stl_text() -> bytes:
    lines = ["solid t"]
    for face in FACES:
        lines += [f"vertex {x:g} {y:g} {z:g}" for x, y, z in CORNERS[face]]
    return "\n".join([*lines, "endsolid t", ""]).encode()


def obj() -> bytes:
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in CORNERS]
    lines += [f"f {a + 1}/1 {b + 1} {c - 4}" for a, b, c in FACES]
    return "\n".join(lines).encode()


def ply_text() -> bytes:
    lines = [f"{x:g} {y:g} {z:g}" for x, y, z in CORNERS]
    lines += [f"3 {a} {b} {c}" for a, b, c in FACES]
    return (HEADER.format(style="ascii") + "\n".join(lines)).encode()


def ply() -> bytes:
    faces = np.zeros(4, np.dtype([("n", "u1"), ("v", "<i4", 3)]))
    faces["n"], faces["v"] = 3, FACES
    head = HEADER.format(style="binary_little_endian").encode()
    return head + CORNERS.astype("<f4").tobytes() + faces.tobytes()


def with_windows_lines() -> bytes:
    return ply_text().replace(b"\n", b"\r\n")


FILES = {
    "a.stl": stl, "b.stl": stl_text, "c.obj": obj, "d.ply": ply_text, "e.ply": ply,
    "f.ply": with_windows_lines,
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_mesh_files_hold_the_same_tetrahedron(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name]())
    mesh = mesh_file(str(tmp_path / name), scale=2.0)
    assert len(mesh.triangles) == 4
    asked = np.array([[2.0, 2.0, 2.0], [0.5, 0.5, -1.0], [3.0, 0.0, 0.0]])
    expected = [[2 / 3, 2 / 3, 2 / 3], [0.5, 0.5, 0.0], [2.0, 0.0, 0.0]]
    assert_allclose(mesh.closest(asked), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["a.stl", "b.stl", "d.ply", "e.ply"])
def test_truncated_mesh_files_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name]()[:-20])
    with pytest.raises(ValueError, match="truncated"):
        mesh_file(str(tmp_path / name))


def test_files_without_a_mesh_are_refused(tmp_path: Path) -> None:
    (tmp_path / "shape.step").write_text("ISO-10303-21;\n")
    with pytest.raises(ValueError, match=r"shape.step: files called .step are not"):
        mesh_file(str(tmp_path / "shape.step"))
    with pytest.raises(ValueError, match="there is no such file"):
        mesh_file(str(tmp_path / "none.stl"))
    (tmp_path / "empty.obj").write_text("# nothing\n")
    with pytest.raises(ValueError, match="no triangles"):
        mesh_file(str(tmp_path / "empty.obj"))
    (tmp_path / "points.xyz").write_text("0 0 0\n1 0 0\n0 1 0\n")
    with pytest.raises(ValueError, match=r"points.xyz: .* no triangles: is it a mesh"):
        mesh_file(str(tmp_path / "points.xyz"))
    (tmp_path / "two.stl").write_text("solid\nvertex 0 0 0\nvertex 1 0 0\nendsolid\n")
    with pytest.raises(ValueError, match=r"E-TRUNCATED .* after 2 corners"):
        mesh_file(str(tmp_path / "two.stl"))


def test_a_scan_is_a_target_in_the_unit_of_the_case(tmp_path: Path) -> None:
    rows = np.array([[0.0, 0, 0], [40.0, 0, 0], [0.0, 40.0, 0]])
    np.savetxt(tmp_path / "scan.xyz", rows)
    target = cloud_file(str(tmp_path / "scan.xyz"), unit="mm", mm_per_unit=40.0)
    found = target.closest(np.array([[0.9, 0.1, 0.0]]))
    assert_allclose(found, [[1.0, 0.0, 0.0]])


def test_points_that_are_no_points_are_refused() -> None:
    with pytest.raises(ValueError, match=r"give each as \[x, y, z\]"):
        points([[0.0, 1.0]])
    with pytest.raises(ValueError, match="no points"):
        points([])
