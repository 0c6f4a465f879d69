"""What a morph asks of its target shape.

A `Target` gives the nearest point to any place, and lines to be shown and printed;
`lattice` makes them on a surface. `Goals` are given points instead of a shape, one for
each leading node. `pull_curvature` is the stiffness of a target: how its pull changes
as nodes move.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from sim.core.arrays import Bools, Floats, Ints

SHOWN = 2000  # points of a cloud in its wireframe


class Wireframe(NamedTuple):
    """Vertices (p, 3) on the target, and edges (q, 2) between them."""

    vertices: Floats
    edges: Ints


@runtime_checkable
class Target(Protocol):
    def closest(self, points: Floats) -> Floats:
        """The nearest point of the target to each of `points` (n, 3)."""

    def wireframe(self, around: Floats) -> Wireframe:
        """Lines on the target where a structure with nodes `around` will be."""


@runtime_checkable
class RoughTarget(Protocol):
    """A target whose nearest points jump."""

    @property
    def smooth(self) -> Target:
        """The same for Newton's steps, whose goals must not jump."""


@runtime_checkable
class FacetedTarget(Protocol):
    """A target of facets, each of which may hold nodes that would go on."""

    @property
    def rounded(self) -> Target | None:
        """A smooth surface close to it, if there is one."""


def rounded_of(target: Target) -> Target | None:
    """A smooth surface close to a target of facets, if it is one and has one."""
    return target.rounded if isinstance(target, FacetedTarget) else None


def smoothed(target: Target) -> Target:
    """What Newton's steps follow in place of a target."""
    return target.smooth if isinstance(target, RoughTarget) else target


def slopes_of(target: Target, points: Floats, goals: Floats) -> Floats | None:
    """(n, 3, 3) dg/dr of a target by its own `slopes`, if it has them, else None."""
    known = getattr(target, "slopes", None)  # a protocol takes as long as the slopes
    found: Floats | None = None if known is None else known(points, goals)
    return found


def shown(points: Floats) -> Wireframe:
    """Points only, evenly thinned: a cloud has no lines."""
    none: Ints = np.zeros((0, 2), dtype=np.int64)
    return Wireframe(points[:: max(1, len(points) // SHOWN)], none)


@dataclass(frozen=True, eq=False)
class Goals:
    """The goals (l, 3) of the leading nodes, in their order."""

    points: Floats

    def closest(self, points: Floats) -> Floats:
        if len(points) != len(self.points):
            raise ValueError(
                f"goals must be one per node: {len(points)}, not {len(self.points)}"
            )
        return self.points.copy()

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        none: Ints = np.zeros((0, 2), dtype=np.int64)
        return Wireframe(self.points, none)


JUMP = 20.0  # of a nearest point, over the displacement that brings it about


def jumping(target: Target, r: Floats, g: Floats, h: float) -> Bools:
    """(p,) which nodes r (p, 3) have goals g that a displacement h makes jump."""
    moved = [target.closest(r + way * h * e) for e in np.eye(3) for way in (1.0, -1.0)]
    farthest = np.linalg.norm(np.stack(moved) - g, axis=2).max(axis=0)
    return np.asarray(farthest > JUMP * h)


def pull_curvature(target: Target, r: Floats, g: Floats, h: float) -> Floats:
    """(p, 3, 3) second derivative I - dg/dr of 1/2 |r - g|^2, symmetric.

    Parameters
    ----------
    r, g : (p, 3) nodes and their goals
    h : displacement of the differences that dg/dr is taken from, if it is not known
    """
    W = np.tile(np.eye(3), (len(r), 1, 1))
    known = slopes_of(target, r, g)
    if known is not None:
        W -= 0.5 * (known + known.transpose(0, 2, 1))
    elif not isinstance(target, Goals):  # given goals stay where they are
        ahead = [target.closest(r + h * e) for e in np.eye(3)]
        slope = (np.stack(ahead, axis=-1) - g[:, :, None]) / h
        W -= 0.5 * (slope + slope.transpose(0, 2, 1))
    return W


FINE = 4  # edges between two crossings


def lattice(
    surface: Callable[[Floats, Floats], Floats],
    u: tuple[float, float],
    v: tuple[float, float],
    cells: tuple[int, int],
) -> Wireframe:
    """Lines of constant u and of constant v on a surface.

    Parameters
    ----------
    surface : (p,), (p,) -> (p, 3)
    u, v : ranges of the two coordinates
    cells : how many spaces there are between the lines of constant u, and v
    """
    us = np.linspace(*u, cells[0] * FINE + 1)
    vs = np.linspace(*v, cells[1] * FINE + 1)
    lines = [surface(us, np.full_like(us, c)) for c in vs[::FINE]]
    lines += [surface(np.full_like(vs, c), vs) for c in us[::FINE]]
    return polylines(lines)


def polylines(lines: Sequence[Floats]) -> Wireframe:
    """Join the points of each line; points at the same place become one vertex."""
    points = np.concatenate(lines)
    sizes = [len(line) for line in lines]
    ends = np.cumsum(sizes)
    edges = np.concatenate(
        [
            np.column_stack([np.arange(e - s, e - 1), np.arange(e - s + 1, e)])
            for s, e in zip(sizes, ends, strict=True)
        ]
    )
    size = float(np.ptp(points, axis=0).max())
    keys = np.round(points / (1e-9 * size)).astype(np.int64)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    joined: Ints = np.unique(np.sort(index.ravel()[edges], axis=1), axis=0)
    return Wireframe(points[first], joined[joined[:, 0] != joined[:, 1]])


def cells(length: float, spacing: float) -> int:
    """How many spaces of about `spacing` a line of `length` has, at least one."""
    return max(1, round(length / spacing))
