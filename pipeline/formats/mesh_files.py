"""Triangle meshes from STL, OBJ and PLY files, checked for what is missing.

Open3D's reader of PLY files returns memory that nobody wrote where a file is cut off.
"""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.targets.mesh import MeshTarget

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2",
    "int16": "i2", "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4",
    "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4", "double": "f8",
    "float64": "f8",
}  # fmt: skip
ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}
CUT = "it ends before its last triangle: is it truncated?"


def mesh_file(path: str, *, scale: float = 1.0) -> MeshTarget:
    """A triangle mesh.

    Parameters
    ----------
    scale : what a length of 1 in the file measures in the case
    """
    readers = {".stl": _stl, ".obj": _obj, ".ply": _ply}
    suffix = Path(path).suffix.lower()
    if suffix not in readers:
        raise ValueError(
            f"{path} is no mesh file: give one that ends in stl, obj or ply"
        )
    if not scale > 0.0:
        raise ValueError(f"scale is {scale}: it must be positive")
    try:
        vertices, triangles = readers[suffix](Path(path).read_bytes())
        return MeshTarget(scale * vertices, triangles)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}: give a mesh file") from None
    except (IndexError, KeyError, StopIteration):
        raise ValueError(f"{path}: {CUT}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _stl(data: bytes) -> tuple[Floats, Ints]:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    end = 84 + 50 * count
    words = data.lstrip().startswith(b"solid") and b"\0" not in data[:4096]
    if not words and len(data) >= end >= 84:  # some writers put more behind the end
        facet = np.dtype([("n", "<f4", 3), ("r", "<f4", (3, 3)), ("x", "<u2")])
        corners = np.frombuffer(data, facet, count, 84)["r"].astype(np.float64)
    elif words:
        if b"endsolid" not in data:
            raise ValueError(CUT)
        rows = [line.split() for line in data.decode("latin-1").splitlines()]
        corners = np.array([row[1:4] for row in rows if row[:1] == ["vertex"]], float)
        if len(corners) % 3 != 0:
            raise ValueError(f"{len(corners)} corners are not three a triangle")
    else:
        raise ValueError(f"{len(data)} bytes are no STL, or it is truncated")
    vertices, index = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return vertices, index.reshape(-1, 3).astype(np.int64)


def _obj(data: bytes) -> tuple[Floats, Ints]:
    vertices: list[list[float]] = []
    triangles: list[list[int]] = []
    for line in data.decode("latin-1").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(word.split("/")[0]) for word in words[1:]]
            triangles += _fan([c - 1 if c > 0 else len(vertices) + c for c in corners])
    return np.array(vertices, dtype=float).reshape(-1, 3), _numbers(triangles)


def _ply(data: bytes) -> tuple[Floats, Ints]:
    head, *rest = re.split(rb"end_header\r?\n", data, maxsplit=1)
    if not rest or not data.startswith(b"ply"):
        raise ValueError("no PLY header here")
    content = rest[0]
    lines = [line.split() for line in head.decode("latin-1").splitlines()]
    style = next(line[1] for line in lines if line[:1] == ["format"])
    elements: list[tuple[str, int, list[list[str]]]] = []
    for words in lines:
        if words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(words[1:])
    if [name for name, _, _ in elements[:2]] != ["vertex", "face"]:
        raise ValueError("its elements are not vertices followed by faces")
    if style == "ascii":
        return _ply_ascii(content, elements)
    return _ply_binary(content, elements, ORDERS[style])


def _ply_ascii(
    content: bytes, elements: list[tuple[str, int, list[list[str]]]]
) -> tuple[Floats, Ints]:
    (_, count, properties), (_, faces, _) = elements[:2]
    rows = [line.split() for line in content.decode("latin-1").splitlines()]
    names = [words[-1] for words in properties]
    xyz = [names.index(axis) for axis in "xyz"]
    vertices = [[float(rows[i][j]) for j in xyz] for i in range(count)]
    triangles: list[list[int]] = []
    for row in (rows[count + i] for i in range(faces)):
        triangles += _fan([int(row[j]) for j in range(1, int(row[0]) + 1)])
    return np.array(vertices).reshape(-1, 3), _numbers(triangles)


def _ply_binary(
    content: bytes, elements: list[tuple[str, int, list[list[str]]]], order: str
) -> tuple[Floats, Ints]:
    (_, count, properties), (_, faces, lists) = elements[:2]
    point = np.dtype([(words[-1], order + TYPES[words[0]]) for words in properties])
    if len(content) < count * point.itemsize:
        raise ValueError(CUT)
    table = np.frombuffer(content, point, count)
    vertices = np.column_stack([table[axis] for axis in "xyz"]).astype(np.float64)
    if len(lists) != 1 or lists[0][0] != "list":
        raise ValueError("its faces have other properties than their corners")
    size, number = (np.dtype(order + TYPES[word]) for word in lists[0][1:3])
    at, triangles = count * point.itemsize, []
    for _ in range(faces):
        if at + size.itemsize > len(content):
            raise ValueError(CUT)
        corners = int(np.frombuffer(content, size, 1, at)[0])
        at += size.itemsize
        if at + corners * number.itemsize > len(content):
            raise ValueError(CUT)
        triangles += _fan(np.frombuffer(content, number, corners, at).tolist())
        at += corners * number.itemsize
    return vertices, _numbers(triangles)


def _fan(corners: list[int]) -> list[list[int]]:
    """A polygon as triangles."""
    return [[corners[0], *pair] for pair in pairwise(corners[1:])]


def _numbers(triangles: list[list[int]]) -> Ints:
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)
