"""Legacy VTK files: the points and triangles that were put in come back."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import Choices, ScanFileError
from pipeline.scans.reading.units import Unit
from sim.arrays import Floats

POINTS = np.array(
    [[0.5, -1.25, 2.0], [3.0, 4.5, -6.75], [7.0, 8.0, 9.125], [1.0, 0.0, 1e-3]]
)
TRIANGLES = [[0, 1, 2], [0, 2, 3], [1, 2, 3]]  # of a square and a triangle
METADATA = b"METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\n\n"


def head(kind: str, version: str = "3.0", data: str = "POLYDATA") -> bytes:
    return (
        f"# vtk DataFile Version {version}\na part\n{kind}\nDATASET {data}\n".encode()
    )


def ascii_mesh() -> bytes:
    """Nine numbers on a line, as VTK itself writes."""
    words = [f"{x:g}" for x in POINTS.ravel()]
    lines = [" ".join(words[k : k + 9]) for k in range(0, 12, 9)]
    text = "POINTS 4 float\n" + " \n".join(lines) + "\n\n"
    cells = "VERTICES 1 2\n1 0\nPOLYGONS 2 9\n4 0 1 2 3\n3 1 2 3\n"
    return head("ASCII") + text.encode() + METADATA + cells.encode()


def binary_mesh(kind: str = "double") -> bytes:
    width = ">f8" if kind == "double" else ">f4"
    text = f"POINTS 4 {kind}\n".encode() + POINTS.astype(width).tobytes() + b"\n"
    flat = np.array([4, 0, 1, 2, 3, 3, 1, 2, 3], ">i4").tobytes()
    return head("BINARY") + text + METADATA + b"POLYGONS 2 9\n" + flat + b"\n"


def offset_mesh() -> bytes:
    """Version 5.1: offsets and corners apart."""
    offsets = np.array([0, 4, 7], ">i8").tobytes()
    corners = np.array([0, 1, 2, 3, 1, 2, 3], ">i8").tobytes()
    return (
        head("BINARY", "5.1")
        + b"POINTS 4 double\n" + POINTS.astype(">f8").tobytes() + b"\n"
        + b"POLYGONS 3 7\nOFFSETS vtktypeint64\n" + offsets
        + b"\nCONNECTIVITY vtktypeint64\n" + corners + b"\n"
    )  # fmt: skip


MESHES = [ascii_mesh(), binary_mesh(), offset_mesh()]


def as_grid(mesh: bytes, kinds: tuple[int, ...] = (9, 5)) -> bytes:
    """The same as an unstructured grid, of VTK's types of cells."""
    numbers = np.array(kinds, ">i4").tobytes()
    if b"ASCII" in mesh:
        numbers = "\n".join(map(str, kinds)).encode()
    said = mesh.replace(b"POLYDATA", b"UNSTRUCTURED_GRID").replace(
        b"POLYGONS", b"CELLS"
    )
    said = said.replace(b"VERTICES 1 2\n1 0\n", b"")
    return said + f"CELL_TYPES {len(kinds)}\n".encode() + numbers + b"\n"


@pytest.mark.parametrize(
    "content",
    [*MESHES, binary_mesh("float"), *map(as_grid, MESHES)],
    ids=["ascii", "double", "offsets", "float", "grid", "binary grid", "offsets grid"],
)
def test_points_and_triangles_come_back(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.vtk"
    path.write_bytes(content)
    cloud = read_cloud(path, Unit.CM)
    np.testing.assert_allclose(cloud.points, 10.0 * POINTS, rtol=1e-7)
    assert cloud.is_mesh
    assert cloud.triangles is not None
    found = sorted(sorted(row) for row in cloud.triangles.tolist())
    assert found == sorted(TRIANGLES)


def many(count: int) -> tuple[bytes, Floats]:
    points = np.arange(3.0 * count).reshape(-1, 3)
    text = " ".join(f"{x:g}" for x in points.ravel())
    return f"POINTS {count} float\n{text}\n".encode(), points


def test_points_without_polygons_are_a_cloud(tmp_path: Path) -> None:
    body, points = many(100_000)  # more than one block of text
    path = tmp_path / "a.vtk"
    path.write_bytes(
        head("ASCII", data="STRUCTURED_GRID") + b"DIMENSIONS 100000 1 1\n" + body
    )
    cloud = read_cloud(path, Unit.MM)
    assert not cloud.is_mesh
    np.testing.assert_allclose(cloud.points, points, rtol=1e-5)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<VTKFile type='PolyData'>\n", "E-FORMAT"),
        (head("ASCII") + b"POINTS 4 int\n1 2 3\n", "POINTS should be"),
        (head("ZIP") + b"POINTS 1 float\n1 2 3\n", "has no ASCII or BINARY"),
        (head("ASCII") + b"POINTS 0 float\n", "E-EMPTY"),
        (head("ASCII") + b"POINTS 999999999 float\n1 2 3\n", "E-TRUNCATED"),
        (head("ASCII") + b"POINTS 3 float\n1 2 3 4 5 6 x y z 1 2 3\n", "2 of them"),
        (binary_mesh()[:120], "E-TRUNCATED"),
        (ascii_mesh().replace(b"POLYGONS 2 9", b"POLYGONS 2 8"), "cannot be read"),
        (as_grid(ascii_mesh(), (12, 5)), r"of type \[12\]: in ParaView, Extract Surf"),
        (as_grid(ascii_mesh(), (9,)), "no CELL_TYPES of 2 cells follow"),
        (ascii_mesh().replace(b"POLYGONS 2 9", b"POLYGONS 2 9999"), "are promised"),
        (ascii_mesh().replace(b"\n4 0 1", b"\n9e18 0 1"), "9e.18 is no index"),
        (ascii_mesh().replace(b"\n4 0 1", b"\n4 0.5 1"), "0.5 is no index"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.vtk"
    path.write_bytes(content)
    with pytest.raises(ScanFileError, match=said) as caught:
        read_cloud(path, Unit.MM)
    assert "\n" not in str(caught.value)


def test_good_points_of_a_damaged_file_are_salvaged(tmp_path: Path) -> None:
    path = tmp_path / "a.vtk"
    path.write_bytes(head("ASCII") + b"POINTS 3 float\n1 2 3 4 5 6 x y z 1 2 3\n")
    cloud = read_cloud(path, Unit.MM, Choices(salvage=True))
    np.testing.assert_array_equal(cloud.points, [[1, 2, 3], [4, 5, 6]])
