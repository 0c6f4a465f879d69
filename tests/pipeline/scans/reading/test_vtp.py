"""XML VTK files: the points and triangles that were put in come back."""

import base64
import lzma
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.formats.vtk_series import write_vtk_series
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import Choices, ScanFileError
from pipeline.scans.reading.units import Unit
from tests.pipeline.scans.reading.test_vtk import POINTS, TRIANGLES

ENDS, CORNERS = np.array([4, 7]), np.array([0, 1, 2, 3, 1, 2, 3])
FORMS = [
    ("ascii", "", "<"),
    ("binary", "", "<"),
    ("binary", "vtkZLibDataCompressor", "<"),
    ("raw", "", ">"),
    ("raw", "vtkLZMADataCompressor", "<"),
    ("base64", "vtkZLibDataCompressor", ">"),
]
BLOCK = 40  # bytes before packing: the last block of an array is a smaller one


def stored(values: NDArray[np.generic], packer: str, order: str) -> tuple[bytes, bytes]:
    """The sizes before the bytes of an array, and these, in blocks where packed."""
    data, word = values.astype(order + values.dtype.str[1:]).tobytes(), order + "u8"
    if not packer:
        return np.array([len(data)], word).tobytes(), data
    blocks = [data[k : k + BLOCK] for k in range(0, len(data), BLOCK)]
    pack = zlib.compress if "ZLib" in packer else lzma.compress
    packed = [pack(block) for block in blocks]
    sizes = [len(blocks), BLOCK, len(data) % BLOCK, *map(len, packed)]
    return np.array(sizes, word).tobytes(), b"".join(packed)


def xml_mesh(
    form: str,
    packer: str,
    order: str,
    pieces: int = 1,
    kinds: tuple[int, ...] = (),
) -> bytes:
    """A square and a triangle, once or more."""
    appended = b""

    def array(said: str, values: NDArray[np.generic]) -> str:
        nonlocal appended
        kind = {"f8": "Float64", "i8": "Int64"}[values.dtype.str[1:]]
        opening = f'<DataArray type="{kind}" {said} '
        if form == "ascii":
            text = " ".join(map(repr, values.ravel().tolist()))
            return f'{opening}format="ascii">\n{text}\n</DataArray>'
        sizes, data = stored(values, packer, order)
        coded = (
            base64.b64encode(sizes) + base64.b64encode(data)
            if packer
            else (base64.b64encode(sizes + data))
        )
        if form == "binary":
            return f'{opening}format="binary">\n  {coded.decode()}\n</DataArray>'
        offset = len(appended)
        appended += coded if form == "base64" else sizes + data
        return f'{opening}format="appended" offset="{offset}"/>'

    piece = (
        '<Piece NumberOfPoints="4" NumberOfPolys="2"><Points>'
        + array('NumberOfComponents="3"', POINTS)
        + "</Points><Polys>"
        + array('Name="connectivity"', CORNERS)
        + array('Name="offsets"', ENDS)
        + (array('Name="types"', np.array(kinds)) if kinds else "")
        + "</Polys></Piece>"
    )
    name = {"<": "LittleEndian", ">": "BigEndian"}[order]
    says = f' compressor="{packer}"' * bool(packer)
    head = (
        f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order='
        f'"{name}" header_type="UInt64"{says}><PolyData>{pieces * piece}</PolyData>'
    ).encode()
    if form in ("raw", "base64"):
        head += f'<AppendedData encoding="{form}">\n_'.encode() + appended
        head += b"\n</AppendedData>"
    return head + b"</VTKFile>\n"


@pytest.mark.parametrize(("form", "packer", "order"), FORMS)
@pytest.mark.parametrize("pieces", [1, 2])
def test_points_and_triangles_come_back(
    tmp_path: Path, form: str, packer: str, order: str, pieces: int
) -> None:
    path = tmp_path / "a.vtp"
    path.write_bytes(xml_mesh(form, packer, order, pieces))
    cloud = read_cloud(path, Unit.CM)
    np.testing.assert_array_equal(cloud.points, 10.0 * np.tile(POINTS, (pieces, 1)))
    assert cloud.triangles is not None
    found = sorted(sorted(row) for row in cloud.triangles.tolist())
    shifted = [[4 * k + n for n in row] for k in range(pieces) for row in TRIANGLES]
    assert found == sorted(shifted)


def grid(form: str, packer: str, order: str, kinds: tuple[int, ...] = (9, 5)) -> bytes:
    """The same as an unstructured grid, of VTK's types of cells."""
    mesh = xml_mesh(form, packer, order, kinds=kinds)
    return mesh.replace(b"PolyData", b"UnstructuredGrid").replace(b"Polys", b"Cells")


@pytest.mark.parametrize(("form", "packer", "order"), FORMS)
def test_faces_of_an_unstructured_grid_come_back(
    tmp_path: Path, form: str, packer: str, order: str
) -> None:
    path = tmp_path / "a.vtu"
    path.write_bytes(grid(form, packer, order))
    cloud = read_cloud(path, Unit.MM)
    np.testing.assert_array_equal(cloud.points, POINTS)
    assert cloud.triangles is not None
    found = sorted(sorted(row) for row in cloud.triangles.tolist())
    assert found == sorted(TRIANGLES)
    path.write_bytes(grid(form, packer, order, (4, 2)))  # lines and vertices
    assert read_cloud(path, Unit.MM).triangles is None


def test_what_a_run_is_shown_with_is_read(tmp_path: Path) -> None:
    links, faces = np.array([[0, 1]]), np.array([[0, 1, 2], [0, 2, 3]])
    write_vtk_series(tmp_path, POINTS[None], links, faces, [0.0])
    cloud = read_cloud(tmp_path / "step00000.vtp", Unit.MM)
    np.testing.assert_array_equal(cloud.points, POINTS)
    np.testing.assert_array_equal(cloud.triangles, faces)


TEXT = xml_mesh("ascii", "", "<")
RAW = xml_mesh("raw", "", "<")
ZIPPED = xml_mesh("binary", "vtkZLibDataCompressor", "<")
BOMB = ZIPPED.replace(b'NumberOfPoints="4"', b'NumberOfPoints="400000000"')


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"# vtk DataFile Version 3.0\n", "is no whole XML"),
        (TEXT[:200], "E-TRUNCATED.*no whole XML"),
        (TEXT.replace(b"PolyData", b"ImageData"), "'ImageData', and PolyData or Unstr"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + TEXT, "declares entities"),
        (ZIPPED.replace(b"vtkZLib", b"vtkLZ4"), "packed by 'vtkLZ4DataCompressor'"),
        (TEXT.replace(b'Points="4"', b'Points="0"'), "E-EMPTY"),
        (TEXT.replace(b'Points="4"', b'Points="-4"'), "not a number of points"),
        (TEXT.replace(b'Points="4"', b'Points="5"'), "promises 5 points.* holds 4"),
        (TEXT.replace(b"0.5", b"half"), "promises 4 points, the file holds 0"),
        (TEXT.replace(b'Components="3"', b'Components="2"'), "three coordinates"),
        (ZIPPED.replace(b'Points="4"', b'Points="5"'), "96 bytes are said, 120 are"),
        (BOMB, "E-TRUNCATED.*promises 1200000000 numbers"),
        (RAW.replace(b'offset="0"', b'offset="99999"'), "the file holds 0 of them"),
        (RAW.replace(b'Polys="2"', b'Polys="99"'), "faces that cannot be read"),
        (TEXT.replace(b"4 7", b"4 9"), "faces that cannot be read"),
        (TEXT.replace(b"0 1 2 3 1 2 3", b"0 1 2 3 1 2 8"), "has the corner 8"),
        (RAW.replace(b'"Float64"', b'"String"'), "type 'String'"),
        (grid("ascii", "", "<", (10, 5)), r"of type \[10\]: in ParaView, Extract Sur"),
        (grid("ascii", "", "<", (9,)), r"cells of type \?"),
        (grid("ascii", "", "<").replace(b'"types"', b'"kinds"'), "types are not all"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.vtp"
    path.write_bytes(content)
    with pytest.raises(ScanFileError, match=said) as caught:
        read_cloud(path, Unit.MM)
    assert "\n" not in str(caught.value)


def test_good_points_of_a_cut_file_are_salvaged(tmp_path: Path) -> None:
    path = tmp_path / "a.vtp"
    path.write_bytes(RAW[: RAW.index(b"_", RAW.index(b"<Appended")) + 1 + 8 + 60])
    with pytest.raises(ScanFileError, match=r"E-TRUNCATED.*the file holds 2"):
        read_cloud(path, Unit.MM)
    cloud = read_cloud(path, Unit.MM, Choices(salvage=True))
    np.testing.assert_array_equal(cloud.points, POINTS[:2])


def test_a_file_larger_than_memory_allows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.vtp"
    path.write_bytes(TEXT)
    monkeypatch.setattr("pipeline.scans.reading.vtp.available_bytes", lambda: 1000)
    with pytest.raises(ScanFileError, match="E-MEMORY"):
        read_cloud(path, Unit.MM)
