"""Rigid closure around a hole or slit: panels come back to where they were."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Floats, Ints, cross
from sim.origami.pattern.pattern import CreasePattern, polygon_area
from sim.origami.pattern.rigid import following


class Hole(NamedTuple):
    """The k creases that lead away from the rim of a hole, in order around it.

    Attributes
    ----------
    vertex : one of the rim
    crease : (k,) numbers among the creases of the pattern
    at, along : (k, 3) their vertices on the rim, over the sheet's size, and directions
    """

    vertex: int
    crease: Ints
    at: Floats
    along: Floats

    def carried(self, folds: Floats) -> tuple[Floats, Floats, Floats]:
        """What a panel is moved by if it is carried around, (0, 0, 0) staying at rest.

        The product of the turns about all creases as they lie in the flat sheet.

        Parameters
        ----------
        folds : of all creases of the pattern, rad

        Returns
        -------
        rotation (3, 3), shift (3,) over the sheet's size, slopes (6, k) of both
        """
        R, t, slopes = np.eye(3), np.zeros(3), np.empty((6, len(self.crease)))
        turns = Rotation.from_rotvec(folds[self.crease][:, None] * self.along)
        for i, turn in enumerate(turns.as_matrix()):
            axis, place = R @ self.along[i], R @ self.at[i] + t
            slopes[:, i] = [*axis, *cross(place, axis)]
            t = t + R @ (self.at[i] - turn @ self.at[i])
            R = R @ turn
        slopes[3:] -= cross(t, slopes[:3].T).T
        return R, t, slopes


def holes(pattern: CreasePattern) -> list[Hole]:
    """Those with creases at their rims."""
    creases = enumerate(pattern.edges[pattern.creases].tolist())
    number = {(a, b): c for c, (a, b) in creases}
    out = []
    for edges in hole_fans(pattern):
        folding = [e for e in edges if (min(e), max(e)) in number]
        if folding:
            at, far = (pattern.vertices[list(v)] for v in zip(*folding, strict=True))
            along = (far - at) / np.linalg.norm(far - at, axis=1)[:, None]
            crease = np.array([number[min(e), max(e)] for e in folding])
            out.append(Hole(folding[0][0], crease, at / pattern.size, along))
    return out


def hole_errors(pattern: CreasePattern) -> list[tuple[int, float]]:
    """A vertex of each rim of a flat pattern, and what its assigned folds leave open.

    That is the norm of R - I and of the shift over the sheet's size.
    """
    if np.ptp(pattern.vertices[:, 2]) > 0.0:
        return []
    folds = np.pi * np.asarray(pattern.assignment, dtype=np.float64)[pattern.creases]
    out = []
    for hole in holes(pattern):
        R, shift, _ = hole.carried(folds)
        left = np.vstack([R - np.eye(3), shift])
        out.append((hole.vertex, float(np.linalg.norm(left))))
    return out


def hole_fans(pattern: CreasePattern) -> list[list[tuple[int, int]]]:
    """By hole or slit: the edges that lead away from its rim, in order around it.

    Each by its vertex on the rim and its other one. The rim that encloses the largest
    area is the outline.
    """
    after = following(pattern)
    sides = {(v, w) for v, around in after.items() for w in around}
    free = {(v, w) for v, w in sides if (w, v) not in sides}
    found = []
    while free:
        v, w = start = min(free)
        rim, edges = [], list[tuple[int, int]]()
        while (v, w) in free:
            free.discard((v, w))
            rim.append(v)
            while (w := after[v][w]) in after[v]:
                edges.append((v, w))
            v, w = w, v
        assert (v, w) == start  # rims are closed
        area = polygon_area(pattern.vertices[rim])
        found.append((float(np.linalg.norm(area)), edges))
    found.sort(key=lambda one: one[0])
    return [edges for _, edges in found[:-1]]
