"""Meshes as scans: STL, OBJ, GLB and 3MF."""

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.io import block_reader
from pipeline.io.ply import array_of, fan, no_face
from pipeline.io.reader_interface import BINARY, ScanFile, Source, check_memory
from pipeline.terminal import kept_locale
from sim.core.arrays import Floats, Ints


def obj_triangles(file: ScanFile) -> Ints:
    """Of the `f` lines; a negative corner counts back from the last vertex so far."""
    found: list[tuple[int, int, int]] = []
    vertices, number = 0, 0
    for block in block_reader.text_blocks(file):
        for line in block.lines:
            number += 1
            word, _, rest = line.strip().partition(" ")
            vertices += word == "v"
            if word == "f":
                try:
                    given = [int(corner.partition("/")[0]) for corner in rest.split()]
                except ValueError:
                    if not file.salvage:
                        raise no_face(file, f"line {number}", line) from None
                    continue
                found += fan([n - 1 if n > 0 else vertices + n for n in given])
    return array_of(found)


TEXT_BYTES = 1 << 12
STL_HEADER = 84  # bytes: 80 of text and the number of triangles
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("rest", "<u2")])


def read_obj(file: ScanFile) -> Source:
    """Vertices of the `v` lines."""
    layout = block_reader.Layout(columns=(1, 2, 3), keyword="v")
    head = block_reader.head(file, 50)
    comments = tuple(line.lstrip("# ") for line in head if line.startswith("#"))
    blocks, most = block_reader.points(file, layout), file.size // 8 + 1
    return Source(
        "obj", blocks, most, None, comments, faces=lambda: obj_triangles(file)
    )


def read_stl(file: ScanFile) -> Source:
    """Corners of the triangles, binary or ascii by what the size says."""
    with file.path.open("rb") as opened:
        start = opened.read(STL_HEADER).removeprefix(block_reader.MARK)
        is_text = BINARY.search(start + opened.read(TEXT_BYTES)) is None
    triangles = int.from_bytes(start[80:84], "little")
    binary = len(start) == STL_HEADER and file.size == STL_HEADER + 50 * triangles
    if start.lstrip().lower().startswith(b"solid") and not binary and is_text:
        return _ascii_stl(file, start)
    if len(start) < STL_HEADER:
        problem = f"the file has {file.size} bytes, too few for an STL header"
        raise file.refused("FORMAT", problem, "is it an STL mesh? export it again")
    count = file.whole_records(STL_HEADER, 50, triangles)
    comments = (start[:80].decode("latin-1").strip("\0 "),)
    blocks, faces = _once(_stl_corners(file.path, count))
    notes: tuple[str, ...] = ()
    if count < triangles:
        notes = (f"salvaged {count} of {triangles} declared triangles",)
    return Source("stl binary", blocks, 3 * count, None, comments, notes, faces=faces)


def _ascii_stl(file: ScanFile, start: bytes) -> Source:
    layout = block_reader.Layout(columns=(1, 2, 3), keyword="vertex")
    blocks, faces = _once(_whole(file, block_reader.points(file, layout)))
    comments = (start.decode("latin-1").strip().splitlines()[0],)
    most = file.size // 13 + 1
    return Source("stl ascii", blocks, most, None, comments, faces=faces)


def _stl_corners(path: Path, count: int) -> Iterator[Floats]:
    for triangles in block_reader.records_of(path, STL_HEADER, TRIANGLE, count):
        with np.errstate(invalid="ignore"):
            yield triangles["corner"].reshape(-1, 3).astype(np.float64)


def _whole(of: ScanFile, blocks: Iterator[Floats]) -> Iterator[Floats]:
    """Pass `blocks` on, and see to it that the mesh has an end."""
    corners = 0
    for block in blocks:
        corners += len(block)
        yield block
    with of.path.open("rb") as file:
        file.seek(max(of.size - 1024, 0))
        ended = b"endsolid" in file.read().lower()
    if (corners % 3 or not ended) and not of.salvage:
        problem = f"ends after {corners} vertices, without endsolid"
        remedy = "export the mesh again, or keep the whole triangles with --salvage"
        raise of.refused("TRUNCATED", problem, remedy)


def _once(blocks: Iterator[Floats]) -> tuple[Iterator[Floats], Callable[[], Ints]]:
    """All corners in one block, each vertex once, and the triangles between them."""
    triangles = [np.empty((0, 3), dtype=np.int64)]

    def vertices() -> Iterator[Floats]:
        corners = list(blocks)
        if corners:
            whole = np.concatenate(corners)
            found, number = np.unique(whole, axis=0, return_inverse=True)
            number = number.ravel()[: len(number) // 3 * 3]
            triangles.append(number.reshape(-1, 3).astype(np.int64))
            yield found

    return vertices(), lambda: triangles[-1]


BYTES_A_CORNER = 300  # that reading takes for a vertex or a face
MOST_PACKED = 200  # bytes of a mesh's text that a byte of an archive holds at most
PACKED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")
UNITS = {"MilliMeter": "mm", "CentiMeter": "cm", "Inch": "inch", "Meter": "m"}


def read_glb(file: ScanFile) -> Source:
    """Vertices and triangles of all meshes of the scene, each in its place."""
    import trimesh  # here: importing it takes as long as reading a million points

    _check_glb(file)
    with file.reading("GLB"):
        scene = trimesh.load_scene(file.path, file_type="glb", process=False)
        _check_room(file.path, _corner_count(scene))
        mesh = scene.to_mesh()
        vertices, faces = np.array(mesh.vertices), np.array(mesh.faces)
        if not len(vertices):
            vertices = _points(scene)
    return _source("glb", file, vertices, faces)


def _points(scene: Any) -> Floats:
    """(n, 3) of all places where the scene shows points alone."""
    found = [np.empty((0, 3))]
    for node in scene.graph.nodes_geometry:
        pose, name = scene.graph[node]
        points = np.asarray(getattr(scene.geometry[name], "vertices", found[0]))
        found.append(points @ pose[:3, :3].T + pose[:3, 3])
    return np.concatenate(found)


def read_3mf(file: ScanFile) -> Source:
    """Vertices and triangles of all build items, each in its place."""
    import lib3mf  # type: ignore[import-untyped]

    _check_3mf(file)
    with file.reading("3MF"), kept_locale():
        model = lib3mf.get_wrapper().CreateModel()
        model.QueryReader("3mf").ReadFromFile(str(file.path))
        vertices, triangles = _built(file.path, model)
        unit = UNITS.get(model.GetUnit().name)
    source = _source("3mf", file, vertices, triangles)
    return replace(source, comments=(f"unit {unit}",) if unit else ())


def _check_glb(file: ScanFile) -> None:
    """Refuse a header whose accessors promise more than the file can hold.

    The first chunk is JSON: twelve bytes of header, its length, its kind, its text.
    """
    with file.path.open("rb") as opened:
        start = opened.read(20)
        text = opened.read(min(int.from_bytes(start[12:16], "little"), file.size))
    with file.reading("GLB"):
        scene = json.loads(text)
        accessors = scene.get("accessors", [])
        promised = sum(int(accessor["count"]) for accessor in accessors)
        required = scene.get("extensionsRequired", [])
        packed = [name for name in required if name in PACKED]
        places = {
            one["attributes"].get("POSITION")
            for mesh in scene.get("meshes", [])
            for one in mesh["primitives"]
        }
        if any(accessors[k].get("normalized") for k in places - {None}):
            packed.append("normalized positions")
    if packed:
        problem = f"uses {' and '.join(packed)}, which is not supported"
        remedy = "export it without compression and quantization, or as PLY"
        raise file.refused("FORMAT", problem, remedy)
    if promised > file.size:
        problem = f"declares {promised} values, more than {file.size} bytes can hold"
        raise file.refused("TRUNCATED", problem, "copy or export it again")


def _corner_count(scene: Any) -> int:
    """Vertices and faces of all places where the scene shows a mesh."""
    each = {
        name: len(mesh.vertices) + len(getattr(mesh, "faces", ()))
        for name, mesh in scene.geometry.items()
    }
    shown = (scene.graph[node][1] for node in scene.graph.nodes_geometry)
    return sum(each[name] for name in shown)


def _check_3mf(file: ScanFile) -> None:
    """Refuse an archive that unpacks to more than meshes do, or memory holds."""
    with file.reading("3MF"), zipfile.ZipFile(file.path) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > MOST_PACKED * file.size:
        problem = f"unpacks from {file.size} to {unpacked} bytes, too many for a mesh"
        raise file.refused("MEMORY", problem, "export it again, or as PLY")
    _check_room(file.path, unpacked // BYTES_A_CORNER)


def _check_room(path: Path, corners: int) -> None:
    check_memory(path, corners * BYTES_A_CORNER, "its mesh", "decimate the mesh")


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


def _source(kind: str, file: ScanFile, vertices: Floats, triangles: Ints) -> Source:
    if not len(vertices):
        remedy = "export the scan as a mesh or points"
        raise file.refused("EMPTY", "contains no mesh and no points", remedy)
    blocks = iter([vertices.astype(np.float64)])
    whole = triangles.astype(np.int64).reshape(-1, 3)
    return Source(kind, blocks, len(vertices), faces=lambda: whole)
