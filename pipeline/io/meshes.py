"""Meshes as scans: STL, OBJ, GLB and 3MF."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.io import block_reader
from pipeline.io.ply import array_of, fan, no_face
from pipeline.io.reader_interface import (
    BINARY,
    Choices,
    Source,
    check_memory,
    reading,
    refused,
)
from pipeline.terminal import kept_locale
from sim.core.arrays import Floats, Ints


def obj_triangles(path: Path, choices: Choices) -> Ints:
    """Of the `f` lines; a negative corner counts back from the last vertex so far."""
    found: list[tuple[int, int, int]] = []
    vertices, number = 0, 0
    for block in block_reader.text_blocks(path):
        for line in block.lines:
            number += 1
            word, _, rest = line.strip().partition(" ")
            vertices += word == "v"
            if word == "f":
                try:
                    given = [int(corner.partition("/")[0]) for corner in rest.split()]
                except ValueError:
                    if not choices.salvage:
                        raise no_face(path, f"line {number}", line) from None
                    continue
                found += fan([n - 1 if n > 0 else vertices + n for n in given])
    return array_of(found)


TEXT_BYTES = 1 << 12
STL_HEADER = 84  # bytes: 80 of text and the number of triangles
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("rest", "<u2")])


def read_obj(path: Path, size: int, choices: Choices) -> Source:
    """Vertices of the `v` lines."""
    layout = block_reader.Layout(columns=(1, 2, 3), keyword="v")
    comments = tuple(
        line.lstrip("# ")
        for line in block_reader.head(path, 50)
        if line.startswith("#")
    )
    blocks = block_reader.points(path, layout, choices)
    return Source(
        "obj",
        blocks,
        size // 8 + 1,
        None,
        comments,
        faces=lambda: obj_triangles(path, choices),
    )


def read_stl(path: Path, size: int, choices: Choices) -> Source:
    """Corners of the triangles, binary or ascii by what the size says."""
    with path.open("rb") as file:
        start = file.read(STL_HEADER).removeprefix(block_reader.MARK)
    triangles = int.from_bytes(start[80:84], "little")
    binary = len(start) == STL_HEADER and size == STL_HEADER + 50 * triangles
    if start.lstrip().lower().startswith(b"solid") and not binary and _is_text(path):
        return _ascii_stl(path, size, start, choices)
    if len(start) < STL_HEADER:
        problem = f"{size} bytes are too few for an STL header"
        remedy = "is it an STL mesh? export it again"
        raise refused("FORMAT", path, problem, remedy)
    count = block_reader.whole_records(path, size - STL_HEADER, 50, triangles, choices)
    comments = (start[:80].decode("latin-1").strip("\0 "),)
    blocks, faces_of = _once(_stl_corners(path, count))
    notes: tuple[str, ...] = ()
    if count < triangles:
        notes = (f"salvaged {count} of {triangles} promised triangles",)
    return Source(
        "stl binary", blocks, 3 * count, None, comments, notes, faces=faces_of
    )


def _is_text(path: Path) -> bool:
    """Whether a file that begins with `solid` goes on in words."""
    with path.open("rb") as file:
        return BINARY.search(file.read(TEXT_BYTES)) is None


def _ascii_stl(path: Path, size: int, start: bytes, choices: Choices) -> Source:
    layout = block_reader.Layout(columns=(1, 2, 3), keyword="vertex")
    corners = _whole(path, block_reader.points(path, layout, choices), choices)
    blocks, triangles = _once(corners)
    comments = (start.decode("latin-1").strip().splitlines()[0],)
    return Source("stl ascii", blocks, size // 13 + 1, None, comments, faces=triangles)


def _stl_corners(path: Path, count: int) -> Iterator[Floats]:
    for triangles in block_reader.records_of(path, STL_HEADER, TRIANGLE, count):
        with np.errstate(invalid="ignore"):
            yield triangles["corner"].reshape(-1, 3).astype(np.float64)


def _whole(path: Path, blocks: Iterator[Floats], choices: Choices) -> Iterator[Floats]:
    """Pass `blocks` on, and see to it that the mesh has an end."""
    corners = 0
    for block in blocks:
        corners += len(block)
        yield block
    with path.open("rb") as file:
        file.seek(max(file.seek(0, 2) - 1024, 0))
        ended = b"endsolid" in file.read().lower()
    if (corners % 3 or not ended) and not choices.salvage:
        problem = f"ends after {corners} corners without endsolid"
        remedy = "export the mesh again, or keep the good ones with --salvage"
        raise refused("TRUNCATED", path, problem, remedy)


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


def read_glb(path: Path, size: int, choices: Choices) -> Source:
    """Vertices and triangles of all meshes of the scene, each in its place."""
    import trimesh  # here: importing it takes as long as reading a million points

    del choices
    _check_glb(path, size)
    with reading(path, "GLB"):
        scene = trimesh.load_scene(path, file_type="glb", process=False)
        _check_room(path, _corner_count(scene))
        mesh = scene.to_mesh()
    return _source("glb", path, np.array(mesh.vertices), np.array(mesh.faces), ())


def read_3mf(path: Path, size: int, choices: Choices) -> Source:
    """Vertices and triangles of all build items, each in its place."""
    import lib3mf  # type: ignore[import-untyped]

    del choices
    _check_3mf(path, size)
    with reading(path, "3MF"), kept_locale():
        model = lib3mf.get_wrapper().CreateModel()
        model.QueryReader("3mf").ReadFromFile(str(path))
        vertices, triangles = _built(path, model)
        unit = UNITS.get(model.GetUnit().name)
    comments = (f"unit {unit}",) if unit else ()
    return _source("3mf", path, vertices, triangles, comments)


def _check_glb(path: Path, size: int) -> None:
    """Refuse a header whose accessors promise more than the file can hold.

    The first chunk is JSON: twelve bytes of header, its length, its kind, its text.
    """
    with path.open("rb") as file:
        start = file.read(20)
        text = file.read(min(int.from_bytes(start[12:16], "little"), size))
    with reading(path, "GLB"):
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
            packed.append("normalized positions")
    if packed:
        problem = f"uses {' and '.join(packed)}, which is not supported"
        remedy = "export it without compression and quantization, or as PLY"
        raise refused("FORMAT", path, problem, remedy)
    if promised > size:
        problem = f"declares {promised} values, too many for {size} bytes"
        raise refused("TRUNCATED", path, problem, "copy or export it again")


def _corner_count(scene: Any) -> int:
    """Vertices and faces of all places where the scene shows a mesh."""
    each = {
        name: len(mesh.vertices) + len(getattr(mesh, "faces", ()))
        for name, mesh in scene.geometry.items()
    }
    shown = (scene.graph[node][1] for node in scene.graph.nodes_geometry)
    return sum(each[name] for name in shown)


def _check_3mf(path: Path, size: int) -> None:
    """Refuse an archive that unpacks to more than meshes do, or memory holds."""
    with reading(path, "3MF"), zipfile.ZipFile(path) as archive:
        unpacked = sum(item.file_size for item in archive.infolist())
    if unpacked > MOST_PACKED * size:
        problem = f"unpacks from {size} to {unpacked} bytes, too many for a mesh"
        raise refused("MEMORY", path, problem, "export it again, or as PLY")
    _check_room(path, unpacked // BYTES_A_CORNER)


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


def _source(
    kind: str,
    path: Path,
    vertices: Floats,
    triangles: Ints,
    comments: tuple[str, ...],
) -> Source:
    if not len(vertices):
        remedy = "export the scan as a mesh or points"
        raise refused("EMPTY", path, "holds no mesh", remedy)
    blocks = iter([vertices.astype(np.float64)])
    whole = triangles.astype(np.int64).reshape(-1, 3)
    return Source(kind, blocks, len(vertices), None, comments, faces=lambda: whole)
