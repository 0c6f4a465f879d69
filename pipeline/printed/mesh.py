"""Closed meshes of solids of revolution, and what makes a mesh printable."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles that are seen counterclockwise from outside.

    Attributes
    ----------
    vertices : (v, 3) mm
    faces : (f, 3)
    """

    vertices: Floats
    faces: Ints

    @property
    def volume(self) -> float:
        """Enclosed by the surface; where closed surfaces overlap, counted for each."""
        a, b, c = self.vertices[self.faces].transpose(1, 0, 2)
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    @property
    def closed(self) -> bool:
        """Whether each edge has two triangles, which run along it in opposite ways."""
        edges = np.concatenate([self.faces[:, [i, (i + 1) % 3]] for i in range(3)])
        n = len(self.vertices)
        along, back = edges @ np.array([n, 1]), edges @ np.array([1, n])
        once = len(np.unique(along)) == len(along)
        return bool(once and np.array_equal(np.sort(along), np.sort(back)))

    def moved(self, rotation: Floats, shift: Floats) -> "Mesh":
        """Every vertex x at rotation x + shift."""
        return Mesh(self.vertices @ rotation.T + shift, self.faces)


EMPTY = Mesh(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64))


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """All in one mesh, each with its own vertices."""
    parts = [EMPTY, *meshes]
    shifts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + s for part, s in zip(parts, shifts, strict=False)]
    return Mesh(
        np.concatenate([part.vertices for part in parts]), np.concatenate(faces)
    )


def revolved(profile: Floats, sides: int) -> Mesh:
    """The solid that a curve sweeps about the z axis.

    Parameters
    ----------
    profile : (k, 2) z and distance from the axis; it begins and ends on the axis,
        going up outside
    sides : of the polygons that stand for circles, whose corners are on them
    """
    keep = np.append(True, np.abs(np.diff(profile, axis=0)).max(axis=1) > 1e-9)
    low, *inner, high = profile[keep]
    ring = np.array(inner)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    k = len(ring)
    xy = (ring[:, 1, None, None] * around).reshape(-1, 2)
    vertices = np.column_stack([xy, np.repeat(ring[:, 0], sides)])
    poles = np.array([[0.0, 0.0, low[0]], [0.0, 0.0, high[0]]])
    here = np.arange(sides)
    there = (here + 1) % sides
    first = sides * np.arange(k - 1)[:, None]
    a, b, c, d = (
        (first + step).ravel() for step in (here, there, there + sides, here + sides)
    )
    foot, top = np.full(sides, k * sides), np.full(sides, k * sides + 1)
    last = sides * (k - 1)
    faces = np.concatenate(
        [
            np.column_stack([a, b, c]),
            np.column_stack([a, c, d]),
            np.column_stack([foot, there, here]),
            np.column_stack([top, last + here, last + there]),
        ]
    )
    return Mesh(np.concatenate([vertices, poles]), faces)


def revolved_ring(profile: Floats, sides: int) -> Mesh:
    """The ring that a closed curve (k, 2) sweeps about the z axis.

    The curve goes round counterclockwise, seen with the axis below and z to the left.
    """
    k = len(profile)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    xy = (profile[:, 1, None, None] * around).reshape(-1, 2)
    vertices = np.column_stack([xy, np.repeat(profile[:, 0], sides)])
    row, here = np.divmod(np.arange(k * sides), sides)
    there = (here + 1) % sides
    after = (row + 1) % k
    a, b = sides * row + here, sides * row + there
    d, c = sides * after + here, sides * after + there
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return Mesh(vertices, faces)


def ball(radius: float, sides: int) -> Mesh:
    """A ball about the origin whose vertices are on the sphere."""
    angle = np.pi * np.arange(sides // 2 + 1) / (sides // 2)
    profile = np.column_stack([-np.cos(angle), np.sin(angle)])
    profile[[0, -1], 1] = 0.0
    return revolved(radius * profile, sides)


def along(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """The rotation and shift that take the z axis onto the line from start to end."""
    axis = (end - start) / np.linalg.norm(end - start)
    least = np.eye(3)[np.abs(axis).argmin()]
    u = np.cross(axis, least)
    u /= np.linalg.norm(u)
    return np.column_stack([u, np.cross(axis, u), axis]), start


def bar(start: Floats, end: Floats, radius: float, sides: int) -> Mesh:
    """A round bar between two points."""
    length = float(np.linalg.norm(end - start))
    profile = np.array([[0, 0], [0, radius], [length, radius], [length, 0]])
    return revolved(profile, sides).moved(*along(start, end))
