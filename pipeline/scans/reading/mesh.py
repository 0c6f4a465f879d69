"""STL and OBJ meshes: their vertices, each once, and their triangles."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pipeline.scans.reading import faces, records, rows
from pipeline.scans.reading.source import (
    BINARY,
    Choices,
    Fault,
    ScanFileError,
    Source,
)
from sim.arrays import Floats, Ints

TEXT_BYTES = 1 << 12
STL_HEADER = 84  # bytes: 80 of text and the number of triangles
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("rest", "<u2")])


def read_obj(path: Path, size: int, choices: Choices) -> Source:
    """Vertices of the `v` lines."""
    layout = rows.Layout(columns=(1, 2, 3), keyword="v")
    comments = tuple(
        line.lstrip("# ") for line in rows.head(path, 50) if line.startswith("#")
    )
    blocks = rows.points(path, layout, choices)
    return Source(
        "obj",
        blocks,
        size // 8 + 1,
        None,
        comments,
        faces=lambda: faces.of_obj(path, choices),
    )


def read_stl(path: Path, size: int, choices: Choices) -> Source:
    """Corners of the triangles, binary or ascii by what the size says."""
    with path.open("rb") as file:
        start = file.read(STL_HEADER).removeprefix(rows.MARK)
    triangles = int.from_bytes(start[80:84], "little")
    binary = len(start) == STL_HEADER and size == STL_HEADER + 50 * triangles
    if start.lstrip().lower().startswith(b"solid") and not binary and _is_text(path):
        return _ascii_stl(path, size, start, choices)
    if len(start) < STL_HEADER:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"{size} bytes are too few for an STL header",
            "is it an STL mesh? export it again",
        )
    count = records.whole_records(path, size - STL_HEADER, 50, triangles, choices)
    comments = (start[:80].decode("latin-1").strip("\0 "),)
    blocks, faces_of = _once(_corners(path, count))
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
    layout = rows.Layout(columns=(1, 2, 3), keyword="vertex")
    corners = _whole(path, rows.points(path, layout, choices), choices)
    blocks, triangles = _once(corners)
    comments = (start.decode("latin-1").strip().splitlines()[0],)
    return Source("stl ascii", blocks, size // 13 + 1, None, comments, faces=triangles)


def _corners(path: Path, count: int) -> Iterator[Floats]:
    for triangles in records.records_of(path, STL_HEADER, TRIANGLE, count):
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
        raise ScanFileError(
            Fault.TRUNCATED,
            path,
            f"ends after {corners} corners without endsolid",
            "export the mesh again, or keep the good ones with --salvage",
        )


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
