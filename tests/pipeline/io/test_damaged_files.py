"""A damaged file is refused with its code; no point is ever made up."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.spheres.detections import PickOptions
from pipeline.io.length_units import Unit, unit_named
from pipeline.io.point_cloud import open_sources, read_cloud
from pipeline.io.reader_interface import Choices, ScanFileError
from pipeline.io.scanned_targets import mesh_file
from pipeline.scans.merge_views import read_views

HEADER = (
    "ply\nformat {format} 1.0\nelement vertex {count}\n"
    "property double x\nproperty double y\nproperty double z\nend_header\n"
)
BINARY = HEADER.replace("{format}", "binary_little_endian")
ASCII = HEADER.replace("{format}", "ascii")
PCD = (
    "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {n}\nHEIGHT 1\n"
    "POINTS {n}\nDATA {data}\n"
)
POINTS = np.arange(300.0).reshape(100, 3)
BODY = POINTS.tobytes()
TEXT = "".join(f"{x} {y} {z}\n" for x, y, z in POINTS)
UNKNOWN = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float a\nend_header\n1\n"
NO_END = "ply\nformat ascii 1.0\nelement vertex 3\n"
PACKED = "binary_compressed"
BOMB = np.array([8, 12 * 10**9 % 2**32], dtype="<u4").tobytes() + bytes(8)
NPY = np.lib.format.magic(1, 0)
NPY_HEADER = b"{'descr': '<f4', 'fortran_order': False, 'shape': (-9, 3), }"


def pcd(n: int, data: str, body: bytes = b"") -> bytes:
    return PCD.format(n=n, data=data).encode() + body


def npy(array: Any) -> bytes:
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


def refused(path: Path, content: bytes, choices: Choices | None = None) -> str:
    """The one line with which `content` is refused."""
    path.write_bytes(content)
    with pytest.raises(ScanFileError) as caught:
        read_cloud(path, Unit.MM, choices)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert message.startswith("E-")
    return message


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("a.ply", b"", "E-EMPTY", "0 bytes"),
        ("a.xyz", b"\n \n# nothing\n", "E-EMPTY", "no point"),
        ("a.obj", b"# nothing\n", "E-EMPTY", "no point"),
        ("a.ply", BINARY.format(count=0).encode(), "E-EMPTY", "0 points"),
        ("a.pcd", pcd(0, "ascii"), "E-EMPTY", "0 points"),
        ("a.ply", bytes(range(256)), "E-FORMAT", "offset 0"),
        ("a.ply", NO_END.encode(), "E-FORMAT", "end_header"),
        ("a.ply", UNKNOWN.encode(), "E-FORMAT", "no property x, y, z"),
        ("a.ply", BINARY.format(count=-5).encode() + BODY, "E-FORMAT", "'-5'"),
        ("a.ply", b"ply\nformat magic 1.0\n" + BODY, "E-FORMAT", "header line 2"),
        ("a.ply", BINARY.format(count=200).encode() + BODY, "E-TRUNCATED", "has 100"),
        ("a.ply", BINARY.format(count=100).encode() + BODY[:-9], "E-TRUNCATED", "99"),
        ("a.ply", (ASCII.format(count=101) + TEXT).encode(), "E-TRUNCATED", "has 100"),
        ("a.ply", ASCII.format(count=10**12).encode(), "E-TRUNCATED", "has 0"),
        ("a.pcd", b"VERSION 0.7\n" * 2, "E-FORMAT", "header line 2"),
        ("a.pcd", b"\0" * 999, "E-FORMAT", "DATA"),
        ("a.pcd", pcd(9, "zip"), "E-FORMAT", "'zip'"),
        ("a.pcd", pcd(9, "binary"), "E-TRUNCATED", "has 0"),
        ("a.pcd", pcd(101, "ascii", TEXT.encode()), "E-TRUNCATED", "has 100"),
        ("a.pcd", pcd(10**9, PACKED, BOMB), "E-FORMAT", "bytes"),
        (
            "a.pcd",
            pcd(1, PACKED, b"\x40\0\0\0\x0c\0\0\0"),
            "E-TRUNCATED",
            "0 of 64 bytes",
        ),
        ("a.pcd", pcd(1, PACKED, b"\2\0\0\0\x0c\0\0\0\xff\xff"), "E-FORMAT", "damaged"),
        ("a.xyz", b"1 2 3\n4 5 6\n7 abc 9\n1 2 3\n", "E-FORMAT", "line 3"),
        ("a.xyz", b"1 2 3\n4 5\n1 2 3\n", "E-FORMAT", "line 2"),
        ("a.xyz", b"1 2 3\n4 5", "E-TRUNCATED", "line, 2, is cut"),
        ("a.xyz", b"1 2 3\n1_0 5 6\n1 2 3\n", "E-FORMAT", "line 2"),
        ("a.xyz", b"one two three\n", "E-FORMAT", "three numbers"),
        ("a.xyz", "1 2 3\n".encode("utf-16"), "E-FORMAT", "is UTF-16 text"),
        ("a.csv", b"0,125 1,5 2,25\n", "E-DECIMAL", "--decimal-comma"),
        ("a.csv", b"x;y;z\n0,125;1,5;2,25\n", "E-DECIMAL", "--decimal-comma"),
        ("a.csv", b"0,125,1,5,2,25\n", "E-DECIMAL", "semicolons"),
        ("a.pts", b"5\n1 2 3\n4 5 6\n", "E-TRUNCATED", "has 2"),
        ("a.stl", b"part", "E-FORMAT", "header"),
        ("a.stl", b"\0" * 84, "E-EMPTY", "0 points"),
        ("a.stl", b"\0" * 80 + b"\xff" * 4 + b"\0" * 50, "E-TRUNCATED", "4294967295"),
        ("a.stl", b"solid a" + b"\nvertex 1 2 3" * 9, "E-TRUNCATED", "endsolid"),
        ("a.obj", b"v 1 2 3\nv 1 2\nv 1 2 3\n", "E-FORMAT", "line 2"),
        ("a.npy", b"not numpy", "E-FORMAT", "offset 0"),
        ("a.npy", NPY + b"\xff\xff{", "E-FORMAT", "header"),
        ("a.npy", NPY + b"\xff\x0f" + b"-" * 0xFFF, "E-FORMAT", "header"),
        ("a.npy", NPY + b"\x3c\0" + NPY_HEADER + BODY, "E-FORMAT", "shape '(-9"),
        ("a.npy", npy(np.zeros((4, 2))), "E-FORMAT", "shape"),
        ("a.npy", npy(np.zeros((4, 3), dtype=complex)), "E-FORMAT", "real numbers"),
        ("a.e57", b"ASTM-E57", "E-FORMAT", "as PLY"),
        ("a", b"1 2 3\n", "E-FORMAT", "suffix (none)"),
        ("a.xyz", b"1 2 nan\n1 2 inf\n1 2 3\n", "E-NONFINITE", "2 of 3"),
        ("a.xyz", b"1 2 1e300\n1 2 3\n", "E-RANGE", "1.0e+300"),
        ("a.xyz", b"# unit: m\n1 2 3\n", "E-UNIT", "--unit m"),
        ("a.csv", b"x [m],y [m],z [m]\n1,2,3\n", "E-UNIT", "--unit m"),
    ],
)
def test_damaged_files_are_refused_on_one_line(tmp_path, name, content, code, said):
    message = refused(tmp_path / name, content)
    assert message.startswith(code + " ")
    assert said in message


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.io.block_reader.BLOCK_BYTES", 1 << 10)
    message = refused(tmp_path / "a.xyz", b"1 " * 4096)
    assert message.startswith("E-FORMAT")


def test_missing_files_and_directories_are_refused(tmp_path):
    with pytest.raises(ScanFileError, match=r"E-MISSING"):
        read_cloud(tmp_path / "none.ply", Unit.MM)
    with pytest.raises(ScanFileError, match="E-FORMAT"):
        read_cloud(tmp_path, Unit.MM)


def test_a_missing_or_misspelt_unit_is_refused():
    assert unit_named("inch") is Unit.INCH
    with pytest.raises(ValueError, match=r"E-UNIT the file does not state its unit"):
        unit_named(None)
    with pytest.raises(ValueError, match=r"'feet' is unknown: give mm, cm, m, inch"):
        unit_named("feet")


@pytest.mark.parametrize(
    ("content", "points", "told"),
    [
        (BINARY.format(count=1000).encode() + BODY[:-5], POINTS[:-1], "99 of 1000"),
        (ASCII.format(count=105).encode() + TEXT.encode(), POINTS, "100 of 105"),
    ],
)
def test_salvage_keeps_the_good_vertices_and_says_so(tmp_path, content, points, told):
    path = tmp_path / "a.ply"
    path.write_bytes(content)
    cloud = read_cloud(path, Unit.MM, Choices(salvage=True))
    np.testing.assert_array_equal(cloud.points, points)
    assert cloud.notes == (f"salvaged {told} declared points",)


def test_salvage_drops_the_bad_lines_of_a_text_and_counts_them(tmp_path):
    path = tmp_path / "a.xyz"
    path.write_text("1 2 3\noops 2 3\n4 5 6\n7 8")
    cloud = read_cloud(path, Unit.MM, Choices(salvage=True))
    np.testing.assert_array_equal(cloud.points, [[1, 2, 3], [4, 5, 6]])
    assert cloud.dropped == 2
    assert cloud.notes


def test_decimal_comma_on_a_file_with_points_is_refused(tmp_path):
    message = refused(tmp_path / "a.xyz", TEXT.encode(), Choices(decimal_comma=True))
    assert message.startswith("E-DECIMAL")


def test_a_count_that_the_file_cannot_hold_is_refused_before_memory_is_taken(tmp_path):
    path = tmp_path / "a.pcd"
    sizes = np.array([200, 12 * 10**8], dtype="<u4").tobytes()
    path.write_bytes(pcd(10**8, PACKED, sizes + bytes(200)))
    with pytest.raises(
        ScanFileError, match="200 compressed bytes cannot hold 1200000000"
    ):
        open_sources(path, Choices())


def test_a_file_that_was_never_written_is_refused_at_once(tmp_path):
    path = tmp_path / "a.ply"
    path.write_bytes(BINARY.format(count=89_000_000).encode())
    with path.open("r+b") as file:
        file.truncate(2_200_000_000)
    with pytest.raises(ScanFileError, match=r"E-TRUNCATED .* bytes were written"):
        read_cloud(path, Unit.MM)


def test_a_link_to_itself_is_no_file(tmp_path):
    path = tmp_path / "a.xyz"
    path.symlink_to(path)
    with pytest.raises(ScanFileError, match=r"E-MISSING .* is a broken link"):
        read_views([path], Unit.MM, Choices(), PickOptions(6.0))


@pytest.mark.parametrize("wild", [-1e6, 1e30])
def test_one_wild_coordinate_is_named_and_salvaged(tmp_path, wild):
    path = tmp_path / "a.npy"
    points = POINTS.copy()
    points[41, 1] = wild
    np.save(path, points)
    with pytest.raises(
        ScanFileError, match=r"E-RANGE .*(1 of 100|1\.0e\+30).*--salvage"
    ):
        read_views([path], Unit.MM, Choices(), PickOptions(6.0))
    choices = Choices(salvage=True)
    (cloud,) = read_views([path], Unit.MM, choices, PickOptions(6.0))
    np.testing.assert_array_equal(cloud.points, np.delete(POINTS, 41, axis=0))
    assert cloud.dropped == 1
    assert "1 of 100 points" in cloud.notes[0]


@pytest.mark.parametrize("behind", [b"", b"\0" * 7])
def test_a_binary_stl_may_begin_with_solid(tmp_path, behind):
    path = tmp_path / "a.stl"
    corners = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 9.0]])
    facet = bytes(12) + corners.astype("<f4").tobytes() + bytes(2)
    head = b"solid made by a scanner".ljust(80) + b"\1\0\0\0"
    path.write_bytes(head + facet + behind)
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, corners)
    np.testing.assert_array_equal(mesh_file(str(path)).vertices, corners)
