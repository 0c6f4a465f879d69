"""Every format gives back the points that were put in, in mm."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

from pipeline.io import binary_clouds
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud
from pipeline.io.reader_interface import Choices, ScanFileError

POINTS = np.array([[0.5, -1.25, 2.0], [3.0, 4.5, -6.75], [7.0, 8.0, 9.125]])


def ply(
    path: Path, encoding: str, body: bytes, properties: str, extra: str = ""
) -> Path:
    header = (
        f"ply\nformat {encoding} 1.0\n{extra}element vertex {len(POINTS)}\n"
        f"{properties}end_header\n"
    )
    path.write_bytes(header.encode() + body)
    return path


def records(order: str, kind: str) -> bytes:
    dtype = [("nx", order + "f4"), ("x", order + kind), ("red", "u1")]
    dtype += [("y", order + kind), ("z", order + kind)]
    table = np.zeros(len(POINTS), dtype=dtype)
    for axis, name in enumerate("xyz"):
        table[name] = POINTS[:, axis]
    return table.tobytes()


MANY = (
    "property float nx\nproperty {0} x\nproperty uchar red\n"
    "property {0} y\nproperty {0} z\n"
)
CAMERA = "element camera 1\nproperty float a\nproperty short b\n"
SEEN = np.array([(1.0, 2)], dtype=[("a", "<f4"), ("b", "<i2")]).tobytes()
FACED = (
    "property float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\n"
)
FACE = b"\x03\0\0\0\0\1\0\0\0\2\0\0\0"
MIXED = "property float Z\nproperty uchar red\nproperty float X\nproperty float Y\n"
LINES = "".join(f"{z} 255 {x} {y}\r\n" for x, y, z in POINTS).encode()
LITTLE = "binary_little_endian"


@pytest.mark.parametrize(
    ("encoding", "body", "properties", "extra"),
    [
        (LITTLE, records("<", "f4"), MANY.format("float"), ""),
        ("binary_big_endian", records(">", "f8"), MANY.format("float64"), ""),
        (LITTLE, SEEN + POINTS.astype("<f4").tobytes() + FACE, FACED, CAMERA),
        ("ascii", LINES, MIXED, ""),
    ],
)
def test_ply_of_any_order_with_more_than_points(
    tmp_path, encoding, body, properties, extra
):
    """Of bytes, elements and columns; names in capitals."""
    path = ply(tmp_path / "a.ply", encoding, body, properties, extra)
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, POINTS)


@pytest.mark.parametrize("encoding", ["binary_little_endian", "ascii"])
def test_ply_of_whole_numbers_and_of_mixed_types(tmp_path, encoding):
    """Open3D reads neither short numbers nor mixed types."""
    points = np.array([[1, 2.5, 0.1], [-3, 4.25, 1e-9], [7, 8, 9.125]])
    properties = "property short x\nproperty float y\nproperty double z\n"
    record = np.dtype([("x", "<i2"), ("y", "<f4"), ("z", "<f8")])
    body = np.array([tuple(p) for p in points], record).tobytes()
    if encoding == "ascii":
        body = "".join(f"{x:.0f} {y} {z}\n" for x, y, z in points).encode()
    path = ply(tmp_path / "a.ply", encoding, body, properties)
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, points)


def lzf_packed(data: bytes) -> bytes:
    """Literal runs only, but for one back reference where the data repeats."""
    packed, i = b"", 0
    while i < len(data):
        if i >= 4 and data[i : i + 4] == data[i - 4 : i]:
            packed += bytes([(4 - 2) << 5, 4 - 1])
            i += 4
            continue
        run = data[i : i + 4]
        packed += bytes([len(run) - 1]) + run
        i += len(run)
    return packed


@pytest.mark.parametrize("encoding", ["ascii", "binary", "binary_compressed"])
def test_pcd_of_every_encoding(tmp_path, encoding):
    many = len(POINTS)
    header = (
        "# .PCD v0.7\nVERSION 0.7\nFIELDS x _ y z\nSIZE 4 1 4 4\nTYPE F U F F\n"
        f"COUNT 1 2 1 1\nWIDTH {many}\nHEIGHT 1\nVIEWPOINT 1 2 3 1 0 0 0\n"
        f"POINTS {many}\nDATA {encoding}\n"
    )
    x, y, z = POINTS.astype("<f4").T
    if encoding == "ascii":
        body = "".join(f"{a} 0 0 {b} {c}\n" for a, b, c in POINTS).encode()
    elif encoding == "binary":
        dtype = [("x", "<f4"), ("pad", "u1", 2), ("y", "<f4"), ("z", "<f4")]
        table = np.zeros(many, dtype=dtype)
        table["x"], table["y"], table["z"] = x, y, z
        body = table.tobytes()
    else:
        plain = x.tobytes() + bytes(2 * many) + y.tobytes() + z.tobytes()
        packed = lzf_packed(plain)
        lengths = np.array([len(packed), len(plain)], dtype="<u4").tobytes()
        body = lengths + packed
    path = tmp_path / "a.pcd"
    path.write_bytes(header.encode() + body)
    cloud = read_cloud(path, Unit.CM)
    np.testing.assert_array_equal(cloud.points, 10 * POINTS)
    assert cloud.viewpoint == (10, 20, 30)


@pytest.mark.parametrize("encoding", ["ascii", "binary"])
def test_pcd_of_mixed_types_with_unknown_header_lines(tmp_path, encoding):
    """Open3D takes each line that begins with a keyword for that keyword's."""
    header = (
        "VERSION 0.7\nFIELDS x y z\nSIZE 2 4 8\nTYPE I F F\nCOUNT 1 1 1\n"
        f"SIZES 1 1 1\nDATATYPE ascii\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA {encoding}\n"
    )
    record = np.array((-3, 4.25, 0.1), [("x", "<i2"), ("y", "<f4"), ("z", "<f8")])
    body = b"-3 4.25 0.1\n" if encoding == "ascii" else record.tobytes()
    path = tmp_path / "a.pcd"
    path.write_bytes(header.encode() + body)
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, [[-3, 4.25, 0.1]])


def test_lzf_back_references_may_overlap_what_they_write():
    packed = np.frombuffer(bytes([0, 7, (7 << 5), 1, 0]), dtype=np.uint8)
    plain = binary_clouds.unpack_lzf(packed, 11)
    assert plain is not None
    assert plain.tolist() == [7] * 11


def row(template: str) -> Callable[[NDArray[np.float64]], str]:
    return lambda p: template.format(*p)


@pytest.mark.parametrize(
    ("name", "header", "template"),
    [
        ("a.xyz", "", "{} {} {}\n"),
        ("a.xyz", "", "{}\t{}\t{}\r\n"),
        ("a.xyz", "", "  {}   {}  {} 0 0 1\n"),
        ("a.xyzn", "", "{} {} {} 0 0 1\n"),
        ("a.csv", "x,y,z\n", "{},{},{}\n"),
        ("a.csv", "", "{}, {}, {},\n"),
        ("a.csv", "name;Z [mm];X [mm];Y [mm]\n", "ball;{2};{0};{1}\n"),
        ("a.csv", '"id","x_mm","y_mm","z_mm"\n', "7,{},{},{}\n"),
        ("a.asc", "//X Y Z R G B\n", "{} {} {} 1 2 3\n"),
        ("a.txt", "\xef\xbb\xbf# made by hand\n\nX Y Z\n", "{} {} {}\n\n"),
        ("a.txt", "", "{}\r{}\r{}\r".replace("\r", " ") + "\r"),
        ("a.csv", "\n", "{},{},{}\n  \n"),
        ("a.csv", "x,y,z\n", "{},{},{}\n# between\n"),
        ("a.pts", "3\n", "{} {} {} -12 1 2 3\n"),
        ("a.csv", '"x","y","z"\n', '"{}","{}","{}"\n'),
        ("a.csv", '"p","Points:0","Points:1","Points:2"\n', "7.5,{},{},{}\n"),
        ("a.csv", "Normal X,Point X,Point Y,Point Z\n", "0.5,{},{},{}\n"),
        ("a.txt", "number x y z\n", "1 {} {} {}\n"),
        ("a.txt", "", "{}D+00 {}d0 {}D-00\n"),
        ("a.asc", "* setting of the export\n" * 400, "{} {} {}\n"),
    ],
)
def test_text_with_any_separator_and_header(tmp_path, name, header, template):
    path = tmp_path / name
    text = header + "".join(map(row(template), POINTS))
    path.write_bytes(text.encode("latin-1"))
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, POINTS)


@pytest.mark.parametrize("nothing", ["-nan(ind)", "1.#QNAN", "-1.#IND00", "nan(snan)"])
def test_what_windows_writes_for_no_number_is_none(tmp_path, nothing):
    path = tmp_path / "a.xyz"
    lines = [*map(row("{} {} {}"), POINTS), " ".join([nothing] * 3)]
    path.write_text("\n".join(lines))
    cloud = read_cloud(path, Unit.MM)
    np.testing.assert_array_equal(cloud.points, POINTS)
    assert cloud.dropped == 1


def test_a_first_column_that_counts_is_no_x_unless_a_header_says_so(tmp_path):
    path = tmp_path / "a.xyz"
    lines = "".join(f"{k} {k / 4} {k / 8} 3.5\n" for k in range(1, 9))
    path.write_text(lines)
    with pytest.raises(ScanFileError, match=r"E-FORMAT .* counts from 1.*names"):
        read_cloud(path, Unit.MM)
    expected = np.array([[k / 4, k / 8, 3.5] for k in range(1, 9)])
    path.write_text("number x y z\n" + lines)
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, expected)
    path.write_text("x y z intensity\n" + lines)
    np.testing.assert_array_equal(
        read_cloud(path, Unit.MM).points[:, 1:], expected[:, :2]
    )
    path.write_text(lines.replace(" 3.5", ""))  # three numbers are a point
    assert len(read_cloud(path, Unit.MM).points) == 8


@pytest.mark.parametrize(
    ("header", "numbers"),
    [
        ("row col x y z r g b", "0 {} {} {} {} 9 8 7"),
        ("PointID XCoord YCoord ZCoord", "{} {} {} {}"),
        ("PointID Xpos Ypos Zpos", "{} {} {} {}"),
    ],
)
def test_rows_columns_and_numbers_of_points_are_no_coordinates(
    tmp_path, header, numbers
):
    path = tmp_path / "a.xyz"
    expected = np.array([[k + 0.25, k / 8 + 0.05, 3.5 - k] for k in range(8)])
    lines = [numbers.format(7 * k % 4, *point) for k, point in enumerate(expected)]
    path.write_text("\n".join(lines))
    with pytest.raises(ScanFileError, match=r"E-FORMAT .*whole numbers .*names"):
        read_cloud(path, Unit.MM)
    path.write_text("\n".join([header, *lines]))
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, expected)


@pytest.mark.parametrize(
    "line", ["{0} {0} 400 0.5 0.25", "{0} 1.5 0.5", "3 {0}.5 1.5 9.5"]
)
def test_whole_coordinates_are_coordinates(tmp_path, line):
    path = tmp_path / "a.xyz"
    path.write_text("\n".join(line.format(7 * k % 4) for k in range(8)))
    expected = [float(word) for word in line.format(3).split()[:3]]
    assert read_cloud(path, Unit.MM).points[5].tolist() == expected


@pytest.mark.parametrize("separator", [" ", "\t", ";", "; "])
def test_decimal_commas_when_they_are_chosen(tmp_path, separator):
    path = tmp_path / "a.csv"
    lines = (separator.join(f"{v}" for v in p).replace(".", ",") for p in POINTS)
    path.write_text("x;y;z\n" + "\n".join(lines), encoding="ascii")
    cloud = read_cloud(path, Unit.MM, Choices(decimal_comma=True))
    np.testing.assert_array_equal(cloud.points, POINTS)


def test_text_longer_than_a_block_loses_no_line(tmp_path, monkeypatch):
    monkeypatch.setattr("pipeline.io.block_reader.BLOCK_BYTES", 64)
    path = tmp_path / "a.xyz"
    points = np.arange(300.0).reshape(-1, 3)
    path.write_text("x y z\n" + "".join(f"{x} {y} {z}\n" for x, y, z in points))
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, points)


def test_a_mesh_gives_each_vertex_once(tmp_path):
    triangle = np.zeros(2, dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("r", "<u2")])
    triangle["v"] = POINTS
    binary = tmp_path / "a.stl"
    count = np.uint32(2).tobytes()
    binary.write_bytes(b"solid though binary".ljust(80) + count + triangle.tobytes())
    facet = "".join(f"vertex {x} {y} {z}\n" for x, y, z in POINTS)
    ascii_stl = tmp_path / "b.stl"
    facet = f"facet normal 0 0 1\nouter loop\n{facet}endloop\nendfacet\n"
    ascii_stl.write_text(f"solid part\n{2 * facet}endsolid part\n")
    shouted = tmp_path / "d.stl"
    shouted.write_text(ascii_stl.read_text().upper())
    obj = tmp_path / "c.obj"
    vertices = "".join(f"v {x} {y} {z}\nvn 0 0 1\n" for x, y, z in POINTS)
    obj.write_text(f"# part\n{vertices}f 1 2 3\n")
    for path in (binary, ascii_stl, shouted, obj):
        np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, POINTS)


@pytest.mark.parametrize("kind", ["<f4", ">f8", "<i2"])
def test_npy_arrays_of_numbers(tmp_path, kind):
    path = tmp_path / "a.npy"
    array = np.round(np.hstack([POINTS, np.ones((3, 2))])).astype(kind)
    np.save(path, array)
    found = read_cloud(path, Unit.MM).points
    np.testing.assert_array_equal(found, np.round(POINTS))
    assert found.dtype == np.float64


def test_npy_arrays_that_are_stored_column_by_column(tmp_path, monkeypatch):
    """As of np.array([x, y, z]).T."""
    monkeypatch.setattr("pipeline.io.block_reader.RECORDS_AT_ONCE", 2)
    path = tmp_path / "a.npy"
    np.save(path, np.asfortranarray(np.hstack([POINTS, np.ones((3, 1))])))
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).points, POINTS)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ScanFileError, match="E-TRUNCATED"):
        read_cloud(path, Unit.MM, Choices(salvage=True))


def test_a_header_comment_tells_synthetic_unit_and_viewpoint(tmp_path):
    body = POINTS.astype("<f8").tobytes()
    properties = "property double x\nproperty double y\nproperty double z\n"
    extra = "comment a synthetic scan\ncomment unit mm\ncomment viewpoint 1 2 -3.5\n"
    path = ply(tmp_path / "a.ply", "binary_little_endian", body, properties, extra)
    cloud = read_cloud(path, Unit.MM)
    assert cloud.synthetic
    assert cloud.viewpoint == (1, 2, -3.5)
    plain = ply(tmp_path / "b.ply", "binary_little_endian", body, properties)
    assert not read_cloud(plain, Unit.MM).synthetic


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("x_m,y_m,z_m", Unit.M),
        ("x [in],y [in],z [in]", Unit.INCH),
        ("X(in),Y(in),Z(in)", Unit.INCH),
        ("x/cm,y/cm,z/cm", Unit.CM),
        ("coord_x_mm,coord_y_mm,coord_z_mm", Unit.MM),
        ("# units in doubt\nx,y,z", None),
        ("# max (mm) 3\nx,y,z", None),
    ],
)
def test_names_of_columns_state_a_unit(tmp_path, header, unit):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n1,2,3\n4,5,6\n")
    other = Unit.INCH if unit is Unit.MM else Unit.MM
    if unit is None:
        assert len(read_cloud(path, other).points) == 2
        return
    with pytest.raises(ScanFileError, match=f"its unit as {unit.value}, not"):
        read_cloud(path, other)
    assert read_cloud(path, unit).points[0] == pytest.approx(unit.mm * np.arange(1, 4))


LISTED = (
    "ply\nformat {} 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property double z\nproperty list uchar int seen\nend_header\n"
)


def test_ply_with_lists_among_the_properties_of_its_vertices(tmp_path):
    kind = [("xy", "<f4", 2), ("z", "<f8"), ("many", "u1"), ("seen", "<i4", 2)]
    rows = np.zeros(3, kind)
    rows["z"], rows["many"] = [7.0, 8.0, 9.0], 2
    header = LISTED.format("binary_little_endian").encode()
    path = tmp_path / "a.ply"
    path.write_bytes(header + rows.tobytes())
    expected = [[0, 0, 7], [0, 0, 8], [0, 0, 9]]
    assert read_cloud(path, Unit.MM).points.tolist() == expected
    rows["many"][1] = 1
    path.write_bytes(header + rows.tobytes())
    with pytest.raises(ScanFileError, match="lists of different lengths"):
        read_cloud(path, Unit.MM)
    path.write_text(LISTED.format("ascii") + "0 0 7 0\n0 0 8 2 5 6\n0 0 9 1 4\n")
    assert read_cloud(path, Unit.MM).points.tolist() == expected


def test_a_glb_of_points_is_a_cloud(tmp_path):
    scene, pose = trimesh.Scene(), np.eye(4)
    pose[:3, 3] = [1.0, 2.0, 3.0]
    points = np.random.default_rng(3).uniform(0.0, 10.0, (20, 3))
    scene.add_geometry(trimesh.PointCloud(points), transform=pose)
    scene.export(tmp_path / "a.glb")
    cloud = read_cloud(tmp_path / "a.glb", Unit.MM)
    np.testing.assert_allclose(cloud.points, points + pose[:3, 3], atol=1e-5)
    assert not cloud.is_mesh
