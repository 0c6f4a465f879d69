"""GLB and 3MF files cost no more memory than they say."""

import json
import zipfile

import numpy as np
import pytest
import trimesh

from pipeline.io import reader_interface
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud
from pipeline.io.reader_interface import ScanFileError


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
    with pytest.raises(ScanFileError, match=r"E-MEMORY .*its mesh takes"):
        read_cloud(path, Unit.MM)


def test_a_3mf_that_unpacks_to_a_flood_is_refused(tmp_path):
    path = tmp_path / "a.3mf"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", b" " * 4_000_000)
    with pytest.raises(ScanFileError, match=r"E-MEMORY .*too many for a mesh"):
        read_cloud(path, Unit.MM)
