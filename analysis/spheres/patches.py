"""Balls cut into patches, whose mean heights tell which errors neighbours share.

Where the view of a point is known, a patch is of one view. Where it is not, views share
a patch in proportion to how densely they would put points on it.
"""

from dataclasses import dataclass

import numpy as np

from analysis.spheres.biweight import seen_at
from analysis.spheres.cells import cells
from analysis.spheres.judge import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, PATCHES, SIGHTS
from sim.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Patches:
    """The patches of all balls of a scan, those of a ball in a row."""

    ball: Ints  # (n,) number of the ball
    x: Floats  # (n, 3) on the ball, mm
    u: Floats  # (n, 3) unit normal
    weight: Floats  # (n,) sum of the biweight's
    height: Floats  # (n,) mm by which an error of the whole patch would raise it
    white: Floats  # (n,) mm^2: variance of that if points err independently
    share: Floats  # (n, v) part of each view in it; rows sum to one
    cos: Floats  # (n, v) of the angle between normal and line of sight
    radius: float  # mm
    merged: bool  # whether views are known by their directions alone

    def of(self, balls: int) -> "Patches":
        """Those of the first balls."""
        kept = self.ball < balls
        return Patches(
            self.ball[kept], self.x[kept], self.u[kept], self.weight[kept],
            self.height[kept], self.white[kept], self.share[kept], self.cos[kept],
            self.radius, self.merged,
        )  # fmt: skip

    @property
    def seen(self) -> Floats:
        """(n, v) how much an error along a view's lines of sight raises the patch."""
        return self.share * self.cos


def patches(
    accepted: list[SphereCandidate],
    points: list[Floats],
    view: list[Ints] | None,
    origins: Floats,
) -> Patches:
    """Cut the balls into patches.

    Parameters
    ----------
    points : of each ball (k, 3) the points of its fit where their views belong, mm
    view : of each ball (k,) the view of each point; None where views are not known
    origins : (v, 3) where the scanner stood, mm; where views are not known their
        directions times how many points each sees
    """
    rows = []
    for number, (c, x) in enumerate(zip(accepted, points, strict=True)):
        of_view = np.zeros(len(x), np.int64) if view is None else view[number]
        sight = None if view is None else x - origins[of_view]
        rows.append(_cut(number, c, *_heights(c, x, sight), of_view))
    ball, u, weight, height, white, seen = (
        np.concatenate([row[k] for row in rows]) for k in range(6)
    )
    radius = accepted[0].fit.radius
    at = np.array([c.fit.centre for c in accepted])[ball] + radius * u
    if view is None:
        share, cos = _shared(u, origins)
    else:
        share = (seen[:, None] == np.arange(len(origins))).astype(np.float64)
        d = origins[None] - at[:, None]
        cos = np.einsum("nvi,ni->nv", d, u) / np.linalg.norm(d, axis=2)
    return Patches(ball, at, u, weight, height, white, share, cos, radius, view is None)


def _heights(
    c: SphereCandidate, x: Floats, sight: Floats | None
) -> tuple[Floats, Floats]:
    """Directions (k, 3) from a ball's centre and heights (k,) of its points.

    Parameters
    ----------
    sight : (k, 3) from the scanner to each, if that is known
    """
    if sight is None:
        u = x - c.fit.centre
        return u / np.linalg.norm(u, axis=1)[:, None], c.fit.height[c.fit.used]
    d = sight / np.linalg.norm(sight, axis=1)[:, None]
    return seen_at(x, d, np.append(c.fit.centre, c.fit.radius))


def _cut(
    number: int, c: SphereCandidate, u: Floats, e: Floats, view: Ints
) -> tuple[Ints, Floats, Floats, Floats, Floats, Ints]:
    """Ball, normal, weight, height, white variance and view of each patch of a ball."""
    within = np.abs(e) < BIWEIGHT.tukey * c.fit.scale
    u, e, view = u[within], e[within], view[within]
    q = (e / (BIWEIGHT.tukey * c.fit.scale)) ** 2
    w = (1.0 - q) ** 2
    answer = (1.0 - q) @ (1.0 - 5.0 * q) / w.sum()  # of sum w e to an error of all
    each = PATCHES.side**2 * 6
    number_of = cells(u, np.zeros(3), PATCHES.side) + each * view
    found, at = np.unique(number_of, return_inverse=True)
    weight = np.bincount(at, w)
    sums = np.array([np.bincount(at, w * column) for column in u.T]).T
    square = float(((w * e) ** 2).sum() / (w**2).sum())
    return (
        np.full(len(found), number, dtype=np.int64),
        np.asarray(sums / np.linalg.norm(sums, axis=1)[:, None]),
        np.asarray(weight, dtype=np.float64),
        np.asarray(np.bincount(at, w * e) / weight / answer),
        np.asarray(square * np.bincount(at, w**2) / (weight * answer) ** 2),
        np.asarray(found // each, dtype=np.int64),
    )


def _shared(u: Floats, views: Floats) -> tuple[Floats, Floats]:
    """Shares and cosines (n, v) of views known by direction and strength (v, 3)."""
    strength = np.linalg.norm(views, axis=1)
    cos = u @ (views / strength[:, None]).T
    share = np.where(cos > SIGHTS.steepest, strength * cos, 0.0)
    unseen = share.sum(axis=1) == 0.0
    share[unseen, np.argmax(cos[unseen], axis=1)] = 1.0
    return share / share.sum(axis=1)[:, None], cos


def told_apart(views: Floats) -> Floats:
    """The directions of views times their strength (v, 3), close ones as one."""
    found: list[Floats] = []
    for way in views[np.argsort(-np.linalg.norm(views, axis=1))]:
        for k, old in enumerate(found):
            if way @ old > PATCHES.one_view * np.linalg.norm(way) * np.linalg.norm(old):
                found[k] = old + way
                break
        else:
            found.append(way)
    return np.array(found)
