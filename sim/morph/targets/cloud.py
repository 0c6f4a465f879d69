"""Targets from points: a scanned object is one ([dJ23], Methods, Simulations)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from sim.arrays import Floats
from sim.morph.targets.protocol import Target, Wireframe, shown
from sim.morph.targets.smooth_cloud import NEIGHBOURS, SmoothCloud


@dataclass(frozen=True, eq=False)
class CloudTarget:
    """The nearest of many points.

    The goals jump from point to point, so that a morph comes to rest on them with an
    error of the order of their spacing. With normals a goal is the foot on the plane
    through the nearest point instead, and jumps from plane to plane. Newton's steps
    follow the smooth surface of the points.

    Attributes
    ----------
    points : (p, 3)
    normals : (p, 3) or None
    norm : 2, or 1 for the sum of the distances along x, y and z ([dJ23], Discussion)
    neighbours : that each place of the smooth surface is fitted to
    """

    points: Floats
    normals: Floats | None = None
    norm: int = 2
    neighbours: int = NEIGHBOURS

    def __post_init__(self) -> None:
        if self.points.ndim != 2 or self.points.shape[1:] != (3,):
            raise ValueError(
                f"a cloud of shape {self.points.shape}: give (p, 3) points"
            )
        if len(self.points) == 0:
            raise ValueError("the target has no points: is it a point cloud?")
        if not np.isfinite(self.points).all():
            raise ValueError("the target has points that are not finite: drop them")
        if self.normals is not None and self.normals.shape != self.points.shape:
            raise ValueError(
                f"{len(self.normals)} normals for {len(self.points)} points: "
                "give one for each"
            )
        if self.norm not in (1, 2):
            raise ValueError(f"norm of the target is {self.norm}: choose 1 or 2")
        if self.normals is not None and self.norm == 1:
            raise ValueError("the 1-norm has no use for normals: leave them out")

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.points)

    @cached_property
    def smooth(self) -> Target:
        """The surface of the points; in the 1-norm there is none."""
        if self.norm == 1:
            return self
        return SmoothCloud.of(self.points, self.normals, self.neighbours)

    def closest(self, points: Floats) -> Floats:
        _, near = self._tree.query(points, p=self.norm)
        goals: Floats = self.points[near]
        if self.normals is None:
            return goals
        n = self.normals[near]
        height = np.einsum("pi,pi->p", points - goals, n)
        foot: Floats = points - height[:, None] * n
        return foot

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        return shown(self.points)


def normals_of(points: Floats, neighbours: int = 12) -> Floats:
    """(p, 3) unit normals of the planes that fit the neighbours of each point best."""
    if len(points) <= neighbours:
        raise ValueError(
            f"{len(points)} points are too few for normals from {neighbours} neighbours"
        )
    _, near = cKDTree(points).query(points, k=neighbours + 1)
    local = points[near] - points[near].mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(np.einsum("pki,pkj->pij", local, local))
    normals: Floats = vectors[:, :, 0]
    return normals
