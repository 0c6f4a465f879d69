"""Targets from files: listed points, point clouds and triangle meshes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.config.config_files import located
from pipeline.io.length_units import unit_named
from pipeline.io.point_cloud import open_sources, read_cloud
from pipeline.io.reader_interface import Choices
from sim.core.arrays import Floats
from sim.mechanism.targets.sampled_surfaces import (
    NEIGHBOURS,
    CloudTarget,
    MeshTarget,
    normals_of,
)


def points(coordinates: Sequence[Sequence[float]], *, norm: int = 2) -> CloudTarget:
    """A cloud of the points that are listed."""
    try:
        array = np.array(coordinates, dtype=np.float64).reshape(-1, 3)
    except (TypeError, ValueError):
        raise ValueError("points of the target: give each as [x, y, z]") from None
    return CloudTarget(array, norm=norm)


def points_mm(path: Path, unit: str) -> Floats:
    """(n, 3) finite points of a scan file, mm; see pipeline.io.point_cloud."""
    return read_cloud(path, unit_named(unit)).points


def cloud_file(
    path: str,
    *,
    unit: str = "mm",
    mm_per_unit: float = 1.0,
    normals: bool = False,
    norm: int = 2,
    neighbours: int = NEIGHBOURS,
) -> CloudTarget:
    """A scanned object, or any other file with points.

    Parameters
    ----------
    unit : of the file
    mm_per_unit : what a length of 1 in the case measures in the scan, mm
    normals : take goals on the planes that fit the neighbourhoods of the points
    neighbours : that the surface which Newton's steps follow is fitted to at each
        point; more for noisy scans
    """
    if not mm_per_unit > 0.0:
        raise ValueError(f"mm_per_unit is {mm_per_unit}: it must be positive")
    found = points_mm(Path(path), unit) / mm_per_unit
    own = normals_of(found) if normals else None
    return CloudTarget(found, own, norm, neighbours)


def mesh_file(path: str, *, scale: float = 1.0) -> MeshTarget:
    """A triangle mesh, of STL, OBJ, PLY or another format of scans that has faces.

    Parameters
    ----------
    scale : what a length of 1 in the file measures in the case
    """
    if not scale > 0.0:
        raise ValueError(f"scale is {scale}: it must be positive")
    source = open_sources(Path(path), Choices())[0]
    vertices = np.concatenate([np.empty((0, 3)), *source.blocks])
    none = np.empty((0, 3), dtype=np.int64)
    triangles = none if source.faces is None else source.faces()
    with located(path):
        return MeshTarget(scale * vertices, triangles)
