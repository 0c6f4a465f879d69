"""Meshes as printers read them: binary STL, and 3MF with parts placed on the bed.

STL is written by trimesh, 3MF by lib3mf: trimesh's own writer has neither part numbers
nor identifiers that stay, and checks no mesh.
"""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from trimesh import Trimesh
from trimesh.exchange.stl import export_stl

from pipeline.store.files import replacing
from pipeline.terminal.locales import kept_locale
from sim.lab.layout import Place

NAMES = uuid.UUID("6f6d7270-6874-7261-636b-70617274730a")  # of parts, objects, items


def write_stl(path: Path, mesh: Trimesh) -> None:
    """A binary STL file in mm."""
    header = b"binary STL in mm, made by morphtrack".ljust(80)
    with replacing(path) as temporary, temporary.open("wb") as file:
        file.write(header + export_stl(mesh)[len(header) :])


def write_3mf(
    path: Path, places: Sequence[Place], meshes: Mapping[str, Trimesh]
) -> None:
    """A 3MF file in mm: an object for each part, a build item for each copy of it."""
    import lib3mf  # type: ignore[import-untyped]

    model = lib3mf.get_wrapper().CreateModel()
    model.SetUnit(lib3mf.ModelUnit.MilliMeter)
    objects: dict[str, Any] = {}
    for number, place in enumerate(places):
        if place.name not in objects:
            objects[place.name] = _object(model, place.name, meshes[place.name])
        item = model.AddBuildItem(objects[place.name], _shift(place))
        item.SetPartNumber(place.name)
        item.SetUUID(str(uuid.uuid5(NAMES, f"item {number} {place.name}")))
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


def _object(model: Any, name: str, mesh: Trimesh) -> Any:
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
