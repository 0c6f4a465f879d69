"""GLB and 3MF: meshes in archives, read as a whole by trimesh and lib3mf."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from pipeline.scans.memory import available_bytes
from pipeline.scans.reading.optional import unreadable
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source
from pipeline.terminal.locales import kept_locale
from sim.arrays import Floats, Ints

BYTES_A_CORNER = 300  # that reading takes for a vertex or a face
MOST_PACKED = 200  # bytes of a mesh's text that a byte of an archive holds at most
PACKED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")
UNITS = {"MilliMeter": "mm", "CentiMeter": "cm", "Inch": "inch", "Meter": "m"}


def read_glb(path: Path, size: int, choices: Choices) -> Source:
    """Vertices and triangles of all meshes of the scene, each in its place."""
    del choices
    _check_glb(path, size)
    try:
        scene = trimesh.load_scene(path, file_type="glb", process=False)
        _check_room(path, _corners(scene))
        mesh = scene.to_mesh()
    except ScanFileError:
        raise
    except Exception as error:
        raise unreadable(path, "GLB", error) from error
    return _source("glb", path, np.array(mesh.vertices), np.array(mesh.faces), ())


def read_3mf(path: Path, size: int, choices: Choices) -> Source:
    """Vertices and triangles of all build items, each in its place."""
    import lib3mf  # type: ignore[import-untyped]

    del choices
    _check_3mf(path, size)
    try:
        with kept_locale():
            model = lib3mf.get_wrapper().CreateModel()
            model.QueryReader("3mf").ReadFromFile(str(path))
            vertices, triangles = _built(path, model)
            unit = UNITS.get(model.GetUnit().name)
    except ScanFileError:
        raise
    except Exception as error:
        raise unreadable(path, "3MF", error) from error
    comments = (f"unit {unit}",) if unit else ()
    return _source("3mf", path, vertices, triangles, comments)


def _check_glb(path: Path, size: int) -> None:
    """Refuse a header whose accessors promise more than the file can hold.

    The first chunk is JSON: twelve bytes of header, its length, its kind, its text.
    """
    with path.open("rb") as file:
        start = file.read(20)
        text = file.read(min(int.from_bytes(start[12:16], "little"), size))
    try:
        scene = json.loads(text)
        accessors = scene.get("accessors", [])
        promised = sum(int(accessor["count"]) for accessor in accessors)
        packed = [
            name for name in scene.get("extensionsRequired", []) if name in PACKED
        ]
        places = {
            one["attributes"].get("POSITION")
            for mesh in scene.get("meshes", [])
            for one in mesh["primitives"]
        }
        if any(accessors[k].get("normalized") for k in places - {None}):
            packed.append("normalized places")
    except (
        LookupError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise unreadable(path, "GLB", error) from error
    if packed:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"is packed by {' and '.join(packed)}, which is not read",
            "export it without compression and quantization, or as PLY",
        )
    if promised > size:
        raise ScanFileError(
            Fault.TRUNCATED,
            path,
            f"promises {promised} numbers or places in {size} bytes",
            "copy the file again, or export it again",
        )


def _corners(scene: Any) -> int:
    """Vertices and faces of all places where the scene shows a mesh."""
    each = {
        name: len(mesh.vertices) + len(getattr(mesh, "faces", ()))
        for name, mesh in scene.geometry.items()
    }
    shown = (scene.graph[node][1] for node in scene.graph.nodes_geometry)
    return sum(each[name] for name in shown)


def _check_3mf(path: Path, size: int) -> None:
    """Refuse an archive that unpacks to more than meshes do, or memory holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(item.file_size for item in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise unreadable(path, "3MF", error) from error
    if unpacked > MOST_PACKED * size:
        raise ScanFileError(
            Fault.MEMORY,
            path,
            f"unpacks from {size} to {unpacked} bytes, as no mesh does",
            "export it again, or as PLY",
        )
    _check_room(path, unpacked // BYTES_A_CORNER)


def _check_room(path: Path, corners: int) -> None:
    need, there = corners * BYTES_A_CORNER, available_bytes()
    if need > there:
        raise ScanFileError(
            Fault.MEMORY,
            path,
            f"its mesh takes {need / 1e9:.1f} GB, {there / 1e9:.1f} GB are free",
            "decimate the mesh, or use a larger machine",
        )


def _built(path: Path, model: Any) -> tuple[Floats, Ints]:
    """The meshes of the build items, joined."""
    vertices, triangles, count = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], 0
    items = model.GetBuildItems()
    while items.MoveNext():
        item = items.GetCurrent()
        for mesh, pose in _parts(item.GetObjectResource(), _pose(item)):
            count_here = mesh.GetVertexCount() + mesh.GetTriangleCount()
            _check_room(path, count + count_here)
            corners = np.array([list(v.Coordinates) for v in mesh.GetVertices()])
            faces = [list(t.Indices) for t in mesh.GetTriangleIndices()]
            vertices.append(corners @ pose[:3, :3] + pose[3, :3])
            triangles.append(np.array(faces, dtype=np.int64).reshape(-1, 3) + count)
            count += len(corners)
    return np.concatenate(vertices), np.concatenate(triangles)


def _parts(resource: Any, pose: Floats) -> Iterator[tuple[Any, Floats]]:
    """Every mesh of an object, which components may be made of, in its pose."""
    if resource.IsMeshObject():
        yield resource, pose
        return
    for k in range(resource.GetComponentCount()):
        part = resource.GetComponent(k)
        yield from _parts(part.GetObjectResource(), _pose(part) @ pose)


def _pose(placed: Any) -> Floats:
    """(4, 4) of a build item or component; points are rows to its left."""
    if hasattr(placed, "HasTransform") and not placed.HasTransform():
        return np.eye(4)
    method = getattr(placed, "GetObjectTransform", None) or placed.GetTransform
    rows = np.array([list(row) for row in method().Fields])
    return np.column_stack([rows, [0.0, 0.0, 0.0, 1.0]])


def _source(
    kind: str,
    path: Path,
    vertices: Floats,
    triangles: Ints,
    comments: tuple[str, ...],
) -> Source:
    if not len(vertices):
        raise ScanFileError(
            Fault.EMPTY, path, "holds no mesh", "export the scan as a mesh or points"
        )
    blocks = iter([vertices.astype(np.float64)])
    whole = triangles.astype(np.int64).reshape(-1, 3)
    return Source(kind, blocks, len(vertices), None, comments, faces=lambda: whole)
