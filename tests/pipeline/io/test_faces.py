"""Meshes of every format bring the same triangles; damaged ones are refused."""

import json
import zipfile

import lib3mf  # type: ignore[import-untyped]
import numpy as np
import pytest
import trimesh

from pipeline.io import reader_interface
from pipeline.io.length_units import Unit
from pipeline.io.mesh_writers import write_3mf
from pipeline.io.point_cloud import Cloud, read_cloud
from pipeline.io.reader_interface import Choices, ScanFileError
from pipeline.terminal import kept_locale
from sim.core.arrays import Floats
from sim.virtual_lab.printed_pieces import Place

CORNERS = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]], dtype="<f4")
SIDES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
HEADER = (
    "ply\nformat {0} 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
    "property float z\nelement face 4\nproperty uchar red\n"
    "property list uchar int vertex_indices\nend_header\n"
)


def triangles(cloud: Cloud) -> Floats:
    """The triangles (m, 3, 3) in an order that no format changes."""
    assert cloud.triangles is not None
    assert cloud.is_mesh
    corners = cloud.points[cloud.triangles]
    turned = [np.roll(t, -int(np.lexsort(t.T[::-1])[0]), axis=0) for t in corners]
    return np.array(sorted(turned, key=lambda t: tuple(t.ravel())))


def ply(order: str, sides: list[list[int]] = SIDES) -> bytes:
    name = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    faces = b"".join(
        b"\7" + bytes([len(side)]) + np.array(side, order + "i4").tobytes()
        for side in sides
    )
    head = HEADER.format(name).replace("face 4", f"face {len(sides)}")
    return head.encode() + CORNERS.astype(order + "f4").tobytes() + faces


def text_ply(header: str = HEADER, *before: float) -> bytes:
    rows = [" ".join(map(str, row)) for row in CORNERS]
    rows += [" ".join(map(str, [*before, 7, 3, *side])) for side in SIDES]
    return (header.format("ascii") + "\n".join(rows) + "\n").encode()


TEXTURED = HEADER.replace(
    "end_header",
    "property list uchar float texcoord\nproperty int texnumber\nend_header",
)


def textured(sides: list[list[int]] = SIDES) -> bytes:
    """As scanners write a mesh with a picture on it."""
    faces = b"".join(
        b"\7" + bytes([len(side)]) + np.array(side, "<i4").tobytes()
        + bytes([2 * len(side)]) + np.full(2 * len(side), 0.5, "<f4").tobytes()
        + np.int32(9).tobytes()
        for side in sides
    )  # fmt: skip
    head = TEXTURED.format("binary_little_endian").replace(
        "face 4", f"face {len(sides)}"
    )
    return head.encode() + CORNERS.tobytes() + faces


def text_textured() -> bytes:
    """The same as text, with the texture first."""
    texture = "property list uchar float texcoord\nproperty uchar"
    return text_ply(HEADER.replace("property uchar", texture), 2, 0.5, 0.5)


def obj() -> bytes:
    rows = [f"v {x} {y} {z}" for x, y, z in CORNERS]
    rows += ["f 1/1 3/1 2/1", "f 1//4 2//4 4//4", "f -4 -1 -2", "f 2 3 4"]
    return "\n".join(rows).encode()


def solid(suffix: str) -> bytes:
    data = trimesh.Trimesh(CORNERS, SIDES, process=False).export(file_type=suffix)
    return data if isinstance(data, bytes) else str(data).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ply", ply("<")),
        ("b.ply", ply(">")),
        ("c.ply", text_ply()),
        ("d.ply", textured()),
        ("e.ply", text_textured()),
        ("a.obj", obj()),
        ("a.stl", solid("stl")),
        ("c.stl", b"\xef\xbb\xbf" + solid("stl_ascii")),
        ("b.stl", solid("stl_ascii")),
        ("a.glb", solid("glb")),
    ],
)
def test_every_format_brings_the_same_triangles(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "true.ply").write_bytes(ply("<"))
    found, true = (read_cloud(tmp_path / n, Unit.MM) for n in (name, "true.ply"))
    np.testing.assert_allclose(triangles(found), triangles(true), atol=1e-6)
    np.testing.assert_array_equal(true.triangles, SIDES)


def test_3mf_brings_parts_in_their_places_and_their_unit(tmp_path):
    path = tmp_path / "a.3mf"
    mesh = trimesh.Trimesh(CORNERS, SIDES, process=False)
    places = [Place("one", 1, 0.0, 0.0), Place("one", 2, 10.0, 5.0)]
    write_3mf(path, places, {"one": mesh})
    cloud = read_cloud(path, Unit.MM)
    expected = np.concatenate([CORNERS, CORNERS + np.array([10, 5, 0])])
    np.testing.assert_allclose(cloud.points, expected, atol=1e-5)
    np.testing.assert_array_equal(cloud.triangles, np.vstack([SIDES, np.add(SIDES, 4)]))
    with pytest.raises(ScanFileError, match="declares its unit as mm, not inch"):
        read_cloud(path, Unit.INCH)


def test_3mf_brings_components_in_their_places(tmp_path):
    path = tmp_path / "a.3mf"
    write_3mf(
        path, [Place("one", 1, 0.0, 0.0)], {"one": trimesh.Trimesh(CORNERS, SIDES)}
    )
    wrapper = lib3mf.get_wrapper()
    model = wrapper.CreateModel()
    with kept_locale():
        model.QueryReader("3mf").ReadFromFile(str(path))
    items, both = model.GetBuildItems(), model.AddComponentsObject()
    items.MoveNext()
    quarter, aside = wrapper.GetIdentityTransform(), wrapper.GetTranslationTransform
    quarter.Fields[0][:], quarter.Fields[1][:] = (0, 1, 0), (-1, 0, 0)
    for pose in (aside(10, 0, 0), quarter):
        both.AddComponent(items.GetCurrent().GetObjectResource(), pose)
    model.RemoveBuildItem(items.GetCurrent())
    model.AddBuildItem(both, aside(0, 5, 0))
    with kept_locale():
        model.QueryWriter("3mf").WriteToFile(str(path))
    cloud = read_cloud(path, Unit.MM)
    x, y, z = CORNERS.T
    turned = np.column_stack([-y, x + 5.0, z])
    expected = np.concatenate([CORNERS + np.array([10, 5, 0]), turned])
    np.testing.assert_allclose(cloud.points, expected, atol=1e-5)
    np.testing.assert_array_equal(cloud.triangles, np.vstack([SIDES, np.add(SIDES, 4)]))


def test_polygons_are_cut_into_fans_and_points_alone_have_none(tmp_path):
    path = tmp_path / "a.ply"
    path.write_bytes(ply("<", [[0, 1, 2, 3], [0, 1, 2]]))
    fans = [[0, 1, 2], [0, 2, 3], [0, 1, 2]]
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).triangles, fans)
    path.write_bytes(textured([[0, 1, 2, 3], [0, 1, 2]]))
    np.testing.assert_array_equal(read_cloud(path, Unit.MM).triangles, fans)
    path.write_bytes(ply("<", []))
    cloud = read_cloud(path, Unit.MM)
    assert cloud.triangles is None
    assert not cloud.is_mesh


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("a.ply", ply("<")[:-3], "E-TRUNCATED", "declares 4 faces, but the file has 3"),
        (
            "a.ply",
            textured()[:-3],
            "E-TRUNCATED",
            "declares 4 faces, but the file has 3",
        ),
        (
            "a.ply",
            textured().replace(b"vertex_indices", b"corner_numbers"),
            "E-FORMAT",
            "must have exactly one list of vertices",
        ),
        ("a.ply", text_ply()[:-14], "E-FORMAT", "is not a face"),
        ("a.ply", ply("<", [[0, 1, 9]]), "E-FORMAT", "vertex 9, but vertices are"),
        ("a.obj", obj() + b"\nf 1 two 3", "E-FORMAT", "line 9 is not a face"),
        ("a.obj", obj() + b"\nf 1 2 -9", "E-FORMAT", "vertex -5"),
        ("a.glb", solid("glb")[:200], "E-FORMAT", "cannot be read as GLB"),
        ("a.3mf", b"PK\3\4 and no archive", "E-FORMAT", "cannot be read as 3MF"),
    ],
)
def test_damaged_faces_are_refused(tmp_path, name, data, code, words):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ScanFileError, match=words) as refused:
        read_cloud(tmp_path / name, Unit.MM)
    assert str(refused.value).startswith(code)


def test_salvage_keeps_the_good_faces_and_points_left_out_take_theirs_along(tmp_path):
    path = tmp_path / "a.ply"
    path.write_bytes(ply("<")[:-3])
    found = read_cloud(path, Unit.MM, Choices(salvage=True)).triangles
    np.testing.assert_array_equal(found, SIDES[:3])
    path.write_bytes(ply("<"))
    kept = read_cloud(path, Unit.MM).only(np.array([False, True, True, True]))
    np.testing.assert_array_equal(kept.triangles, [[0, 1, 2]])
    np.testing.assert_array_equal(kept.points, CORNERS[1:])


def glb(scene: dict[str, object]) -> bytes:
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    chunk = len(text).to_bytes(4, "little") + b"JSON" + text
    return b"glTF\2\0\0\0" + (12 + len(chunk)).to_bytes(4, "little") + chunk


def test_a_glb_that_promises_more_than_it_holds_is_refused(tmp_path):
    accessor = {"componentType": 5126, "count": 10**9, "type": "VEC3"}
    path = tmp_path / "a.glb"
    path.write_bytes(glb({"asset": {"version": "2.0"}, "accessors": [accessor]}))
    with pytest.raises(ScanFileError, match=r"E-TRUNCATED .*declares 1000000000"):
        read_cloud(path, Unit.MM)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "KHR_draco_mesh"),
        ({"extensionsRequired": ["EXT_meshopt_compression"]}, "EXT_meshopt"),
        ({"accessors": [{"count": 3, "normalized": True}]}, "normalized pos"),
    ],
)
def test_a_glb_that_is_packed_is_refused_by_name(tmp_path, more, said):
    mesh = {"primitives": [{"attributes": {"POSITION": 0}}]}
    scene: dict[str, object] = {"accessors": [{"count": 3}], "meshes": [mesh]}
    path = tmp_path / "a.glb"
    path.write_bytes(glb(scene | more))
    with pytest.raises(ScanFileError, match=f"E-FORMAT .*uses {said}"):
        read_cloud(path, Unit.MM)


def test_a_mesh_shown_more_often_than_memory_holds_is_refused(tmp_path, monkeypatch):
    scene, ball = trimesh.Scene(), trimesh.creation.icosphere(subdivisions=2)
    for shift in np.eye(3):
        pose = np.eye(4)
        pose[:3, 3] = shift
        scene.add_geometry(ball, geom_name="ball", transform=pose)
    path = tmp_path / "a.glb"
    path.write_bytes(scene.export(file_type="glb"))
    assert len(read_cloud(path, Unit.MM).points) == 3 * len(ball.vertices)
    room = 2.5 * 300 * (len(ball.vertices) + len(ball.faces))
    monkeypatch.setattr(reader_interface, "available_bytes", lambda: room)
    with pytest.raises(ScanFileError, match=r"E-MEMORY .*its mesh needs"):
        read_cloud(path, Unit.MM)


def test_a_3mf_that_unpacks_to_a_flood_is_refused(tmp_path):
    path = tmp_path / "a.3mf"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", b" " * 4_000_000)
    with pytest.raises(ScanFileError, match=r"E-MEMORY .*too many for a mesh"):
        read_cloud(path, Unit.MM)
