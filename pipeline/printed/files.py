"""Meshes as printers read them: binary STL, and 3MF with parts placed on the bed."""

import contextlib
import locale
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.files import replacing
from pipeline.printed.layout import Place
from pipeline.printed.mesh import Mesh

NAMES = uuid.UUID("6f6d7270-6874-7261-636b-70617274730a")  # of parts, objects, items


def write_stl(path: Path, mesh: Mesh) -> None:
    """A binary STL file in mm."""
    corners = mesh.vertices[mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(size > 0.0, size, 1.0)
    record = np.zeros(
        len(corners), dtype=[("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]
    )
    record["n"], record["v"] = normal, corners
    header = b"binary STL in mm, made by morphtrack".ljust(80)
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(header + np.uint32(len(corners)).tobytes() + record.tobytes())


@contextlib.contextmanager
def kept_locale() -> Iterator[None]:
    """Undo what lib3mf does when it writes or reads: it sets the locale to C."""
    held = locale.setlocale(locale.LC_ALL)
    try:
        yield
    finally:
        locale.setlocale(locale.LC_ALL, held)


def write_3mf(path: Path, places: Sequence[Place]) -> None:
    """A 3MF file in mm: an object for each part, a build item for each copy of it."""
    import lib3mf  # type: ignore[import-untyped]

    model = lib3mf.get_wrapper().CreateModel()
    model.SetUnit(lib3mf.ModelUnit.MilliMeter)
    objects: dict[str, Any] = {}
    for number, place in enumerate(places):
        name = place.piece.name
        if name not in objects:
            objects[name] = _object(model, name, place.piece.to_print)
        item = model.AddBuildItem(objects[name], _shift(place))
        item.SetPartNumber(name)
        item.SetUUID(str(uuid.uuid5(NAMES, f"item {number} {name}")))
    model.SetBuildUUID(str(uuid.uuid5(NAMES, "build")))
    with replacing(path) as temporary, kept_locale():
        model.QueryWriter("3mf").WriteToFile(str(temporary))


def _shift(place: Place) -> Any:
    """To its place on the bed, not turned."""
    import lib3mf

    made = lib3mf.Transform()
    for i in range(3):
        made.Fields[i][i] = 1.0
    made.Fields[3][0], made.Fields[3][1] = place.x, place.y
    return made


def _object(model: Any, name: str, mesh: Mesh) -> Any:
    """A mesh object; one that is not closed would be refused by printers."""
    import lib3mf

    made = model.AddMeshObject()
    made.SetName(name)
    made.SetUUID(str(uuid.uuid5(NAMES, f"object {name}")))
    made.SetGeometry(
        _as(lib3mf.Position, mesh.vertices.astype(np.float32)),
        _as(lib3mf.Triangle, mesh.faces.astype(np.uint32)),
    )
    if not made.IsManifoldAndOriented():
        raise ValueError(f"the mesh of {name} is not closed: raise sides")
    return made


def _as(kind: Any, rows: NDArray[Any]) -> Any:
    """The rows of an array as a ctypes array, without a loop over them."""
    return (kind * len(rows)).from_buffer_copy(rows.tobytes())
