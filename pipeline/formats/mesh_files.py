"""Triangle meshes as targets, from any file of a mesh that a scan may be."""

from pathlib import Path

import numpy as np

from pipeline.scans.reading.cloud import open_sources
from pipeline.scans.reading.source import Choices
from sim.morph.targets.mesh import MeshTarget


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
    try:
        return MeshTarget(scale * vertices, triangles)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
