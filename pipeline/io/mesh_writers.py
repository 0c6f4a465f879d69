"""Meshes of printed parts: made, checked, written as STL, 3MF and VTK.

trimesh joins, measures and checks. Only the sweep is written here:
`trimesh.creation.revolve` has the same corners, but splits the quadrilaterals along
their other diagonals, and a ray caster in single precision then returns other last
digits, and so other scans from the same seed.

STL is written by trimesh, 3MF by lib3mf: trimesh's own writer has neither part numbers
nor identifiers that stay, and checks no mesh.

The XML formats of VTK, as ParaView and PyVista read them: PolyData (.vtp) for each
step, with lines and triangles between the nodes, and a collection (.pvd) of the steps.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray
from trimesh import Trimesh
from trimesh.exchange.stl import export_stl
from trimesh.util import concatenate

from pipeline.runs.atomic_files import replacing, write_text
from pipeline.terminal import kept_locale
from sim.core.arrays import Floats, Ints
from sim.virtual_lab.printed_pieces import Box, Piece, Place
from sim.virtual_lab.solids_of_revolution import Solid


def mesh_of(solids: Iterable[Solid], sides: int) -> Trimesh:
    """All in one mesh, each closed by itself, seen counterclockwise from outside.

    Parameters
    ----------
    sides : of the polygons that stand for circles, whose corners are on them
    """
    return cast(Trimesh, concatenate([_swept(solid, sides) for solid in solids]))


def _swept(solid: Solid, sides: int) -> Trimesh:
    """What the outline sweeps: circles row by row, then the ends on the axis."""
    outline = solid.outline
    keep = np.append(True, np.abs(np.diff(outline, axis=0)).max(axis=1) > 1e-9)
    ring = bool((outline[0] == outline[-1]).all())
    circles = outline[:-1] if ring else outline[keep][1:-1]
    angle = 2.0 * np.pi * np.arange(sides) / sides
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    xy = (circles[:, 1, None, None] * around).reshape(-1, 2)
    vertices = np.column_stack([xy, np.repeat(circles[:, 0], sides)])
    here = np.arange(sides)
    there = (here + 1) % sides
    row = sides * np.arange(len(circles) - (not ring))[:, None]
    after = (row + sides) % len(vertices)
    a, b, c, d = row + here, row + there, after + there, after + here
    faces = [np.dstack([a, b, c]).reshape(-1, 3), np.dstack([a, c, d]).reshape(-1, 3)]
    if not ring:
        foot, last = len(vertices), len(vertices) - sides
        ends = [[0.0, 0.0, outline[0, 0]], [0.0, 0.0, outline[-1, 0]]]
        vertices = np.concatenate([vertices, ends])
        faces.append(np.column_stack([np.full(sides, foot), there, here]))
        faces.append(
            np.column_stack([np.full(sides, foot + 1), last + here, last + there])
        )
    placed = vertices @ solid.rotation.T + solid.shift
    return Trimesh(placed, np.concatenate(faces), process=False)


@dataclass(frozen=True, eq=False)
class PrintedPiece:
    """A piece, and its meshes in mm."""

    piece: Piece
    sides: int

    @cached_property
    def assembled(self) -> Trimesh:
        """In the frame of the nodes, every copy in its place."""
        return mesh_of(self.piece.assembled, self.sides)

    @cached_property
    def to_print(self) -> Trimesh:
        """One copy on the bed, beginning at x = y = z = 0."""
        mesh = mesh_of(self.piece.alone, self.sides)
        if self.piece.flat:
            mesh.vertices = mesh.vertices @ _lying(mesh.vertices).T
        mesh.vertices = mesh.vertices - mesh.vertices.min(axis=0)
        return mesh

    @property
    def box(self) -> Box:
        """What it takes on the bed."""
        width, depth, _ = self.to_print.extents
        return Box(self.piece.name, self.piece.count, float(width), float(depth))


def _lying(vertices: Floats) -> Floats:
    """(3, 3) turn after which they are lowest in z and longest in x."""
    centred = vertices - vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes[2] *= np.sign(np.linalg.det(axes))
    return np.asarray(axes)


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
        raise ValueError(f"the mesh of {name} is not closed: raise `sides`")
    return made


def _as(kind: Any, rows: NDArray[Any]) -> Any:
    """The rows of an array as a ctypes array, without a loop over them."""
    return (kind * len(rows)).from_buffer_copy(rows.tobytes())


HEAD = '<?xml version="1.0"?>\n<VTKFile type="{}" version="0.1">\n'


def write_vtk_series(
    folder: Path, r: Floats, links: Ints, faces: Ints, times: Sequence[float]
) -> Path:
    """Write a file a step and steps.pvd into `folder`; return the latter.

    Parameters
    ----------
    r : (steps, n, 3) positions
    links : (q, 2) nodes of lines
    faces : (t, 3) nodes of triangles
    times : of the steps, or their numbers
    """
    rows = []
    for step, (nodes, time) in enumerate(zip(r, times, strict=True)):
        name = f"step{step:05d}.vtp"
        write_text(folder / name, _polydata(nodes, nodes - r[0], links, faces))
        rows.append(
            f"<DataSet timestep={quoteattr(repr(float(time)))} file={quoteattr(name)}/>"
        )
    text = HEAD.format("Collection") + "<Collection>\n" + "\n".join(rows)
    path = folder / "steps.pvd"
    write_text(path, f"{text}\n</Collection>\n</VTKFile>\n")
    return path


def _polydata(nodes: Floats, moved: Floats, links: Ints, faces: Ints) -> str:
    counts = f'NumberOfPoints="{len(nodes)}" NumberOfLines="{len(links)}"'
    return (
        f"{HEAD.format('PolyData')}<PolyData>\n"
        f'<Piece {counts} NumberOfPolys="{len(faces)}">\n'
        f"<PointData>\n{_array(moved, 'displacement')}</PointData>\n"
        f"<Points>\n{_array(nodes)}</Points>\n"
        f"<Lines>\n{_cells(links)}</Lines>\n<Polys>\n{_cells(faces)}</Polys>\n"
        "</Piece>\n</PolyData>\n</VTKFile>\n"
    )


def _cells(nodes: Ints) -> str:
    ends = nodes.shape[1] * np.arange(1, len(nodes) + 1)
    return _array(nodes.ravel(), "connectivity") + _array(ends, "offsets")


def _array(values: NDArray[np.generic], name: str = "") -> str:
    """Numbers as text, at full precision; what is not finite as VTK reads it."""
    kind = "Float64" if np.issubdtype(values.dtype, np.floating) else "Int64"
    label = f" Name={quoteattr(name)}" if name else ""
    size = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    text = " ".join(map(repr, values.ravel().tolist()))
    return f'<DataArray type="{kind}"{label}{size} format="ascii">{text}</DataArray>\n'
