"""GLB and 3MF: meshes in archives, read as a whole by trimesh and lib3mf."""

from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source
from pipeline.terminal.locales import kept_locale
from sim.arrays import Floats, Ints

UNITS = {"MilliMeter": "mm", "CentiMeter": "cm", "Inch": "inch", "Meter": "m"}


def read_glb(path: Path, size: int, choices: Choices) -> Source:
    """Vertices and triangles of all meshes of the scene, each in its place."""
    del size, choices
    try:
        scene = trimesh.load_scene(path, file_type="glb", process=False)
        mesh = scene.to_mesh()
    except Exception as error:
        raise _unreadable(path, "GLB", error) from error
    return _source("glb", path, np.array(mesh.vertices), np.array(mesh.faces), ())


def read_3mf(path: Path, size: int, choices: Choices) -> Source:
    """Vertices and triangles of all build items, each in its place."""
    import lib3mf  # type: ignore[import-untyped]

    del size, choices
    try:
        with kept_locale():
            model = lib3mf.get_wrapper().CreateModel()
            model.QueryReader("3mf").ReadFromFile(str(path))
            vertices, triangles = _built(model)
            unit = UNITS.get(model.GetUnit().name)
    except Exception as error:
        raise _unreadable(path, "3MF", error) from error
    comments = (f"unit {unit}",) if unit else ()
    return _source("3mf", path, vertices, triangles, comments)


def _built(model: Any) -> tuple[Floats, Ints]:
    """The meshes of the build items, joined."""
    vertices, triangles, count = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], 0
    items = model.GetBuildItems()
    while items.MoveNext():
        item = items.GetCurrent()
        mesh = item.GetObjectResource()
        corners = np.array([list(v.Coordinates) for v in mesh.GetVertices()])
        faces = [list(t.Indices) for t in mesh.GetTriangleIndices()]
        pose = np.array([list(row) for row in item.GetObjectTransform().Fields])
        vertices.append(corners @ pose[:3] + pose[3])
        triangles.append(np.array(faces, dtype=np.int64).reshape(-1, 3) + count)
        count += len(corners)
    return np.concatenate(vertices), np.concatenate(triangles)


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


def _unreadable(path: Path, kind: str, error: Exception) -> ScanFileError:
    return ScanFileError(
        Fault.FORMAT,
        path,
        f"cannot be read as {kind} ({type(error).__name__})",
        "is it damaged? export it again, or as PLY",
    )
