"""Meshes of printed parts, held, joined, measured and checked by trimesh.

Only the sweep itself is written here: `trimesh.creation.revolve` has the same corners,
but splits the quadrilaterals along their other diagonals, and a ray caster in single
precision then returns other last digits, and so other scans from the same seed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from trimesh import Trimesh
from trimesh.util import concatenate

from sim.arrays import Floats
from sim.lab.layout import Box
from sim.lab.pieces import Piece
from sim.lab.solids import Solid


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
